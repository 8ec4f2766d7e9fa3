/// When to use a feature meant for people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    Always,
    #[default]
    Never,
    /// If somebody is reading.
    Auto,
}

impl When {
    /// Whether to use it; `is_read` says whether somebody is reading.
    pub fn applies(self, is_read: bool) -> bool {
        match self {
            When::Always => true,
            When::Never => false,
            When::Auto => is_read,
        }
    }
}
