#!/usr/bin/env bash
# run.sh [checkout|status]: a release of Kubernetes on real NFS, with git and with hedgerow, in one
# boot of a virtual machine: seconds and NFS operations of both. `checkout` (the default) writes
# the tree, `status` lists it, also with find, and asks for its status. The processor is emulated:
# the seconds compare within one boot, the operations are exact. Takes up to 20 minutes.
#
# K8S=path: a clone or bundle with the tag v1.30.0. REALNFS_RUN=path: the script that boots the
# machine (tools/realnfs/run), built before. DELAY: one-way delay (500us).
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/toolchain.sh

job_name=${1:-checkout}
if [ ! -e "bench/realnfs/job-$job_name.sh" ]; then
    sed -n '2,8s/^# //p' "$0" >&2
    exit 2
fi
shared=../shared
repository=${K8S:-$shared/corpus/k8s.bundle}
boot=${REALNFS_RUN:-$shared/tools/realnfs/run}
for needed in "$repository" "$boot"; do
    if [ ! -e "$needed" ]; then
        echo "skipped: realnfs: there is no $needed"
        exit 0
    fi
done

cargo build --locked --release -q -p hedgerow-cli
job=$(mktemp -d)
trap 'rm -rf "$job"' EXIT
git clone -q --bare --no-local --branch v1.30.0 --single-branch --depth 1 \
    "file://$(realpath "$repository")" "$job/repository.git" 2>/dev/null ||
    git clone -q --bare --no-local "$repository" "$job/repository.git"
git -C "$job/repository.git" update-ref --no-deref HEAD 'v1.30.0^{commit}'
git -C "$job/repository.git" config core.bare false
cp "${CARGO_TARGET_DIR:-target}/release/hedgerow" "$job/hedgerow"
strip "$job/hedgerow" 2>/dev/null || true
cp bench/realnfs/common.sh "$job/common.sh"
cp "bench/realnfs/job-$job_name.sh" "$job/job.sh"
log=bench/out/realnfs-$job_name.log
mkdir -p bench/out
"$boot" "$job" "${DELAY:-500us}" 1200 </dev/null 2>&1 | stdbuf -oL tr -d '\r' | tee "$log" |
    grep --line-buffered -aE '^(result|failed|realnfs|git version|hedgerow )'
