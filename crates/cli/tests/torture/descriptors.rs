//! Few descriptors, and a file system that takes its time.

use crate::scenario::{scenarios, Stage};
use crate::{Complaints, Extent};
use hedgerow_testkit::run;

#[test]
fn few_descriptors_make_it_slower_or_fail_in_words() {
    let mut complaints = Complaints::default();
    for scenario in scenarios() {
        let stage = Stage::new(*scenario);
        for limit in [12, 16, 20, 24, 32, 64, 256] {
            let place = stage.place();
            let wrapper = ["prlimit".to_owned(), format!("--nofile={limit}:{limit}")];
            let mut command = stage.command(&place, &wrapper);
            // Calls that take their time keep more of them under way.
            command.env("HEDGEROW_TEST_DELAY", limit.to_string());
            let outcome = run(command);
            let mut verdict = stage.judge(&place, &outcome);
            if limit >= 32 && verdict.is_ok() && outcome.code != 0 {
                verdict = Err(format!("code {}: {}", outcome.code, outcome.stderr));
            }
            complaints.note(
                || format!("{}: {limit} descriptors", scenario.name),
                verdict,
            );
        }
    }
    complaints.assert_none(Extent::from_environment().seed);
}
