"""What deduplication saves: counts that are known by construction, or counted again from the listing of the chunks."""

import math
import os
import signal
import subprocess

from command import DONE, INPUT_FAILED, INTERRUPTED, PATIENCE, CommandTest, has_read_all, is_waiting, wait_until
from reports import counts_of, report_of, rows_of
from streams import MIB, random_bytes

SMALL = ("--algorithm", "gear", "--size", "256:1K:4K")
FIXED = ("--algorithm", "fixed", "--size", "1000")


class DedupTest(CommandTest):
    def report(self, *arguments, code=DONE, **how):
        run = self.run_command("dedup", "--json", *arguments, **how)
        self.assertEqual(run.code, code, run)
        return report_of(run)

    def assert_counts(self, report: dict, expected: dict):
        self.assertEqual({name: report[name] for name in expected}, expected)


class Counts(DedupTest):
    def test_of_two_equal_files_save_half(self):
        content = random_bytes(300_000)
        self.write("a", content)
        self.write("b", content)
        result = self.report("a", "b")["result"]
        self.assertEqual(result["bytes"], 600_000)
        self.assertEqual(result["unique_bytes"], 300_000)
        self.assertEqual(result["duplicate_bytes"], 300_000)
        self.assertEqual(result["savings_share"], 0.5)
        self.assertEqual(result["elimination_ratio"], 2)
        self.assertEqual(result["chunk_count"], 2 * result["unique_chunk_count"])
        self.assertEqual(result["stream_count"], 2)

    def test_of_repeated_blocks_know_each_once(self):
        blocks = [random_bytes(1000, seed) for seed in range(3)]
        self.write("a", b"".join(blocks[i] for i in (0, 1, 0, 2, 2, 2, 1)) + blocks[0][:10])
        result = self.report(*FIXED, "a")["result"]
        self.assert_counts(result, {"bytes": 7010, "chunk_count": 8, "unique_bytes": 3010, "unique_chunk_count": 4})

    def test_of_different_bytes_save_nothing(self):
        self.write("a", random_bytes(300_000))
        result = self.report("a")["result"]
        self.assertEqual((result["savings_share"], result["elimination_ratio"]), (0, 1))

    def test_equal_those_of_the_listing(self):
        base = random_bytes(400_000)
        self.write("tree/a", base)
        self.write("tree/b", base[:200_000] + b"inserted" + base[200_000:] + bytes(50_000))
        self.write("tree/c", base[100_000:] + base[:100_000])
        for options in (SMALL, ("--profile", "restic"), (*SMALL, "--hash", "xxh3"), (*SMALL, "--hash", "md5")):
            report = self.report(*options, "tree")
            self.assert_counts(report["result"], counts_of(rows_of(self, *options, "tree")))
            self.assertEqual(report["input_count"], 3)

    def test_have_each_file_once(self):
        self.write("tree/a", random_bytes(300_000))
        os.link(self.folder / "tree/a", self.folder / "tree/b")
        self.write("tree/inner/c", random_bytes(1000, 1))
        os.symlink("tree", self.folder / "link")
        report = self.report("tree")
        self.assert_counts(report["result"], {"bytes": 301_000, "duplicate_bytes": 0})
        self.assertEqual((report["input_count"], report["repeated_input_count"]), (2, 1))
        for paths in (("tree/a", "./tree/a"), ("tree/a", "tree/b"), ("-L", "tree/a", "link/a")):
            report = self.report(*paths)
            self.assertEqual((report["result"]["bytes"], report["repeated_input_count"]), (300_000, 1), paths)
        for paths in (("tree", "tree/inner"), ("tree/inner", "tree"), ("tree", "tree/inner/c"), ("link/inner", "tree")):
            report = self.report(*paths)
            self.assertEqual((report["result"]["bytes"], report["repeated_input_count"]), (301_000, 2), paths)
        run = self.run_command("dedup", "-v", "tree")
        self.assertIn("2 whole, 0 failed, 1 more name of these files", run.stdout, run)
        self.assertIn("tree/b: skipped, its file was read under another name", run.stderr, run)
        self.assertEqual(len({row.path for row in rows_of(self, "tree")}), 3)

    def test_of_nothing_are_nothing(self):
        (self.folder / "empty").mkdir()
        self.write("none", b"")
        for path, streams in (("empty", 0), ("none", 1)):
            for join in ("exact", "pdedupe", "none"):
                report = self.report("--join", join, path)
                self.assertEqual(report["result"]["stream_count"], streams)
                self.assert_counts(report["result"], counts_of([]))
                self.assertIsNone(report["result"]["chunks"]["mean_bytes"])
                self.assertIsNone(report["bottleneck"])
                self.assertIsNone(report["bytes_per_second"])
                self.assert_done(self.run_command("dedup", "--join", join, path))

    def test_of_a_sparse_file_are_what_arithmetic_says(self):
        size = 10 << 30
        with open(self.folder / "sparse", "wb") as file:
            file.truncate(size + 5)
        report = self.report("sparse")
        self.assert_counts(
            report["result"],
            {"bytes": size + 5, "chunk_count": size // 65536 + 1, "unique_bytes": 65541, "unique_chunk_count": 2},
        )
        self.assertLess(report["wall_seconds"], 10)
        self.assertGreater(report["work"]["run_bytes"], size * 0.99)
        self.assertEqual(report["result"]["chunks"]["percentile_1_bytes"], 65536)
        self.assertEqual(report["result"]["chunks"]["min_bytes"], 5)

    def test_are_the_same_from_every_kind_of_input(self):
        content = random_bytes(500_000) * 2
        self.write("a", content)
        expected = self.report("a")["result"]
        self.assertEqual(self.report("-", content=content)["result"], expected)
        os.mkfifo(self.folder / "fifo")
        process = self.start("dedup", "--json", "fifo")
        (self.folder / "fifo").write_bytes(content)
        self.assertEqual(report_of(self.wait(process))["result"], expected)

    def test_are_the_same_for_any_threads_and_segments(self):
        base = random_bytes(700_000)
        self.write("a", base + bytes(300_000) + base)
        expected = self.report(*SMALL, "--threads", "1", "a")["result"]
        for threads, segment in (("1", "10000"), ("2", "10000"), ("3", "64K")):
            report = self.report(*SMALL, "--threads", threads, "--segment", segment, "a")
            self.assertEqual(report["result"], expected)
            self.assertEqual((report["thread_count"], len(report["lanes"])), (int(threads), int(threads)))


class Lengths(DedupTest):
    def setUp(self):
        super().setUp()
        self.write("a", random_bytes(3 * MIB))

    def test_have_the_percentiles_of_the_listing(self):
        lengths = sorted(row.length for row in rows_of(self, *SMALL, "a"))
        chunks = self.report(*SMALL, "a")["result"]["chunks"]
        self.assertEqual((chunks["min_bytes"], chunks["max_bytes"]), (lengths[0], lengths[-1]))
        self.assertEqual(chunks["mean_bytes"], 3 * MIB / len(lengths))
        for percent in (1, 5, 25, 50, 75, 95, 99):
            expected = lengths[max(1, math.ceil(percent / 100 * len(lengths))) - 1]
            self.assertAlmostEqual(chunks[f"percentile_{percent}_bytes"], expected, delta=expected / 100)
        counted = [sum(b["least_bytes"] <= n <= b["most_bytes"] for n in lengths) for b in chunks["histogram"]]
        self.assertEqual([b["chunk_count"] for b in chunks["histogram"]], counted)
        self.assertEqual(sum(counted), len(lengths))

    def test_stand_beside_the_expected_mean_where_there_is_one(self):
        chunks = self.report(*SMALL, "a")["result"]["chunks"]
        self.assertAlmostEqual(chunks["expected_mean_bytes"], 256 + 1024 * (1 - (1 - 1 / 1024) ** (4096 - 256)))
        self.assertAlmostEqual(chunks["mean_bytes"], chunks["expected_mean_bytes"], delta=60)
        self.assertIsNone(self.report("a")["result"]["chunks"]["expected_mean_bytes"])  # fastcdc


class Kinds(DedupTest):
    def test_are_extensions_in_lower_case(self):
        names = ("a.txt", "b.TXT", "c", ".hidden", "d.tar.gz", "x.d/e", "f.", "g.txt.", ".h.md")
        for seed, name in enumerate(names):
            self.write(f"tree/{name}", random_bytes(1000, seed))
        report = self.report("tree", "-", content=b"piped")
        kinds = {kind["kind"]: kind["stream_count"] for kind in report["kinds"]}
        self.assertEqual(kinds, {".txt": 2, "(none)": 5, ".gz": 1, ".md": 1, "(standard input)": 1})

    def test_have_counts_of_their_own(self):
        shared = random_bytes(200_000)
        contents = {"1.a": shared, "2.b": shared[:150_000], "3.a": shared + b"x", "4.c": random_bytes(100_000, 5)}
        known = set()
        expected = {}
        for name, content in contents.items():
            self.write(name, content)
        rows = {name: rows_of(self, *SMALL, name) for name in contents}
        for name in contents:
            counts = counts_of(rows[name], known)
            kind = expected.setdefault(name[1:], dict.fromkeys(("bytes", "unique_bytes", "chunk_count"), 0))
            for field in kind:
                kind[field] += counts[field]
        report = self.report(*SMALL, *contents)["kinds"]
        self.assertEqual([kind["kind"] for kind in report], [".a", ".b", ".c"], "by falling bytes")
        for kind in report:
            self.assert_counts(kind, expected[kind["kind"]])

    def test_do_not_count_what_could_not_be_opened(self):
        self.write("a.txt")
        report = self.report("a.txt", "missing.txt", code=INPUT_FAILED)
        self.assertEqual([(k["kind"], k["stream_count"]) for k in report["kinds"]], [(".txt", 1)])
        self.assertEqual((report["input_count"], report["failed_input_count"]), (1, 1))


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

    def test_have_both_results_and_their_differences(self):
        options = (*SMALL, "--segment", str(self.segment))
        exact = rows_of(self, *options, "tree")
        for join, threads in (("none", "1"), ("pdedupe", "1"), ("none", "3"), ("pdedupe", "3")):
            other = rows_of(self, *options, "--join", join, "tree")
            report = self.report(*options, "--join", join, "--threads", threads, "tree")
            self.assert_counts(report["result"], counts_of(other))
            compared = report["comparison"]
            self.assert_counts(compared["exact"], counts_of(exact))
            missed = counts_of(exact)["duplicate_bytes"] - counts_of(other)["duplicate_bytes"]
            self.assertEqual(compared["missed_duplicate_bytes"], missed)
            self.assertAlmostEqual(compared["missed_duplicate_share"], missed / counts_of(exact)["duplicate_bytes"])
            places = {(row.path, row.offset, row.length) for row in exact}
            dirty = [row for row in other if (row.path, row.offset, row.length) not in places]
            self.assertGreater(len(dirty), 5)
            self.assertEqual(compared["dirty_chunk_count"], len(dirty))
            self.assertEqual(compared["dirty_bytes"], sum(row.length for row in dirty))
            sizes = [(self.folder / "tree" / name).stat().st_size for name in "abcd"]
            boundaries = sum((size - 1) // self.segment for size in sizes)
            self.assertEqual(compared["boundary_count"], boundaries)
            self.assertAlmostEqual(compared["dirty_bytes_per_boundary"], compared["dirty_bytes"] / boundaries)

    def test_have_no_dirty_chunk_in_streams_of_one_segment(self):
        report = self.report(*SMALL, "--segment", "1M", "--join", "none", "tree")["comparison"]
        self.assertEqual((report["dirty_chunk_count"], report["missed_duplicate_bytes"]), (0, 0))
        self.assertEqual((report["boundary_count"], report["dirty_bytes_per_boundary"]), (0, None))

    def test_see_holes_and_failures_too(self):
        with open(self.folder / "sparse", "wb") as file:
            file.truncate(40 * MIB)
        report = self.report("--join", "none", "missing", "sparse", "tree", code=INPUT_FAILED)
        sizes = [(self.folder / "tree" / name).stat().st_size for name in "abcd"]
        self.assertEqual(report["result"]["bytes"], 40 * MIB + sum(sizes))
        self.assertEqual(report["comparison"]["exact"]["bytes"], report["result"]["bytes"])
        self.assertEqual(report["comparison"]["boundary_count"], 19)
        self.assertEqual(report["result"]["stream_count"], 5)

    def test_are_not_compared_when_exact(self):
        self.assertIsNone(self.report(*SMALL, "tree")["comparison"])


class Failures(DedupTest):
    """What fails is named, the rest is counted, and the exit code says so."""

    def setUp(self):
        super().setUp()
        self.write("a", random_bytes(5000))
        self.write("z", random_bytes(7000, 2))

    def assert_only_fails(self, *arguments, told, failed=1, total=12_000):
        run = self.run_command("dedup", "--json", "a", *arguments, "z")
        self.assert_failed(run, told)
        self.assertEqual(len(run.stderr.splitlines()), failed, run)
        report = report_of(run)
        self.assertEqual(report["result"]["bytes"], total)
        self.assertEqual((report["failed_input_count"], report["interrupted"]), (failed, False))

    def test_of_a_missing_file(self):
        self.assert_only_fails("missing", told="missing: cannot be found: No such file or directory")

    def test_of_a_file_that_cannot_be_read(self):
        self.assert_only_fails("/proc/self/mem", told="/proc/self/mem: cannot be read: Input/output error")

    def test_of_a_directory_loop(self):
        self.write("tree/file", b"12345")
        os.symlink(".", self.folder / "tree/self")
        self.assert_only_fails("-L", "tree", told="tree/self: directory loop", total=12_005)

    def test_of_one_chunk_that_outgrows_the_memory(self):
        self.write("b", b"\x01" * 100 + bytes(2 * MIB))
        options = ("--algorithm", "rabin", "--size", "2K:8K:0", "--memory", "1M")
        self.assert_only_fails(*options, "b", told="b: the chunk at offset 0 outgrows the memory allowed, 1M")

    def test_of_the_output_are_told(self):
        self.assert_failed(self.run_command("dedup", "-o", "/dev/full", "a"), "/dev/full: cannot be written")
        self.assert_refused(self.run_command("dedup", "-o", "a", "a"), "a: is an input")
        self.assertEqual((self.folder / "a").stat().st_size, 5000)

    def test_of_usage(self):
        self.assert_refused(self.run_command("dedup", "--hash", "none", "a"), "--hash none")
        self.assert_refused(self.run_command("dedup"), "PATH")
        self.assert_refused(self.run_command("dedup", "-", "-"), "'-' is given twice")
        self.assert_refused(self.run_command("dedup", "-q", "-v", "a"), "--quiet", "--verbose")
        self.assert_refused(self.run_command("dedup", "--format", "text", "a"), "--format")


class Interrupt(DedupTest):
    def test_reports_what_was_read(self):
        for join in ("exact", "none"):
            process = self.start("dedup", "--json", "--join", join, "-", stdin=subprocess.PIPE)
            content = random_bytes(6 * MIB)
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(process.stdin.fileno(), rest) :]
            wait_until(lambda: has_read_all(process) and is_waiting(process), "the run waits")
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)  # though its input is still open
            run = self.wait(process)
            self.assert_failed(run, "interrupted after 0 whole inputs; the report covers what was read", code=INTERRUPTED)
            report = report_of(run)
            self.assertTrue(report["interrupted"])
            self.assertGreater(report["result"]["bytes"], 5 * MIB)
            self.assertLessEqual(report["result"]["bytes"], 6 * MIB)

    def test_ends_a_run_over_an_endless_device(self):
        for device in ("/dev/zero", "/dev/urandom"):
            process = self.start("dedup", device)
            wait_until(lambda: is_waiting_or_busy(process), "it reads")
            process.send_signal(signal.SIGINT)
            run = self.wait(process)
            self.assert_failed(run, "interrupted", code=INTERRUPTED)
            self.assertIn("\ninterrupted ", run.stdout, run)


def is_waiting_or_busy(process) -> bool:
    """Whether it has read for a while."""
    with open(f"/proc/{process.pid}/io", encoding="ascii") as file:
        return int(file.readline().split()[1]) > 10 * MIB
