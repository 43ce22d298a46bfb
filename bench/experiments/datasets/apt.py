"""Fetches Debian's packages and sources of any release by apt, with a state folder of its own. The machine's packages and settings do not change."""

import os
import re
from collections.abc import Callable
from pathlib import Path

from experiments.datasets.base import Failed
from experiments.datasets.tools import run

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")

# Oldest first. Releases that a mirror lacks are left out.
RELEASES = ("bullseye", "bookworm", "trixie")
SUITES = tuple(f"{release}{pocket}" for release in RELEASES for pocket in ("", "-updates", "-backports", "-security")) + ("forky", "sid")


def mirrors() -> tuple[str, str]:
    """The addresses from which this machine's apt gets Debian and its security updates."""
    lines = run("asking apt for its sources", ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)"]).decode().splitlines()
    targets = [line.split() for line in lines if re.search(rf" ({'|'.join(SUITES)}|stable|oldstable)", line)]
    main = [uri for uri, suite in targets if not suite.endswith("-security")]
    security = [uri for uri, suite in targets if suite.endswith("-security")]
    if not main:
        raise Failed("this machine's apt has no Debian among its sources, and the set is made of Debian's packages")
    return main[0], (security or main)[0]


def source_line(kind: str, suite: str, mirror: str, security: str, keyring: Path | None = KEYRING) -> str:
    """A line of sources.list. Without a keyring, apt uses its own."""
    signed = f"[signed-by={keyring}] " if keyring and keyring.exists() else ""
    return f"{kind} {signed}{security if suite.endswith('-security') else mirror} {suite} main"


class Gone(Failed):
    """The lists have the package, but the mirror does not."""


class Apt:
    """apt-get and apt-cache as on a machine with these suites and no installed packages. Their state is in a folder."""

    def __init__(self, folder: Path, kind: str, suites: tuple[str, ...], archives: Path | None = None):
        self.folder, self.suites = folder, suites
        archives = archives or folder / "archives"
        for path in (folder / "lists/partial", folder / "cache", folder / "parts", archives / "partial"):
            path.mkdir(parents=True, exist_ok=True)
        mirror, security = mirrors()
        (folder / "sources.list").write_text("".join(source_line(kind, suite, mirror, security) + "\n" for suite in suites))
        (folder / "status").touch()
        (folder / "apt.conf").write_text(
            "".join(
                f'{key} "{value}";\n'
                for key, value in {
                    "Dir::State": folder,
                    "Dir::State::status": folder / "status",
                    "Dir::Cache": folder / "cache",
                    "Dir::Cache::archives": archives,
                    "Dir::Etc::sourcelist": folder / "sources.list",
                    "Dir::Etc::sourceparts": folder / "parts",
                    "Dir::Bin::dpkg": "/bin/false",  # so that it never installs
                    "APT::Sandbox::User": "",
                    "APT::Install-Recommends": "false",
                    "Acquire::Languages": "none",
                    "Acquire::GzipIndexes": "true",
                    "Acquire::Retries": 3,
                    "Debug::NoLocking": 1,
                    "Acquire::Check-Valid-Until": "false",  # for releases that are no longer updated
                    "APT::Keep-Downloaded-Packages": "true",
                }.items()
            )
        )
        self.environment = os.environ | {"APT_CONFIG": str(folder / "apt.conf"), "LC_ALL": "C"}

    def ask(self, what: str, program: str, *words: str, cwd: Path | None = None) -> str:
        """Runs apt-get or apt-cache. Some images of Debian forbid caches in a file that is read after ours, so options set them."""
        caches = ("-o", "Dir::Cache::pkgcache=pkgcache.bin", "-o", "Dir::Cache::srcpkgcache=srcpkgcache.bin")
        return run(what, [program, *caches, *words], env=self.environment, cwd=cwd).decode(errors="replace")

    def update(self, log: Callable[[str], None]) -> None:
        """Fetches the lists, without suites that the mirror lacks. Raises Failed if it has none of them."""
        reason = "no reason is said"
        try:
            self.ask("apt-get update", "apt-get", "update", "--error-on=any")
        except Failed as failed:
            reason = str(failed)
        missing = [suite for suite in self.suites if not self.has(suite)]
        if len(missing) == len(self.suites):
            raise Failed(f"no list of Debian packages can be had: {reason}")
        if missing:
            log(f"going on without {', '.join(missing)}, which the mirror does not have")

    def has(self, suite: str) -> bool:
        """Whether the mirror has that suite, according to the lists."""
        return any((self.folder / "lists").glob(f"*_dists_{suite}_*Release"))

    def installed_bytes(self, packages: list[str]) -> int:
        """Approximate bytes on disk of the packages and their dependencies."""
        listing = self.ask(f"asking apt about {packages[-1]}", "apt-get", "install", "--print-uris", "--assume-yes", *packages)
        match = re.search(r"After this operation, ([\d.,]+) ([kMG]?)B of additional", listing)
        return int(float(match[1].replace(",", "")) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[match[2]]) if match else 0

    def files_of(self, packages: list[str]) -> list[str]:
        """The names of the package files that `fetch` stores: the packages and their dependencies."""
        nothing = f"Dir::Cache::archives={self.folder / 'nothing'}"  # else apt would not name packages that are fetched already
        listing = self.ask(f"asking apt about {packages[-1]}", "apt-get", "install", "--print-uris", "--assume-yes", "-o", nothing, *packages)
        return re.findall(r"^'[^']+' (\S+\.deb) \d+", listing, re.MULTILINE)

    def fetch(self, packages: list[str]) -> None:
        """Fetches the packages and their dependencies."""
        self.ask(f"fetching {packages[-1]}", "apt-get", "install", "--download-only", "--assume-yes", *packages)

    def fetch_one(self, package: str, folder: Path) -> str:
        """Fetches a package without its dependencies into a folder, and returns the name of its file."""
        name = self.ask(f"asking apt about {package}", "apt-get", "download", "--print-uris", package).split()[1]
        self.ask(f"fetching {package}", "apt-get", "download", package, cwd=folder)
        return name

    def source_versions(self, package: str) -> list[str]:
        """Versions of a source package, empty if the package does not exist."""
        try:
            text = self.ask(f"looking for the source package {package}", "apt-cache", "showsrc", "--only-source", package)
        except Failed:
            return []
        return sorted(set(re.findall(rf"^Package: {re.escape(package)}\n(?:.*\n)*?Version: (\S+)", text, re.MULTILINE)))

    def fetch_source(self, package: str, version: str, folder: Path) -> None:
        """Fetches the upstream tar of a source package into a folder. An existing file is checked and kept."""
        folder.mkdir(parents=True, exist_ok=True)
        try:
            self.ask(f"fetching the source package {package} {version}", "apt-get", "source", "--download-only", "--tar-only", f"{package}={version}", cwd=folder)
        except Failed as failed:
            raise (Gone(*failed.args) if "404" in str(failed) else failed) from None
