use hedgerow_listing::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let root = hedgerow_fs::OpenDirectory::open(a[1].as_ref()).unwrap();
    let f = match a[3].as_str() { "p" => Format::Parquet, "a" => Format::Arrow, _ => Format::ArrowStream };
    let n = write_listing(root, a[1].as_ref(), Output::to(a[2].as_ref(), true).unwrap(), f, &Default::default(), &|o| eprintln!("{o:?}")).unwrap();
    println!("{n}");
}
