# shellcheck shell=bash
# What the jobs in the virtual machine share. To be sourced.
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

# cold NAME COMMAND...: seconds and operations of a command in $GIT_WORK_TREE, by a client that
# knows nothing yet. What it prints goes to /tmp/output.
cold() {
    local name=$1 started ended
    shift
    remount
    cd "$GIT_WORK_TREE" || return 1
    started=$(date +%s.%N)
    "$@" >/tmp/output || echo "failed: $name: exit $?"
    ended=$(date +%s.%N)
    echo "result: $name seconds=$(echo "$started $ended" | awk '{ printf "%.1f", $2 - $1 }')" \
        "operations=$(operations)"
    cd /
}
