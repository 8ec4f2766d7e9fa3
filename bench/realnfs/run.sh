#!/usr/bin/env bash
# Checks a release of Kubernetes out onto real NFS with git and with hedgerow, in one boot of a
# virtual machine, and prints seconds and NFS operations of both. The processor is emulated: the
# seconds compare within one boot, the operations are exact. Takes up to 20 minutes.
#
# K8S=path: a clone or bundle with the tag v1.30.0. REALNFS_RUN=path: the script that boots the
# machine (tools/realnfs/run), built before. DELAY: one-way delay (500us).
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/toolchain.sh

shared=../shared
repository=${K8S:-$shared/corpus/k8s.bundle}
boot=${REALNFS_RUN:-$shared/tools/realnfs/run}
for needed in "$repository" "$boot"; do
    if [ ! -e "$needed" ]; then
        echo "skipped: realnfs: there is no $needed"
        exit 0
    fi
done

cargo build --locked --release -q -p hedgerow
job=$(mktemp -d)
trap 'rm -rf "$job"' EXIT
git clone -q --bare --no-local --branch v1.30.0 --single-branch --depth 1 \
    "file://$(realpath "$repository")" "$job/repository.git" 2>/dev/null ||
    git clone -q --bare --no-local "$repository" "$job/repository.git"
git -C "$job/repository.git" update-ref --no-deref HEAD 'v1.30.0^{commit}'
git -C "$job/repository.git" config core.bare false
cp "${CARGO_TARGET_DIR:-target}/release/hedgerow" "$job/hedgerow"
strip "$job/hedgerow" 2>/dev/null || true
cp bench/realnfs/job.sh "$job/job.sh"
mkdir -p bench/out
"$boot" "$job" "${DELAY:-500us}" 1200 </dev/null 2>&1 | stdbuf -oL tr -d '\r' | tee bench/out/realnfs.log |
    grep --line-buffered -aE '^(result|failed|realnfs|git version|hedgerow )'
