#!/usr/bin/env bash
# make-repository.sh FILES COMMITS DIRECTORY: makes a repository of its own objects in DIRECTORY.
#
# Some FILES text files like source code in one directory for every eight, a few of them executable
# or symbolic links, with a history in which every commit changes one file in ten. The same
# arguments give the same objects on any machine. Branch main, tags v1 to vCOMMITS.
set -euo pipefail

if [ $# != 3 ]; then
    sed -n '2,6s/^# //p' "$0" >&2
    exit 2
fi
files=$1 commits=$2 directory=$3

# Writes the history in the language of git-fast-import(1).
history() {
    LC_ALL=C awk -v files="$files" -v commits="$commits" '
    # A linear congruential generator whose products are exact in floating point, so that every
    # awk draws the same numbers.
    function draw(below) { state = (state * 16807) % 2147483647; return state % below }

    function make_lines(    i, n, w, line) {
        split("if else for while return struct static const int char unsigned void size offset " \
              "buffer node next previous list lock unlock error value index count length page " \
              "device driver register read write open close init release queue worker", word, " ")
        state = 20260601
        for (i = 0; i < 6000; i++) {
            line = substr("                ", 1, 4 * draw(4))
            n = 2 + draw(8)
            for (w = 0; w < n; w++)
                line = line word[1 + draw(40)] (draw(3) ? "_" : " ") (draw(4) ? "" : draw(100000))
            text[i] = line ";\n"
            size[i] = length(text[i])
        }
    }

    # Leaves have eight files each; three levels of them, as real trees have.
    function path(file,    leaf) {
        leaf = int(file / 8)
        if (file % 97 == 0) return sprintf("part%02d/overview%d.txt", leaf % 23, file)
        return sprintf("part%02d/module%d/unit%d/file%d.%s", leaf % 23, int(leaf / 23) % 10,
                       int(leaf / 230), file, file % 41 ? "c" : "bat")
    }

    function put(file, version,    n, i, total, pick, changed) {
        if (file % 199 == 7) {
            pick = sprintf("file%d.c", file - 1)
            printf "M 120000 inline %s\ndata %d\n%s\n", path(file), length(pick), pick
            return
        }
        state = 1 + file * 7919
        for (i = 0; i < 10; i++) draw(2)
        n = 4 + int(draw(1000) * draw(1000) * 420 / 1000000)
        for (i = 0; i < n; i++) { chosen[i] = draw(6000) }
        state = 1 + file * 7919 + version
        for (changed = 0; changed < version * 2; changed++) chosen[draw(n)] = draw(6000)
        total = 0
        for (i = 0; i < n; i++) total += size[chosen[i]]
        printf "M %s inline %s\ndata %d\n", file % 20 ? "100644" : "100755", path(file), total
        for (i = 0; i < n; i++) printf "%s", text[chosen[i]]
        print ""
    }

    BEGIN {
        make_lines()
        for (commit = 1; commit <= commits; commit++) {
            printf "commit refs/heads/main\nmark :%d\n", commit
            printf "committer A U Thor <author@example.com> %d +0000\n", 1750000000 + commit * 3600
            message = "Change one file in ten, round " commit
            printf "data %d\n%s\n", length(message), message
            if (commit > 1) printf "from :%d\n", commit - 1
            for (file = 0; file < files; file++)
                if (commit == 1 || (file + commit) % 10 == 0) put(file, commit - 1)
            if (commit == 1) {
                attributes = "*.bat text eol=crlf"
                printf "M 100644 inline .gitattributes\ndata %d\n%s\n", length(attributes), attributes
            }
            print ""
            printf "reset refs/tags/v%d\nfrom :%d\n\n", commit, commit
        }
        print "done"
    }'
}

git init -q "$directory"
git -C "$directory" symbolic-ref HEAD refs/heads/main
history | git -C "$directory" fast-import --quiet --done
# fast-import looks for deltas only a little: pack as a server would.
git -C "$directory" -c pack.threads=0 repack -a -d -f -q
