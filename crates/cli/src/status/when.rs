/// When something is done that only people want.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    Always,
    #[default]
    Never,
    /// If somebody is reading.
    Auto,
}

impl When {
    /// Whether it is done where `is_read` says whether somebody is reading.
    pub fn applies(self, is_read: bool) -> bool {
        match self {
            When::Always => true,
            When::Never => false,
            When::Auto => is_read,
        }
    }
}
