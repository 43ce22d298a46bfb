"""Images of virtual machines' disks: ext4 file systems that hold Debian, by release, package set and state of updates.

debootstrap makes a root once for each release, which is kept. An image's packages are installed into a copy of it, and the file system is
made of that copy. A sixteenth of its size is free.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from experiments import sizes
from experiments.datasets.apt import RELEASES, Apt, mirrors, source_line
from experiments.datasets.base import Failed, Generator, Planned, numbered
from experiments.datasets.tools import need_root, remove, run

MIB = 1 << 20
ROOT_BYTES = 190 * MIB  # approximate size of an image without further packages

# Packages installed beyond the root, and approximately the bytes that they add. Sets too large for the share of one image are not drawn.
PACKAGE_SETS = {
    "bare": ([], 0),
    "login": (["openssh-server", "sudo"], 12 * MIB),
    "web": (["nginx-light"], 12 * MIB),
    "mail": (["postfix"], 16 * MIB),
    "names": (["bind9"], 30 * MIB),
    "python": (["python3", "python3-requests"], 40 * MIB),
    "php": (["php-cli", "php-sqlite3"], 40 * MIB),
    "files": (["samba"], 170 * MIB),
    "database": (["postgresql"], 200 * MIB),
    "mariadb": (["mariadb-server"], 250 * MIB),
    "build": (["build-essential", "git"], 350 * MIB),
    "desktop": (["xfce4", "xserver-xorg-core"], 900 * MIB),
}
STATES = ("released", "updated")
BLOCK = 4096
INODE_BYTES = 256
JOURNAL_MIB = 4
FIXED_TIME = 1_767_225_600  # 2026-01-01, for all files that are younger
CHROOT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Images(Generator):
    notes = f"File systems of {BLOCK}-byte blocks, a sixteenth of each free. The mirror's state on the day it was made decides about updates."
    programs = {"debootstrap": ("debootstrap", "--version"), "mke2fs": ("mke2fs", "-V")}

    def plan(self) -> Iterator[Planned]:
        self._check()
        apt = Apt(self.job.cache / "apt-images", "deb", RELEASES)
        apt.update(self.job.log)
        releases = [release for release in RELEASES if apt.has(release)]
        fitting = [name for name, (_, added) in PACKAGE_SETS.items() if ROOT_BYTES + added <= self.job.share * 5 // 4]
        kinds = list(product(releases, fitting, STATES))
        count = self.job.version_count
        if count > len(kinds):
            raise Failed(f"there are {len(kinds)} different images of about {sizes.rounded(self.job.share)}, and {count} were asked for")
        drawn = set(self.job.draws("kinds").sample(kinds, count))
        for index, (release, packages, state) in enumerate(kind for kind in kinds if kind in drawn):
            made_from = f"debootstrap of {release} {state}, with {' '.join(PACKAGE_SETS[packages][0]) or 'nothing else'}"
            yield numbered(index, f"{release}-{packages}-{state}", ".ext4", made_from, release=release, set=packages, state=state)

    def make(self, planned: Planned, target: Path, former: Path | None) -> None:
        self._check()
        facts, root = planned.facts, self.job.work / "root"
        base = self._base(facts["release"])
        root.mkdir()
        run(f"unpacking {base.name}", ["tar", "--extract", "--numeric-owner", "--file", base, "--directory", root])
        self._install(root, facts["release"], PACKAGE_SETS[facts["set"]][0], facts["state"] == "updated")
        _clean(root)
        self._write(root, target, planned.name)

    def _check(self) -> None:
        need_root(self.job.name, "debootstrap makes device files and changes its root")

    def _base(self, release: str) -> Path:
        """The root of a release as a tar, which is kept."""
        archive = self.job.cache / "images" / f"{release}.tar"
        if not archive.exists():
            archive.parent.mkdir(exist_ok=True)
            self.job.log(f"debootstrap of {release}")
            mirror, root = mirrors()[0], self.job.work / "base"
            secure = ["--include=ca-certificates"] if mirror.startswith("https:") else []
            run(f"debootstrap of {release}", [*_isolated(), "debootstrap", "--foreign", "--variant=minbase", *secure, release, root, mirror])
            settings = root / "etc/dpkg/dpkg.cfg.d"
            settings.mkdir(parents=True, exist_ok=True)
            (settings / "fast").write_text("force-unsafe-io\n")
            run(f"debootstrap of {release}, second stage", _inside(root, "/debootstrap/debootstrap", "--second-stage"))
            new = archive.with_suffix(".new")
            run(f"keeping {archive.name}", ["tar", "--create", "--sort=name", "--numeric-owner", "--file", new, "--directory", root, "."])
            new.rename(archive)
            remove(root)
        return archive

    def _install(self, root: Path, release: str, packages: list[str], updated: bool) -> None:
        mirror, security = mirrors()
        suites = [release, f"{release}-updates", f"{release}-security"] if updated else [release]
        lines = [source_line("deb", suite, mirror, security, keyring=None) for suite in suites]
        (root / "etc/apt/sources.list").write_text("".join(f"{line}\n" for line in lines))
        refuse = root / "usr/sbin/policy-rc.d"
        refuse.write_text("#!/bin/sh\nexit 101\n")  # so that no service starts
        refuse.chmod(0o755)
        for name in ("resolv.conf", "hosts"):
            if Path("/etc", name).exists():
                shutil.copyfile(Path("/etc", name), root / "etc" / name)
        apt = ["apt-get", "-q", "-y", "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=3", "-o", "Acquire::Languages=none", "-o", "Acquire::Check-Valid-Until=false", "--no-install-recommends"]
        run(f"fetching the lists of {release}", _inside(root, *apt, "update"))
        if updated:
            run(f"updating {release}", _inside(root, *apt, "dist-upgrade"))
        if packages:
            run(f"installing {' '.join(packages)} in {release}", _inside(root, *apt, "install", *packages))
        run("cleaning apt's cache", _inside(root, "apt-get", "clean"))
        refuse.unlink()
        (root / "etc/dpkg/dpkg.cfg.d/fast").unlink()

    def _write(self, root: Path, target: Path, name: str) -> None:
        blocks = count = 0
        for folder, folders, names in os.walk(root):
            for child in (*folders, *names):
                status = os.lstat(os.path.join(folder, child))
                count += 1
                blocks += (status.st_size + BLOCK - 1) // BLOCK
                if status.st_mtime > FIXED_TIME:
                    os.utime(os.path.join(folder, child), (FIXED_TIME, FIXED_TIME), follow_symlinks=False)
        inodes = count * 9 // 8
        needed = (blocks * BLOCK + inodes * INODE_BYTES) * 16 // 15 + 2 * JOURNAL_MIB * MIB
        identity = "00000000-0000-4000-8000-" + f"{self.job.draws(name).randrange(1 << 48):012x}"
        run(
            f"making the file system of {name}",
            ["mke2fs", "-q", "-F", "-t", "ext4", "-b", BLOCK, "-I", INODE_BYTES, "-N", inodes, "-m", 0, "-J", f"size={JOURNAL_MIB}",
             "-U", identity, "-E", f"hash_seed={identity},lazy_itable_init=0", "-L", "root", "-d", root, target, f"{needed // BLOCK}"],
            env=os.environ | {"E2FSPROGS_FAKE_TIME": str(FIXED_TIME)},
        )


def _isolated() -> list[str]:
    """The words that run a program with mounts of its own and end its children with it, or none if the machine forbids that."""
    words = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    tried = subprocess.run([*words, "true"], stdin=subprocess.DEVNULL, capture_output=True)
    return words if tried.returncode == 0 else []


def _inside(root: Path, *words: str) -> list[str | Path]:
    return [*_isolated(), "env", f"PATH={CHROOT_PATH}", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", "chroot", root, *words]


def _clean(root: Path) -> None:
    """Removes files that depend on the day and the machine on which the root was made."""
    for pattern in ("var/lib/apt/lists/*", "var/cache/apt/*.bin", "var/log/*.log", "var/log/apt/*", "etc/resolv.conf", "etc/hosts", "debootstrap", "tmp/*"):
        for path in root.glob(pattern):
            remove(path)
    machine = root / "etc/machine-id"
    if machine.exists():
        machine.write_text("")
