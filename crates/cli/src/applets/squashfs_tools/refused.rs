//! Options of squashfs-tools that are refused, with what to do instead.

/// An option that is refused.
pub struct Refusal {
    pub names: &'static [&'static str],
    pub instead: &'static str,
}

const ACTIONS: Refusal = Refusal {
    names: &[
        "action",
        "log-action",
        "true-action",
        "false-action",
        "action-file",
        "log-action-file",
        "true-action-file",
        "false-action-file",
    ],
    instead: "actions have no counterpart; leave files out by -e, change them by -p, or describe \
              the image for 'hedgerow image create --pack-file'",
};
const STREAM: Refusal = Refusal {
    names: &["stream", "fix"],
    instead: "an image is written to a file; send the finished file",
};
const SLOWED: Refusal = Refusal {
    names: &["throttle", "limit"],
    instead: "run the command by nice(1) or ionice(1), or in a control group",
};
const SECTIONS: Refusal = Refusal {
    names: &["help-section", "hs", "no-pager", "cols"],
    instead: "use -help or -help-option",
};
const APPENDING: Refusal = Refusal {
    names: &["root-becomes"],
    instead:
        "nothing is appended to images; make a new image of all sources, with 'hedgerow image \
              create --reuse OLD-IMAGE' for the blocks of the old one",
};
const RECOVERY: Refusal = Refusal {
    names: &["recover", "recovery-path"],
    instead:
        "there are no recovery files: an image gets its name when it is complete, and an older \
              one stays until then",
};

const SEVERAL_ARCHIVES: Refusal = Refusal {
    names: &["ignore-zeros"],
    instead: "join the archives first, by 'tar --concatenate'",
};
const INFO_FILE: Refusal = Refusal {
    names: &["info-file"],
    instead: "use -info, and redirect the output",
};

pub const MKSQUASHFS: &[Refusal] = &[
    INFO_FILE,
    ACTIONS,
    STREAM,
    SLOWED,
    SECTIONS,
    APPENDING,
    RECOVERY,
    SEVERAL_ARCHIVES,
    Refusal {
        names: &["sort"],
        instead: "use 'hedgerow image create --sort-file', which has another format",
    },
    Refusal {
        names: &["one-file-system-x"],
        instead: "use -one-file-system, and leave out mount points by -e",
    },
    Refusal {
        names: &["not-reproducible"],
        instead: "images are always reproducible",
    },
];
pub const SQFSTAR: &[Refusal] = &[
    INFO_FILE,
    STREAM,
    SLOWED,
    SECTIONS,
    SEVERAL_ARCHIVES,
    Refusal {
        names: &["not-reproducible"],
        instead: "images are always reproducible",
    },
];
pub const UNSQUASHFS: &[Refusal] = &[
    SECTIONS,
    Refusal {
        names: &[
            "follow",
            "follow-symlinks",
            "L",
            "missing",
            "missing-symlinks",
            "match",
        ],
        instead: "links are extracted as links; name what they lead to",
    },
];
