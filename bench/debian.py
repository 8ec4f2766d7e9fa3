"""Programs of Debian's unstable release, unpacked beside the installed ones: the newest that can be
had. Nothing is installed; they run with the libraries that came with them."""

import os
import platform
import shutil
import subprocess

from contenders import TARGET

ROOT = TARGET / "contenders" / "debian"
# In it: what was unpacked.
PACKAGES = "packages"
SUITE = "sid"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
LOADER = ROOT / "usr" / "lib64" / "ld-linux-x86-64.so.2"
LIBRARIES = ROOT / "usr" / "lib" / "x86_64-linux-gnu"


def program(name):
    """The words that start it; None if it was not unpacked."""
    path = ROOT / "usr" / "bin" / name
    if not path.exists():
        return None
    # By the loader itself: a shell around it would be measured too.
    return [str(LOADER), "--library-path", str(LIBRARIES), "--argv0", name, str(path)]


def unpack(packages):
    """Downloads packages and all that they need, unless that was done before. Whether they are
    there."""
    if _unpacked() >= set(packages):
        return True
    has_tools = all(shutil.which(tool) for tool in ("apt-get", "dpkg-deb"))
    if platform.machine() != "x86_64" or not has_tools or not os.path.exists(KEYRING):
        return False
    mirror = _mirror()
    if mirror is None:
        return False
    work = ROOT.with_name("debian.partial")
    shutil.rmtree(work, ignore_errors=True)
    print(f"unpacking {' '.join(packages)} of Debian {SUITE} to {ROOT} ...", flush=True)
    try:
        archives = _download(packages, mirror, work / "apt")
        for archive in archives:
            subprocess.run(["dpkg-deb", "-x", str(archive), str(work / "root")], check=True)
        if not archives:
            return False
        (work / "root" / PACKAGES).write_text("\n".join(packages))
        shutil.rmtree(ROOT, ignore_errors=True)
        (work / "root").rename(ROOT)
    except subprocess.CalledProcessError as error:
        print(f"failed: {error}", flush=True)
        return False
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return True


def _unpacked():
    """The packages that were asked for when it was made."""
    listed = ROOT / PACKAGES
    return set(listed.read_text().split()) if listed.exists() else set()


def _mirror():
    """The archive of Debian's releases that apt is configured with; None without one."""
    words = ["apt-get", "indextargets", "--format", "$(ORIGIN) $(CODENAME) $(REPO_URI)",
             "Created-By: Packages"]
    listed = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    for line in sorted(listed.splitlines()):
        origin, _, rest = line.partition(" ")
        codename, _, uri = rest.partition(" ")
        # Suites like NAME-security and NAME-updates have no unstable release beside them.
        if origin == "Debian" and "-" not in codename and uri:
            return uri
    return None


def _download(packages, mirror, at):
    """With lists and a status of its own, so that the system's are not touched."""
    for directory in ("lists/partial", "cache/archives/partial"):
        (at / directory).mkdir(parents=True)
    (at / "status").touch()
    (at / "sources.list").write_text(f"deb [signed-by={KEYRING}] {mirror} {SUITE} main\n")
    settings = {
        "Dir::Etc::sourcelist": at / "sources.list",
        "Dir::Etc::sourceparts": "-",
        "Dir::State::lists": at / "lists",
        "Dir::State::status": at / "status",
        "Dir::Cache": at / "cache",
        "APT::Architecture": "amd64",
        "Acquire::Languages": "none",
        "Debug::NoLocking": "true",
    }
    options = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
    for words in (["update"], ["install", "-y", "--download-only", "--no-install-recommends",
                               *packages]):
        subprocess.run(["apt-get", "-qq", *options, *words], stdout=subprocess.DEVNULL, check=True)
    return sorted((at / "cache" / "archives").glob("*.deb"))
