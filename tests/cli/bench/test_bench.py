"""`cutpoint bench` measures what is named in every back end, and refuses what it does not know. How fast is not asserted."""

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


def of_memory(told: dict, kind: str) -> list[dict]:
    """The rows of what was measured in memory."""
    return [row for row in told["rows"] if (row["kind"], row["place"]) == (kind, "memory")]


class Bench(CommandTest):
    def told(self, *arguments) -> dict:
        short = ONE_ROUND if "--bytes" in arguments else SHORT
        run = self.run_command("bench", *short, "-q", "--json", *arguments)
        self.assert_done(run)
        return run.json()

    def bench(self, *arguments) -> dict:
        return self.told("--kernels", *arguments)

    def engine(self, *arguments) -> dict:
        told = self.told("--engine", *arguments)
        self.assertEqual(told["rows"], [])
        return told


class Kernels(Bench):
    def test_are_measured_in_each_place_and_back_end(self):
        told = self.bench("--algorithm", "gear", "--algorithm", "ram", "--profile", "ronomon", "--hash", "sha1", "--hash", "md5")
        self.assertEqual(list(told), NAMES)
        self.assertEqual([told[name] for name in ("file", "files", "rounds", "interrupted")], [None, [], 1, False])
        self.assertEqual([told[name] for name in NAMES[-3:]], [None, [], []])
        runs_here = {backend["name"]: backend["runs_here"] for backend in of_the_processor()}
        self.assertEqual(told["back_ends"], [{"name": name, "runs_here": runs} for name, runs in runs_here.items()])
        self.assertEqual({(row["place"], row["kind"]) for row in told["rows"]},
                         {(place, kind) for place in ("memory", "l2") for kind in ("read", "cuts", "fingerprint")})  # fmt: skip
        for row in told["rows"]:
            self.assertEqual((list(row), list(row["back_ends"])), (ROW, list(runs_here)))
            self.assertGreater(row["read_bytes_per_second"], 0)
            for name in ("scalar", row["auto"]):
                self.assertEqual(row["back_ends"][name]["outcome"], "measured", row)
            for name, cell in row["back_ends"].items():
                self.assertEqual(cell["outcome"] == "does_not_run", not runs_here[name], row)
                self.assert_cell(cell)
        rows = of_memory(told, "fingerprint")
        self.assertEqual([(row["name"], row["sizes"]) for row in rows],
                         [(name, sizes) for name in ("sha1", "md5") for sizes in ("fixed 8K", "fastcdc 2K:8K:64K")])  # fmt: skip
        self.assertEqual(rows[0]["mean_bytes"], 8192)

    def assert_cell(self, cell):
        self.assertEqual(list(cell), ["outcome", "bytes_per_second", "of_read"])
        if cell["outcome"] == "measured":
            self.assertGreater(min(cell["bytes_per_second"], cell["of_read"]), 0)
        else:
            self.assertIn(cell["outcome"], ("no_kernel", "does_not_run"))
            self.assertEqual((cell["bytes_per_second"], cell["of_read"]), (None, None))

    def test_are_measured_in_their_order_at_the_sizes_given(self):
        told = self.bench("--algorithm", "ram", "--algorithm", "gear", "--profile", "borg1", "--size", "1K:4K:16K")
        rows = of_memory(told, "cuts")
        self.assertEqual([(row["name"], row["sizes"]) for row in rows], [(name, "1K:4K:16K") for name in ("ram", "gear", "borg1")])
        for row, setting in zip(rows, ("avg_bytes=4096", "min_bytes=1024", "mask_bits=12")):
            self.assertIn(setting, row["cuts"])

    def test_of_profiles_that_take_no_sizes_have_their_own_and_few_chunks_are_not_in_the_cache(self):
        told = self.bench("--profile", "xet", "--profile", "repmaxcdc")
        xet, _ = of_memory(told, "cuts")
        self.assertEqual((xet["sizes"], xet["cuts"]), ("own", next(entry["cuts"] for entry in entries() if entry["name"] == "xet")))
        self.assertNotIn("repmaxcdc", [row["name"] for row in told["rows"] if row["place"] == "l2"])

    @unittest.skipIf(IS_SANITIZED, "measures everything")
    def test_are_all_and_so_is_the_engine_when_nothing_is_said(self):
        told = self.told("--cpu")
        cuts = [(row["name"], row["sizes"]) for row in of_memory(told, "cuts")]
        self.assertEqual({name for name, _ in cuts}, {entry["name"] for entry in entries()} - {"fixed"})
        for sizes in ("2K:8K:64K", "4K", "8K", "16K"):
            self.assertIn(("seqcdc-inc", sizes), cuts)
        hashes = [row["name"] for row in of_memory(told, "fingerprint")]
        self.assertEqual(set(hashes), {info["name"] for info in listed()["fingerprints"]} - {"none"})
        self.assertEqual(hashes[:4], ["sha1", "sha1", "sha256", "sha256"])
        self.assertEqual({row["name"] for row in told["engine_rows"]}, {"seqcdc-inc", "ram", "ae-max", "gear", "fastcdc", "rabin"})
        self.assertEqual({row["hash"] for row in told["engine_rows"]}, {"sha1", "sha256"})


class Engine(Bench):
    def test_has_a_row_for_each_name_size_and_hash(self):
        told = self.engine("--cpu", "--algorithm", "gear", "--profile", "xet", "--hash", "none", "--hash", "blake3", "--threads", "2")
        self.assertEqual((list(told), told["thread_count"]), (NAMES, 2))
        self.assertEqual([(row["name"], row["sizes"], row["hash"]) for row in told["engine_rows"]],
                         [("gear", "2K:8K:64K", "none"), ("gear", "2K:8K:64K", "blake3"),
                          ("xet", "own", "none"), ("xet", "own", "blake3")])  # fmt: skip
        rows = self.engine("--cpu", "--algorithm", "gear", "--size", "4K", "--size", "1K:2K:4K")["engine_rows"]
        self.assertEqual([(row["sizes"], row["hash"]) for row in rows], [("4K", "sha256"), ("1K:2K:4K", "sha256")])
        for row in rows:
            self.assertEqual((list(row), list(row["back_ends"])), (ENGINE_ROW, ["processor"]))
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
                self.assertGreater(min(cell["bytes_per_second"], cell["of_read"]), 0)
        self.assertEqual((cells["processor"]["plan"], cells["processor"]["device_cut_share"]), ("processor", 0))
        run = self.run_command("bench", "--engine", *SHORT, "-q", "--algorithm", "ram")
        self.assert_done(run)
        for name, problem in problems.items():
            self.assertEqual(f"-  {name}: {problem}\n" in run.stdout, problem != "")

    def test_cuts_files_one_after_the_other_as_the_command_does(self):
        self.write("data", os.urandom(65_536))
        self.write("more", bytes(100))
        row = self.engine("--cpu", "--data", "data", "--algorithm", "tttd", "--size", "1K:2K:8K")["engine_rows"][0]
        lengths = self.run_command("chunk", "--cuts", row["cuts"], "--format", "lengths", "data").lines
        self.assertEqual(row["mean_bytes"], 65_536 / len(lengths))
        told = self.engine("--cpu", "--data", "data", "--data", "more", "--algorithm", "gear", "--bytes", "128K")
        self.assertEqual((told["file"], told["files"], told["data_bytes"]), (None, ["data", "more"], 65_636))


class Usage(Bench):
    def test_is_refused_before_anything_is_measured_or_written(self):
        self.write("out", b"kept")
        for arguments, *told in (
            (("--algorithm", "gearr"), "'gearr', did you mean 'gear'?"),
            (("--algorithm", "gear", "--profile", "resticc"), "'resticc', did you mean 'restic'?"),
            (("--hash", "sha265"), "'sha265', did you mean 'sha256'?"),
            (("--algorithm", "xet"), "say --profile xet"),
            (("--profile", "gear"), "say --algorithm gear"),
            (("--profile", "xet", "--size", "1K:4K:16K"), "xet"),
            (("--algorithm", "gear", "--size", "8K:4K:2K"), "min_bytes = 8192"),
            (("--hash", "none"), "--hash none"),
            (("file",), "file"),
            (("--engine", "--threads", "4097"),),
            (("--engine", "--hash", "sha265"),),
            (("--kernels", "--threads", "2"), "--threads"),
            (("--kernels", "--placement", "cores"), "--placement"),
            *(((f"--size={size}",),) for size in ("1K:2K", "::", "x")),
        ):
            with self.subTest(arguments=arguments):
                self.assert_refused(self.run_command("bench", *SHORT, *arguments, "-o", "out"), *told)
        for option, values in (("--bytes", ("63K", "x", "")), ("--rounds", ("0", "1001", "x", ""))):
            for value in values:
                with self.subTest(option=option, value=value):
                    self.assert_refused(self.run_command("bench", "--hash", "md5", f"{option}={value}", "-o", "out"))
        self.assertEqual((self.folder / "out").read_bytes(), b"kept")

    def test_of_data_that_cannot_be_measured_is_named(self):
        self.write("empty", b"")
        self.write("one", b"1")
        self.write("data", bytes(100_000))
        for name, why in (("missing", "missing"), ("empty", "is empty"), (".", ""), ("one", "--data: too little to measure: 1 byte; give at least 64K")):
            run = self.run_command("bench", *SHORT, "--data", name, "--algorithm", "gear")
            self.assert_failed(run, why)
            self.assertEqual(run.stdout, "")
        self.assert_refused(self.run_command("bench", *SHORT, "--data", "data", "--algorithm", "gear", "-o", "data"), "data")
        self.assertEqual((self.folder / "data").read_bytes(), bytes(100_000))
        self.assert_failed(self.run_command("bench", "--algorithm", "gear", "-o", "missing/table"), "missing/table")


class Data(Bench):
    def test_of_a_file_are_its_first_bytes(self):
        self.write("zeros", bytes(300_000))
        for size, measured in (("128K", 131_072), ("1G", 300_000)):
            told = self.bench("--data", "zeros", "--bytes", size, "--algorithm", "gear")
            self.assertEqual((told["file"], told["data_bytes"]), ("zeros", measured))
        lengths = self.run_command("chunk", "--cuts", of_memory(told, "cuts")[0]["cuts"], "--format", "lengths", "zeros").lines
        self.assertEqual(of_memory(told, "cuts")[0]["mean_bytes"], 300_000 / len(lengths))


class Text(Bench):
    def test_has_a_table_for_each_place(self):
        run = self.run_command("bench", "--kernels", *SHORT, "--algorithm", "gear", "--hash", "md5", "-o", "table")
        self.assertEqual((run.code, run.stdout), (0, ""))
        self.assertIn("cutpoint: warning: ", run.stderr, "a cache holds the data")
        text = (self.folder / "table").read_text()
        *tables, closing = text.split("\n\n")[1:]
        self.assertEqual([table.split(",")[0] for table in tables], ["In memory", "In L2"])
        for table in tables:
            for words in (*(b["name"] for b in of_the_processor()), "plain read", "gear", "md5", "auto"):
                self.assertIn(words, table)
        for backend in of_the_processor():
            self.assertEqual(f"{backend['name']}: this processor does not run it" in text, not backend["runs_here"])
        self.assertIn("=  no kernel of its own: avx512-dl as avx512, sha-ni as sse4, else as scalar\n", text)
        rate = r"by \S+ \([0-9.]+ GiB/s\)"
        self.assertRegex(closing, rf"(?m)^fastest here: cuts gear \S+ {rate}; fingerprint md5 {rate}$")

    def test_explains_rates_above_those_of_a_read(self):
        run = self.run_command("bench", "--kernels", *SHORT, "-q", "--algorithm", "fixed")  # which reads nothing
        self.assertIn("Above 100 % of a plain read: ", run.stdout)
