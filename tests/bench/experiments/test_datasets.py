"""Data sets: made whole or not at all, resumed after a kill at any step, checksummed, and refused in one sentence where they cannot be."""

import errno
import hashlib
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import unittest.mock
from collections import Counter
from pathlib import Path

from programs import run_here

from experiments import datasets
from experiments.datasets import apt, bench, catalog, pypi, servers, sources, store, tars
from experiments.datasets.__main__ import main
from experiments.datasets.base import Generator, Job, Planned

MIB = 1 << 20
PATIENCE = 120


class Fake(Generator):
    """Three kinds of versions in turn: a file, a folder, an empty file. It says at each step that it is about to be killed."""

    steps = staticmethod(lambda: None)

    def plan(self):
        return [Planned(f"fake-{index}", f"{index:03d}-fake", "nothing", {"index": index}) for index in range(self.job.version_count)]

    def make(self, planned, target, former):
        self.steps()
        index = planned.facts["index"]
        if index % 3 == 1:
            (target / "b").mkdir(parents=True)
            (target / "b" / "two").write_bytes(b"2" * index)
            self.steps()
            (target / "a").write_bytes(former.read_bytes())
        else:
            target.write_bytes(self.job.draws(index).randbytes(1000 if index % 3 == 0 else 0))
        self.steps()


class Forgetful(Fake):
    resumes = False


class Full(Fake):
    def make(self, planned, target, former):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))


def entry(generator, **more):
    return catalog.Entry("fake", "for tests", ("NONE",), generator, MIB, 4, **more)


class OfStore(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.said = []

    def use(self, generator, **more):
        self.enterContext(unittest.mock.patch.dict(catalog.ENTRIES, {"fake": entry(generator, **more)}))

    def make(self, name="fake", size=None, versions=None, seed=1, folder=None):
        return datasets.make(name, size, versions, seed, folder or self.folder, self.said.append)


class TheStore(OfStore):
    def test_a_made_set_says_what_it_is(self):
        self.use(Fake)
        data_set = self.make()
        self.assertEqual(data_set.folder, self.folder / "fake-1M-v4-s1")
        lines = (data_set.folder / "manifest").read_text().splitlines()
        self.assertEqual([line.split("  ")[2] for line in lines], ["000-fake", "001-fake/a", "001-fake/b/two", "002-fake", "003-fake"])
        self.assertEqual(data_set.bytes, 1000 + 1000 + 1 + 0 + 1000)
        self.assertEqual(data_set.checksum, hashlib.sha256((data_set.folder / "manifest").read_bytes()).hexdigest())
        self.assertEqual([version["file_count"] for version in data_set.versions], [1, 2, 1, 1])
        self.assertEqual(data_set.paths, [data_set.folder / f"{index:03d}-fake" for index in range(4)])
        self.assertEqual((data_set.info["version_count"], data_set.info["seed"], data_set.info["size"]), (4, 1, MIB))
        self.assertFalse((data_set.folder / ".making").exists())
        for line in lines:
            digest, size, name = line.split("  ")
            content = (data_set.folder / name).read_bytes()
            self.assertEqual((digest, int(size)), (hashlib.sha256(content).hexdigest(), len(content)))

    def test_a_whole_set_is_opened_and_not_made_again(self):
        self.use(Fake)
        first = self.make()
        self.said.clear()
        with unittest.mock.patch.object(Fake, "make", side_effect=AssertionError("data_set again")):
            self.assertEqual(self.make().info, first.info)
        self.assertEqual(self.said, [])

    def test_a_set_killed_at_any_step_goes_on_and_is_the_same(self):
        for generator in (Fake, Forgetful):
            with self.subTest(generator=generator.__name__):
                self.use(generator)
                wanted = self.make(folder=self.folder / f"{generator.__name__}-whole").checksum
                at = 0
                while self.killed(at, self.folder / f"{generator.__name__}-{at}"):
                    folder = self.folder / f"{generator.__name__}-{at}"
                    self.says_whether_it_is_whole(folder / "fake-1M-v4-s1", wanted)
                    data_set = self.make(folder=folder)
                    self.assertEqual((data_set.checksum, datasets.verify(data_set.folder)), (wanted, []), f"killed at step {at}")
                    self.assertFalse((data_set.folder / ".making").exists())
                    at += 1
                self.assertGreater(at, 20)

    def says_whether_it_is_whole(self, folder, wanted):
        if (folder / "dataset.json").exists():
            self.assertEqual((datasets.open_set(folder).checksum, datasets.verify(folder)), (wanted, []))
        else:
            with self.assertRaisesRegex(datasets.Failed, "not whole"):
                datasets.open_set(folder)

    def killed(self, moment, folder):
        """Makes the set in a process that kills itself at that step; whether there was such a step."""
        child = os.fork()
        if child == 0:
            left = moment

            def step(*_):
                nonlocal left
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1

            rename = Path.rename

            def counted(path, target):
                step()
                rename(path, target)
                step()

            Fake.steps = staticmethod(step)
            with unittest.mock.patch.object(Path, "rename", counted):
                self.make(folder=folder)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            self.assertEqual(os.WTERMSIG(status), signal.SIGKILL)
            return True
        self.assertEqual(status, 0)
        return False

    def test_what_is_finished_is_not_made_twice(self):
        self.use(Fake)
        self.killed(8, self.folder)
        finished = [path for path in (self.folder / "fake-1M-v4-s1").iterdir() if path.name != ".making"]
        self.assertTrue(finished)
        before = {path: path.stat().st_mtime_ns for path in finished}
        self.make()
        self.assertEqual({path: path.stat().st_mtime_ns for path in finished}, before)

    def test_the_plan_of_an_interrupted_set_stays(self):
        self.use(Fake)
        self.killed(8, self.folder)
        with unittest.mock.patch.object(Fake, "plan", side_effect=AssertionError("planned again")):
            self.make()

    def test_verify_finds_a_changed_byte_a_missing_file_and_one_too_many(self):
        self.use(Fake)
        data_set = self.make()
        self.assertEqual(datasets.verify(data_set.folder), [])
        path = data_set.folder / "003-fake"
        content = path.read_bytes()
        path.write_bytes(content[:500] + bytes([content[500] ^ 1]) + content[501:])
        self.assertEqual(datasets.verify(data_set.folder), [f"{path} has changed"])
        path.write_bytes(content)
        (data_set.folder / "001-fake/a").rename(data_set.folder / "001-fake/c")
        self.assertEqual(datasets.verify(data_set.folder), [f"{data_set.folder}/001-fake/a is missing", f"{data_set.folder}/001-fake/c is not in the manifest"])

    def test_verify_finds_a_manifest_that_was_mended_with_the_file(self):
        self.use(Fake)
        data_set = self.make()
        (data_set.folder / "002-fake").write_bytes(b"more")
        lines = (data_set.folder / "manifest").read_text().splitlines(keepends=True)
        lines[3] = f"{hashlib.sha256(b'more').hexdigest()}  4  002-fake\n"
        (data_set.folder / "manifest").write_text("".join(lines))
        self.assertEqual(datasets.verify(data_set.folder), [f"{data_set.folder}/manifest is not the one whose checksum dataset.json has"])

    def test_a_full_disk_is_said(self):
        self.use(Full)
        with self.assertRaisesRegex(datasets.Failed, "No space left on device.*free some space"):
            self.make()

    def test_a_set_larger_than_the_disk_is_refused_before_it_begins(self):
        self.use(Full)
        with self.assertRaisesRegex(datasets.Failed, r"has .* free, and making fake-16T-v4-s1 takes about"):
            self.make(size=1 << 44)
        self.assertFalse((self.folder / "fake-16T-v4-s1").exists())

    def test_what_cannot_be_asked_for(self):
        self.use(Fake, least=MIB)
        for arguments, sentence in (
            ({"name": "linus"}, "no data set 'linus'; there are .*linux"),
            ({"size": MIB - 1}, "outside 1M to 16T"),
            ({"size": 2 * MIB, "versions": 3}, "takes at least 1M for each version"),
            ({"size": MIB, "versions": 1000}, "version count 1000 is outside"),
            ({"seed": 1 << 32}, "seed 4294967296 is outside"),
        ):
            with self.subTest(arguments=arguments), self.assertRaisesRegex(ValueError, sentence):
                self.make(**arguments)


class Synthetic(OfStore):
    def content(self, data_set):
        return b"".join(path.read_bytes() for path in data_set.paths)

    def test_random_bytes_depend_on_the_seed_alone(self):
        first, again = self.make("random", MIB, 2), self.make("random", MIB, 2, folder=self.folder / "again")
        other = self.make("random", MIB, 2, seed=2)
        self.assertEqual((first.bytes, len(first.paths)), (MIB, 2))
        self.assertEqual(first.checksum, again.checksum)
        self.assertNotEqual(self.content(first), self.content(other))
        self.assertEqual(len({self.content(first)[at : at + 64] for at in range(0, MIB, 64)}), MIB // 64)
        self.assertLess(max(Counter(self.content(first)).values()), MIB // 256 * 11 // 10)

    def test_low_entropy_has_both_patterns_and_random_bytes(self):
        content = self.content(self.make("low-entropy", 64 * MIB, 1))
        blocks = [content[at : at + 256] for at in range(0, len(content), 30_000)]
        runs = sum(len(set(block)) == 1 for block in blocks)
        repeats = sum(any(block[period:] == block[:-period] for period in range(2, 65)) and len(set(block)) > 1 for block in blocks)
        for share in (runs / len(blocks), repeats / len(blocks)):
            self.assertTrue(0.12 < share < 0.4, (runs, repeats, len(blocks)))
        self.assertGreater(len(blocks) - runs - repeats, len(blocks) // 3)


class FileSystem(OfStore):
    """The set that stands for AE's and P-Dedupe's Bench."""

    def trees(self, data_set):
        """Of each snapshot the content and the time of each file."""
        trees = []
        for path in data_set.paths:
            with tarfile.open(path) as tar:
                trees.append({member.name: (tar.extractfile(member).read(), member.mtime) for member in tar})
        return trees

    def test_files_are_created_deleted_and_modified_between_snapshots_and_others_stay(self):
        data_set = self.make("bench", 32 * MIB, 4)
        self.assertLess(abs(data_set.bytes - 32 * MIB), 8 * MIB)
        trees = self.trees(data_set)
        for before, after in zip(trees, trees[1:]):
            stayed = before.keys() & after.keys()
            modified = {name for name in stayed if before[name][0] != after[name][0]}
            self.assertTrue(before.keys() - after.keys() and after.keys() - before.keys())
            self.assertAlmostEqual(len(modified) / len(stayed), bench.MODIFIED, delta=0.01)
            self.assertEqual({name for name in stayed if before[name][1] != after[name][1]}, modified)
            self.assertGreater(min(after[name][1] for name in after.keys() - before.keys()), max(when for _, when in before.values()))

    def test_modifications_leave_most_of_a_file_and_some_created_files_are_copies(self):
        first, second = self.trees(self.make("bench", 64 * MIB, 2))
        places = Counter()
        for name in first.keys() & second.keys():
            old, new = first[name][0], second[name][0]
            if old != new:
                begins, ends = old[:16] == new[:16], old[-16:] == new[-16:]
                places[begins, ends] += 1
                blocks = {old[at : at + 32] for at in range(0, len(old) - 32)}
                self.assertGreater(sum(new[at : at + 32] in blocks for at in range(0, len(new) - 32, 32)), len(new) // 32 // 5, name)
        self.assertEqual(len(places), 4, places)  # at the beginning, the end, both, neither
        contents = {content for content, _ in first.values()}
        created = [second[name][0] for name in second.keys() - first.keys()]
        self.assertTrue(0 < sum(content in contents for content in created) < len(created) // 2)

    def test_the_same_seed_gives_the_same_bytes_even_after_a_kill(self):
        wanted = self.make("bench", 8 * MIB, 4).checksum
        child = os.fork()
        if child == 0:
            make = bench.Bench.make

            def dies_at_the_third(generator, planned, target, former):
                make(generator, planned, target, former)
                if planned.facts["index"] == 2:
                    os.kill(os.getpid(), signal.SIGKILL)

            with unittest.mock.patch.object(bench.Bench, "make", dies_at_the_third):
                self.make("bench", 8 * MIB, 4, folder=self.folder / "again")
            os._exit(0)
        self.assertTrue(os.WIFSIGNALED(os.waitpid(child, 0)[1]))
        self.assertEqual(self.make("bench", 8 * MIB, 4, folder=self.folder / "again").checksum, wanted)
        self.assertNotEqual(self.make("bench", 8 * MIB, 4, seed=2).checksum, wanted)


class Traffic(OfStore):
    """The synthetic capture of packets, read by the formats' own rules."""

    def frames(self, path):
        """The times and the frames of a capture."""
        content = path.read_bytes()
        self.assertEqual(struct.unpack("<IHHiIII", content[:24])[::6], (0xA1B2C3D4, 1))  # microseconds, little-endian; Ethernet
        at = 24
        while at < len(content):
            seconds, microseconds, captured, length = struct.unpack("<IIII", content[at : at + 16])
            self.assertEqual(captured, length)
            yield seconds * 1_000_000 + microseconds, content[at + 16 : at + 16 + length]
            at += 16 + length
        self.assertEqual(at, len(content))

    @staticmethod
    def words(data):
        """The sum of RFC 1071, word by word; 0xFFFF over a header with its checksum."""
        total = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
        while total >> 16:
            total = (total & 0xFFFF) + (total >> 16)
        return total

    def test_every_packet_is_whole_and_every_connection_in_order(self):
        data_set = self.make("packets", 8 * MIB, 2)
        for path in data_set.paths:
            last, expected, kinds = 0, {}, Counter()
            for when, frame in self.frames(path):
                self.assertGreater(when, last)
                last = when
                ip = frame[14:]
                self.assertEqual((frame[12:14], ip[0], struct.unpack("!H", ip[2:4])[0]), (b"\x08\0", 0x45, len(ip)))
                self.assertEqual(self.words(ip[:20]), 0xFFFF)
                protocol, segment = ip[9], ip[20:]
                self.assertEqual(self.words(ip[12:20] + struct.pack("!HH", protocol, len(segment)) + segment), 0xFFFF)
                kinds[protocol] += 1
                if protocol == 6:
                    number, flags = struct.unpack("!I", segment[4:8])[0], segment[13]
                    sender = ip[12:20] + segment[:4]
                    if not flags & 2:
                        self.assertEqual(number, expected[sender])
                    expected[sender] = (number + len(segment) - 32 + bool(flags & 3)) & 0xFFFFFFFF
            self.assertEqual(set(kinds), {6, 17})

    def test_objects_are_fetched_again(self):
        first, second = self.make("packets", 16 * MIB, 2).paths
        seen = [Counter(frame[66:] for _, frame in self.frames(path) if len(frame) > 20_000) for path in (first, second)]
        self.assertTrue(seen[0].keys() & seen[1].keys())

    def test_the_seed_decides_every_byte(self):
        first, again, other = self.make("packets", MIB, 1), self.make("packets", MIB, 1, folder=self.folder / "again"), self.make("packets", MIB, 1, seed=2)
        self.assertEqual(first.checksum, again.checksum)
        self.assertNotEqual(first.checksum, other.checksum)
        self.assertIn("Synthetic", first.info["notes"])


class Fetching(OfStore):
    def test_an_index_that_cannot_be_reached_is_one_sentence(self):
        with unittest.mock.patch.object(store.tools, "need_packages"), unittest.mock.patch.dict(os.environ, {"PIP_INDEX_URL": "http://127.0.0.1:9/simple"}):
            with self.assertRaisesRegex(datasets.Failed, r"^fetching numpy from the Python package index failed: [^\n]+$"):
                self.make("packages", MIB, 2)
        self.assertFalse((self.folder / "packages-1M-v2-s1" / "dataset.json").exists())

    def test_fewer_releases_than_were_asked_for_are_one_sentence(self):
        class Few(sources.Linux):
            def releases(self):
                return [(f"6.{i}", "linux", f"6.{i}-1") for i in range(5)]

            def _fetched(self, upstream, package, version):
                if upstream == "6.3":
                    raise apt.Gone("404")

        for count, sentence in ((6, "has 5 releases for data set 'linux' now, and 6"), (5, "has 4 releases for data set 'linux' now, and 5")):
            said = []
            job = Job("linux", MIB, count, 1, self.folder, self.folder, said.append)
            with self.assertRaisesRegex(datasets.Failed, sentence):
                list(Few(job).plan())
        self.assertIn("leaving out linux 6.3-1, which the mirror no longer has", said)


class Helpers(unittest.TestCase):
    def test_chosen_folders_fit_and_depend_on_the_draws(self):
        sizes = Counter({f"folder-{index}": 1000 + index for index in range(100)})
        draws = catalog.ENTRIES["linux"].generator(store.Job("linux", 1, 1, 1, Path(), Path(), print)).job.draws
        chosen = tars.chosen_folders(sizes, 50_000, draws("folders"))
        self.assertTrue(45_000 < sum(sizes[folder] for folder in chosen) <= 50_000)
        self.assertEqual(chosen, tars.chosen_folders(sizes, 50_000, draws("folders")))
        self.assertNotEqual(chosen, tars.chosen_folders(sizes, 50_000, draws("others")))

    def test_folders_of_a_release_are_without_its_name(self):
        self.assertEqual(tars.folder_of("linux-6.1/drivers/net/ethernet/intel/e100.c"), "drivers/net/ethernet")
        self.assertEqual(tars.folder_of("linux-6.1/Makefile"), "")

    def test_releases_are_read_from_names_of_files(self):
        for name, package, version in (
            ("numpy-2.1.0.tar.gz", "numpy", "2.1.0"),
            ("numpy-2.3.0rc1.tar.gz", "numpy", None),
            ("pydantic_core-2.4.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "pydantic-core", "2.4.0"),
            ("numpy-stubs-1.0.tar.gz", "numpy", None),
        ):
            self.assertEqual(pypi.release_of(name, package), version, name)


class TheCommand(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_it_makes_lists_and_verifies(self):
        data_set = run_here(main, "make", "random", "--size", "2M", "--versions", "2", "--seed", "7", "--folder", self.folder)
        folder = self.folder / "random-2M-v2-s7"
        self.assertEqual((data_set.returncode, data_set.stdout), (0, f"{folder}\n"), data_set.stderr)
        self.assertEqual(json.loads((folder / "dataset.json").read_text())["seed"], 7)
        self.assertEqual(run_here(main, "verify", folder).returncode, 0)
        (folder / "001-random.bin").write_bytes(b"")
        changed = run_here(main, "verify", folder)
        self.assertEqual((changed.returncode, changed.stderr), (1, f"datasets: {folder}/001-random.bin has changed\n"))
        listed = run_here(main, "list")
        self.assertEqual(listed.returncode, 0)
        for name in datasets.names():
            self.assertIn(f"\n{name} ", f"\n{listed.stdout}")

    def test_wrong_usage_is_one_sentence_and_2(self):
        for words, sentence in (
            (["make", "linus"], "datasets: no data set 'linus'"),
            (["make", "random", "--size", "much"], "'much' is no size"),
            (["make", "random", "--versions", "0"], "must be at least 1"),
            (["make", "random", "--size", "1M", "--versions", "1000"], "outside 1 to 999"),
        ):
            said = run_here(main, *words)
            self.assertEqual(said.returncode, 2, words)
            self.assertIn(sentence, said.stderr.splitlines()[-1])

    def test_a_folder_that_is_no_set_fails(self):
        said = run_here(main, "verify", self.folder)
        self.assertEqual((said.returncode, said.stderr), (1, f"datasets: {self.folder} is no data set, or one that is not whole: it has no dataset.json\n"))

    def test_an_interrupted_set_says_130_and_goes_on(self):
        words = [sys.executable, "-B", "-m", "experiments.datasets", "make", "random", "--size", "512M", "--versions", "64"]
        process = subprocess.Popen(words, env=os.environ | {"CUTPOINT_DATA": str(self.folder)}, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        for line in process.stderr:
            if "version 2 of 64" in line:
                process.send_signal(signal.SIGINT)
                break
        rest = process.stderr.read()
        self.assertEqual(process.wait(PATIENCE), 130, rest)
        process.stderr.close()
        self.assertIn("datasets: interrupted", rest)
        self.assertTrue((self.folder / "random-512M-v64-s1" / "001-random.bin").exists())
        self.assertFalse((self.folder / "random-512M-v64-s1" / "dataset.json").exists())


@unittest.skipUnless(all(shutil.which(program) for program in ("redis-server", "redis-benchmark", "setpriv")), "no Redis here")
class RealRedis(OfStore):
    def test_snapshots_are_redis_files_that_share_most_bytes_and_no_server_stays(self):
        data_set = self.make("redis", 4 * MIB, 2)
        first, second = (path.read_bytes() for path in data_set.paths)
        self.assertTrue(first.startswith(b"REDIS") and second.startswith(b"REDIS"))
        self.assertNotEqual(first, second)
        keys = lambda content: set(content.split(b"key:")[1:])  # noqa: E731
        self.assertGreater(len(keys(first) & keys(second)), len(keys(second)) // 2)
        self.assertEqual(self.servers(), [])

    def test_a_server_ends_with_the_process_that_started_it(self):
        child = os.fork()
        if child == 0:
            with unittest.mock.patch.object(shutil, "copyfile", lambda *_: os.kill(os.getpid(), signal.SIGKILL)):
                self.make("redis", 4 * MIB, 2)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        self.assertTrue(os.WIFSIGNALED(status))
        until = time.monotonic() + PATIENCE
        while self.servers() and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(self.servers(), [])
        self.assertTrue(Path(self.place).exists())
        data_set = self.make("redis", 4 * MIB, 2)
        self.assertEqual((datasets.verify(data_set.folder), Path(self.place).exists()), ([], False))

    @property
    def place(self):
        work = self.folder / "redis-4M-v2-s1" / ".making" / "work"
        return f"{tempfile.gettempdir()}/cutpoint-{hashlib.sha256(str(work).encode()).hexdigest()[:12]}"

    def servers(self):
        """Redis servers that run in the folder of this test's data set."""
        names = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if b"redis-server" in (process / "cmdline").read_bytes() and self.place in os.readlink(process / "cwd"):
                    names.append(process.name)
            except OSError:
                continue
        return names


class Starting(unittest.TestCase):
    @unittest.skipUnless(shutil.which("setpriv"), "no setpriv here")
    def test_a_server_that_does_not_start_says_why(self):
        with tempfile.TemporaryDirectory() as folder:
            place = servers.Place("nobody", Path(folder))
            self.addCleanup(place.remove)
            with self.assertRaisesRegex(datasets.Failed, "^echo did not start: no port is free$"):
                servers.Server("echo", place, ["sh", "-c", "echo begun; echo no port is free; exit 1"], lambda: False)


if __name__ == "__main__":
    unittest.main()
