#!/usr/bin/env bash
# fuzz-seeds.sh [HEDGEROW]: makes small images, archives, packs and listings for the fuzz targets to begin with,
# in target/fuzz/corpus: more than the inputs that are kept in fuzz/corpus. HEDGEROW is the binary
# that makes images (default: target/release/hedgerow); images of mksquashfs and archives of GNU tar
# come with them if these are there. Devices need root.
set -euo pipefail
cd "$(dirname "$0")/.."

hedgerow=$(realpath "${1:-target/release/hedgerow}")
corpus=$(realpath -m "${CARGO_TARGET_DIR:-target}/fuzz/corpus")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

mkdir -p tree/a tree/b/c/d "tree/$(printf 'x%.0s' {1..200})"
printf 'hello %.0s' {1..20} | tee tree/a/small >tree/a/same
: >tree/a/empty
head -c 4096 /dev/urandom >tree/b/block
printf 'text %.0s' {1..2500} >tree/b/more
truncate -s 9000 tree/b/zeros
printf x | dd of=tree/b/sparse bs=1 seek=40000 status=none
truncate -s 70000 tree/b/sparse
ln tree/a/small tree/hard
ln -s a/small tree/link
mkfifo tree/b/c/d/fifo
mknod tree/device c 5 300 2>/dev/null || echo "skipped: no device: not root"
setfattr -n user.one -v "$(printf '1%.0s' {1..40})" tree/a/small tree/b 2>/dev/null ||
    echo "skipped: no extended attributes"

for compressor in gzip lzma lzo xz lz4 zstd; do
    for part in a b .; do
        name=$compressor-${part/./all}
        "$hedgerow" image create "tree/$part" "$name.image" -q -b 4096 -c "$compressor"
        command -v mksquashfs >/dev/null || continue
        mksquashfs "tree/$part" "$name.other.image" -comp "$compressor" -b 4096 -nopad \
            -quiet -no-progress
    done
done
for format in v7 ustar gnu pax; do
    tar -C tree -H "$format" -cf "$format.tar" a link hard 2>/dev/null
    tar -C tree -H "$format" -b 1 -cf "$format-all.tar" . 2>/dev/null || true
done
for version in 0.0 0.1 1.0; do
    tar -C tree -H pax -S --sparse-version=$version -b 1 -cf "sparse-$version.tar" b/sparse
done
tar -C tree -H gnu -S -b 1 -cf sparse.tar b/sparse
tar -C tree -H pax --xattrs -b 1 -cf xattrs.tar a

git init -q packs
for number in 1 2 3 4 5 6; do
    printf 'commit refs/heads/main\ncommitter a <a@b> %s +0000\ndata 0\n' "$number"
    printf 'M 100644 inline d/%s\ndata 9\nsome %s\n\n\n' "$number" "$number"
done | git -C packs fast-import --quiet
(
    cd packs
    git -c pack.writeReverseIndex=true repack -adfbq
    git commit-graph write --reachable
    git multi-pack-index write
    mkdir -p "$corpus"/{commit_graph,midx,pack_stream,pack_index,reverse_index,bitmap,ewah}
    cp .git/objects/pack/multi-pack-index "$corpus/midx/git"
    printf '\0' | cat - .git/objects/info/commit-graph >"$corpus/commit_graph/git"
    printf '\1' | cat - .git/objects/info/commit-graph .git/objects/info/commit-graph \
        >"$corpus/commit_graph/chain"
    cp .git/objects/pack/*.pack "$corpus/pack_stream/git"
    cp .git/objects/pack/*.idx "$corpus/pack_index/git"
    cp .git/objects/pack/*.rev "$corpus/reverse_index/git"
    for target in bitmap ewah; do cp .git/objects/pack/*.bitmap "$corpus/$target/git"; done
)

mkdir -p "$corpus/listing"
"$hedgerow" walk --part --budget 1 -o "$corpus/listing/part" --rest "$corpus/listing/rest" -f tree
"$hedgerow" walk --part --budget 1000 --from "$corpus/listing/rest" -o "$corpus/listing/last" -f tree
"$hedgerow" walk --part --budget 1 --exclude '*.o' --max-depth 3 -x -o "$corpus/listing/options" \
    --rest "$corpus/listing/rest-options" -f tree

mkdir -p "$corpus"/{image,superblock,extract,tar,tar_nodes}
for target in image superblock extract; do cp ./*.image "$corpus/$target"; done
for target in tar tar_nodes; do cp ./*.tar "$corpus/$target"; done
echo "$corpus: $(find . -maxdepth 1 -name '*.image' | wc -l) images, $(find . -maxdepth 1 -name '*.tar' | wc -l) archives, $(find "$corpus/listing" -type f | wc -l) parts of listings and lists"
