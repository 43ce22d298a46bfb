"""`cutpoint bench` measures what is named in every back end, and refuses what it does not know. How fast is not asserted."""

import csv
import json
import os
import re
import signal
import time
import unittest
from xml.etree import ElementTree

from catalog import entries, listed
from command import INTERRUPTED, IS_SANITIZED, CommandTest

ONE_ROUND = ("--rounds", "1")
SHORT = (*ONE_ROUND, "--bytes", "64K")
NAMES = ("version processor_model file files data_bytes l2_bytes rounds interrupted quick read_by back_ends rows "
         "thread_count engine_back_ends engine_rows options").split()
ROW = "place kind name sizes cuts mean_bytes read_bytes_per_second auto back_ends".split()
ENGINE_ROW = "name sizes hash cuts mean_bytes read_bytes_per_second gain_of_both back_ends".split()
CELL = "outcome bytes_per_second lowest_bytes_per_second highest_bytes_per_second of_read".split()
ENGINE_CELL = CELL + ("of_link of_device plan device_cut_share "
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
        self.assertEqual([told[name] for name in ("file", "files", "rounds", "interrupted", "quick")], [None, [], 1, False, False])
        self.assertEqual([told[name] for name in NAMES[-4:-1]], [None, [], []])
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
        self.assertEqual(list(cell), [*CELL, "leaves_to"] if cell["outcome"] == "no_kernel" else CELL)
        if cell["outcome"] == "measured":
            self.assertGreater(min(cell["bytes_per_second"], cell["of_read"]), 0)
            self.assertEqual({cell["lowest_bytes_per_second"], cell["highest_bytes_per_second"]}, {cell["bytes_per_second"]})
        else:
            self.assertIn(cell["outcome"], ("no_kernel", "does_not_run"))
            self.assertEqual({cell[key] for key in CELL[1:]}, {None})

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
        line = f"No GPU here: {problems['cuda']}. What one would bring: cutpoint info --plan --rates FILE\n"
        self.assertEqual(line in run.stdout, problems["cuda"] != "")
        self.assertEqual("hybrid" in run.stdout, problems["hybrid"] == "")

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
            (("--size", "8Q"), "--size: '8Q' is not a size"),
            (("--size", "1K:8Q:64K"), "--size: '8Q' is not a size"),
            (("--compare", "missing/file"), "--compare missing/file: "),
            (("--hash", "none"), "--hash none"),
            (("file",), "file"),
            (("--engine", "--threads", "4097"),),
            (("--engine", "--hash", "sha265"),),
            (("--kernels", "--threads", "2"), "--threads"),
            (("--kernels", "--placement", "cores"), "--placement"),
            (("--quick", "--full"), "--full"),
            (("--format", "xml"), "'xml'"),
            (("--format", "csv", "--json"), "--json"),
            (("--backend", "avx3"), "'avx3'"),
            (("--kernels", "--backend", "hybrid"), "hybrid"),
            (("--kernels", "--backend", "cuda", "--algorithm", "gearr"), "'gearr', did you mean 'gear'?"),
            (("--kernels", "--backend", "cuda", "--hash", "sha1"), "--hash: a GPU's kernels are measured at cuts alone"),
            (("--kernels", "--backend", "cuda", "--device", "0,1"), "--device: '0,1' is not a number"),
            (("--kernels", "--device", "0"), "--device 0: no GPU is measured"),
            (("--cpu", "--device", "0"), "--device 0: no GPU is measured"),
            (("--engine", "--device", "4095"), "--device 4095: there is no GPU"),
            (("--chart", "out"), "--chart out: is also the output"),
            (("--compare", "out"), "out: is not what 'cutpoint bench --json' prints"),
            (("--compare", "out", "--format", "csv"), "--compare prints text or Markdown"),
            (("--compare", "out", "--json"), "--compare prints text or Markdown"),
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
        for option in ("-o", "--chart"):
            self.assert_failed(self.run_command("bench", "--algorithm", "gear", option, "missing/file"), "missing/file")


class Data(Bench):
    def test_of_a_file_are_its_first_bytes(self):
        self.write("zeros", bytes(300_000))
        for size, measured in (("128K", 131_072), ("1G", 300_000)):
            told = self.bench("--data", "zeros", "--bytes", size, "--algorithm", "gear")
            self.assertEqual((told["file"], told["data_bytes"]), ("zeros", measured))
        lengths = self.run_command("chunk", "--cuts", of_memory(told, "cuts")[0]["cuts"], "--format", "lengths", "zeros").lines
        self.assertEqual(of_memory(told, "cuts")[0]["mean_bytes"], 300_000 / len(lengths))


class Gpu(Bench):
    def test_kernels_are_of_the_data_given_or_the_command_says_why_there_is_no_gpu(self):
        self.write("zeros", bytes(300_000))
        run = self.run_command("bench", "--kernels", "--backend", "cuda", *SHORT, "-q", "--json", "--data", "zeros", "--algorithm", "gear")
        here = next(backend for backend in listed()["back_ends"] if backend["name"] == "cuda")["runs_here"]
        if not here:
            self.assert_refused(run, "--backend cuda: there is no GPU to use: ", ". What one would bring: cutpoint info --plan --rates FILE")
            return
        self.assert_done(run)
        told = run.json()
        self.assertEqual((told["engine_rows"], [each["name"] for each in told["back_ends"]]), ([], ["cuda"]))
        row, = told["rows"]
        self.assertEqual((row["place"], row["mean_bytes"]), ("device", 65_536))
        self.assertEqual(row["back_ends"]["cuda"]["outcome"], "measured")


class Text(Bench):
    def test_has_a_table_for_each_place(self):
        run = self.run_command("bench", "--kernels", *SHORT, "--algorithm", "gear", "--hash", "md5", "-o", "table")
        self.assertEqual((run.code, run.stdout), (0, ""))
        self.assertIn("cutpoint: warning: ", run.stderr, "a cache holds the data")
        text = (self.folder / "table").read_text()
        *tables, closing = text.split("\n\n")[1:]
        self.assertEqual([table.partition(",")[0] for table in tables], ["Back ends in one thread"] * 2)
        self.assertEqual([table.partition(": GiB/s")[0].split()[-2] for table in tables], ["memory,", "L2,"])
        absent = [backend["name"] for backend in of_the_processor() if not backend["runs_here"]]
        for table in tables:
            _, head, *rows = table.splitlines()
            self.assertEqual(head.split(), ["mean", *(b["name"] for b in of_the_processor() if b["runs_here"]), "read"])
            self.assertEqual([row.partition("  ")[0] for row in rows],
                             ["plain read", "gear 2K:8K:64K", "md5 fixed 8K", "md5 fastcdc 2K:8K:64K"])  # fmt: skip
            self.assertLessEqual({len(row) for row in rows}, {len(head)}, table)
            self.assertLessEqual(len(head), 105)
            self.assertEqual([row.count("*") for row in rows], [1] * 4, "the choice of auto")
        self.assertEqual(f"This processor does not run {', '.join(absent)}.\n" in closing, absent != [])
        self.assertNotIn("fastest", text)

    def test_names_the_back_end_that_does_the_job_of_another(self):
        told = self.bench("--algorithm", "maxp", "--hash", "sha256")
        text = self.run_command("bench", "--kernels", *SHORT, "-q", "--algorithm", "maxp", "--hash", "sha256").stdout
        rows = of_memory(told, "cuts") + of_memory(told, "fingerprint")
        others = {cell["leaves_to"] for row in rows for cell in row["back_ends"].values() if cell["outcome"] == "no_kernel"}
        self.assertTrue(others)
        self.assertLessEqual(others, {backend["name"] for backend in of_the_processor()})
        for name in others:
            self.assertIn(f"={name}", text)

    def test_explains_rates_above_those_of_a_read(self):
        run = self.run_command("bench", "--kernels", *SHORT, "-q", "--algorithm", "fixed")  # which reads nothing
        self.assertIn("Above 100 % of a plain read: ", run.stdout)


class Quick(Bench):
    """What is measured by default."""

    def report(self, *arguments) -> dict:
        run = self.run_command("bench", "-q", "--cpu", *ONE_ROUND, "--format", "json", *arguments)
        self.assert_done(run)
        return run.json()

    @unittest.skipIf(IS_SANITIZED, "checks everything")
    def test_times_all_algorithms_at_equal_means_as_auto_would_run_them_and_checks_the_rest(self):
        told = self.report("--bytes", "4M")
        self.assertEqual((told["quick"], {row["place"] for row in told["rows"]}), (True, {"memory"}))
        timed = set()
        for row in told["rows"]:
            measured = [name for name, cell in row["back_ends"].items() if cell["outcome"] == "measured"]
            checked = {cell["outcome"] for cell in row["back_ends"].values()} - {"measured", "no_kernel", "does_not_run"}
            self.assertLessEqual(checked, {"checked"}, row)
            self.assertIn(measured, ([], [row["auto"]]), row)
            if measured:
                timed.add(row["name"])
                if row["kind"] == "cuts":
                    self.assertLess(abs(row["mean_bytes"] - 8192), 0.08 * 8192, row)
            else:
                self.assertEqual(row["back_ends"]["scalar"]["outcome"], "checked")
        profiles = {entry["name"] for entry in entries() if entry["kind"] == "profile"}
        hashes = {info["name"] for info in listed()["fingerprints"]} - {"none"}
        self.assertEqual(timed, {entry["name"] for entry in entries()} - profiles - {"fixed"} | hashes | {"plain read"})
        self.assertLessEqual(profiles, {row["name"] for row in told["rows"]})
        self.assertEqual({row["hash"] for row in told["engine_rows"]}, {"sha256"})
        for row in told["engine_rows"]:
            self.assertLess(abs(row["mean_bytes"] - 8192), 0.08 * 8192, row)

    def test_is_what_is_measured_unless_something_is_said(self):
        for options, is_quick in (
            (("--quick", "--algorithm", "gear"), True),
            (("--quick", "--json", "--hash", "md5"), True),
            (("--algorithm", "gear"), False),
            (("--hash", "md5"), False),
        ):
            with self.subTest(options=options):
                format = () if "--json" in options else ("--format", "json")
                run = self.run_command("bench", "-q", "--cpu", *SHORT, *format, *options)
                self.assertIs(run.json()["quick"], is_quick)

    def test_prints_rows_as_they_are_measured_and_then_sorted(self):
        run = self.run_command("bench", "-q", "--cpu", "--quick", *ONE_ROUND, "--bytes", "1M", *(
            word for name in ("rabin", "gear", "ram") for word in ("--algorithm", name)))  # fmt: skip
        self.assert_done(run)
        _, lines, cuts, engine, closing = run.stdout.split("\n\n")
        self.assertEqual([line.split()[0] for line in lines.splitlines()], ["plain", "rabin", "gear", "ram", "rabin", "gear", "ram"])
        for table, title in ((cuts, "Cuts in one thread, data in memory"), (engine, "The engine, ")):
            first, head, *rows = table.splitlines()
            self.assertTrue(first.startswith(title), first)
            self.assertEqual(head.split(), ["mean", "back", "end", "GiB/s", "spread", "of", "a", "read"])
            rates = [float(re.search(r"([0-9.]+)  +[0-9]+ %  +[0-9]+ %$", row)[1]) for row in rows]
            self.assertEqual(rates, sorted(rates, reverse=True))
        self.assertIn("were compared with the reference's, also of what is not timed: all are right.", closing)

    def test_prints_rows_into_pipes_and_keeps_them_when_it_is_interrupted(self):
        process = self.start("bench", "-q", "--kernels", "--engine", "--rounds", "100", "--bytes", "1M", "--algorithm", "gear", "--cpu")
        lines = []
        while not any(line.startswith("gear ") for line in lines):  # a hundred rounds in the cache follow
            lines.append(process.stdout.readline().decode())
            self.assertNotEqual(lines[-1], "", lines)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        run = self.wait(process)
        self.assert_failed(run, "interrupted; the table covers what was measured", code=INTERRUPTED)
        self.assertNotIn("engine", "".join(lines) + run.stdout)

    def test_ends_soon_after_an_interruption_also_while_answers_are_compared(self):
        process = self.start("bench", "-q", "--kernels", "--quick", *ONE_ROUND, "--bytes", "128M", "--algorithm", "toeplitz-aes")
        while not process.stdout.readline().startswith(b"plain read"):  # toeplitz-aes follows, and takes seconds
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        begin = time.monotonic()
        self.assert_failed(self.wait(process), "interrupted; the table covers what was measured", code=INTERRUPTED)
        self.assertLess(time.monotonic() - begin, 2)

    def test_times_one_back_end_if_it_is_named(self):
        told = self.report("--backend", "scalar", "--bytes", "64K", "--algorithm", "gear", "--hash", "sha1")
        self.assertEqual(told["engine_back_ends"], [{"name": "scalar", "problem": ""}])
        self.assertEqual(list(told["engine_rows"][0]["back_ends"]), ["scalar"])
        for row in told["rows"]:
            outcomes = {name: cell["outcome"] for name, cell in row["back_ends"].items()}
            self.assertEqual([name for name, outcome in outcomes.items() if outcome == "measured"], ["scalar"])
        told = self.report("--backend", "auto", "--kernels", "--bytes", "64K", "--algorithm", "gear")
        for row in told["rows"]:
            outcomes = {name: cell["outcome"] for name, cell in row["back_ends"].items()}
            self.assertEqual([name for name, outcome in outcomes.items() if outcome == "measured"], [row["auto"]])


class Formats(Bench):
    def run_short(self, *arguments):
        run = self.run_command("bench", *SHORT, "-q", "--cpu", "--algorithm", "gear", "--hash", "sha1", *arguments)
        self.assert_done(run)
        return run

    def test_have_the_rates_of_the_json(self):
        (self.folder / "json").write_text(self.run_short("--json").stdout)
        rows = list(csv.DictReader(self.run_short("--format", "csv").lines))
        told = json.loads((self.folder / "json").read_text())
        measured = [(row.get("place", ""), row["name"], row["sizes"], name) for row in told["rows"] + told["engine_rows"]
                    for name, cell in row["back_ends"].items() if cell["outcome"] == "measured"]  # fmt: skip
        self.assertEqual(sorted((row["place"], row["name"], row["sizes"], row["back_end"]) for row in rows), sorted(measured))
        self.assertEqual({row["kind"] for row in rows}, {"read", "cuts", "fingerprint", "engine"})
        for row in rows:
            self.assertEqual({row["lowest_bytes_per_second"], row["highest_bytes_per_second"]}, {row["bytes_per_second"]})
        markdown = self.run_short("--format", "markdown").lines
        self.assertEqual(len([line for line in markdown if re.match(r"\| (plain|gear|sha1|fastcdc)", line)]), len(measured))
        self.assertEqual({line.count("|") for line in markdown if line.startswith("|")}, {7})

    def test_of_a_chart_are_svg_with_a_dot_for_each_rate(self):
        rows = list(csv.DictReader(self.run_short("--format", "csv", "--chart", "chart.svg").lines))
        picture = ElementTree.parse(self.folder / "chart.svg").getroot()
        name = "{http://www.w3.org/2000/svg}"
        self.assertEqual(picture.tag, f"{name}svg")
        dots = picture.findall(f"{name}circle")
        self.assertEqual(len(dots), len(rows))
        for dot in dots:
            self.assertTrue(300 <= float(dot.get("cx")) <= 720, dot.attrib)
        self.assertLessEqual({"gear 2K:8K:64K", "gear 2K:8K:64K sha1"}, {text.text for text in picture.iter(f"{name}text")})


class Comparison(Bench):
    def compared(self, change, *options) -> str:
        """What a run says of one before it, of whose report `change` makes another."""
        words = ("bench", "--kernels", "-q", "--bytes", "64K", "--rounds", "5", "--algorithm", "gear", "--algorithm", "ram")
        report = self.run_command(*words, "--json").json()
        for row in report["rows"]:
            for cell in row["back_ends"].values():
                if cell["bytes_per_second"]:
                    change(row, cell)
        self.write("before", json.dumps(report).encode())
        run = self.run_command(*words, "--compare", "before", *options)
        self.assert_done(run)
        return run.stdout.partition("Compared with an earlier run")[2]

    def test_names_what_differs_by_more_than_the_spreads(self):
        def change(row, cell):
            factor = {"gear": 1e-6, "ram": 1e6}.get(row["name"], 1)
            for key in CELL[1:4]:
                cell[key] *= factor
            if factor == 1:
                cell["lowest_bytes_per_second"], cell["highest_bytes_per_second"] = 0, 1e15

        text = self.compared(change)
        for name, verdict in (("gear", "faster"), ("ram", "slower"), ("plain", "%")):
            verdicts = {line.split()[-1] for line in text.splitlines() if line.startswith(f"{name} ")}
            self.assertEqual(verdicts, {verdict}, text)
        different = len(re.findall(r"(?m)(faster|slower)$", text))
        self.assertRegex(text, rf"\n{different} of [0-9]+ rates differ by more than the spreads explain; 0 were measured only now, 0 only before\n$")

    def test_has_no_verdict_where_a_report_has_no_spreads_and_counts_what_was_not_measured_in_both(self):
        def change(row, cell):
            del cell["lowest_bytes_per_second"], cell["highest_bytes_per_second"]
            cell["bytes_per_second"] *= 1e-6
            row["name"] = "other" if row["name"] == "ram" else row["name"]

        text = self.compared(change, "--format", "markdown")
        self.assertRegex(text, r"\n0 of [0-9]+ rates differ")
        only = re.search(r"([0-9]+) were measured only now, ([0-9]+) only before", text)
        self.assertEqual(only[1], only[2])
        self.assertGreater(int(only[1]), 0)

    def test_measures_what_the_earlier_run_did(self):
        """Or else a newcomer waits for everything, whose rows the earlier run does not have."""
        self.write("data", os.urandom(65_536))
        words = ("--kernels", "--algorithm", "gear", "--size", "1K:4K:16K", "--bytes", "64K", "--rounds", "2", "--data", "data")
        self.assert_done(self.run_command("bench", "-q", "--format", "json", *words, "-o", "before"))
        options = {"--kernels": True, "--algorithm": ["gear"], "--size": ["1K:4K:16K"], "--bytes": "64K", "--data": ["data"], "--rounds": "2"}
        self.assertEqual(json.loads((self.folder / "before").read_text())["options"], options)
        for more in ((), words, words[:3]):
            run = self.run_command("bench", "-q", "--compare", "before", *more)
            self.assert_done(run)
            self.assertIn("; 0 were measured only now, 0 only before", run.stdout)
            self.assertNotIn(" before, ", run.stdout, "of other options")
        for more in (("--rounds", "3"), ("--algorithm", "ram"), ("--engine",), ("--backend", "scalar"), ("--quick",), ("--threads", "1")):
            self.assert_refused(self.run_command("bench", "--compare", "before", *more), f"{more[0]}: the run of --compare before was measured otherwise")

    def test_says_what_else_is_different_and_takes_reports_without_options(self):
        self.write("data", os.urandom(65_536))
        words = ("bench", "--kernels", "-q", *SHORT, "--algorithm", "gear")
        report = self.run_command(*words, "--json", "--data", "data").json()
        del report["options"]
        self.write("before", json.dumps(report).encode())
        self.assertIn('\nfiles: ["data"] before, [] now\n', self.run_command(*words, "--compare", "before").stdout)
