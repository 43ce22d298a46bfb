"""`cutpoint tune`: what it says of a sample holds of the data, what it recommends is what `dedup` finds, and it refuses what it cannot do."""

import json
import os
import random
import re
import shlex
import signal
import unittest

from command import DONE, INPUT_FAILED, INTERRUPTED, IS_SANITIZED, CommandTest, faulty_reads, needs_faulty_reads, wait_until

# Few runs on few random bytes, where SeqCDC is not what is tested.
FAST = ("--algorithm", "gear", "--algorithm", "ram", "--size", "4K")
VALUES = ("seq_length", "skip_trigger", "skip_size")


def bytes_of(seed: int, size: int) -> bytes:
    return random.Random(seed).randbytes(size)


class Tune(CommandTest):
    def tuned(self, *arguments, code=DONE):
        run = self.run_command("tune", "--json", *arguments)
        self.assertEqual(run.code, code, run)
        return json.loads(run.stdout)

    def write_versions(self, size=3_000_000):
        """Two versions of the same: a quarter of the second is new."""
        old = bytes_of(1, size)
        self.write("data/old", old)
        self.write("data/new", old[: size // 2] + bytes_of(2, size // 4) + old[3 * size // 4 :])


class Recommendation(Tune):
    def test_is_what_dedup_finds_where_all_is_sampled(self):
        self.write_versions()
        report = self.tuned("--sample", "100%", *FAST, "--algorithm", "fastcdc", "--algorithm", "tttd", "data")
        self.assertEqual(report["sample"]["bytes"], report["input_bytes"])
        self.assertEqual(report["sample"]["stream_count"], 2)
        self.assertEqual({c["name"] for c in report["candidates"]}, {"gear", "ram", "fastcdc", "tttd"})
        for candidate in report["candidates"]:
            with self.subTest(name=candidate["name"]):
                run = self.run_command("dedup", "--json", *shlex.split(candidate["options"]), "data")
                self.assert_done(run)
                report = json.loads(run.stdout)
                self.assertEqual(report["cuts"], candidate["cuts"])
                for field, value in candidate["sample"].items():
                    self.assertEqual(report["result"][field], value, field)
                self.assertAlmostEqual(report["result"]["chunks"]["mean_bytes"], candidate["mean_bytes"])

    def test_is_the_first_candidate_and_counts_the_cost_of_chunks(self):
        self.write_versions()
        report = self.tuned("--sample", "100%", "--chunk-cost", "100", *FAST, "data")
        first = report["candidates"][report["recommendation"]["candidate"]]
        self.assertEqual(first["options"], report["recommendation"]["options"])
        self.assertEqual(first["cuts"], report["recommendation"]["cuts"])
        self.assertTrue(first["on_front"] or first["net_savings_share"] < max(c["net_savings_share"] for c in report["candidates"]))
        for candidate in report["candidates"]:
            counts = candidate["sample"]
            net = (counts["bytes"] - counts["unique_bytes"] - 100 * counts["chunk_count"]) / counts["bytes"]
            self.assertAlmostEqual(candidate["net_savings_share"], net)
            cut, hashed = candidate["cut_bytes_per_second"], candidate["hash_bytes_per_second"]
            self.assertAlmostEqual(1 / candidate["bytes_per_second"], 1 / cut + 1 / hashed, delta=1e-6 / cut)

    def test_of_savings_is_what_saves_most(self):
        self.write_versions()
        report = self.tuned("--sample", "100%", "--goal", "savings", *FAST, "--size", "16K", "data")
        most = max(candidate["net_savings_share"] for candidate in report["candidates"])
        self.assertEqual(report["candidates"][0]["net_savings_share"], most)

    def test_has_means_near_those_that_are_wanted(self):
        self.write_versions(6_000_000)
        report = self.tuned("--sample", "100%", *FAST, "--algorithm", "ae-max", "--size", "12K", "data")
        self.assertEqual(len(report["candidates"]), 6)
        for candidate in report["candidates"]:
            self.assertAlmostEqual(candidate["mean_bytes"] / candidate["target_bytes"], 1, delta=0.1, msg=candidate["options"])

    def test_without_a_fingerprint_is_by_the_speed_of_cutting(self):
        self.write_versions()
        for candidate in self.tuned("--hash", "none", *FAST, "data")["candidates"]:
            self.assertIsNone(candidate["hash_bytes_per_second"])
            self.assertAlmostEqual(candidate["bytes_per_second"], candidate["cut_bytes_per_second"], delta=1)

    def test_of_a_profile_keeps_its_sizes(self):
        self.write_versions()
        report = self.tuned("--profile", "xet", "data")
        self.assertEqual([(c["options"], c["target_bytes"]) for c in report["candidates"]], [("--profile xet", None)])

    def test_can_be_verified_on_all_inputs(self):
        self.write_versions(40_000_000 if not IS_SANITIZED else 4_000_000)
        report = self.tuned("--sample", "20%", "--verify", *FAST, "data")
        self.assertLess(report["sample"]["bytes"], report["input_bytes"] / 2)
        for candidate in report["candidates"]:
            run = self.run_command("dedup", "--json", *shlex.split(candidate["options"]), "data")
            self.assertEqual(json.loads(run.stdout)["result"]["unique_bytes"], candidate["whole"]["unique_bytes"])

    def test_as_text_has_the_same_options(self):
        self.write_versions()
        run = self.run_command("tune", "--sample", "100%", *FAST, "data")
        self.assert_done(run)
        options = re.search(r"^recommended +(.*)$", run.stdout, re.MULTILINE)[1]
        self.assert_done(self.run_command("dedup", *shlex.split(options), "data"))
        self.assertEqual(len(re.findall(r"--algorithm \w+ --size \S+$", run.stdout, re.MULTILINE)), 3, run)

    def test_warns_of_chunks_of_a_fixed_length(self):
        self.write("data", bytes_of(6, 2_000_000))
        for name in ("fixed", "gear"):
            words = ("--sample", "100%", "--algorithm", name, "--size", "4K", "data")
            is_fixed = name == "fixed"
            self.assertEqual("give two versions" in (self.tuned(*words)["recommendation"]["warning"] or ""), is_fixed)
            text = self.run_command("tune", *words).stdout
            self.assertEqual(bool(re.search(r"^warning +chunks of a fixed length", text, re.MULTILINE)), is_fixed)


class Context(Tune):
    """`--context`: rules for kinds of files, of which each suits another."""

    def write_kinds(self):
        records = bytes_of(1, 2_000_000)
        self.write("data/a.dat", records)
        self.write("data/b.dat", b"inserted" + records)
        packed = bytes_of(2, 1 << 20)
        self.write("data/a.zip", packed)
        self.write("data/b.zip", packed)
        words = b"".join(random.Random(3).choices((b"chunk ", b"segment ", b"digest ", b"index "), k=300_000))
        self.write("data/a.txt", words)
        self.write("data/b.txt", b"inserted " + words)
        self.write("data/single.mp4", bytes_of(8, 1_200_000))
        self.write("data/small.cfg", b"key = value")

    def proposed(self, *arguments):
        self.write_kinds()
        report = self.tuned("--sample", "100%", "--context", "rules.toml", *FAST, *arguments, "data")
        return report, {each["extension"]: each for each in report["context"]["extensions"]}

    def test_has_a_rule_for_each_kind_of_file(self):
        report, extensions = self.proposed()
        self.assertEqual(set(extensions), {"dat", "mp4", "txt", "zip"})
        self.assertEqual(extensions["mp4"]["class"], "fixed-8m-uncompressed")
        usual = report["recommendation"]["cuts"]
        self.assertTrue(extensions["zip"]["cuts"].startswith("fixed"), extensions["zip"])
        self.assertEqual(extensions["zip"]["sample"]["savings_share"], 0.5)
        self.assertEqual(extensions["txt"]["class"], "others")
        self.assertEqual([extensions[name]["cuts"] for name in ("dat", "txt")], [usual, usual])
        self.assertEqual([extensions[name]["is_compressible"] for name in ("dat", "txt", "zip")], [False, True, False])
        rules = (self.folder / "rules.toml").read_text()
        self.assertIn(f'[others]\ncuts = "{usual}"', rules)
        self.assertIn('"zip"', rules)
        self.assertGreaterEqual(rules.count("compression_level = 0"), 2)
        self.assertNotIn("txt", rules)

    def test_counts_that_small_chunks_compress_worse(self):
        draws = random.Random(5)
        vocabulary = [draws.randbytes(12) for _ in range(600)]
        old = b"".join(draws.choices(vocabulary, k=170_000))
        new = b"".join(old[begin : begin + 100_000] + draws.randbytes(8) for begin in range(0, len(old), 100_000))
        self.write("data/old.rec", old)
        self.write("data/new.rec", new)
        run = ("--sample", "100%", "--goal", "savings", "--algorithm", "gear", "--size", "4K", "--size", "64K", "data")
        alone = self.tuned(*run)
        report = self.tuned("--context", "rules.toml", *run)
        self.assertEqual([each["candidates"][0]["target_bytes"] for each in (alone, report)], [4 << 10, 64 << 10])
        self.assertEqual({candidate["compressed_share"] for candidate in alone["candidates"]}, {None})
        shares = [candidate["compressed_share"] for candidate in report["candidates"]]
        self.assertLess(shares[0], 0.8 * shares[1])
        (extension,) = report["context"]["extensions"]
        self.assertAlmostEqual(extension["stored_bytes"], extension["compressed_share"] * extension["sample"]["unique_bytes"], delta=1)
        self.assertLessEqual(extension["stored_bytes"], extension["usual_stored_bytes"])
        self.assertEqual(report["context"]["stored_bytes"], extension["stored_bytes"])
        store = self.folder / "store"
        self.assert_done(self.run_command("init", "--store", store, "--encryption", "none", "--context", "rules.toml"))
        self.assert_done(self.run_command("backup", "--store", store, "data"))
        stored = sum(container.stat().st_size for container in (store / "containers").rglob("*") if container.is_file())
        self.assertAlmostEqual(stored / extension["stored_bytes"], 1, delta=0.05)

    def test_knows_the_extension_of_a_compressed_tar(self):
        self.write("data/a.tar.gz", bytes_of(6, 1_200_000))
        self.write("data/b.1.gz", bytes_of(7, 1_200_000))
        report = self.tuned("--sample", "100%", "--context", "rules.toml", *FAST, "data")
        self.assertEqual([each["extension"] for each in report["context"]["extensions"]], ["gz", "tar.gz"])
        self.assert_done(self.run_command("dedup", "--context", "rules.toml", "data"))

    def test_saves_in_dedup_what_was_expected(self):
        report, _ = self.proposed()
        run = self.run_command("dedup", "--json", "--context", "rules.toml", "data")
        self.assert_done(run)
        result = json.loads(run.stdout)["result"]
        for field in ("bytes", "chunk_count", "unique_bytes", "unique_chunk_count"):
            self.assertEqual(result[field], report["context"]["sample"][field], field)

    def test_tries_whole_files_only_where_all_is_sampled(self):
        _, extensions = self.proposed("--goal", "savings")
        self.assertEqual(extensions["zip"]["class"], "fixed-8m-uncompressed")
        packed = bytes_of(4, 20_000_000)
        self.write("data/c.zip", packed)
        self.write("data/d.zip", packed)
        report = self.tuned("--sample", "8M", "--goal", "savings", "--context", "rules.toml", *FAST, "data")
        self.assertLess(report["sample"]["bytes"], report["input_bytes"])
        (extension,) = (each for each in report["context"]["extensions"] if each["extension"] == "zip")
        self.assertEqual(extension["class"], "fixed-64k-uncompressed")

    def test_is_in_the_report_for_people(self):
        self.write_kinds()
        run = self.run_command("tune", "--sample", "100%", "--context", "rules.toml", *FAST, "data")
        self.assert_done(run)
        self.assertRegex(run.stdout, r"zip .* 50\.00 .*fixed-")
        self.assertRegex(run.stdout, r"expected +\d+\.\d % saved by these rules")

    def test_is_refused_where_it_cannot_be_written_or_measured(self):
        self.write_kinds()
        for arguments, message in (
            (("--monte-carlo", "--context", "rules.toml"), "--context"),
            (("--context", "none/rules.toml", "data"), "none/rules.toml"),
            (("--context", "same", "-o", "same", "data"), "is also the file of -o"),
        ):
            with self.subTest(arguments=arguments):
                run = self.run_command("tune", *FAST, *arguments)
                self.assertNotEqual(run.code, DONE)
                self.assertIn(message, run.stderr)


class Sample(Tune):
    def test_is_the_same_each_time(self):
        self.write_versions(20_000_000)
        self.assertEqual(*(self.tuned("--sample", "10%", *FAST, "data")["sample"] for _ in range(2)))

    def test_has_both_copies_of_what_is_there_twice(self):
        size = 24_000_000
        content = bytes_of(3, size)
        self.write("data/one", content)
        self.write("data/two", bytes_of(4, 100_000) + content)
        report = self.tuned("--sample", "20%", *FAST, "data")
        self.assertLess(report["sample"]["bytes"], size)
        for candidate in report["candidates"]:
            self.assertAlmostEqual(candidate["sample"]["savings_share"], 0.5, delta=0.04)

    def test_has_chunks_of_one_length_where_the_inputs_have_them(self):
        content = bytes_of(8, 16_000_000)
        self.write("data/one", content)
        self.write("data/two", b"shifted" + content)
        self.write("data/three", b"x" * 4096 * 10 + content)
        run = ("--sample", "30%", "--algorithm", "fixed", "--algorithm", "gear", "--size", "4K", "data")
        savings = {c["name"]: c["sample"]["savings_share"] for c in self.tuned(*run)["candidates"]}
        self.assertAlmostEqual(savings["gear"], 0.66, delta=0.05)
        self.assertAlmostEqual(savings["fixed"], 0.33, delta=0.05)

    def test_of_a_size_is_about_that(self):
        self.write("data", bytes_of(5, 60_000_000))
        report = self.tuned("--sample", "16M", *FAST, "data")
        self.assertAlmostEqual(report["sample"]["bytes"] / 2**24, 1, delta=0.35)
        self.assertAlmostEqual(report["sample"]["share"], 2**24 / 60_000_000, delta=0.001)

    def test_of_zeros_is_a_share_of_them(self):
        with open(self.write("data", b""), "r+b") as file:
            file.truncate(200 * 2**20)
        report = self.tuned("--sample", "10%", *FAST, "data")
        self.assertAlmostEqual(report["sample"]["bytes"] / (20 * 2**20), 1, delta=0.5)

    def test_does_not_outgrow_the_memory(self):
        self.write("data", bytes_of(6, 50_000_000))
        report = self.tuned("--memory", "32M", *FAST, "data")
        self.assertLessEqual(report["sample"]["bytes"], 24 * 2**20)
        self.assertGreater(report["sample"]["bytes"], 8 * 2**20)
        run = self.run_command("tune", "--memory", "32M", "--sample", "100%", *FAST, "data")
        self.assert_failed(run, "--memory", "--sample")
        run = self.run_command("tune", "--memory", "32M", "--sample", "100M", *FAST, "data")
        self.assert_refused(run, "--sample 100M", "--memory 32M")


@unittest.skipIf(IS_SANITIZED, "cuts gigabytes")
class SeqCdc(Tune):
    def test_bounds_are_of_means_that_are_close(self):
        report = self.tuned("--monte-carlo", "--size", "4K", "--size", "16K", "--runs", "2")
        self.assertIsNone(report["sample"])
        self.assertEqual([b["target_bytes"] for b in report["bounds"]], [4096, 16384])
        for bounds in report["bounds"]:
            self.assertAlmostEqual(bounds["nearest_mean_bytes"] / bounds["target_bytes"], 1, delta=0.03)
            for value in VALUES:
                self.assertTrue(bounds["lowest"][value] <= bounds["nearest"][value] <= bounds["highest"][value], bounds)
        for row in report["model"]:
            self.assertEqual(row["sequence_bytes"], row["seq_length"] + 1)
            self.assertLess(abs(row["error_share"]), 0.1 if row["seq_length"] > 6 else 0.03, row)

    def test_the_same_seed_gives_the_same_bounds(self):
        runs = [self.tuned("--monte-carlo", "--size", "4K", "--runs", "1", "--seed", seed)["bounds"] for seed in "778"]
        self.assertEqual(runs[0], runs[1])
        self.assertNotEqual(runs[0], runs[2])

    def test_alone_gives_the_best_five_of_a_grid_between_the_bounds(self):
        self.write_versions(8_000_000)
        report = self.tuned("--algorithm", "seqcdc-inc", "--size", "8K", "--runs", "1", "--combinations", "60", "data")
        bounds = report["bounds"][0]
        self.assertEqual(len(report["candidates"]), 5)
        for candidate in report["candidates"]:
            self.assertGreater(candidate["tried_count"], 20)
            self.assertLessEqual(candidate["tried_count"], 60)
            self.assertAlmostEqual(candidate["mean_bytes"] / 8192, 1, delta=0.125)
            for value in VALUES:
                self.assertTrue(bounds["lowest"][value] <= candidate["parameters"][value] <= bounds["highest"][value])

    def test_defaults_have_the_means_that_they_are_named_by(self):
        self.write("random", bytes_of(7, 64_000_000))
        listed = json.loads(self.run_command("list", "seqcdc-inc", "--json").stdout)["sized_cuts"]
        sizes = [int(re.search(r"avg_bytes=(\d+)", cuts)[1]) for cuts in listed]
        self.assertEqual(sizes, [4096, 8192, 16384, 32768, 65536])
        for size, cuts in zip(sizes, listed):
            run = self.run_command("dedup", "--json", "--hash", "xxh3", "--cuts", cuts, "random")
            self.assertAlmostEqual(json.loads(run.stdout)["result"]["chunks"]["mean_bytes"] / size, 1, delta=0.12, msg=cuts)
            self.assertIn(cuts, self.run_command("list", "seqcdc-inc").stdout)


class Faults(Tune):
    @needs_faulty_reads
    def test_an_input_that_cannot_be_read_is_named_and_the_rest_is_done(self):
        self.write_versions()
        self.write("data/bad", b"x" * 1000)
        run = self.run_command("tune", "--json", "--input", "pread", *FAST, "data", env=faulty_reads("data/bad"))
        self.assert_failed(run, "data/bad")
        report = json.loads(run.stdout)
        self.assertEqual((report["input_count"], report["failed_input_count"]), (2, 1))
        self.assertIsNotNone(report["recommendation"])

    def test_too_little_data_is_told(self):
        self.write("one", b"1")
        self.assert_failed(self.run_command("tune", "one"), "too little data", "1 byte,")

    def test_means_of_which_there_are_too_few_chunks_are_left_out(self):
        self.write("data", bytes_of(9, 300_000))
        report = self.tuned("data")
        self.assertEqual(report["skipped_target_bytes"], [32768, 65536])
        self.assertEqual(report["bounds"], [])
        run = self.run_command("tune", "data")
        self.assertIn("not tried      means of 32K, 64K", run.stdout, run)
        self.assertIn("SeqCDC         its usual parameters alone", run.stdout, run)

    def test_nothing_to_read_is_told(self):
        self.write("empty", b"")
        self.assert_failed(self.run_command("tune", *FAST, "empty"), "no bytes")
        run = self.run_command("tune", *FAST, "missing")
        self.assertEqual(run.code, INPUT_FAILED, run)
        self.assertIn("missing", run.stderr)

    def test_an_interrupt_is_told_with_what_is_known(self):
        reading, writing = os.pipe()
        process = self.start("tune", "--json", *FAST, "-", stdin=reading)
        os.close(reading)
        os.write(writing, b"some bytes")
        wait_until(lambda: process.poll() is not None or handles_interrupts(process), "the run reads")
        process.send_signal(signal.SIGINT)
        run = self.wait(process)
        os.close(writing)
        self.assert_failed(run, "interrupted", code=INTERRUPTED)
        self.assertIs(json.loads(run.stdout)["interrupted"], True)

    def test_wrong_usage(self):
        self.write("a")
        for arguments, told in (
            ((), "PATH"),
            (("--goal", "best", "a"), "no goal 'best'"),
            (("--algorithm", "gearr", "a"), "gear"),
            (("--algorithm", "xet", "a"), "--profile xet"),
            (("--profile", "gear", "a"), "--algorithm gear"),
            (("--algorithm", "gear", "--algorithm", "gear", "a"), "twice"),
            (("--size", "1", "a"), "--size 1"),
            (("--size", "big", "a"), "--size"),
            (("--sample", "0%", "a"), "--sample 0%"),
            (("--sample", "101%", "a"), "--sample 101%"),
            (("--sample", "x%", "a"), "--sample x%"),
            (("--sample", "1", "a"), "--sample 1"),
            (("--memory", "1M", "a"), "--memory 1M"),
            (("--threads", "0", "a"), "--threads 0"),
            (("--combinations", "0", "a"), "--combinations 0"),
            (("--chunk-cost", "1G", "a"), "--chunk-cost 1G"),
            (("--runs", "0", "a"), "--runs 0"),
            (("--hash", "sha2", "a"), "sha2"),
            (("--monte-carlo", "a"), "--monte-carlo"),
            (("--verify", "-"), "standard input"),
            (("-o", "a", "a"), "a: is an input"),
        ):
            with self.subTest(arguments=arguments):
                self.assert_refused(self.run_command("tune", *arguments), told)


def handles_interrupts(process) -> bool:
    with open(f"/proc/{process.pid}/status", encoding="ascii", errors="replace") as file:
        caught = int(next(line.split()[1] for line in file if line.startswith("SigCgt")), 16)
    return bool(caught >> (signal.SIGINT - 1) & 1)
