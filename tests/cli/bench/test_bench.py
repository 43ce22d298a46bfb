"""`cutpoint bench` measures what is named in every back end, and refuses what it does not know. How fast is not asserted."""

import json
import os
import unittest

from catalog import entries, listed
from command import IS_SANITIZED, CommandTest

ONE_ROUND = ("--rounds", "1")
SHORT = (*ONE_ROUND, "--bytes", "64K")
NAMES = ("version processor_model file files data_bytes l2_bytes rounds interrupted read_by back_ends rows "
         "thread_count engine_back_ends engine_rows").split()
ROW = "place kind name sizes cuts mean_bytes read_bytes_per_second auto back_ends".split()
ENGINE_ROW = "name sizes hash cuts mean_bytes read_bytes_per_second gain_of_both back_ends".split()
ENGINE_CELL = ("outcome bytes_per_second of_read of_link of_device plan device_cut_share "
               "predicted_bytes_per_second").split()


def of_the_processor() -> list[dict]:
    """The back ends that kernels are measured on."""
    return [backend for backend in listed()["back_ends"] if backend["name"] not in ("cuda", "hybrid")]


class Bench(CommandTest):
    def bench(self, *arguments):
        short = ONE_ROUND if "--bytes" in arguments else SHORT
        run = self.run_command("bench", "--kernels", *short, "-q", "--json", *arguments)
        self.assert_done(run)
        return json.loads(run.stdout)

    def rows(self, *arguments, kind="cuts", place="memory"):
        rows = self.bench(*arguments)["rows"]
        return [row for row in rows if (row["kind"], row["place"]) == (kind, place)]

    def refused(self, *arguments, told=()):
        self.write("out", b"kept")
        run = self.run_command("bench", *SHORT, *arguments, "-o", "out")
        self.assert_refused(run, *told)
        self.assertEqual((self.folder / "out").read_bytes(), b"kept", run)


class Json(Bench):
    def test_has_the_shape_that_programs_expect(self):
        told = self.bench("--algorithm", "gear", "--hash", "sha1")
        self.assertEqual(list(told), NAMES)
        self.assertEqual([told[name] for name in ("file", "files", "rounds", "interrupted")], [None, [], 1, False])
        self.assertEqual([told[name] for name in NAMES[-3:]], [None, [], []])
        names = [{"name": b["name"], "runs_here": b["runs_here"]} for b in of_the_processor()]
        self.assertEqual(told["back_ends"], names)
        for row in told["rows"]:
            self.assertEqual(list(row), ROW)
            self.assertEqual(list(row["back_ends"]), [b["name"] for b in names])
            self.assertGreater(row["read_bytes_per_second"], 0)
            for cell in row["back_ends"].values():
                self.assert_cell(cell)

    def assert_cell(self, cell):
        self.assertEqual(list(cell), ["outcome", "bytes_per_second", "of_read"])
        if cell["outcome"] == "measured":
            self.assertGreater(cell["bytes_per_second"], 0)
            self.assertGreater(cell["of_read"], 0)
        else:
            self.assertIn(cell["outcome"], ("no_kernel", "does_not_run"))
            self.assertEqual((cell["bytes_per_second"], cell["of_read"]), (None, None))

    def test_measures_the_read_and_the_reference_always(self):
        told = self.bench("--algorithm", "gear")
        self.assertEqual({(row["place"], row["kind"]) for row in told["rows"]},
                         {(place, kind) for place in ("memory", "l2") for kind in ("read", "cuts")})
        for row in told["rows"]:
            self.assertEqual(row["back_ends"]["scalar"]["outcome"], "measured")

    def test_measures_no_back_end_that_does_not_run_here(self):
        told = self.bench("--algorithm", "ram", "--hash", "sha256")
        for row in told["rows"]:
            for backend in told["back_ends"]:
                does_not_run = row["back_ends"][backend["name"]]["outcome"] == "does_not_run"
                self.assertEqual(does_not_run, not backend["runs_here"], row)

    def test_says_what_auto_chose_of_those_that_were_measured(self):
        for row in self.bench("--algorithm", "ram", "--profile", "ronomon", "--hash", "sha1", "--hash", "md5")["rows"]:
            self.assertEqual(row["back_ends"][row["auto"]]["outcome"], "measured", row)

    def test_leaves_out_of_the_cache_what_has_few_chunks_there(self):
        self.assertEqual(self.rows("--profile", "repmaxcdc", place="l2"), [])
        self.assertEqual(len(self.rows("--profile", "repmaxcdc")), 1)


class Engine(Bench):
    def engine(self, *arguments):
        run = self.run_command("bench", "--engine", *SHORT, "-q", "--json", *arguments)
        self.assert_done(run)
        told = json.loads(run.stdout)
        self.assertEqual(told["rows"], [])
        return told

    def test_has_a_row_for_each_name_size_and_hash(self):
        told = self.engine("--cpu", "--algorithm", "gear", "--profile", "xet", "--hash", "none", "--hash", "blake3",
                           "--threads", "2")
        self.assertEqual(list(told), NAMES)
        self.assertEqual(told["thread_count"], 2)
        rows = told["engine_rows"]
        self.assertEqual([(row["name"], row["sizes"], row["hash"]) for row in rows],
                         [("gear", "2K:8K:64K", "none"), ("gear", "2K:8K:64K", "blake3"),
                          ("xet", "own", "none"), ("xet", "own", "blake3")])
        told = self.engine("--cpu", "--algorithm", "gear", "--size", "4K", "--size", "1K:2K:4K")
        rows = told["engine_rows"]
        self.assertEqual([(row["sizes"], row["hash"]) for row in rows], [("4K", "sha256"), ("1K:2K:4K", "sha256")])
        for row in rows:
            self.assertEqual(list(row), ENGINE_ROW)
            self.assertEqual(list(row["back_ends"]), ["processor"])
            self.assertGreater(row["read_bytes_per_second"], 0)
            self.assertIsNone(row["gain_of_both"])

    def test_measures_the_processor_and_says_why_it_does_not_measure_others(self):
        told = self.engine("--algorithm", "ram", "--hash", "sha1")
        problems = {setup["name"]: setup["problem"] for setup in told["engine_back_ends"]}
        self.assertEqual(list(problems), ["processor", "cuda", "hybrid"])
        self.assertEqual(problems["processor"], "")
        cells = told["engine_rows"][0]["back_ends"]
        self.assertEqual(list(cells), list(problems))
        for name, cell in cells.items():
            self.assertEqual([key for key in cell if key != "problem"], ENGINE_CELL)
            if problems[name]:
                self.assertEqual((cell["outcome"], cell["problem"]), ("unavailable", problems[name]))
                self.assertEqual({cell[key] for key in ENGINE_CELL[1:]}, {None})
            else:
                self.assertEqual(cell["outcome"], "measured")
                self.assertGreater(cell["bytes_per_second"], 0)
                self.assertGreater(cell["of_read"], 0)
        self.assertEqual((cells["processor"]["plan"], cells["processor"]["device_cut_share"]), ("processor", 0))
        run = self.run_command("bench", "--engine", *SHORT, "-q", "--algorithm", "ram")
        self.assert_done(run)
        for name, problem in problems.items():
            self.assertEqual(f"-  {name}: {problem}\n" in run.stdout, problem != "")

    def test_cuts_as_the_command_does(self):
        self.write("data", os.urandom(65_536))
        row = self.engine("--cpu", "--data", "data", "--algorithm", "tttd", "--size", "1K:2K:8K")["engine_rows"][0]
        lengths = self.run_command("chunk", "--cuts", row["cuts"], "--format", "lengths", "data").lines
        self.assertEqual(row["mean_bytes"], 65_536 / len(lengths))

    def test_takes_files_one_after_the_other(self):
        self.write("a", bytes(40_000))
        self.write("b", bytes(25_536))
        told = self.engine("--cpu", "--data", "a", "--data", "b", "--algorithm", "gear")
        self.assertEqual((told["file"], told["files"], told["data_bytes"]), (None, ["a", "b"], 65_536))

    @unittest.skipIf(IS_SANITIZED, "measures everything")
    def test_is_measured_beside_kernels_when_nothing_is_said(self):
        run = self.run_command("bench", "--cpu", *SHORT, "-q", "--json")
        self.assert_done(run)
        told = json.loads(run.stdout)
        self.assertGreater(len(told["rows"]), 50)
        self.assertEqual({row["name"] for row in told["engine_rows"]},
                         {"seqcdc-inc", "ram", "ae-max", "gear", "fastcdc", "rabin"})
        self.assertEqual({row["hash"] for row in told["engine_rows"]}, {"sha1", "sha256"})

    def test_says_what_is_wrong_with_its_options(self):
        for arguments in (("--threads", "0"), ("--threads", "4097"), ("--threads", "x"), ("--hash", "sha265"),
                          ("--size", "8K:4K:2K", "--algorithm", "gear")):
            with self.subTest(arguments):
                self.assert_refused(self.run_command("bench", "--engine", *SHORT, *arguments))
        self.assert_refused(self.run_command("bench", "--kernels", "--threads", "2"), "--threads")
        self.assert_refused(self.run_command("bench", "--kernels", "--placement", "cores"), "--placement")


class Names(Bench):
    def test_are_measured_in_their_order_at_the_sizes_given(self):
        rows = self.rows("--algorithm", "ram", "--algorithm", "gear", "--profile", "borg1", "--size", "1K:4K:16K")
        self.assertEqual([row["name"] for row in rows], ["ram", "gear", "borg1"])
        self.assertEqual({row["sizes"] for row in rows}, {"1K:4K:16K"})
        for row, setting in zip(rows, ("avg_bytes=4096", "min_bytes=1024", "mask_bits=12")):
            self.assertIn(setting, row["cuts"])

    def test_of_profiles_that_take_no_sizes_have_their_own(self):
        row = self.rows("--profile", "xet")[0]
        self.assertEqual(row["sizes"], "own")
        self.assertEqual(row["cuts"], next(entry["cuts"] for entry in entries() if entry["name"] == "xet"))
        self.refused("--profile", "xet", "--size", "1K:4K:16K", told=("xet",))

    def test_of_fingerprints_have_chunks_of_both_kinds(self):
        rows = self.rows("--hash", "sha1", "--hash", "md5", kind="fingerprint")
        self.assertEqual([(row["name"], row["sizes"]) for row in rows],
                         [(name, sizes) for name in ("sha1", "md5") for sizes in ("fixed 8K", "fastcdc 2K:8K:64K")])
        self.assertEqual(rows[0]["mean_bytes"], 8192)

    @unittest.skipIf(IS_SANITIZED, "measures everything")
    def test_are_all_when_none_is_given(self):
        rows = self.bench()["rows"]
        cuts = [(row["name"], row["sizes"]) for row in rows if (row["kind"], row["place"]) == ("cuts", "memory")]
        self.assertEqual({name for name, _ in cuts}, {entry["name"] for entry in entries()} - {"fixed"})
        for sizes in ("2K:8K:64K", "4K", "8K", "16K"):
            self.assertIn(("seqcdc-inc", sizes), cuts)
        hashes = [row["name"] for row in rows if (row["kind"], row["place"]) == ("fingerprint", "memory")]
        self.assertEqual(set(hashes), {info["name"] for info in listed()["fingerprints"]} - {"none"})
        self.assertEqual(hashes[:4], ["sha1", "sha1", "sha256", "sha256"])

    def test_that_are_unknown_are_told(self):
        self.refused("--algorithm", "gearr", told=("'gearr', did you mean 'gear'?",))
        self.refused("--algorithm", "gear", "--profile", "resticc", told=("'resticc', did you mean 'restic'?",))
        self.refused("--hash", "sha265", told=("'sha265', did you mean 'sha256'?",))

    def test_of_the_other_kind_say_the_option(self):
        self.refused("--algorithm", "xet", told=("say --profile xet",))
        self.refused("--profile", "gear", told=("say --algorithm gear",))


class Usage(Bench):
    def test_of_numbers_out_of_their_bounds(self):
        for option, values in {
            "--bytes": ("63K", "0", "x", "-1", ""),
            "--rounds": ("0", "1001", "x", "-1", ""),
            "--size": ("1K:2K", "::", "x"),
        }.items():
            for value in values:
                with self.subTest(option=option, value=value):
                    self.assert_refused(self.run_command("bench", "--hash", "md5", f"{option}={value}"))

    def test_of_sizes_that_a_name_refuses(self):
        self.refused("--algorithm", "gear", "--size", "8K:4K:2K", told=("min_bytes = 8192",))

    def test_of_no_fingerprint_and_of_arguments(self):
        self.refused("--hash", "none", told=("--hash none",))
        self.refused("file", told=("file",))

    def test_help(self):
        run = self.run_command("bench", "--help")
        self.assert_done(run)
        self.assertIn("--rounds", run.stdout)


class Data(Bench):
    def test_of_a_file_are_its_first_bytes(self):
        self.write("zeros", bytes(300_000))
        told = self.bench("--data", "zeros", "--bytes", "128K", "--algorithm", "gear")
        self.assertEqual((told["file"], told["data_bytes"]), ("zeros", 131072))
        told = self.bench("--data", "zeros", "--bytes", "1G", "--algorithm", "gear")
        self.assertEqual(told["data_bytes"], 300_000)
        row = next(row for row in told["rows"] if row["kind"] == "cuts")
        lengths = self.run_command("chunk", "--cuts", row["cuts"], "--format", "lengths", "zeros").lines
        self.assertEqual(row["mean_bytes"], 300_000 / len(lengths))

    def test_that_cannot_be_read_are_named(self):
        self.write("empty", b"")
        for name, why in (("missing", "missing"), ("empty", "is empty"), (".", "")):
            run = self.run_command("bench", *SHORT, "--data", name, "--algorithm", "gear")
            self.assert_failed(run, name, why)
            self.assertEqual(run.stdout, "")

    def test_that_are_too_little_are_refused(self):
        self.write("one", b"1")
        run = self.run_command("bench", *SHORT, "--data", "one", "--algorithm", "gear")
        self.assert_failed(run, "--data: too little to measure: 1 byte; give at least 64K")

    def test_are_not_written_over(self):
        self.write("data", bytes(100_000))
        run = self.run_command("bench", *SHORT, "--data", "data", "--algorithm", "gear", "-o", "data")
        self.assert_refused(run, "data")
        self.assertEqual((self.folder / "data").read_bytes(), bytes(100_000))

    def test_that_a_cache_holds_are_warned_of(self):
        arguments = ("bench", *SHORT, "--algorithm", "ram")
        self.assertIn("cutpoint: warning: ", self.run_command(*arguments).stderr)
        self.assertEqual(self.run_command(*arguments, "-q").stderr, "")


class Text(Bench):
    def test_has_a_table_for_each_place(self):
        run = self.run_command("bench", "--kernels", *SHORT, "-q", "--algorithm", "gear", "--hash", "md5")
        self.assert_done(run)
        *tables, closing = run.stdout.split("\n\n")[1:]
        self.assertEqual([table.split(",")[0] for table in tables], ["In memory", "In L2"])
        for table in tables:
            for words in (*(b["name"] for b in of_the_processor()), "plain read", "gear", "md5", "auto"):
                self.assertIn(words, table)
        for backend in of_the_processor():
            self.assertEqual(f"{backend['name']}: this processor does not run it" in run.stdout, not backend["runs_here"])

        rate = r"by \S+ \([0-9.]+ GiB/s\)"
        self.assertRegex(closing, rf"(?m)^fastest here: cuts gear \S+ {rate}; fingerprint md5 {rate}$")

    def test_explains_rates_above_those_of_a_read(self):
        run = self.run_command("bench", "--json", "--kernels", *SHORT, "-q", "--algorithm", "fixed")
        self.assert_done(run)
        cells = [cell for row in json.loads(run.stdout)["rows"] if row["kind"] == "cuts" for cell in row["back_ends"].values()]
        self.assertGreater(max(cell["of_read"] or 0 for cell in cells), 1, "it reads nothing")
        run = self.run_command("bench", "--kernels", *SHORT, "-q", "--algorithm", "fixed")
        self.assertIn("Above 100 % of a plain read: ", run.stdout)

    def test_goes_where_output_is_asked_for(self):
        run = self.run_command("bench", *SHORT, "-q", "--algorithm", "gear", "-o", "table")
        self.assert_done(run)
        self.assertEqual(run.stdout, "")
        self.assertIn("gear", (self.folder / "table").read_text())

    def test_fails_before_it_measures_where_output_cannot_be_written(self):
        run = self.run_command("bench", "--algorithm", "gear", "-o", "missing/table")
        self.assert_failed(run, "missing/table")
