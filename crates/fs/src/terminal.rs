use std::os::fd::AsFd;

/// The width of `output` in characters, if it is a terminal that reports it.
pub fn terminal_width(output: impl AsFd) -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(output).ok()?;
    Some(size.ws_col).filter(|width| *width > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::termios::{tcsetwinsize, Winsize};

    #[test]
    fn width_is_that_of_the_terminal() {
        let files = std::fs::OpenOptions::new();
        let terminal = files.clone().read(true).write(true).open("/dev/ptmx");
        let terminal = terminal.unwrap();
        assert_eq!(terminal_width(&terminal), None);
        let size = Winsize {
            ws_row: 24,
            ws_col: 37,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&terminal, size).unwrap();
        assert_eq!(terminal_width(&terminal), Some(37));
        let file = files.clone().read(true).open("/dev/null").unwrap();
        assert_eq!(terminal_width(&file), None);
    }
}
