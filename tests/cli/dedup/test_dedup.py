"""What deduplication saves: counts that are known by construction, or counted again from the listing of the chunks."""

import math
import os
import signal
import subprocess

from command import DONE, INPUT_FAILED, INTERRUPTED, PATIENCE, CommandTest, has_read_all, is_waiting, wait_until
from reports import counts_of, rows_of
from streams import MIB, random_bytes

SMALL = ("--algorithm", "gear", "--size", "256:1K:4K")


class DedupTest(CommandTest):
    def report(self, *arguments, code=DONE, **how):
        run = self.run_command("dedup", "--json", *arguments, **how)
        self.assertEqual(run.code, code, run)
        return run.json()

    def assert_counts(self, report: dict, expected: dict):
        self.assertEqual({name: report[name] for name in expected}, expected)


class Counts(DedupTest):
    def test_of_two_equal_files_save_half(self):
        for name in "ab":
            self.write(name, random_bytes(300_000))
        result = self.report("a", "b")["result"]
        self.assert_counts(result, {"bytes": 600_000, "unique_bytes": 300_000, "duplicate_bytes": 300_000, "savings_share": 0.5,
                                    "elimination_ratio": 2, "chunk_count": 2 * result["unique_chunk_count"], "stream_count": 2})  # fmt: skip

    def test_equal_those_of_the_listing(self):
        base = random_bytes(400_000)
        self.write("tree/a", base)
        self.write("tree/b", base[:200_000] + b"inserted" + base[200_000:] + bytes(50_000))
        self.write("tree/c", base[100_000:] + base[:100_000])
        for options in (SMALL, ("--profile", "restic"), (*SMALL, "--hash", "xxh3")):
            report = self.report(*options, "tree")
            self.assert_counts(report["result"], counts_of(rows_of(self, *options, "tree")))
            self.assertEqual(report["input_count"], 3)

    def test_have_each_file_once(self):
        self.write("tree/a", random_bytes(300_000))
        os.link(self.folder / "tree/a", self.folder / "tree/b")
        self.write("tree/inner/c", random_bytes(1000, 1))
        os.symlink("tree", self.folder / "link")
        for paths, total, repeated_count in (
            (("tree",), 301_000, 1), (("tree/a", "./tree/a"), 300_000, 1), (("-L", "tree/a", "link/a"), 300_000, 1),
            (("tree", "tree/inner"), 301_000, 2), (("tree/inner", "tree"), 301_000, 2), (("link/inner", "tree"), 301_000, 2),
        ):  # fmt: skip
            report = self.report(*paths)
            self.assertEqual((report["result"]["bytes"], report["repeated_input_count"]), (total, repeated_count), paths)
        run = self.run_command("dedup", "-v", "tree")
        self.assertIn("2 whole, 0 failed, 1 more name of these files", run.stdout, run)
        self.assertIn("tree/b: skipped, its file was read under another name", run.stderr, run)
        self.assertEqual(len({row.path for row in rows_of(self, "tree")}), 3)

    def test_are_those_of_a_backup_and_say_which_files_they_leave_out(self):
        self.write("tree/a")
        os.link(self.folder / "tree/a", self.folder / "tree/b")
        os.symlink("a", self.folder / "tree/link")
        self.assertIn("1 whole, 0 failed, 1 more name of these files, 1 file of another kind\n", self.run_command("dedup", "tree").stdout)
        os.mkfifo(self.folder / "tree/fifo")
        self.assertIn("1 whole, 0 failed, 1 more name of these files, 2 files of other kinds\n", self.run_command("dedup", "tree").stdout)
        self.run_command("init", "--store", "store", "--encryption", "none")
        self.assertIn("files: 4 new", self.run_command("backup", "--store", "store", "--verbose", "tree").stderr)

    def test_of_nothing_are_nothing(self):
        (self.folder / "empty").mkdir()
        self.write("none", b"")
        for path, join, streams in (("empty", "exact", 0), ("none", "pdedupe", 1), ("none", "none", 1)):
            report = self.report("--join", join, path)
            self.assert_counts(report["result"], {**counts_of([]), "stream_count": streams})
            self.assertIsNone(report["result"]["chunks"]["mean_bytes"])
            self.assert_counts(report, {"bottleneck": None, "bytes_per_second": None})
            self.assert_done(self.run_command("dedup", "--join", join, path))

    def test_of_a_sparse_file_are_what_arithmetic_says(self):
        size = 10 << 30
        with open(self.folder / "sparse", "wb") as file:
            file.truncate(size + 5)
        report = self.report("sparse")
        result = report["result"]
        self.assert_counts(result, {"bytes": size + 5, "chunk_count": size // 65536 + 1, "unique_bytes": 65541, "unique_chunk_count": 2})
        self.assert_counts(result["chunks"], {"percentile_1_bytes": 65536, "min_bytes": 5})
        self.assertLess(report["wall_seconds"], 10)
        self.assertGreater(report["work"]["run_bytes"], size * 0.99)

    def test_are_the_same_from_every_kind_of_input_and_on_any_threads(self):
        content = random_bytes(500_000) * 2
        self.write("a", content)
        expected = self.report("a")["result"]
        self.assertEqual(self.report("-", content=content)["result"], expected)
        os.mkfifo(self.folder / "fifo")
        process = self.start("dedup", "--json", "fifo")
        (self.folder / "fifo").write_bytes(content)
        self.assertEqual(self.wait(process).json()["result"], expected)
        report = self.report("--threads", "3", "--segment", "64K", "a")
        self.assertEqual(report["result"], expected)
        self.assertEqual((report["thread_count"], len(report["lanes"])), (3, 3))


class Lengths(DedupTest):
    def test_have_the_percentiles_of_the_listing_beside_the_expected_mean(self):
        self.write("a", random_bytes(3 * MIB))
        lengths = sorted(row.length for row in rows_of(self, *SMALL, "a"))
        chunks = self.report(*SMALL, "a")["result"]["chunks"]
        self.assert_counts(chunks, {"min_bytes": lengths[0], "max_bytes": lengths[-1], "mean_bytes": 3 * MIB / len(lengths)})
        for percent in (1, 5, 25, 50, 75, 95, 99):
            expected = lengths[max(1, math.ceil(percent / 100 * len(lengths))) - 1]
            self.assertAlmostEqual(chunks[f"percentile_{percent}_bytes"], expected, delta=expected / 100)
        counts = [sum(b["least_bytes"] <= n <= b["most_bytes"] for n in lengths) for b in chunks["histogram"]]
        self.assertEqual([b["chunk_count"] for b in chunks["histogram"]], counts)
        self.assertEqual(sum(counts), len(lengths))
        self.assertAlmostEqual(chunks["expected_mean_bytes"], 256 + 1024 * (1 - (1 - 1 / 1024) ** (4096 - 256)))
        self.assertAlmostEqual(chunks["mean_bytes"], chunks["expected_mean_bytes"], delta=60)
        self.assertIsNone(self.report("a")["result"]["chunks"]["expected_mean_bytes"])  # fastcdc


class Kinds(DedupTest):
    def test_are_extensions_in_lower_case(self):
        for seed, name in enumerate(("a.txt", "b.TXT", "c", ".hidden", "d.tar.gz", "x.d/e", "f.", "g.txt.", ".h.md")):
            self.write(f"tree/{name}", random_bytes(1000, seed))
        report = self.report("tree", "-", "missing.txt", content=b"piped", code=INPUT_FAILED)  # what cannot be opened does not count
        kinds = {kind["kind"]: kind["stream_count"] for kind in report["kinds"]}
        self.assertEqual(kinds, {".txt": 2, "(none)": 5, ".gz": 1, ".md": 1, "(standard input)": 1})
        self.assert_counts(report, {"input_count": 10, "failed_input_count": 1})

    def test_have_counts_of_their_own(self):
        shared = random_bytes(200_000)
        contents = {"1.a": shared, "2.b": shared[:150_000], "3.a": shared + b"x", "4.c": random_bytes(100_000, 5)}
        known: set = set()
        expected: dict = {}
        for name, content in contents.items():
            self.write(name, content)
            counts = counts_of(rows_of(self, *SMALL, name), known)
            kind = expected.setdefault(name[1:], dict.fromkeys(("bytes", "unique_bytes", "chunk_count"), 0))
            for field in kind:
                kind[field] += counts[field]
        report = self.report(*SMALL, *contents)["kinds"]
        self.assertEqual([kind["kind"] for kind in report], [".a", ".b", ".c"], "by falling bytes")
        for kind in report:
            self.assert_counts(kind, expected[kind["kind"]])


class JoinsThatChangeTheCuts(DedupTest):
    """Beside the exact cuts, as counted from the listings of both."""

    segment = 20_000

    def setUp(self):
        super().setUp()
        base = random_bytes(300_000)
        self.write("tree/a", base)
        self.write("tree/b", b"shifted" + base)
        self.write("tree/c", base[:1000])
        self.write("tree/d", bytes(100_000) + base[:50_000])
        self.sizes = [path.stat().st_size for path in (self.folder / "tree").iterdir()]

    def test_have_both_results_and_their_differences(self):
        options = (*SMALL, "--segment", str(self.segment))
        exact = rows_of(self, *options, "tree")
        self.assertIsNone(self.report(*options, "tree")["comparison"])
        for join, threads in (("none", "1"), ("pdedupe", "3")):
            other = rows_of(self, *options, "--join", join, "tree")
            report = self.report(*options, "--join", join, "--threads", threads, "tree")
            self.assert_counts(report["result"], counts_of(other))
            compared = report["comparison"]
            self.assert_counts(compared["exact"], counts_of(exact))
            duplicate_bytes = counts_of(exact)["duplicate_bytes"]
            missed = duplicate_bytes - counts_of(other)["duplicate_bytes"]
            self.assertAlmostEqual(compared["missed_duplicate_share"], missed / duplicate_bytes)
            places = {(row.path, row.offset, row.length) for row in exact}
            dirty = [row for row in other if (row.path, row.offset, row.length) not in places]
            self.assertGreater(len(dirty), 5)
            boundary_count = sum((size - 1) // self.segment for size in self.sizes)
            self.assert_counts(compared, {
                "missed_duplicate_bytes": missed, "dirty_chunk_count": len(dirty), "dirty_bytes": sum(row.length for row in dirty),
                "boundary_count": boundary_count,
            })  # fmt: skip
            self.assertAlmostEqual(compared["dirty_bytes_per_boundary"], compared["dirty_bytes"] / boundary_count)

    def test_have_no_dirty_chunk_in_streams_of_one_segment(self):
        report = self.report(*SMALL, "--segment", "1M", "--join", "none", "tree")["comparison"]
        none = {"dirty_chunk_count": 0, "missed_duplicate_bytes": 0, "boundary_count": 0, "dirty_bytes_per_boundary": None}
        self.assert_counts(report, none)

    def test_see_holes_and_failures_too(self):
        with open(self.folder / "sparse", "wb") as file:
            file.truncate(40 * MIB)
        report = self.report("--join", "none", "missing", "sparse", "tree", code=INPUT_FAILED)
        total = 40 * MIB + sum(self.sizes)
        self.assert_counts(report["result"], {"bytes": total, "stream_count": 5})
        self.assertEqual((report["comparison"]["exact"]["bytes"], report["comparison"]["boundary_count"]), (total, 19))


class Failures(DedupTest):
    """What fails is named, the rest is counted, and the exit code says so."""

    def test_of_inputs(self):
        self.write("a", random_bytes(5000))
        self.write("z", random_bytes(7000, 2))
        self.write("tree/file", b"12345")
        os.symlink(".", self.folder / "tree/self")
        self.write("b", b"\x01" * 100 + bytes(2 * MIB))
        for arguments, told, total in (
            (("missing",), "missing: cannot be found: No such file or directory", 12_000),
            (("/proc/self/mem",), "/proc/self/mem: cannot be read: Input/output error", 12_000),
            (("-L", "tree"), "tree/self: directory loop", 12_005),
            (("--algorithm", "rabin", "--size", "2K:8K:0", "--memory", "1M", "b"), "b: the chunk at offset 0 outgrows the memory allowed, 1M", 12_000),
        ):
            run = self.run_command("dedup", "--json", "a", *arguments, "z")
            self.assert_failed(run, told)
            self.assertEqual(len(run.stderr.splitlines()), 1, run)
            self.assertEqual(run.json()["result"]["bytes"], total)
            self.assert_counts(run.json(), {"failed_input_count": 1, "interrupted": False})

    def test_of_the_output_and_of_usage(self):
        self.write("a", random_bytes(5000))
        self.assert_failed(self.run_command("dedup", "-o", "/dev/full", "a"), "/dev/full: cannot be written")
        for arguments, *told in (
            (("-o", "a", "a"), "a: is an input"),
            (("--hash", "none", "a"), "--hash none"),
            ((), "PATH"),
            (("-", "-"), "'-' is given twice"),
            (("-q", "-v", "a"), "--quiet", "--verbose"),
            (("--format", "text", "a"), "--format"),
        ):
            self.assert_refused(self.run_command("dedup", *arguments), *told)
        self.assertEqual((self.folder / "a").stat().st_size, 5000)


class Interrupt(DedupTest):
    def test_reports_what_was_read(self):
        for join in ("exact", "none"):
            process = self.start("dedup", "--json", "--join", join, "-", stdin=subprocess.PIPE)
            process.stdin.write(random_bytes(6 * MIB))
            process.stdin.flush()
            wait_until(lambda: has_read_all(process) and is_waiting(process), "the run waits")
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)  # though its input is still open
            run = self.wait(process)
            self.assert_failed(run, "interrupted after 0 whole inputs; the report covers what was read", code=INTERRUPTED)
            self.assertTrue(run.json()["interrupted"])
            self.assertTrue(5 * MIB < run.json()["result"]["bytes"] <= 6 * MIB, run)

    def test_ends_a_run_over_an_endless_device(self):
        for device in ("/dev/zero", "/dev/urandom"):
            process = self.start("dedup", device)
            wait_until(lambda: read_bytes(process) > 10 * MIB, "it reads")
            process.send_signal(signal.SIGINT)
            run = self.wait(process)
            self.assert_failed(run, "interrupted", code=INTERRUPTED)
            self.assertIn("\ninterrupted ", run.stdout, run)


def read_bytes(process) -> int:
    """How many bytes the process has read."""
    with open(f"/proc/{process.pid}/io", encoding="ascii") as file:
        return int(file.readline().split()[1])
