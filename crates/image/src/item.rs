use hedgerow_tree::Node;

/// A node and how it is stored.
pub struct Item {
    /// The node.
    pub node: Node,
    /// How its content is stored.
    pub treatment: Treatment,
    /// Which part of the node is stored at this place.
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

/// How the content of a file is stored; this overrides the options of the image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Treatment {
    /// Its blocks are not compressed.
    pub uncompressed: bool,
    /// Its tail gets a block of its own instead of a part of a fragment block.
    pub unfragmented: bool,
    /// Blocks of zeros are stored instead of becoming holes.
    pub not_sparse: bool,
    /// It is stored even if an equal content is stored already.
    pub not_shared: bool,
}

/// Which part of an item is stored at its place in the order. Contents are stored in the order of
/// the items; if a file's content must come before its name, the file occurs twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The entry with its content.
    Whole,
    /// Only the content of a file, under a number chosen by the caller. The path is used only
    /// in messages.
    Content(u32),
    /// The entry whose content came before under this number.
    Name(u32),
}
