//! Human-readable byte counts in git's format.

/// `bytes` in the largest unit that gives more than 1, with two decimals.
pub fn humanised(bytes: u64) -> String {
    for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
        if bytes > 1 << shift {
            let whole = bytes >> shift;
            let rest = bytes & ((1 << shift) - 1);
            // Rounded by adding half of a hundredth.
            let (whole, hundredths) = hundredths(whole, rest, shift);
            return format!("{whole}.{hundredths:02} {unit}");
        }
    }
    match bytes {
        1 => "1 byte".into(),
        bytes => format!("{bytes} bytes"),
    }
}

fn hundredths(whole: u64, rest: u64, shift: u32) -> (u64, u64) {
    let hundredths = match shift {
        // Git rounds gigabytes down.
        30 => rest / 10_737_419,
        20 => ((rest + 5_243) * 100) >> 20,
        _ => ((rest + 5) * 100) >> 10,
    };
    match hundredths {
        100.. => (whole + 1, hundredths - 100),
        _ => (whole, hundredths),
    }
}
