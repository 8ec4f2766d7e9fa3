//! Attributes and filters: files whose content in the index is not that in the working tree.

use super::State;

const LINES: &[&str] = &[
    "* text=auto",
    "*.txt text",
    "*.crlf text eol=crlf",
    "*.md -text",
    "*.id ident",
    "*.flt filter=upper",
    "*.u16 working-tree-encoding=UTF-16LE",
    "*.o binary",
    "src/* text eol=lf",
    "[attr]mine text eol=crlf",
    "*.c mine",
    "*.rs text eol=lf ident",
    "a filter=gone",
];

/// Draws them, and the configuration that goes with them.
pub fn set(state: &mut State) {
    let mut content = String::new();
    for line in LINES {
        if state.random.chance(45) {
            content += line;
            content.push('\n');
        }
    }
    state.repository.write(".gitattributes", &content);
    state.note(format!("attributes {content:?}"));
    state.paths.push(b".gitattributes".to_vec());
    if content.contains("filter=upper") {
        state.configure("[filter \"upper\"]\n\tclean = tr a-z A-Z\n\tsmudge = tr A-Z a-z\n");
    }
    if content.contains("filter=gone") && state.random.chance(30) {
        state.configure("[filter \"gone\"]\n\tclean = cat\n");
    }
    let lines = *state.random.pick(&[
        "[core]\n\tautocrlf = true\n",
        "[core]\n\tautocrlf = input\n",
        "[core]\n\teol = crlf\n",
        "[core]\n\tsafecrlf = false\n",
        "",
        "",
    ]);
    if !lines.is_empty() {
        state.configure(lines);
    }
}
