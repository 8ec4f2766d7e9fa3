//! A whole image from any bytes: opened, listed, read and verified.
#![no_main]

use hedgerow_engine::{Execution, Jobs};
use hedgerow_erofs::{verify, Image, ImageSource};
use hedgerow_tree::NodeKind;
use libfuzzer_sys::fuzz_target;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

fuzz_target!(|bytes: &[u8]| {
    let options = Execution { jobs: Jobs::Fixed(NonZeroUsize::MIN), ..Execution::default() };
    let report = verify(Box::new(bytes.to_vec()), 0, &options);
    let sound = report.is_ok_and(|report| report.findings.is_empty());
    let Ok(image) = Image::new(Box::new(bytes.to_vec()), 0) else {
        assert!(!sound);
        return;
    };
    let Ok(source) = ImageSource::below(&image, b"") else { return };
    let mut entries = 0;
    let omissions = source.entries(&mut |found| {
        if found.inode.kind == NodeKind::File {
            let mut content = Vec::new();
            for piece in image.pieces(found.inode).flatten().take(64) {
                if piece.length <= 12 << 20 {
                    let read = image.read_piece(&piece, &mut content);
                    assert!(!sound || read.is_ok());
                }
            }
        }
        entries += 1;
        if entries < 4096 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert!(!sound || omissions.is_empty());
});
