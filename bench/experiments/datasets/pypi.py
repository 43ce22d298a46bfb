"""Fetches files of packages from pip's index, by the simple interface (PEP 503).

pip is asked only for the address of its index, since it would build an sdist to learn its dependencies.
"""

import html
import re
import ssl
import sys
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from experiments.datasets.base import Failed
from experiments.datasets.tools import run, sha256_of

TRIES = 3
SECONDS = 180  # longest wait for a byte
BLOCK = 1 << 20

# The index of a pip without configuration, and the kinds of settings, the strongest first.
ASK_DEFAULT = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
SETTINGS = (":env:", "install", "site", "user", "global")


@dataclass(frozen=True)
class File:
    """A file of a release."""

    name: str
    link: str
    sha256: str


class Index:
    """The index of this machine's pip."""

    def __init__(self):
        pip = [sys.executable, "-m", "pip"]
        settings = {}
        for line in run("asking pip for its settings", [*pip, "config", "list"]).decode().splitlines():
            key, _, value = line.partition("=")
            settings[key] = value.strip("'\"")
        url = self._setting(settings, "index-url")
        self.url = (url or run("asking pip for its index", [sys.executable, "-c", ASK_DEFAULT]).decode().strip()).rstrip("/")
        certificates = self._setting(settings, "cert")
        self._context = ssl.create_default_context(cafile=certificates) if certificates else ssl.create_default_context()

    @staticmethod
    def _setting(settings: dict[str, str], name: str) -> str | None:
        return next((settings[key] for prefix in SETTINGS for key in (f"{prefix}.{name}",) if key in settings), None)

    def files(self, package: str) -> list[File]:
        """All files of a package that have a checksum."""
        page = f"{self.url}/{package}/"
        with self._open(page) as answer:
            text = answer.read().decode(errors="replace")
        files = []
        for link, name in re.findall(r'<a\b[^>]*\bhref="([^"]+)"[^>]*>\s*([^<]+?)\s*</a>', text):
            target, _, digest = html.unescape(link).partition("#")
            if digest.startswith("sha256="):
                files.append(File(html.unescape(name), urllib.parse.urljoin(page, target), digest.removeprefix("sha256=")))
        return files

    def fetch(self, file: File, folder: Path) -> Path:
        """Fetches a file into a folder. A complete one is kept."""
        path = folder / file.name
        if path.exists() and sha256_of(path) == file.sha256:
            return path
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(path.name + ".part")
        with self._open(file.link) as answer, unfinished.open("wb") as to:
            try:
                while block := answer.read(BLOCK):
                    to.write(block)
            except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
                raise Failed(f"fetching {file.name} from the Python package index failed: {error}") from None
        if sha256_of(unfinished) != file.sha256:
            unfinished.unlink()
            raise Failed(f"{file.name} from the Python package index has another checksum than in the index; try again")
        unfinished.rename(path)
        return path

    def _open(self, link: str):
        asked = urllib.request.Request(link, headers={"Accept": "text/html, */*", "User-Agent": "cutpoint-datasets"})
        what = link.rstrip("/").rpartition("/")[2]
        for left in reversed(range(TRIES)):
            try:
                return urllib.request.urlopen(asked, timeout=SECONDS, context=self._context)
            except urllib.error.HTTPError as error:
                if error.code < 500 or not left:
                    raise Failed(f"fetching {what} from the Python package index failed: {error.code} {error.reason}") from None
            except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
                if not left:
                    raise Failed(f"fetching {what} from the Python package index failed: {getattr(error, 'reason', error)}") from None
        raise AssertionError("not reached")


def release_of(name: str, package: str) -> str | None:
    """The release of an sdist or a wheel, or None if it is not a final release of this package."""
    match = re.match(rf"{re.escape(package)}-([0-9.]+?)(?:\.tar\.gz$|-)", name.lower().replace("_", "-"))
    return match[1] if match else None
