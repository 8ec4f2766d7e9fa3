#!/bin/bash
# Runs inside the virtual machine (see run.sh): lists a working tree on NFS and asks for its
# status, each time with a cold client, and counts what the client asked of the server. The
# repository itself is local.
. /work/common.sh

export GIT_DIR=/tmp/repository.git GIT_WORK_TREE=/mnt/nfs/tree
# git's complaint that it was slow is not in what hedgerow says.
git config advice.statusUoption false
mkdir "$GIT_WORK_TREE"
cold hedgerow-checkout /tmp/hedgerow checkout -q
# An index that is younger than every file, written by git.
sleep 2
cold git-status-first git status
cp -p /tmp/repository.git/index /tmp/index

# status NAME COMMAND...: as `cold`, with the same index for each.
status() {
    cp -p /tmp/index /tmp/repository.git/index
    cold "$@"
}

for round in 1 2; do
    cold "find-printf-$round" find . -printf '%y %s %T@ %i\n'
    found=$(($(wc -l </tmp/output) - 1))
    cold "hedgerow-walk-$round" /tmp/hedgerow walk --stat --summary
    awk -v found="$found" '
        $1 ~ /^(files|directories|symlinks|others)$/ { counted += $2 }
        END {
            word = counted == found ? "result" : "failed"
            print word ": find lists " found " entries, hedgerow walk " counted
        }' /tmp/output
    status "git-status-$round" git status
    mv /tmp/output /tmp/git-says
    status "hedgerow-status-$round" /tmp/hedgerow status
    if cmp -s /tmp/output /tmp/git-says && grep -q 'working tree clean' /tmp/output; then
        echo "result: hedgerow status says what git status says: clean"
    else
        echo "failed: hedgerow status does not say what git status says"
    fi
done
status hedgerow-status-j64 /tmp/hedgerow -j64 status
cold hedgerow-walk-j64 /tmp/hedgerow -j64 walk --stat --summary
