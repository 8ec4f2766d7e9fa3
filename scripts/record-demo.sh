#!/usr/bin/env bash
# Runs the demo and keeps what it shows as a page of the documentation, docs/src/demo.md: the text as
# it stands, without the seconds that pass meanwhile. Takes the variables that scripts/demo.sh takes.
set -euo pipefail
cd "$(dirname "$0")/.."
page=docs/src/demo.md
shown=$(mktemp)
trap 'rm -f "$shown" "$page.new"' EXIT
bash scripts/demo.sh 2>&1 | tee "$shown"

# Building, and the signs of life, are no part of the story.
sed -e '/^ *\(Compiling\|Downloading\|Downloaded\|Finished\|Building\|Updating\) /d' \
    -e 's/ \.\.\.\( [0-9]* s \.\.\.\)* done$/ ... done/' "$shown" >"$shown.kept"
mv "$shown.kept" "$shown"
# The machine's name is nobody's business.
if grep -qF "$PWD" "$shown"; then
    echo "error: the recording names this directory" >&2
    exit 1
fi
{
    cat <<'END'
# A demonstration

`make demo` shows what hedgerow is for, in a minute and a half after the build: a checkout beside
git's, the same where each call is a round trip of a millisecond, a status, a commit as an image, and
a clone from a git server. What is compared is proven to be equal. This is what it showed when
`scripts/record-demo.sh` ran it last:

```text
END
    cat "$shown"
    echo '```'
} >"$page.new"
mv "$page.new" "$page"
echo "recorded in $page"
