"""`cutpoint tune`: what it says of a sample holds of the data, what it recommends is what `dedup` finds, and it refuses what it cannot do.

tests/pipeline/tune has what a sample, a search and a choice are."""

import os
import random
import re
import shlex
import shutil
import signal
import unittest

from command import (
    DONE, INPUT_FAILED, INTERRUPTED, IS_SANITIZED, CommandTest, faulty_reads, handles, needs_faulty_reads, wait_until,
)
from schemas import needs_jsonschema, problems_in
from streams import random_bytes

# Few runs on few random bytes, where SeqCDC is not what is tested.
FAST = ("--algorithm", "gear", "--algorithm", "ram", "--size", "4K")
VALUES = ("seq_length", "skip_trigger", "skip_size")


class Tune(CommandTest):
    def tuned(self, *arguments, code=DONE):
        run = self.run_command("tune", "--json", *arguments)
        self.assertEqual(run.code, code, run)
        return run.json()

    def dedup(self, *arguments) -> dict:
        run = self.run_command("dedup", "--json", *arguments, "data")
        self.assert_done(run)
        return run.json()

    def write_versions(self, size=2_000_000):
        """Two versions of the same: a quarter of the second is new."""
        old = random_bytes(size)
        self.write("data/old", old)
        self.write("data/new", old[: size // 2] + random_bytes(size // 4, 2) + old[3 * size // 4 :])


class Recommendation(Tune):
    def test_is_what_dedup_finds_where_all_is_sampled(self):
        self.write_versions()
        report = self.tuned("--sample", "100%", "--chunk-cost", "100", *FAST, "--algorithm", "fastcdc", "data")
        self.assertEqual((report["sample"]["bytes"], report["sample"]["stream_count"]), (report["input_bytes"], 2))
        self.assertEqual({c["name"] for c in report["candidates"]}, {"gear", "ram", "fastcdc"})
        recommendation = report["recommendation"]
        first = report["candidates"][recommendation["candidate"]]
        self.assertEqual((first["options"], first["cuts"]), (recommendation["options"], recommendation["cuts"]))
        for candidate in report["candidates"]:
            with self.subTest(name=candidate["name"]):
                report_of_dedup = self.dedup(*shlex.split(candidate["options"]))
                self.assertEqual(report_of_dedup["cuts"], candidate["cuts"])
                for field, value in candidate["sample"].items():
                    self.assertEqual(report_of_dedup["result"][field], value, field)
                self.assertAlmostEqual(report_of_dedup["result"]["chunks"]["mean_bytes"], candidate["mean_bytes"])
                counts = candidate["sample"]
                net = (counts["bytes"] - counts["unique_bytes"] - 100 * counts["chunk_count"]) / counts["bytes"]
                self.assertAlmostEqual(candidate["net_savings_share"], net)
                cut, hashed = candidate["cut_bytes_per_second"], candidate["hash_bytes_per_second"]
                self.assertAlmostEqual(1 / candidate["bytes_per_second"], 1 / cut + 1 / hashed, delta=1e-6 / cut)

    def test_of_savings_without_a_fingerprint_is_what_saves_most_near_the_means_that_are_wanted(self):
        self.write_versions(4_000_000)
        report = self.tuned("--sample", "100%", "--goal", "savings", "--hash", "none", *FAST, "--algorithm", "ae-max", "--size", "12K", "data")
        candidates = report["candidates"]
        self.assertEqual(len(candidates), 6)
        self.assertEqual(candidates[0]["net_savings_share"], max(candidate["net_savings_share"] for candidate in candidates))
        for candidate in candidates:
            self.assertAlmostEqual(candidate["mean_bytes"] / candidate["target_bytes"], 1, delta=0.1, msg=candidate["options"])
            self.assertIsNone(candidate["hash_bytes_per_second"])
            self.assertAlmostEqual(candidate["bytes_per_second"], candidate["cut_bytes_per_second"], delta=1)

    def test_of_a_profile_keeps_its_sizes(self):
        self.write_versions()
        report = self.tuned("--profile", "xet", "data")
        self.assertEqual([(c["options"], c["target_bytes"]) for c in report["candidates"]], [("--profile xet", None)])

    def test_of_a_sample_can_be_verified_on_all_inputs(self):
        self.write_versions(16_000_000 if not IS_SANITIZED else 4_000_000)
        report = self.tuned("--sample", "20%", "--verify", *FAST, "data")
        self.assertLess(report["sample"]["bytes"], report["input_bytes"] / 2)
        for candidate in report["candidates"]:
            report_of_dedup = self.dedup(*shlex.split(candidate["options"]))
            self.assertEqual(report_of_dedup["result"]["unique_bytes"], candidate["whole"]["unique_bytes"])
        self.assertEqual(self.tuned("--sample", "20%", *FAST, "data")["sample"], report["sample"], "the same each time")

    def test_as_text_has_the_same_options_and_warns_of_chunks_of_a_fixed_length(self):
        self.write("data", random_bytes(2_000_000, 6))
        for name in ("fixed", "gear"):
            words = ("--sample", "100%", "--algorithm", name, "--size", "4K", "data")
            is_fixed = name == "fixed"
            self.assertEqual("give two versions" in (self.tuned(*words)["recommendation"]["warning"] or ""), is_fixed)
            run = self.run_command("tune", *words)
            self.assert_done(run)
            self.assertEqual(bool(re.search(r"^warning +chunks of a fixed length", run.stdout, re.MULTILINE)), is_fixed)
            options = re.search(r"^recommended +(.*)$", run.stdout, re.MULTILINE)[1]
            self.assertRegex(options, rf"^--algorithm {name} --size \S+$")
            self.dedup(*shlex.split(options))


class Store(Tune):
    """`--goal store`: what it recommends makes a smaller store than the default does, or is the default."""

    def store_bytes(self, *words) -> int:
        self.run_command("init", "--store", "store", "--encryption", "none", *words)
        self.assert_done(self.run_command("backup", "--store", "store", "data"))
        files = [path for folder in ("containers", "shards") for path in (self.folder / "store" / folder).rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        shutil.rmtree(self.folder / "store")
        return size

    def test_small_changes_make_chunks_shorter(self):
        old = random_bytes(8_000_000)
        new = bytearray(old)
        for position in range(0, len(new), 80_000):
            new[position] ^= 1
        self.write("data/old", old)
        self.write("data/new", bytes(new))
        report = self.tuned("--goal", "store", "--algorithm", "gear", "data")
        first, sizes = report["candidates"][0], [candidate["kept_bytes"] for candidate in report["candidates"]]
        self.assertEqual((sizes, first["is_default"]), (sorted(sizes), False))
        usual, = (candidate for candidate in report["candidates"] if candidate["is_default"])
        self.assertEqual(usual["options"], "--algorithm fastcdc --size 16K:64K:256K")
        self.assertRegex(report["recommendation"]["why"], r"smaller than that of the default")
        for candidate in (first, usual):
            stored = self.store_bytes(*shlex.split(candidate["options"]))
            self.assertAlmostEqual(candidate["kept_bytes"] / stored, 1, delta=0.01)
        self.assertEqual(self.store_bytes(), self.store_bytes(*shlex.split(usual["options"])))
        self.assertRegex(report["recommendation"]["encrypted_options"], "^--algorithm toeplitz128-aes ")
        self.write("key", b"secret")
        encrypted = shlex.split(report["recommendation"]["encrypted_options"])
        self.assert_done(self.run_command("init", "--store", "safe", "--encryption", "key-file", "--key-file", "key", *encrypted))

    def test_the_default_stays_where_all_keep_the_same(self):
        self.write("data", random_bytes(4_000_000))
        report = self.tuned("--goal", "store", "--sample", "100%", *FAST, "data")
        self.assertEqual((report["candidates"][0]["is_default"], report["recommendation"]["encrypted_options"]), (True, ""))
        # In MiB all rows of a small sample would have the same digits.
        table = self.run_command("tune", "-q", "--goal", "store", "--sample", "100%", *FAST, "data").stdout.partition("KiB kept")[2]
        self.assertGreater(min(float(row[31:39]) for row in table.splitlines()[1:3]), 3900)

    def test_settings_that_the_ends_of_files_make_equal_are_one_row(self):
        for number in range(300):
            self.write(f"data/{number}", random_bytes(5_000, number))
        report = self.tuned("--algorithm", "gear", "--algorithm", "ram", "--size", "32K", "--size", "64K", "--sample", "100%", "data")
        self.assertEqual(len(report["candidates"]), 1, [candidate["options"] for candidate in report["candidates"]])

    def test_counts_chunks_as_a_store_does(self):
        run = self.run_command("tune", "--goal", "store", "--chunk-cost", "64", "data")
        self.assert_refused(run, "leave out --chunk-cost")


class Context(Tune):
    """`--context`: rules for kinds of files, of which each suits another."""

    def write_kinds(self):
        records = random_bytes(2_000_000)
        self.write("data/a.dat", records)
        self.write("data/b.dat", b"inserted" + records)
        packed = random_bytes(1 << 20, 2)
        self.write("data/a.zip", packed)
        self.write("data/b.zip", packed)
        words = b"".join(random.Random(3).choices((b"chunk ", b"segment ", b"digest ", b"index "), k=300_000))
        self.write("data/a.txt", words)
        self.write("data/b.txt", b"inserted " + words)
        self.write("data/single.mp4", random_bytes(1_200_000, 8))
        self.write("data/small.cfg", b"key = value")

    def proposed(self, *arguments):
        report = self.tuned("--context", "rules.toml", *FAST, *arguments, "data")
        return report, {each["extension"]: each for each in report["context"]["extensions"]}

    def test_has_a_rule_for_each_kind_of_file_and_saves_in_dedup_what_was_expected(self):
        self.write_kinds()
        report, extensions = self.proposed("--sample", "100%")
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
        result = self.dedup("--context", "rules.toml")["result"]
        for field in ("bytes", "chunk_count", "unique_bytes", "unique_chunk_count"):
            self.assertEqual(result[field], report["context"]["sample"][field], field)
        run = self.run_command("tune", "--sample", "100%", "--context", "rules.toml", *FAST, "data")
        self.assert_done(run)
        self.assertRegex(run.stdout, r"zip .* 50\.00 .*fixed-")
        self.assertRegex(run.stdout, r"expected +\d+\.\d % saved by these rules")

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
        stored = sum(container.stat().st_size for container in (store / "containers").glob("*/*"))
        self.assertAlmostEqual(stored / extension["stored_bytes"], 1, delta=0.05)

    def test_knows_the_extension_of_a_compressed_tar_and_tries_whole_files_only_where_all_is_sampled(self):
        packed = random_bytes(1_200_000, 6)
        for name in ("a.tar.gz", "b.tar.gz", "c.1.gz"):
            self.write(f"data/{name}", packed)
        _, extensions = self.proposed("--sample", "100%", "--goal", "savings")
        self.assertEqual({name: each["class"] for name, each in extensions.items()}, dict.fromkeys(("gz", "tar.gz"), "fixed-8m-uncompressed"))
        self.dedup("--context", "rules.toml")
        packed = random_bytes(16_000_000, 4)
        self.write("data/c.zip", packed)
        self.write("data/d.zip", packed)
        report, extensions = self.proposed("--sample", "8M", "--goal", "savings")
        self.assertLess(report["sample"]["bytes"], report["input_bytes"])
        self.assertEqual(extensions["zip"]["class"], "fixed-64k-uncompressed")

    def test_is_refused_where_it_cannot_be_written_or_measured(self):
        self.write("data", random_bytes(300_000))
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
    def test_has_chunks_of_one_length_where_the_inputs_have_them(self):
        content = random_bytes(16_000_000, 8)
        self.write("data/one", content)
        self.write("data/two", b"shifted" + content)
        self.write("data/three", b"x" * 4096 * 10 + content)
        run = ("--sample", "30%", "--algorithm", "fixed", "--algorithm", "gear", "--size", "4K", "data")
        savings = {c["name"]: c["sample"]["savings_share"] for c in self.tuned(*run)["candidates"]}
        self.assertAlmostEqual(savings["gear"], 0.66, delta=0.05)
        self.assertAlmostEqual(savings["fixed"], 0.33, delta=0.05)

    def test_of_a_size_is_about_that_and_does_not_outgrow_the_memory(self):
        self.write("data", random_bytes(40_000_000, 5))
        sample = self.tuned("--sample", "16M", *FAST, "data")["sample"]
        self.assertAlmostEqual(sample["bytes"] / 2**24, 1, delta=0.35)
        self.assertAlmostEqual(sample["share"], 2**24 / 40_000_000, delta=0.001)
        sample = self.tuned("--memory", "32M", *FAST, "data")["sample"]
        self.assertTrue(8 * 2**20 < sample["bytes"] <= 24 * 2**20, sample)
        run = self.run_command("tune", "--memory", "32M", "--sample", "100%", *FAST, "data")
        self.assert_failed(run, "--memory", "--sample")
        run = self.run_command("tune", "--memory", "32M", "--sample", "100M", *FAST, "data")
        self.assert_refused(run, "--sample 100M", "--memory 32M")


@unittest.skipIf(IS_SANITIZED, "cuts gigabytes")
class SeqCdc(Tune):
    @needs_jsonschema
    def test_bounds_are_of_means_that_are_close(self):
        report = self.tuned("--monte-carlo", "--size", "4K", "--runs", "1")
        self.assertEqual(problems_in("tune", report), [])
        self.assertIsNone(report["sample"])
        (bounds,) = report["bounds"]
        self.assertEqual(bounds["target_bytes"], 4096)
        self.assertAlmostEqual(bounds["nearest_mean_bytes"] / 4096, 1, delta=0.03)
        for value in VALUES:
            self.assertTrue(bounds["lowest"][value] <= bounds["nearest"][value] <= bounds["highest"][value], bounds)
        for row in report["model"]:
            self.assertEqual(row["sequence_bytes"], row["seq_length"] + 1)
            self.assertLess(abs(row["error_share"]), 0.1 if row["seq_length"] > 6 else 0.03, row)
        other = self.tuned("--monte-carlo", "--size", "4K", "--runs", "1", "--seed", "8")["bounds"]
        self.assertNotEqual(other, [bounds])

    def test_alone_gives_the_best_five_of_a_grid_between_the_bounds(self):
        self.write_versions(8_000_000)
        report = self.tuned("--algorithm", "seqcdc-inc", "--size", "8K", "--runs", "1", "--combinations", "60", "data")
        bounds = report["bounds"][0]
        self.assertEqual(len(report["candidates"]), 5)
        for candidate in report["candidates"]:
            self.assertTrue(20 < candidate["tried_count"] <= 60, candidate)
            self.assertAlmostEqual(candidate["mean_bytes"] / 8192, 1, delta=0.125)
            for value in VALUES:
                self.assertTrue(bounds["lowest"][value] <= candidate["parameters"][value] <= bounds["highest"][value])

    def test_defaults_have_the_means_that_they_are_named_by(self):
        self.write("data", random_bytes(32_000_000, 7))
        listed = self.run_command("list", "seqcdc-inc", "--json").json()["sized_cuts"]
        shown = self.run_command("list", "seqcdc-inc").stdout
        sizes = [int(re.search(r"avg_bytes=(\d+)", cuts)[1]) for cuts in listed]
        self.assertEqual(sizes, [4096, 8192, 16384, 32768, 65536])
        for size, cuts in zip(sizes, listed):
            result = self.dedup("--hash", "xxh3", "--cuts", cuts)["result"]
            self.assertAlmostEqual(result["chunks"]["mean_bytes"] / size, 1, delta=0.12, msg=cuts)
            self.assertIn(cuts, shown)


class Faults(Tune):
    @needs_faulty_reads
    def test_an_input_that_cannot_be_read_is_named_and_the_rest_is_done(self):
        self.write_versions()
        self.write("data/bad", b"x" * 1000)
        run = self.run_command("tune", "--json", "--input", "pread", *FAST, "data", env=faulty_reads("data/bad"))
        self.assert_failed(run, "data/bad")
        report = run.json()
        self.assertEqual((report["input_count"], report["failed_input_count"]), (2, 1))
        self.assertIsNotNone(report["recommendation"])

    def test_means_of_which_there_are_too_few_chunks_are_left_out(self):
        self.write("data", random_bytes(300_000, 9))
        report = self.tuned("data")
        self.assertEqual((report["skipped_target_bytes"], report["bounds"]), ([32768, 65536], []))
        run = self.run_command("tune", "data")
        self.assertIn("not tried      means of 32K, 64K", run.stdout, run)
        self.assertIn("SeqCDC         its usual parameters alone", run.stdout, run)

    def test_nothing_or_too_little_to_read_is_told(self):
        self.write("one", b"1")
        self.write("empty", b"")
        self.assert_failed(self.run_command("tune", "one"), "too little data", "1 byte,")
        self.assert_failed(self.run_command("tune", *FAST, "empty"), "no bytes")
        self.write("long", bytes(range(256)) * 10_000)
        self.write("short", b"a short file")
        for share, name in (("0.000001%", "long"), ("1%", "short")):
            run = self.run_command("tune", *FAST, "--sample", share, name)
            self.assert_failed(run, "the sample takes none of the ", "give a larger --sample")
            self.assertEqual(run.stdout, "", run)
        run = self.run_command("tune", *FAST, "missing")
        self.assertEqual(run.code, INPUT_FAILED, run)
        self.assertIn("missing", run.stderr)

    def test_an_interrupt_is_told_with_what_is_known(self):
        reading, writing = os.pipe()
        process = self.start("tune", "--json", *FAST, "-", stdin=reading)
        os.close(reading)
        os.write(writing, b"some bytes")
        wait_until(lambda: process.poll() is not None or handles(process, signal.SIGINT), "the run reads")
        process.send_signal(signal.SIGINT)
        run = self.wait(process)
        os.close(writing)
        self.assert_failed(run, "interrupted", code=INTERRUPTED)
        self.assertIs(run.json()["interrupted"], True)

    def test_wrong_usage(self):
        self.write("a")
        for arguments, told in (
            ((), "PATH"),
            (("--goal", "best", "a"), "no goal 'best'"),
            (("--algorithm", "gearr", "a"), "gear"),
            (("--algorithm", "xet", "a"), "--profile xet"),
            (("--profile", "gear", "a"), "--algorithm gear"),
            (("--algorithm", "gear", "--algorithm", "gear", "a"), "twice"),
            *((("--size", size, "a"), "--size") for size in ("1", "big")),
            *((("--sample", sample, "a"), f"--sample {sample}") for sample in ("0%", "101%", "x%", "1")),
            *(((option, value, "a"), f"{option} {value}") for option, value in (
                ("--memory", "1M"), ("--threads", "0"), ("--combinations", "0"), ("--chunk-cost", "1G"), ("--runs", "0"))),
            (("--hash", "sha2", "a"), "sha2"),
            (("--monte-carlo", "a"), "--monte-carlo"),
            (("--verify", "-"), "--verify reads all inputs again"),
            (("--verify", "/dev/stdin"), "--verify reads all inputs again"),
            (("-o", "a", "a"), "a: is an input"),
        ):  # fmt: skip
            with self.subTest(arguments=arguments):
                self.assert_refused(self.run_command("tune", *arguments), told)
