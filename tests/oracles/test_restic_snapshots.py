"""`forget` and `diff` against restic's, on the same snapshots of the same files."""

import datetime
import json
import os
import random
import re
import subprocess
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

import cutpoint

ZONE = "Europe/Berlin"
PERIODS = ("last", "hourly", "daily", "weekly", "monthly", "yearly")


class Pair:
    """A repository of restic and a store, which get the same snapshots."""

    def __init__(self, restic: str, folder: Path):
        self.restic = [restic, "--quiet", "--no-cache", "--repo", str(folder / "repository")]
        self.cutpoint = [str(cutpoint.binary())]
        self.environment = {**os.environ, "RESTIC_PASSWORD": "oracle", "CUTPOINT_STORE": str(folder / "store"), "TZ": ZONE}
        self.run(self.restic, "init")
        self.run(self.cutpoint, "init", "--encryption", "none")

    def run(self, command: list[str], *arguments: str) -> str:
        done = subprocess.run([*command, *arguments], env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{arguments} exited {done.returncode}: {done.stderr.strip()}"
        return done.stdout

    def backup(self, path: Path, seconds: int, *arguments: str) -> None:
        local = datetime.datetime.fromtimestamp(seconds, ZoneInfo(ZONE))
        self.run(self.restic, "backup", "--time", f"{local:%Y-%m-%d %H:%M:%S}", *arguments, str(path))
        self.run(self.cutpoint, "backup", "--time", str(seconds), *arguments, str(path))


def keeps_the_oldest(restic: str) -> bool:
    """Whether restic keeps the oldest snapshot if there are fewer periods than were asked for."""
    version = subprocess.run([restic, "version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.search(r"restic (\d+)\.(\d+)", version).groups())) >= (0, 16)


def is_ambiguous(seconds: int) -> bool:
    """Whether the local time is that of two moments, because clocks were put back."""
    local = datetime.datetime.fromtimestamp(seconds, ZoneInfo(ZONE))
    return local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()


def drawn_times(draw: random.Random, count: int) -> set[int]:
    """Times around a few days, since snapshots far from each other are all of different periods."""
    times: set[int] = set()
    while len(times) < count:
        day = 1_600_000_000 + draw.choice([0, 1, 2, 7, 30, 45, 100, 197, 365, 800]) * 86_400
        seconds = day + draw.randrange(-3, 4) * 3600 + draw.randrange(120) * 60
        if not is_ambiguous(seconds):
            times.add(seconds)
    return times


def drawn_rules(draw: random.Random) -> list[str]:
    rules = []
    for period in PERIODS:
        if draw.random() < 0.3:
            rules += [f"--keep-{period}", str(draw.choice([1, 2, 3, 5, 50]))]
        if draw.random() < 0.15:
            name = "--keep-within" if period == "last" else f"--keep-within-{period}"
            rules += [name, draw.choice(["1h", "2d", "31d", "1m", "3m1d", "1y", "1y1m5d3h", "20y"])]
    if draw.random() < 0.2:
        rules += ["--keep-tag", draw.choice(["x", "x,y"])]
    return rules or ["--keep-last", "3"]


def test_forget_keeps_the_same_snapshots(restic, tmp_path):
    draw = random.Random(21)
    pair = Pair(restic, tmp_path)
    for name in ("first", "second"):
        (tmp_path / name).write_text(name)
    for seconds in sorted(drawn_times(draw, 40), key=lambda _: draw.random()):
        tags = [word for tag in ("x", "y") if draw.random() < 0.3 for word in ("--tag", tag)]
        pair.backup(tmp_path / draw.choice(["first", "second"]), seconds, *tags)
    for _ in range(60):
        rules = [*drawn_rules(draw), "--group-by", draw.choice(["host,paths", "host", "", "paths,tags", "tags"])]
        theirs = pair.run(pair.restic, "forget", "--dry-run", "--json", *rules)
        run = subprocess.run([*pair.cutpoint, "forget", "--dry-run", "--json", *rules], env=pair.environment, capture_output=True, text=True, check=False)
        groups = [json.loads(line) for line in run.stdout.splitlines()]
        expected = [time_of(each["time"]) for group in json.loads(theirs) for each in group["keep"] or []]
        if run.returncode == 1 and "the rules keep none" in run.stderr:
            assert any(not group["keep"] for group in json.loads(theirs)), rules
            continue
        assert run.returncode == 0, run.stderr
        kept_snapshots = [each for group in groups for each in group["keep"]]
        if not keeps_the_oldest(restic):
            kept_snapshots = [each for each in kept_snapshots if not all(reason.startswith("oldest") for reason in each["reasons"])]
        assert sorted(each["time"] // 10**9 for each in kept_snapshots) == sorted(expected), rules


def time_of(text: str) -> int:
    return int(datetime.datetime.fromisoformat(re.sub(r"\.\d+", "", text).replace("Z", "+00:00")).timestamp())


def change_some(draw: random.Random, folder: Path, permission: int) -> None:
    """Adds, removes and changes files, some in this permission. Links keep their targets, and folders stay folders: there restic says
    less. No two calls may have the same permission: a mode that is again as it was leaves a change of the ctime alone, which a store
    does not keep of young files."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_symlink() or path.is_dir() or draw.random() < 0.7:
            continue
        what = draw.choice(["remove", "write", "chmod", "retype"])
        if what == "chmod":
            path.chmod(path.stat().st_mode ^ permission)
        elif what == "write":
            path.write_bytes(draw.randbytes(draw.randrange(1000)))
        else:
            path.unlink()
            if what == "retype":
                path.symlink_to("elsewhere")
    fill(draw, folder, 20)


def fill(draw: random.Random, folder: Path, count: int) -> None:
    for _ in range(count):
        path = folder.joinpath(*(draw.choice("abc") for _ in range(draw.randrange(3))), f"{draw.randrange(1000)} ü")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(draw.randbytes(draw.randrange(1000)))


@pytest.mark.parametrize("options", [(), ("--metadata",)])
def test_diff_names_the_same_changes(restic, tmp_path, options):
    draw = random.Random(22)
    pair = Pair(restic, tmp_path)
    folder = tmp_path / "data"
    fill(draw, folder, 60)
    for round_number, permission in enumerate((0o040, 0o004, 0o020)):
        pair.backup(folder, 1_600_000_000 + round_number)
        change_some(draw, folder, permission)
    ids = [each["id"] for each in sorted(json.loads(pair.run(pair.restic, "snapshots", "--json")), key=lambda each: each["time"])]
    ours = [json.loads(line)["id"] for line in pair.run(pair.cutpoint, "snapshots", "--json").splitlines()]
    assert len(ids) == len(ours) == 3
    for before, after in ((0, 1), (1, 2), (2, 0), (1, 1)):
        theirs = pair.run([word for word in pair.restic if word != "--quiet"], "diff", *options, ids[before], ids[after])
        listing = pair.run(pair.cutpoint, "diff", *options, ours[before], ours[after])
        assert changes_in(listing) == changes_in(theirs)
        assert before == after or len(changes_in(listing)) > 10


def changes_in(text: str) -> list[str]:
    """The letter and the path of each change. restic adds U to T, and a question mark to M if metadata are the same."""
    lines = [re.match(r"([-+MTU])[U?]? +(/.*)", line) for line in text.splitlines()]
    changes = [(each[1], each[2]) for each in lines if each]
    # restic says U of each folder in which something changed.
    return sorted(f"{letter} {path}" for letter, path in changes if letter != "U" or not path.endswith("/"))
