/// How many characters a line of standard output has, if it is a terminal that says so.
pub fn terminal_width() -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok()?;
    Some(size.ws_col).filter(|width| *width > 0)
}
