use hedgerow_tree::Node;

/// A node and how it is to be stored.
pub struct Item {
    /// The node.
    pub node: Node,
    /// How its content is to be stored.
    pub treatment: Treatment,
    /// What of it is wanted here.
    pub role: Role,
}

impl From<Node> for Item {
    fn from(node: Node) -> Self {
        Item {
            node,
            treatment: Treatment::default(),
            role: Role::Whole,
        }
    }
}

/// How the content of a file is to be stored, whatever the image's options say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Treatment {
    /// Its blocks are stored as they are.
    pub uncompressed: bool,
    /// What does not fill a block gets a block of its own.
    pub unfragmented: bool,
    /// Blocks of zeros are stored like others.
    pub not_sparse: bool,
    /// It is stored even if something else is the same.
    pub not_shared: bool,
}

/// What of an item is wanted at its place in the order. Contents stand in the image in the order of
/// the items; so to have a file's content earlier than its name, it comes twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The entry with its content.
    Whole,
    /// Nothing but a file's content, under a number that the caller chose. Its path may be any.
    Content(u32),
    /// The entry; its content came under that number.
    Name(u32),
}
