//! What programs call git for, with their words, replayed with the link and without: build jobs,
//! editors, package managers. After each step both have said and left the same.

use crate::twins::Twins;
use hedgerow_testkit::{isolated, run};
use std::path::Path;

/// `actions/checkout`: the first run, and one in the same directory.
const GITHUB: &[&str] = &[
    "git version",
    "mkdir job; git init $PLACE/work/job; cd job; git remote add origin file://$PLACE/up; git config --local gc.auto 0",
    "cd job; git config --local --name-only --get-regexp 'core\\.sshCommand'; git submodule foreach --recursive \"sh -c \\\"git config --local --name-only --get-regexp 'core\\.sshCommand' && git config --local --unset-all 'core.sshCommand' || :\\\"\"",
    "cd job; git config --local http.https://github.com/.extraheader 'AUTHORIZATION: basic ***'; git config --local --name-only --get-regexp 'http\\.https\\:\\/\\/github\\.com\\/\\.extraheader'",
    "cd job; git -c protocol.version=2 fetch --no-tags --prune --no-recurse-submodules --depth=1 origin +$(git -C $PLACE/up rev-parse main):refs/remotes/origin/main",
    "cd job; git sparse-checkout disable; git config --local --unset-all extensions.worktreeConfig",
    "cd job; git checkout --progress --force -B main refs/remotes/origin/main",
    "cd job; git submodule sync --recursive; git -c protocol.version=2 submodule update --init --force --depth=1 --recursive; git submodule foreach --recursive git config --local gc.auto 0",
    "cd job; git log -1 --format=%H; git log -1 '--format=%H'; git rev-parse --symbolic-full-name --verify --quiet HEAD; git tag --list v1; git rev-parse --verify --quiet HEAD^{object}",
    // What a job leaves.
    "cd job; mkdir -p target/x node; echo o >target/x/o; echo x >>f1; rm d1/a; echo 1 >node/new; git -C sub commit -q --allow-empty -m x; git init -q nested",
    "cd $PLACE/up; echo later >>f1; git commit -qam later",
    "cd job; git config --local --get remote.origin.url; git rev-parse --symbolic-full-name --verify --quiet HEAD; git checkout --detach; git rev-parse --symbolic-full-name --branches; git branch --delete --force main; git rev-parse --symbolic-full-name --remotes=origin; git submodule status; git clean -ffdx; git reset --hard HEAD --",
    "cd job; git -c protocol.version=2 fetch --no-tags --prune --no-recurse-submodules --progress --depth=1 origin +$(git -C $PLACE/up rev-parse main):refs/remotes/origin/main 2>/dev/null",
    "cd job; git checkout --progress --force -B main refs/remotes/origin/main; git -c protocol.version=2 submodule update --init --force; git status --porcelain",
    "cd job; git sparse-checkout set d1 d2; git checkout --progress --force -B main refs/remotes/origin/main; ls",
    "cd job; git sparse-checkout disable; git config --unset core.sparseCheckoutCone; git config core.sparseCheckout true; printf '\\n/f1\\n/d1/\\n' >>$(git rev-parse --git-path info/sparse-checkout); git checkout --progress --force refs/remotes/origin/main; ls; git sparse-checkout disable",
    "cd job; git -c protocol.version=2 fetch --prune --no-recurse-submodules --unshallow origin +refs/heads/*:refs/remotes/origin/* +refs/tags/*:refs/tags/*; git checkout --progress --force --detach v1; git ls-remote --quiet --exit-code --symref file://$PLACE/up HEAD",
    "cd job; git config --local --unset-all http.https://github.com/.extraheader; git fsck --no-dangling; git status",
];

/// GitLab's runner: with the strategies `clone` and `fetch`.
const GITLAB: &[&str] = &[
    "mkdir -p t/hooks; git config -f t/config init.defaultBranch none; git config -f t/config fetch.recurseSubmodules false; git config -f t/config gc.autoDetach false; git config -f t/config credential.interactive never; git config -f t/config transfer.bundleURI true",
    "git init build --template $PLACE/work/t --object-format sha1; cd build; git remote add origin file://$PLACE/up; rm -f .git/index.lock .git/shallow.lock .git/HEAD.lock .git/hooks/post-checkout .git/config.lock",
    "cd build; git -c http.userAgent='gitlab-runner 17.0' fetch origin --no-recurse-submodules +refs/heads/main:refs/remotes/origin/main +refs/pipelines/1:refs/pipelines/1 --depth 20 --prune --quiet; git -c http.userAgent='gitlab-runner 17.0' fetch origin --no-recurse-submodules +refs/heads/main:refs/remotes/origin/main --depth 20 --prune --quiet",
    "cd build; git checkout -f -q $(git rev-parse origin/main); git clean -ffdx; git submodule init; git submodule sync --recursive; git submodule update --init --recursive; git submodule foreach --recursive git clean -ffdx; git submodule foreach --recursive git reset --hard",
    "cd build; echo x >>f1; echo o >new; echo o >x.o; rm -r d1; git -C sub rm -q s",
    "cd $PLACE/up; echo later >>f1; git commit -qam later",
    "cd build; git config --unset-all core.hooksPath; git remote set-url origin file://$PLACE/up || echo new; git fetch origin --no-recurse-submodules +refs/heads/main:refs/remotes/origin/main --depth 20 --prune --quiet; git checkout -f -q $(git rev-parse origin/main); git clean -ffdx -e cache/",
    "cd build; git submodule deinit --all --force; git submodule update --init --depth 20; git submodule foreach 'git lfs version >/dev/null 2>&1; true'; git status --porcelain; git lfs version >/dev/null 2>&1 || true",
    "git clone --depth 20 --no-checkout --template $PLACE/work/t -c fetch.recurseSubmodules=false --branch main file://$PLACE/up cloned; cd cloned; git checkout -f -q origin/main; git clean -ffdx; git status",
];

/// The git plugin of Jenkins.
const JENKINS: &[&str] = &[
    "git --version; mkdir ws; git init $PLACE/work/ws; cd ws; git rev-parse --resolve-git-dir $PLACE/work/ws/.git; git config remote.origin.url file://$PLACE/up",
    "cd ws; git fetch --tags --force --progress -- file://$PLACE/up +refs/heads/*:refs/remotes/origin/* 2>/dev/null; git config remote.origin.url file://$PLACE/up; git config --add remote.origin.fetch +refs/heads/*:refs/remotes/origin/*",
    "cd ws; git rev-parse refs/remotes/origin/main^{commit}; git rev-parse origin/main^{commit}; git config core.sparsecheckout; git config core.sparsecheckout false",
    "cd ws; git checkout -f $(git rev-parse refs/remotes/origin/main); git branch -a -v --no-abbrev; git checkout -b main $(git rev-parse refs/remotes/origin/main)",
    "cd ws; git rev-list --no-walk $(git rev-parse HEAD); git log --full-history --no-abbrev --format=raw -M -m --raw HEAD~1..HEAD; git remote; git submodule init; git submodule sync; git config --get remote.origin.url; git submodule update --init --recursive sub",
    "cd ws; echo x >>f1; echo y >new; git reset --hard; git clean -fdx; git clean -ffdx; git submodule foreach --recursive 'git reset --hard'; git submodule foreach --recursive git clean -fdx; git status",
    "cd ws; git rev-parse --is-inside-work-tree; git branch -D side; git checkout -f origin/side; git tag -l v1; git describe --tags; git ls-files --others --exclude-standard; git merge --ff --commit main; git rev-parse --abbrev-ref HEAD; git show-ref --heads; git ls-tree -r HEAD",
    "git clone --progress --no-checkout -o origin --reference $PLACE/up file://$PLACE/up other 2>/dev/null; cd other; git checkout -f $(git rev-parse HEAD); git status; git -c core.askpass=true fetch -t origin; git clone -h file://x y",
];

/// pre-commit: its sources, and a run with changes that are put aside.
const PRE_COMMIT: &[&str] = &[
    "mkdir r; git init --template= r; cd r; git remote add origin file://$PLACE/up; git config extensions.partialClone true; git -c protocol.version=2 fetch origin v1 --depth=1; git checkout FETCH_HEAD; git -c protocol.version=2 submodule update --init --recursive --depth=1",
    "mkdir s; git init --template= s; cd s; git remote add origin file://$PLACE/up; git fetch origin --tags; git checkout v1; git submodule update --init --recursive",
    "git rev-parse --show-cdup; git rev-parse --is-inside-git-dir; git rev-parse --git-dir --git-common-dir; git rev-parse --show-toplevel; git ls-files -z; git config --get core.hooksPath",
    "echo staged >>f1; git add f1; echo more >>f1; echo x >d1/a; echo n >intent; git add -N intent; git diff --staged --name-only --no-ext-diff -z --diff-filter=ACMRTUXB; git diff --no-ext-diff --ignore-submodules --diff-filter=A --name-only -z",
    "git write-tree; git diff-index --ignore-submodules --binary --exit-code --no-color --no-ext-diff $(git write-tree) -- >../patch; echo $?; git -c submodule.recurse=0 checkout -- .; git status -s",
    "git diff --no-ext-diff --no-textconv --ignore-submodules; git ls-files --unmerged; git apply --whitespace=nowarn ../patch; git status -s; git diff --quiet --no-ext-diff .pre-commit-config.yaml; git stash list",
    "GIT_INDEX_FILE=.git/index GIT_DIR=.git git status -s; GIT_DIR=.git GIT_INDEX_FILE=$PWD/.git/index git checkout -- d1; GIT_DIR=.git git stash -q; GIT_DIR=.git git stash pop -q; git rev-list --reverse --topo-order --ancestry-path HEAD~1..HEAD; git rev-parse -q --verify MERGE_HEAD; rm ../patch",
];

/// An editor that polls, and a person in it.
const VS_CODE: &[&str] = &[
    "git --version; git rev-parse --show-toplevel; git rev-parse --git-dir --git-common-dir; git config --local --get-regexp '^branch\\.' ; git config --get commit.template; git rev-parse --show-superproject-working-tree",
    "echo x >>f1; echo n >new; mkdir many; touch many/1 many/2; GIT_OPTIONAL_LOCKS=0 git -c core.quotepath=false status -z -uall; git status -z -uall; git status -z -uno --ignore-submodules; git status -z -u --find-renames=50%; git -c color.ui=false status -z -uall --ignored",
    "git for-each-ref --format='%(refname)%00%(upstream:short)%00%(objectname)%00%(upstream:track)%00%(upstream:remotename)%00%(upstream:remoteref)' --ignore-case refs/heads/main refs/remotes/main; git for-each-ref --sort -committerdate --format '%(refname) %(objectname) %(*objectname)'; git symbolic-ref --short HEAD; git remote --verbose; git rev-parse HEAD",
    "git show --textconv :f1; git ls-files --stage -- f1; git cat-file -s $(git rev-parse :f1); git diff --no-color; git diff --name-status -z --diff-filter=ADMR; git diff-index --name-status -z HEAD; git ls-tree -l HEAD -- f1; git check-ignore -v -z --stdin </dev/null; git merge-base main side; git rev-list --left-right main...side; git stash list -z --format='%H%n%P%n%gd: %gs'",
    "git add -A -- new; git add -A -- .; git reset -q HEAD -- new; git reset -q -- .; git checkout -q -- f1; git clean -f -q -- new; git clean -f -q -- many; git status -z -uall",
    "git checkout -q --no-track -b topic main; echo t >>f1; git -c user.useConfigOnly=true commit --quiet --allow-empty-message -m t -a; git checkout -q main; git checkout -q --detach v1; git checkout -q main; git checkout --progress --track origin/other 2>&1; git branch -d topic; git branch -D topic",
    "git fetch; git fetch --all --prune; git pull --tags origin main; git log --format='%H%n%aN%n%aE%n%at%n%ct%n%P%n%D%n%B' -z --shortstat --diff-merges=first-parent -n2 --skip=0 --topo-order --decorate=full --stdin </dev/null; git worktree list --porcelain; git ls-files -z --others --exclude-standard; git rev-parse --verify -q HEAD@{1}",
    "echo x >>f1; git stash push; git stash show -p; git stash pop stash@{0}; git checkout -f main; git checkout -q -; git switch -q main; git restore --staged --worktree f1; git status",
];

/// Cargo, Go, npm, pip and nix: fetching sources.
const PACKAGES: &[&str] = &[
    // cargo, net.git-fetch-with-cli
    "git init -q --bare db; git -C db fetch --no-tags --verbose --force --update-head-ok file://$PLACE/up '+refs/heads/main:refs/remotes/origin/main' '+HEAD:refs/remotes/origin/HEAD'; git -C db fetch --tags --force --update-head-ok file://$PLACE/up '+refs/heads/*:refs/remotes/origin/*' '+HEAD:refs/remotes/origin/HEAD'",
    "git clone --quiet --no-checkout db co 2>/dev/null; git clone -q --local --no-checkout file://$PLACE/up co; cd co; git reset --hard $(git rev-parse origin/main); git submodule update --init --recursive",
    // go
    "git init -q --bare go; cd go; git config --local --replace-all remote.origin.url file://$PLACE/up; git remote add origin -- file://$PLACE/up; git config --get-all remote.origin.url; git ls-remote -q origin; git tag -l; git -c protocol.version=2 fetch -f --depth=1 origin refs/tags/v1:refs/tags/v1; git -c log.showsignature=false log --no-decorate -n1 '--format=format:%H %ct %D' refs/tags/v1 --; git cat-file blob refs/tags/v1:f1",
    "cd go; git -c core.autocrlf=input -c core.eol=lf archive --format=zip --prefix=prefix/ refs/tags/v1 >../go.zip; git -c core.autocrlf=input -c core.eol=lf archive --format=tar --prefix=prefix/ refs/tags/v1 | tar t; git fetch -f origin 'refs/heads/*:refs/heads/*' 'refs/tags/*:refs/tags/*' --unshallow; git merge-base --is-ancestor refs/tags/v1 main; git for-each-ref --format '%(objecttype)%09%(refname)'; git describe --first-parent --always --abbrev=0 --match 'v*' --tags main; rm ../go.zip",
    // npm
    "git clone file://$PLACE/up npm1 --recurse-submodules --depth=1 2>&1; git clone --mirror -q file://$PLACE/up npm2; git ls-remote file://$PLACE/up; mkdir npm3; cd npm3; git init; git remote add origin file://$PLACE/up; git fetch origin refs/heads/side:refs/heads/side --depth=1; git checkout side; git submodule update -q --init --recursive; git rev-parse --revs-only HEAD",
    // pip
    "git clone --filter=blob:none --quiet file://$PLACE/up pip; cd pip; git rev-parse --verify HEAD; git show-ref side; git rev-parse HEAD; git checkout -q $(git rev-parse origin/side); git checkout -b other2 --track origin/other; git submodule update --init --recursive -q; git config --get-regexp 'remote\\..*\\.url'; git fetch -q --tags; git reset --hard -q v1",
    // nix
    "git -c init.defaultBranch=main init --bare nix; git -C nix fetch --quiet --force -- file://$PLACE/up refs/heads/main:refs/heads/main; git -C nix rev-parse main; mkdir n; cd n; git init -q; git remote add origin file://$PLACE/up; git fetch --depth=1 origin $(git -C $PLACE/up rev-parse side); git checkout -b fetchgit FETCH_HEAD; git submodule init; git submodule status; git clean -xdfq; git status",
    // git-annex and magit: literal pathspecs, no pager, plumbing
    "git --literal-pathspecs ls-files --stage -z -- .; git --literal-pathspecs -c annex.x=y ls-files -z --modified -- f1; git --no-pager --literal-pathspecs -c core.preloadindex=true -c log.showSignature=false -c color.ui=false -c color.diff=false status -z --porcelain; git --no-pager --literal-pathspecs -c core.preloadindex=true ls-files --others --exclude-standard --directory; git --literal-pathspecs checkout-index -f -- f1; git --no-pager --no-optional-locks -c core.preloadindex=true diff --no-prefix",
    "echo main | git --literal-pathspecs cat-file --batch-check='%(objectname) %(objecttype) %(objectsize)' --buffer; git --literal-pathspecs diff-index --raw -z -r --no-renames -l0 --cached HEAD --; git --literal-pathspecs diff-files --name-only -z; git --literal-pathspecs reset -q HEAD -- '*.o'; git -c core.bare=false --git-dir=.git --work-tree=. status -s",
];

/// git-lfs: what it asks with its own filters switched off.
const LFS: &[&str] = &[
    "git version; git rev-parse --is-bare-repository; git config --includes -l --blob HEAD:.lfsconfig; git config --includes -l --blob :.lfsconfig; git config --includes --local lfs.repositoryformatversion",
    "o='-c filter.lfs.smudge= -c filter.lfs.clean= -c filter.lfs.process= -c filter.lfs.required=false'; git $o rev-parse --git-dir --show-toplevel; git $o rev-parse --git-common-dir; git $o rev-parse HEAD --symbolic-full-name HEAD; git $o rev-parse refs/remotes/origin/main --symbolic-full-name refs/remotes/origin/main; git $o remote",
    "o='-c filter.lfs.smudge= -c filter.lfs.clean= -c filter.lfs.process= -c filter.lfs.required=false'; git $o ls-tree -r -l -z --full-tree HEAD; git $o show-ref; git $o for-each-ref '--format=%(objectname)%00%(refname)'; git $o for-each-ref --sort=-committerdate '--format=%(refname) %(objectname) %(committerdate:iso)' refs",
    "o='-c filter.lfs.smudge= -c filter.lfs.clean= -c filter.lfs.process= -c filter.lfs.required=false'; git rev-parse main | git $o rev-list --objects --do-walk --stdin --; printf 'main\n^main~1\n' | git $o rev-list --objects --do-walk --stdin --; git rev-parse main side | git $o rev-list --objects --no-walk --stdin --; git rev-parse main side | git $o rev-list --no-walk --stdin --",
    "o='-c filter.lfs.smudge= -c filter.lfs.clean= -c filter.lfs.process= -c filter.lfs.required=false'; printf 'main\n^side\n' | git $o rev-list --objects --ignore-missing --stdin --; printf 'main\nno-such\n' | git $o rev-list --objects --ignore-missing --stdin --; printf 'main\nside\n' | git $o rev-list --reverse --topo-order --do-walk --stdin --; printf '%s\n--\nf1\n' main | git $o rev-list --stdin --",
    "o='-c filter.lfs.smudge= -c filter.lfs.clean= -c filter.lfs.process= -c filter.lfs.required=false'; git rev-list --objects main | cut -c1-40 | git $o cat-file --batch-check; git rev-list --objects main | cut -c1-40 | git $o cat-file --batch; (git rev-parse main:f1; echo 0123456789012345678901234567890123456789) | git $o cat-file --batch-check",
    "echo x >>f1; echo n >new; echo y >d1/a; git add d1/a; git update-index -q --refresh; git diff-index -M HEAD; git diff-index -M --cached HEAD; git status --porcelain; git -c filter.lfs.smudge= -c filter.lfs.clean= -c filter.lfs.process= -c filter.lfs.required=false ls-files -z --cached --sparse --exclude-standard --others",
    "printf 'f1\nd1/b\n' | git update-index -q --refresh --stdin; touch -d 2001-01-01 d1/b d2/deep/c; printf 'd1/b\nd2/deep/c\nno-such\n' | git update-index -q --refresh --stdin; git diff-files; git log -g --format=%h refs/stash --; git stash -q; git log -g --format=%h refs/stash --; git stash pop -q; git status -s",
    "git -c filter.lfs.smudge= -c filter.lfs.clean= -c filter.lfs.process= -c filter.lfs.required=false checkout --force; git status -s; git -c filter.lfs.smudge= -c filter.lfs.clean= -c filter.lfs.process= -c filter.lfs.required=false update-ref refs/heads/main main~1; git -c filter.lfs.smudge= -c filter.lfs.clean= -c filter.lfs.process= -c filter.lfs.required=false checkout --force; git status -s; git ls-files -t",
];

/// Jujutsu in a repository that it shares with git: references that keep its commits, a detached
/// `HEAD`, and a second index beside.
const JUJUTSU: &[&str] = &[
    "git -c core.fsmonitor=false -c submodule.recurse=false --git-dir $PLACE/work/.git fetch --porcelain --prune --no-write-fetch-head --progress --no-tags -- origin +refs/heads/*:refs/remotes/origin/* '^refs/heads/other' 2>/dev/null; git for-each-ref",
    "git -c core.fsmonitor=false -c submodule.recurse=false --git-dir $PLACE/work/.git remote show -- origin; git -c core.fsmonitor=false -c submodule.recurse=false --git-dir $PLACE/work/.git branch --remotes --delete -- origin/side; git branch -a",
    "git update-ref refs/jj/keep/$(git rev-parse HEAD) HEAD; git checkout -q --detach; git status; git status -s -b; git log --oneline --decorate -2; git stash list",
    "echo n >new; git add -N new; git diff --stat; git status -s; git rev-parse --verify HEAD; tree=$(git ls-tree HEAD | git mktree); c=$(git commit-tree $tree -p HEAD -m ''); git update-ref refs/jj/keep/$c $c; git update-ref --no-deref HEAD $c; git status -s; git checkout -q main; git status -s",
    "git read-tree --reset HEAD; git status -s; git update-index -q --refresh; git checkout -q --detach side; git switch -q -; git gc -q; git fsck --no-dangling; git rev-list --all --count; git rev-list --objects --all --count",
    "git clone -q --bare file://$PLACE/up store; git -c core.fsmonitor=false -c submodule.recurse=false --git-dir $PLACE/work/store fetch --porcelain --prune --no-write-fetch-head --depth=1 --no-tags -- origin +refs/heads/main:refs/remotes/origin/main; git --git-dir $PLACE/work/store rev-list --objects refs/remotes/origin/main; git --git-dir $PLACE/work/store cat-file -s main:f1",
    "echo t >>f1; git commit -qam t; git -c core.fsmonitor=false -c submodule.recurse=false --git-dir $PLACE/work/.git push --porcelain --no-verify --force-with-lease=refs/heads/jj:  -- origin main:refs/heads/jj 2>&1; git -C $PLACE/up rev-parse jj; git status -sb",
];

/// Buildkite's agent: with a mirror and without, whole and sparse, and in the same directory again.
const BUILDKITE: &[&str] = &[
    "mkdir bk; cd bk; git clone -v -- file://$PLACE/up . 2>&1; test -f .gitmodules && git submodule foreach --recursive 'git clean -ffxdq'; git clean -ffxdq",
    "cd bk; git fetch -v --prune -- origin $(git -C $PLACE/up rev-parse main) 2>&1; git rev-parse FETCH_HEAD; git cat-file commit FETCH_HEAD; git config --get core.sparseCheckout; git config --worktree --list; git config --unset extensions.worktreeConfig",
    "cd bk; git -c advice.detachedHead=false checkout -f $(git -C $PLACE/up rev-parse main); git submodule sync --recursive; git config --file .gitmodules --null --get-regexp 'submodule\\..+\\.url'; git submodule update --init --recursive --force; git submodule foreach --recursive 'git reset --hard'; git clean -ffxdq",
    "cd bk; git --no-pager log -1 HEAD -s --no-color '--format=commit %H%nabbrev-commit %h%nAuthor: %an <%ae>%n%n%w(0,4,4)%B'; git status --porcelain; git ls-files -t -z",
    "cd bk; mkdir -p target/x; echo o >target/x/o; echo x >>f1; rm d1/a; git init -q nested; touch f.o; ln -sf d1 link; echo z >sub/z; git -C sub rm -q s",
    "cd bk; git config --get-all remote.origin.url; git remote set-url origin file://$PLACE/up; git submodule foreach --recursive 'git clean -ffxdq'; git clean -ffxdq; git fetch -v --prune -- origin side 2>&1; git -c advice.detachedHead=false checkout -f FETCH_HEAD; git submodule update --init --recursive --force; git submodule foreach --recursive 'git reset --hard'; git status --porcelain",
    "cd bk; git sparse-checkout set --cone -- d2; git -c advice.detachedHead=false checkout -f $(git -C $PLACE/up rev-parse main); ls; git ls-files -t -z; git sparse-checkout set --no-cone -- /d1/ f1; git -c advice.detachedHead=false checkout -f $(git -C $PLACE/up rev-parse other); ls; git sparse-checkout disable; git status --porcelain",
    "git clone --mirror -v -- file://$PLACE/up mirror 2>&1; git --git-dir $PLACE/work/mirror rev-parse $(git -C $PLACE/up rev-parse main)^{commit}; git --git-dir $PLACE/work/mirror fetch --no-tags -- origin +refs/heads/side:refs/heads/side 2>&1; git --git-dir $PLACE/work/mirror fsck",
    "mkdir bm; cd bm; git clone -v --reference $PLACE/work/mirror -- file://$PLACE/up . 2>&1; git fetch -v --prune -- origin $(git -C $PLACE/up rev-parse main) 2>&1; git -c advice.detachedHead=false checkout -f FETCH_HEAD; git submodule update --init --recursive --force --reference $PLACE/library; git status --porcelain",
    "mkdir bd; cd bd; git clone -v --reference $PLACE/work/mirror --dissociate -- file://$PLACE/up . 2>&1; git -c advice.detachedHead=false checkout -f --recurse-submodules other; git status --porcelain; git count-objects -v | grep alternate",
    "mkdir bs; cd bs; git clone -v --sparse --filter=blob:none -- file://$PLACE/up . 2>&1; git fetch -v --prune --filter=blob:none -- origin main 2>&1; git sparse-checkout set --cone -- d1; git -c advice.detachedHead=false checkout -f FETCH_HEAD; ls; git ls-files -t -z; git clean -ffxdq; git status --porcelain",
];

#[test]
fn github() {
    replay(GITHUB);
}

/// The first checkout after `init` and `fetch`.
#[test]
fn a_branch_that_is_not_born() {
    let words = ["-b main", "-B main", "-b other", "-B other"];
    let steps = words.map(|words| {
        format!("git init -q x; cd x; git fetch -q file://$PLACE/up; git checkout {words} FETCH_HEAD; git symbolic-ref HEAD; rm -rf ../x")
    });
    replay(&steps.each_ref().map(String::as_str));
}

#[test]
fn gitlab() {
    replay(GITLAB);
}

#[test]
fn jenkins() {
    replay(JENKINS);
}

#[test]
fn buildkite() {
    replay(BUILDKITE);
}

#[test]
fn pre_commit() {
    replay(PRE_COMMIT);
}

#[test]
fn vs_code() {
    replay(VS_CODE);
}

#[test]
fn git_lfs() {
    replay(LFS);
}

#[test]
fn jujutsu() {
    replay(JUJUTSU);
}

#[test]
fn packages() {
    replay(PACKAGES);
}

pub fn replay(steps: &[&str]) {
    let twins = &mut Twins::new(make);
    twins.trees = vec![
        "work",
        "work/job",
        "work/job/sub",
        "work/build",
        "work/ws",
        "work/bk",
        "work/bk/sub",
        "work/bm",
        "work/bd",
        "work/bs",
        "work/r",
        "work/co",
        "work/pip",
    ];
    let mut found = Vec::new();
    for step in steps {
        let difference = twins.script(step);
        if !difference.is_none() {
            found.push(difference.to_string());
            twins.make_alike();
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn make(place: &Path) {
    let config = "[core]\n\tfsync = none\n\tcheckStat = minimal\n\ttrustctime = false\n[init]\n\tdefaultBranch = main\n\
                  [user]\n\tname = a\n\temail = a@b\n[protocol \"file\"]\n\tallow = always\n[gc]\n\tauto = 0\n\
                  [maintenance]\n\tauto = false\n[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n";
    std::fs::write(place.join("config"), config).unwrap();
    let script = "set -e
        git init -q library; cd library; echo s >s; git add s; git commit -qm s; cd ..
        git init -q up; cd up; mkdir -p d1 d2/deep; echo one >f1; echo a >d1/a; seq 20 >d1/b; echo c >d2/deep/c
        echo '*.o' >.gitignore; git add .; git commit -qm one; git tag v1; git submodule -q add ../library sub; git commit -qm sub
        git checkout -q -b side; echo more >>f1; git commit -qam side; git checkout -q -b other main; echo o >d1/a; git commit -qam other
        git checkout -q main; seq 2 21 >d1/b; git commit -qam three; cd ..; git clone -q up work; cd work
        git submodule -q update --init; git branch side origin/side";
    let mut shell = isolated("sh");
    shell.current_dir(place).arg("-c").arg(script);
    hedgerow_testkit::use_global_config(&mut shell, place.join("config"));
    run(shell).ok("the repositories are made");
}
