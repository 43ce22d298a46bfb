"""Profile restic against the restic command: a backup into a fresh repository, then the lengths of each file's blobs.

restic draws the repository's polynomial itself, so it differs from run to run; a failure names it in `poly=`.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from inputs import around, noise, prefixes, shapes
from oracle import assert_same_cuts

MIN, MAX = 512 << 10, 8 << 20
OVERHEAD = 32  # a version 1 repository adds a 16-byte nonce and a 16-byte MAC to each blob


class Repository:
    def __init__(self, restic: str, folder: Path):
        self.command = [restic, "--quiet", "--no-cache", "--repo", str(folder)]
        self.run("init", "--repository-version", "1")
        self.polynomial = self.json("cat", "config")["chunker_polynomial"]

    def run(self, *arguments: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            [*self.command, *arguments],
            cwd=cwd,
            env={**os.environ, "RESTIC_PASSWORD": "oracle"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"restic {arguments[0]} exited {done.returncode}: {done.stderr.strip()}"
        return done.stdout

    def json(self, *arguments: str):
        return json.loads(self.run(*arguments))

    def lengths(self, paths: list[Path]) -> list[list[int]]:
        names = [path.name for path in paths]
        self.run("backup", *names, cwd=paths[0].parent)
        [snapshot] = self.json("snapshots", "--json")
        content = {node["name"]: node["content"] or [] for node in self.json("cat", "blob", snapshot["tree"])["nodes"]}
        length = self.blob_lengths()
        return [[length[blob] for blob in content[name]] for name in names]

    def blob_lengths(self) -> dict[str, int]:
        blobs = {}
        for index in self.run("list", "index").split():
            for pack in self.json("cat", "index", index)["packs"]:
                blobs.update((blob["id"], blob["length"] - OVERHEAD) for blob in pack["blobs"])
        return blobs


@pytest.mark.parametrize("repository", range(2))
def test_a_backup(restic, corpus, tmp_path, repository):
    def files():
        marks = around(0, MIN, 2 * MIN, 3 * MIN, reach=2)
        yield from prefixes("random", [*marks, 1_000_003, 3_333_333, 7_777_777])
        yield from prefixes("zeros", around(MIN, MAX + 1, reach=1))
        yield from shapes([3_000_001], ["text", "ones", "ramp", "runs", "sparse", "islands", "period-3", "period-251"])
        yield "random.24M", noise("restic 24 MiB", (24 << 20) + 1)

    paths = corpus("restic", files)
    client = Repository(restic, tmp_path / "repository")
    arguments = ["--profile", "restic", "--param", f"poly=0x{int(client.polynomial, 16):X}"]
    assert_same_cuts(arguments, paths, client.lengths(paths))
