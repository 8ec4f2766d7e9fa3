#!/bin/bash
# Runs inside the virtual machine (see run.sh): checks one commit out onto NFS with git and with
# hedgerow, each with a cold client, and counts what the client asked of the server.
#
# /work has the repository and the binary; `remount` is the machine's: it gives a new client.
set -uo pipefail
export GIT_CONFIG_NOSYSTEM=1 LC_ALL=C

cp -r /work/repository.git /tmp/repository.git
cp /work/hedgerow /tmp/hedgerow
# So that the first contender does not pay for the first run of everything.
/tmp/hedgerow --version && git --version
cat /tmp/repository.git/objects/pack/* >/dev/null

# Operations since the mount: "total OP=count ..." of what was asked at least ten times.
operations() {
    awk '
        / mounted on \/mnt\/nfs / { here = 1 }
        here && /per-op statistics/ { listed = 1; next }
        listed && NF < 2 { exit }
        listed { name = $1; sub(":", "", name); count[name] = $2; total += $2 }
        END {
            line = total
            for (name in count) if (count[name] >= 10) line = line " " name "=" count[name]
            print line
        }' /proc/self/mountstats
}

# checkout NAME COMMAND...: seconds and operations of one checkout into an empty directory.
checkout() {
    local name=$1 started ended
    shift
    export GIT_DIR=/tmp/repository.git GIT_WORK_TREE=/mnt/nfs/$name
    mkdir "/mnt/nfs/$name"
    rm -f /tmp/repository.git/index
    remount
    cd "/mnt/nfs/$name" || return 1
    started=$(date +%s.%N)
    "$@" || echo "failed: $name: exit $?"
    ended=$(date +%s.%N)
    echo "result: $name seconds=$(echo "$started $ended" | awk '{ printf "%.1f", $2 - $1 }')" \
        "operations=$(operations)"
    cd /
}

checkout git-workers-32 git -c checkout.workers=32 checkout -q
checkout hedgerow /tmp/hedgerow checkout -q
# The index must satisfy a client that knows nothing yet.
remount
cd "$GIT_WORK_TREE" || exit 1
if [ -z "$(git status --porcelain)" ]; then
    echo "result: git status is clean after hedgerow, operations=$(operations)"
else
    echo "failed: git status is not clean after hedgerow"
fi
cd /
checkout git-workers-8 git -c checkout.workers=8 checkout -q
checkout hedgerow-again /tmp/hedgerow checkout -q
checkout git-workers-1 git -c checkout.workers=1 checkout -q
