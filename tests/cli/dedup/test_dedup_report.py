"""The report of `cutpoint dedup`: every documented field of its JSON, the text, and the line of progress."""

import os
import re
import subprocess
import time

from command import INPUT_FAILED, CommandTest
from reports import documented_fields, fields_of
from streams import random_bytes
from terminals import UTF8, TerminalTest

SMALL = ("--algorithm", "gear", "--size", "256:1K:4K")


class Json(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("tree/a.txt", random_bytes(90_000))
        self.write("tree/b", random_bytes(90_000))

    def report(self, *arguments):
        run = self.run_command("dedup", "--json", *arguments, "tree")
        self.assert_done(run)
        return run.json()

    def test_has_every_documented_field_and_no_other(self):
        documented = documented_fields()
        self.assertGreater(len(documented), 60)
        # Without a device there is none to tell of, and nothing is predicted.
        absent = {field for field in documented if field.startswith(("predictions[].", "devices[]."))}
        self.assertEqual(len(absent), 13)
        documented = documented - absent | {"predictions", "devices"}
        report = self.report(*SMALL, "--join", "none", "--segment", "32K", "--context", "prune")
        exact = report["comparison"].pop("exact")
        self.assertEqual(fields_of(report) | {"comparison.exact"}, documented)
        self.assertEqual(fields_of(exact), fields_of(report["result"]))
        alone = self.report(*SMALL)
        self.assertIsNone(alone.pop("comparison"))
        self.assertEqual(alone.pop("classes"), [])
        self.assertEqual(fields_of(alone), {field for field in documented if not field.startswith(("comparison.", "classes[].", "kinds[].class"))})

    def test_says_what_was_asked_for(self):
        report = self.report("--profile", "casync", "--hash", "sha1", "--threads", "2", "--memory", "16M", "--segment", "1M")
        self.assertTrue(report["cuts"].startswith("buzhash("))
        self.assertEqual(
            (report["fingerprint"], report["join"], report["thread_count"], report["segment_bytes"], report["memory_limit_bytes"]),
            ("sha1", "exact", 2, 1 << 20, 16 << 20),
        )
        for said, segment_bytes in (
            (("--threads", "2"), 2 << 20),
            (("--threads", "1"), 512 << 10),
            (("--threads", "1", "--join", "none"), 2 << 20),
            (("--threads", "2", "--profile", "restic", "--memory", "1G"), 32 << 20),
        ):
            self.assertEqual(self.report(*said)["segment_bytes"], segment_bytes, said)

    def test_has_times_that_fit_together(self):
        report = self.report(*SMALL, "--threads", "2")
        stages = {stage["stage"]: stage for stage in report["stages"]}
        self.assertEqual(list(stages), ["reading", "intake", "chunking", "joining", "fingerprinting", "delivery"])
        for name, stage in stages.items():
            lanes = sum(lane[f"{name}_seconds"] for lane in report["lanes"])
            self.assertAlmostEqual(stage["busy_seconds"], lanes)
            shared = name in ("chunking", "fingerprinting")  # and reading, of files that several threads read
            self.assertEqual(stage["is_parallel"], shared)
            self.assertAlmostEqual(stage["alone_seconds"], stage["busy_seconds"] / (2 if shared else 1))
        slowest = max(report["stages"], key=lambda stage: stage["alone_seconds"])
        self.assertEqual(report["bottleneck"], slowest["stage"])
        self.assertEqual(stages["reading"]["bytes"], report["result"]["bytes"])
        self.assertAlmostEqual(report["bytes_per_second"], report["result"]["bytes"] / report["wall_seconds"])

    def test_has_the_equations_of_the_model(self):
        report = self.report(*SMALL, "--threads", "3")
        busy = {stage["stage"]: stage["busy_seconds"] for stage in report["stages"]}
        t_c = (busy["chunking"] + busy["joining"]) / report["result"]["bytes"]
        t_f = busy["fingerprinting"] / report["result"]["bytes"]
        t_i = busy["delivery"] / report["result"]["bytes"]
        expected = (1 / (t_c + t_f + t_i), 1 / max(t_c, t_f, t_i), 1 / max(t_c / 3, t_f / 3, t_i))
        names = ("serial_bytes_per_second", "pipelined_bytes_per_second", "parallel_bytes_per_second")
        for name, value in zip(names, expected):
            self.assertAlmostEqual(report["model"][name] / value, 1, places=6)


class Text(TerminalTest):
    def setUp(self):
        super().setUp()
        content = random_bytes(100_000)
        self.write("tree/a.txt", content)
        self.write("tree/b.bin", content)  # all of it is known by then
        for index in range(12):
            self.write(f"tree/{index}.k{index}", random_bytes(100 * (index + 1), index))

    def report(self, *arguments, **how):
        run = self.run_command("dedup", *arguments, "tree", **how)
        self.assert_done(run)
        return run.stdout

    def test_begins_with_the_savings_and_is_short(self):
        for arguments in (SMALL, (*SMALL, "--join", "none", "--segment", "10000"), ("--algorithm", "fixed", "--size", "1")):
            text = self.report(*arguments)
            self.assertRegex(text, r"^savings        [\d.]+ % \([\d.]+ [KM]?i?B of [\d.]+ [KM]?i?B\), DER [\d.]+\n")
            self.assertLess(len(text.split("\n")), 20, text)
            for words in ("inputs ", "bytes ", "unique ", "chunk length ", "cuts ", "time ", "bottleneck ", ".bin "):
                self.assertIn(words, text)
            self.assertNotIn("lane", text)

    def test_says_what_the_json_says(self):
        text = self.report("--details", *SMALL)
        report = self.run_command("dedup", "--json", *SMALL, "tree").json()
        result = report["result"]
        for words in (
            f"cuts           {report['cuts']}\n",
            "fingerprint    sha256\n",
            "inputs         14 whole, 0 failed\n",
            f"({result['bytes']:,} bytes) in {result['chunk_count']:,} chunks\n",
            f"({result['unique_bytes']:,} bytes) in {result['unique_chunk_count']:,} chunks\n",
            f"savings        {result['savings_share'] * 100:.1f} % (",
            f"), DER {result['elimination_ratio']:.2f}\n",
            "of random bytes 1.23 KiB (PRUNE eq. 2)",
            "bottleneck",
            "(eq. 4)",
            "(eq. 6)",
            "done twice",
        ):
            self.assertIn(words, text)
        self.assertNotIn("exact cuts", text)
        compared = self.report("--details", *SMALL, "--join", "none", "--segment", "10000")
        for words in ("Beside the exact cuts", "missed ", "dirty "):
            self.assertIn(words, compared)

    def test_shows_ten_kinds_and_the_rest_as_one(self):
        text = self.report("--details", *SMALL)
        rows = text.split("Kinds of files\n")[1].split("\n\n")[0].split("\n")[1:]
        self.assertEqual(len(rows), 11)
        self.assertEqual(rows[0].split(), [".bin", "1", "97.7", "KiB", "0", "B", "100.0", "%"])
        self.assertEqual(rows[1].split(), [".txt", "1", "97.7", "KiB", "97.7", "KiB", "0.0", "%"])
        self.assertEqual(rows[-1].split()[:3], ["4", "others", "4"])
        self.write("tree/x.\x1b[31mred", random_bytes(5000))
        self.assertIn(".\\x1b[31mred", self.report(*SMALL))

    def test_draws_at_most_twenty_bars(self):
        for cuts in (SMALL, ("--algorithm", "gear", "--size", "64:64K:0"), ("--algorithm", "fixed", "--size", "1")):
            text = self.report("--details", *cuts)
            bars = re.findall(r"^ +[\d.]+ [KM]?i?B to +[\d.]+ [KM]?i?B +[\d.]+ %(?: .*)?$", text, re.MULTILINE)
            self.assertTrue(1 <= len(bars) <= 20, bars)
            self.assertTrue(any(line.endswith("#" * 40) for line in bars), bars)
            self.assertNotRegex(text, r" \n")

    def test_is_the_same_in_a_pipe_and_on_a_terminal(self):
        output = self.on_terminal("dedup", "--details", *SMALL, "-q", "tree", stdout=None)[1].replace("\r\n", "\n")
        counted = lambda text: text.split("Where the time went")[0]
        self.assertEqual(counted(output), counted(self.report("--details", *SMALL, env=UTF8)))

    def test_is_quiet_or_talkative_as_asked(self):
        self.assertEqual(self.run_command("dedup", "-q", "tree").stderr, "")
        self.assertIn("14 inputs, 207,800 bytes", self.run_command("dedup", "-v", "tree").stderr)
        run = self.run_command("dedup", "-q", "tree", "missing")
        self.assertEqual((run.code, len(run.stderr.splitlines())), (INPUT_FAILED, 1), run)


class Progress(TerminalTest):
    def feed_slowly(self, *arguments) -> tuple[str, float]:
        """A run over a pipe that gets something every while: what it shows on a terminal, and how many seconds it took."""
        process = self.start_on_terminal("dedup", *arguments, "-", stdin=subprocess.PIPE)
        begin = time.monotonic()
        for seed in range(15):
            os.write(process.stdin.fileno(), random_bytes(20_000, seed))
            time.sleep(0.02)
        process.stdin.close()
        return self.shown(), time.monotonic() - begin

    def test_is_drawn_on_a_terminal_at_most_ten_times_a_second_and_cleared(self):
        shown, seconds = self.feed_slowly(*SMALL)
        drawn = re.findall(r"\r\x1b\[K([^\r\x1b]+)", shown)
        self.assertTrue(2 <= len(drawn) <= 10 * seconds + 1, (seconds, shown))
        for line in drawn:
            self.assertRegex(line, r"^[\d.]+ [KM]?i?B, [\d.]+ [KMG]?i?B/s(, saves \d+ %)?$")
        self.assertTrue(shown.endswith("\r\x1b[K"), shown)

    def test_is_cleared_before_a_message(self):
        shown, _ = self.feed_slowly(*SMALL, "missing", "-v")
        self.assertRegex(shown, r"cutpoint: error: missing: cannot be found")
        for message in re.finditer(r"cutpoint: ", shown):
            before = shown[: message.start()]
            self.assertTrue(before == "" or before.endswith(("\n", "\r\x1b[K")), shown)

    def test_is_not_drawn_when_quiet_or_elsewhere(self):
        self.assertEqual(self.feed_slowly(*SMALL, "-q")[0], "")
        self.write("a", random_bytes(3_000_000))
        self.assertEqual(self.run_command("dedup", "a", env=UTF8).stderr, "")

    def test_shows_the_share_and_the_time_left_of_files_and_fits_the_terminal(self):
        self.write("a", random_bytes(3_000_000))
        _, shown = self.on_terminal("dedup", "-o", "out", "a", "a")
        self.assertRegex(shown, r"\d+ %, \d+s left, [\d.]+ [KMG]?i?B/s")
        _, shown = self.on_terminal("dedup", "-o", "out", "a", columns=20)
        for line in re.findall(r"\r\x1b\[K([^\r\x1b]*)", shown):
            self.assertLess(len(line), 20)
        self.assertRegex(shown, r"\d+ %, \d+s left")
