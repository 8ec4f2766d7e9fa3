//! Configuration that status looks at.

use super::State;

const SETTINGS: &[(&str, usize)] = &[
    ("[core]\n\tfileMode = false\n", 10),
    ("[core]\n\tquotePath = false\n", 15),
    ("[core]\n\tignoreCase = true\n", 4),
    ("[core]\n\tsymlinks = false\n", 4),
    ("[core]\n\tpreloadIndex = false\n", 5),
    ("[core]\n\tuntrackedCache = true\n", 8),
    ("[core]\n\tuntrackedCache = keep\n", 3),
    ("[status]\n\trelativePaths = false\n", 12),
    ("[status]\n\tshowUntrackedFiles = all\n", 6),
    ("[status]\n\tshowUntrackedFiles = no\n", 4),
    ("[status]\n\tshort = true\n", 4),
    ("[status]\n\tbranch = true\n", 5),
    ("[status]\n\tshowStash = true\n", 6),
    ("[status]\n\taheadBehind = false\n", 4),
    ("[status]\n\trenames = copies\n", 14),
    ("[status]\n\trenames = false\n", 4),
    ("[status]\n\trenameLimit = 1\n", 3),
    ("[status]\n\tdisplayCommentPrefix = true\n", 4),
    ("[diff]\n\trenames = false\n", 3),
    ("[diff]\n\trenames = copies\n", 4),
    ("[diff]\n\trenameLimit = 2\n", 3),
    ("[diff]\n\tignoreSubmodules = dirty\n", 4),
    ("[diff]\n\tignoreSubmodules = all\n", 2),
    ("[advice]\n\tstatusHints = false\n", 6),
    ("[advice]\n\tstatusUoption = false\n", 3),
    ("[index]\n\tthreads = 2\n", 3),
    ("[feature]\n\tmanyFiles = true\n", 4),
];

/// Draws some.
pub fn set(state: &mut State) {
    for (lines, percent) in SETTINGS {
        if state.random.chance(*percent) {
            state.configure(lines);
        }
    }
    if state.random.chance(25) {
        state.without_ctime = true;
        let lines = *state.random.pick(&[
            "[core]\n\ttrustctime = false\n",
            "[core]\n\tcheckStat = minimal\n\ttrustctime = false\n",
        ]);
        state.configure(lines);
    } else if state.random.chance(5) {
        state.configure("[core]\n\tcheckStat = minimal\n");
    }
}
