#!/bin/bash
# Runs inside the virtual machine (see run.sh): checks one commit out onto NFS with git and with
# hedgerow, each with a cold client, and counts what the client asked of the server.
. /work/common.sh

# checkout NAME COMMAND...: seconds and operations of one checkout into an empty directory.
checkout() {
    export GIT_DIR=/tmp/repository.git GIT_WORK_TREE=/mnt/nfs/$1
    mkdir "$GIT_WORK_TREE"
    rm -f /tmp/repository.git/index
    cold "$@"
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
