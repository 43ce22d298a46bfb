"""Sweeps: what is measured, what is kept, and what a kill, a failure or another binary changes."""

import contextlib
import fcntl
import functools
import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import unittest
import unittest.mock
from pathlib import Path

from programs import BINARY, ROOT, run_here
from results_files import CATALOG
from sweeps import ANSWERS, SMALL, SMALL_COUNT, SweepTest

from experiments.sizes import bytes_of, rounded, text_of
from experiments.sweep import plan
from experiments.sweep.__main__ import main, plan_file
from experiments.sweep.command import Command
from experiments.sweep.plan import OF_KIND, Cell
from experiments.sweep.run import Estimate, duration


class Results(SweepTest):
    def test_every_combination_has_a_row(self):
        self.begin_with(SMALL)
        self.assertEqual(len(self.cuts()), SMALL_COUNT)
        self.assertEqual(self.select("select count(*) from cells where outcome = 'done'"), [(SMALL_COUNT,)])
        self.assertEqual({row[0] for row in self.select("select bytes from rows where dataset = 'a'")}, {300_000})
        saved = dict(self.select("select dataset, min(savings) from rows group by 1"))
        self.assertEqual(saved["a"], 0)
        self.assertGreater(saved["b"], 0.4)  # of two files that share most

    def test_rows_are_what_the_command_says(self):
        self.begin_with(SMALL)
        words = "dedup --json --algorithm seqcdc-inc --size 8K --param seq_length=4 --param skip_size=320 b1 b2".split()
        said = json.loads(subprocess.run([BINARY, *words], cwd=self.folder, capture_output=True, check=True).stdout)["result"]
        rows = self.select(
            "select chunk_count, unique_bytes, mean_bytes from rows where grp = 'parameters' "
            "and json_extract(parameters, '$.seq_length') = 4 and json_extract(parameters, '$.skip_size') = 320"
        )
        self.assertEqual(rows, [(said["chunk_count"], said["unique_bytes"], said["chunks"]["mean_bytes"])])

    def test_what_is_done_is_not_measured_again(self):
        self.begin_with(SMALL)
        before = self.select("select key, started, seconds from cells order by 1")
        self.assertIn(f"0 of {SMALL_COUNT} cells are to be measured", self.sweep(SMALL))
        self.assertEqual(self.select("select key, started, seconds from cells order by 1"), before)

    def test_more_cells_in_the_file_are_all_that_is_measured(self):
        self.begin_with(SMALL)
        more = SMALL.replace('"gear", ', '"gear", "ram", ')
        self.assertIn(f"4 of {SMALL_COUNT + 4} cells are to be measured", self.sweep(more))

    def test_a_cell_of_two_groups_is_measured_once(self):
        text = SMALL + '[[cells]]\ngroup = "again"\ndatasets = ["a"]\nalgorithms = ["gear"]\nsizes = ["4K"]\n'
        self.sweep(text)
        self.assertEqual(self.select("select count(*) from cells"), [(SMALL_COUNT,)])
        self.assertEqual(len(self.cuts()), SMALL_COUNT + 1)

    def test_another_binary_measures_anew_and_loses_nothing(self):
        self.begin_with(SMALL)
        self.assertIn(f"{SMALL_COUNT} of {SMALL_COUNT} cells", self.sweep(SMALL, binary=self.disguise("# another")))
        self.assertEqual(self.select("select count(*), count(distinct binary) from cells"), [(2 * SMALL_COUNT, 2)])
        self.assertEqual(len(self.cuts()), SMALL_COUNT)  # of the sweep as it is now

    def test_a_machine_is_the_same_with_other_memory(self):
        """What a virtual machine has of it changes from start to start."""
        says = subprocess.run([BINARY, "info", "--json"], capture_output=True, text=True, check=True).stdout
        keys = set()
        for memory in (1, 2):
            (self.folder / "info.json").write_text(re.sub(r'"memory_bytes": ?\d+', f'"memory_bytes":{memory}', says))
            keys.add(Command(self.disguise(f'if [[ $1 == info ]]; then exec cat "{self.folder}/info.json"; fi')).machine_key)
            ANSWERS.clear()
        self.assertEqual(len(keys), 1)

    def test_other_data_are_measured_anew(self):
        self.begin_with(SMALL)
        path = self.folder / "a"
        path.write_bytes(path.read_bytes()[:-1] + b"!")
        self.assertIn(f"4 of {SMALL_COUNT} cells", self.sweep(SMALL))

    def listed(self, text: str, *more: str) -> list[str]:
        """What --list prints, which leaves all as it was."""
        words = self.words(text, "--list", *more)
        before = sorted(self.folder.rglob("*"))
        run = run_here(main, *words)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(sorted(self.folder.rglob("*")), before)
        self.assertIn(f"{run.stdout.count(chr(10))} of {len(plan.read(Path(words[0])).cells())} cells are missing", run.stderr)
        return run.stdout.splitlines()

    def test_list_measures_makes_and_writes_nothing(self):
        self.assertEqual(len(self.listed(SMALL)), SMALL_COUNT)
        text = SMALL.replace("[datasets.b]", '[datasets.random]\nsize = "1M"\nversions = 1\n[datasets.b]')
        self.assertIn("dedup random seqcdc-inc 8K (its data set is not made yet)", self.listed(text))
        self.begin_with(SMALL)
        members = self.select("select * from members order by 1, 2, 3")
        self.assertEqual([line.split(" ")[1:3] for line in self.listed(text)], [["random", "gear"]] * 2 + [["random", "seqcdc-inc"]] * 2)
        self.assertEqual(self.listed(text, "--only", "parameters"), [])
        self.assertEqual(self.select("select * from members order by 1, 2, 3"), members)

    def test_the_script_builds_and_fetches_nothing_for_a_list(self):
        for name in ("scripts", "bench/experiments"):
            shutil.copytree(ROOT / name, self.folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        run = subprocess.run([self.folder / "scripts/sweep", "quick", "--list"], capture_output=True, text=True, check=False)
        self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
        self.assertRegex(run.stderr, r"^sweep: there is no .*/build/release/cli/cutpoint; scripts/build builds the command\n$")
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"a", "b1", "b2", "scripts", "bench"})

    def test_a_reader_of_the_list_that_has_gone_ends_it_without_a_message(self):
        for unbuffered in ("", "1"):
            reading, writing = os.pipe()
            os.close(reading)
            words = [sys.executable, "-B", "-m", "experiments.sweep", *self.words(SMALL, "--list")]
            variables = os.environ | {"PYTHONUNBUFFERED": unbuffered}
            run = subprocess.run(words, stdout=writing, stderr=subprocess.PIPE, text=True, env=variables, check=False)
            os.close(writing)
            self.assertEqual(run.returncode, 128 + signal.SIGPIPE, run.stderr)
            self.assertNotRegex(run.stderr, "Traceback|Broken|Exception")

    def test_only_one_group(self):
        self.sweep(SMALL, "--only", "parameters")
        self.assertEqual({row[0] for row in self.cuts()}, {"parameters"})
        self.assertIn("no group 'nothing'; there are parameters, savings", self.sweep(SMALL, "--only", "nothing", code=2))

    def test_kernels_have_a_row_for_each_back_end(self):
        self.sweep('[datasets.a]\npath = "a"\n[[cells]]\nkind = "kernels"\nalgorithms = ["gear"]\nsizes = ["8K"]\nbytes = "256K"\nrounds = 3\n')
        rows = self.select("select backend, outcome, bytes_per_second from speeds where place = 'memory'")
        self.assertIn("scalar", {row[0] for row in rows})
        self.assertTrue(all((rate or 0) > 0 for _, outcome, rate in rows if outcome == "measured"), rows)

    GPU = '[datasets.b]\npath = ["b1", "b2"]\n[[cells]]\nkind = "device-kernels"\nalgorithms = ["gear"]\nsizes = ["8K"]\nbytes = "256K"\nrounds = 3\n'

    def with_gpu(self, cell: dict) -> Path:
        """A command that has a GPU, of whose kernels it says this, and that notes the words with which it measures them."""
        (self.folder / "told").write_text(json.dumps({"rows": [
            {"place": "device", "kind": "cuts", "name": "gear", "cuts": "gear(avg_bytes=8192)", "mean_bytes": 8000.0, "read_bytes_per_second": 9e9, "back_ends": {"cuda": cell}}
        ]}))  # fmt: skip
        return self.disguise(
            f"""[[ $1 != list ]] || {{ "{BINARY}" "$@" | sed '/"name": "cuda"/,/runs_here/s/false/true/'; exit; }}
            [[ $1 != chunk || "$*" != *cuda* ]] || exit 0
            [[ "$*" != "bench --kernels "*cuda* ]] || {{ echo "$*" >>"{self.folder}/words"; cat "{self.folder}/told"; exit; }}"""
        )

    def test_a_gpus_kernels_are_measured_on_the_data_of_the_cell(self):
        cell = {"outcome": "measured", "bytes_per_second": 4e10, "lowest_bytes_per_second": 3e10, "highest_bytes_per_second": 5e10, "of_read": None}
        said = self.sweep(self.GPU + 'devices = ["1"]\n', binary=self.with_gpu(cell))
        self.assertIn(": cuda 37.25 GiB/s", said)
        rows = self.select("select dataset, algorithm, place, backend, outcome, bytes_per_second, lowest_bytes_per_second, mean_bytes from speeds")
        self.assertEqual(rows, [("b", "gear", "device", "cuda", "measured", 4e10, 3e10, 8000.0)])
        words = (self.folder / "words").read_text().splitlines()[-1]
        self.assertEqual(words, f"bench --kernels --json -q --backend cuda --device 1 --bytes 256K --rounds 3 --algorithm gear --size 8K --data {self.folder}/b1 --data {self.folder}/b2")

    def test_cuts_that_a_gpu_leaves_to_the_processor_are_no_failure(self):
        cell = {"outcome": "unavailable", "bytes_per_second": None, "problem": "chunks without a maximum"}
        self.assertIn("unavailable: chunks without a maximum", self.sweep(self.GPU, binary=self.with_gpu(cell)))
        self.assertEqual(self.select("select outcome, problem from cells"), [("unavailable", "chunks without a maximum")])

    def test_stores_are_made_and_restored_for_each_setting(self):
        self.sweep(
            '[datasets.b]\npath = ["b1", "b2"]\n[[cells]]\nkind = "backup"\nalgorithms = ["gear"]\nsizes = ["4K:4K:16K"]\nrounds = 2\n'
            'compressions = ["none", "zstd"]\n[[cells]]\nkind = "restore"\nalgorithms = ["gear"]\nsizes = ["4K:4K:16K"]\ninputs = ["cache", "cold"]\n'
        )
        rows = self.select("select kind, compression, input, bytes, stored_bytes, bytes_per_second from store_rows order by 1, 2, 3")
        self.assertEqual([row[:4] for row in rows], [
            ("backup", "none", "cache", 400_007), ("backup", "zstd", "cache", 400_007), ("restore", "zstd", "cache", 400_007),
            ("restore", "zstd", "cold", 400_007),
        ])  # fmt: skip
        for row in rows:
            self.assertTrue(200_000 < row[4] < 300_000 and row[5] > 0, row)
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith("cutpoint-")], [], "what a cell writes is removed")

    def test_inputs_and_the_engines_options_are_settings_and_change_no_cuts(self):
        self.begin_with(SMALL)
        more = SMALL + '[[cells]]\ngroup = "places"\nalgorithms = ["gear"]\nsizes = ["8K"]\ninputs = ["cache", "cold", "memory"]\nmemories = ["64M"]\n'
        self.assertIn(f"6 of {SMALL_COUNT + 6} cells", self.sweep(more))
        self.assertEqual(len({row[0] for row in self.select("select unique_bytes from rows where grp = 'places' and dataset = 'b'")}), 1)

    def test_a_file_of_an_older_version_takes_new_kinds(self):
        self.begin_with(SMALL)
        with contextlib.closing(sqlite3.connect(self.results)) as file:
            statement, = file.execute("select sql from sqlite_master where name = 'cells'").fetchone()
            older = statement.replace("text not null,      -- dedup, backup", "text not null check (kind in ('dedup', 'kernels', 'tune')), -- dedup, backup", 1)
            self.assertNotEqual(older, statement)
            file.executescript(
                f"drop view rows; drop view speeds; drop view store_rows; alter table cells rename to now; {older};"
                "insert into cells select * from now; drop table now;"
            )
        before = self.select("select * from cells order by key")
        self.assertIn(f"1 of {SMALL_COUNT + 1}", self.sweep(SMALL + '[[cells]]\nkind = "restore"\ndatasets = ["a"]\nalgorithms = ["gear"]\nsizes = ["8K"]\n'))
        self.assertEqual([row for row in self.select("select * from cells order by key") if row in before], before)

    def test_a_sweep_of_the_project_is_found_by_its_name(self):
        self.assertEqual(plan_file("quick"), ROOT / "scripts/sweeps/quick.toml")
        self.assertEqual(plan_file("mine.toml"), Path("mine.toml"))

    def test_backups_have_the_stages_of_every_round(self):
        block = '[[cells]]\nkind = "backup"\nalgorithms = ["rabin"]\nsizes = ["2K:8K:64K"]\nhashes = ["sha1"]\nthreads = [1]\nrounds = 3\nbackends = ["scalar", "cuda"]\n'
        self.sweep(f'[datasets.b]\npath = ["b1", "b2"]\n{block}')
        self.assertEqual(self.select("select outcome from cells where backend = 'scalar'"), [("done",)])
        back_end, bytes_read, rate, result = self.select("select backend_chunking, bytes, bytes_per_second, result from rows where kind = 'backup' and backend = 'scalar'")[0]
        self.assertEqual((back_end, bytes_read), ("scalar", 400_007))
        self.assertGreater(rate, 0)
        alone = json.loads(result)["alone_seconds"]
        self.assertGreater(set(alone), {"reading", "chunking", "fingerprinting", "writing"})
        self.assertTrue(all(len(seconds) == 3 for seconds in alone.values()), alone)

    def test_a_backup_that_a_store_refuses_is_wrong_usage(self):
        said = self.sweep('[datasets.a]\npath = "a"\n[[cells]]\nkind = "backup"\nalgorithms = ["gear"]\nhashes = ["none"]\n', code=2)
        self.assertIn("a store needs fingerprints", said)

    def test_every_kind_on_every_back_end_ends_with_a_page(self):
        names = json.loads(subprocess.run([BINARY, "list", "--json"], capture_output=True, check=True).stdout)["back_ends"]
        text = (
            '[datasets.a]\npath = "a"\n'
            '[[cells]]\nkind = "kernels"\nalgorithms = ["gear", "mincdchash4"]\nsizes = ["8K"]\nbytes = "256K"\n'
            f'[[cells]]\nalgorithms = ["mincdchash4", "restic"]\nbackends = {json.dumps([each["name"] for each in names])}\n'
            '[[cells]]\nkind = "backup"\nalgorithms = ["gear"]\nbackends = ["scalar", "sse4"]\nrounds = 3\n'
            '[[cells]]\nkind = "tune"\nalgorithms = ["seqcdc-inc"]\nsizes = ["8K"]\nsample = "100%"\n'
        )
        page = self.folder / "page"
        lines = [line for line in self.sweep(text, "--report", str(page)).splitlines() if re.match(r"sweep: \d+/\d+ ", line)]
        for line in lines[:-1]:
            self.assertRegex(line, "; about .* left$")
        written = (page / "index.html").read_text(encoding="utf-8")
        for section in ("savings", "throughput", "cutting", "speedups", "shift", "tune"):
            self.assertIn(f'<section id="{section}">', written)
        self.assertNotIn("no catalog", written)


class Endings(SweepTest):
    def slow(self, seconds: float) -> tuple[Path, Path]:
        """A command that sleeps before each run, and the file that ends this."""
        is_fast = self.folder / "fast"
        return self.disguise(f'[[ $1 != dedup || -e "{is_fast}" ]] || sleep {seconds}'), is_fast

    def test_kills_at_random_points_leave_the_same_rows(self):
        slow, is_fast = self.slow(0.05)
        is_fast.touch()
        self.sweep(SMALL, binary=slow)
        whole = self.cuts()
        self.results.unlink()
        is_fast.unlink()
        drawn, kills = random.Random(), 0
        while self.killed(SMALL, drawn.uniform(0.2, 1.2 + kills / 20), binary=slow) != 0:  # longer on a busy machine
            kills += 1
            self.assertLess(kills, 200, "it never ends")
        self.assertGreater(kills, 0, "nothing was killed")
        self.assertEqual(self.cuts(), whole)

    def test_an_interrupt_keeps_what_is_done(self):
        slow, is_fast = self.slow(0.3)
        self.assertEqual(self.interrupted(SMALL, slow), 130)
        count = len(self.cuts())
        self.assertGreater(count, 0)
        self.assertLess(count, SMALL_COUNT)
        is_fast.touch()
        self.assertIn(f"{SMALL_COUNT - count} of {SMALL_COUNT} cells are to be measured", self.sweep(SMALL, binary=slow))

    def test_a_cell_that_fails_is_named_and_the_rest_is_done(self):
        broken = self.disguise('[[ $1 != dedup || "$*" != *gear* ]] || { echo "cutpoint: error: on fire" >&2; exit 1; }')
        self.assertIn("failed: cutpoint: error: on fire", self.sweep(SMALL, code=1, binary=broken))
        self.assertEqual(dict(self.select("select outcome, count(*) from cells group by 1")), {"done": SMALL_COUNT - 4, "failed": 4})
        self.assertIn(f"4 of {SMALL_COUNT} cells are to be measured", self.sweep(SMALL, code=1, binary=broken))

    def test_rounds_that_differ_are_a_failure(self):
        state = self.folder / "state"
        other = self.disguise(f'[[ $1 != dedup ]] || {{ echo x >>{state}; (( $(wc -l <{state}) % 2 )) || set -- "$@" --param seq_length=6; }}')
        text = '[datasets.b]\npath = "b1"\n[[cells]]\nalgorithms = ["seqcdc-inc"]\nrounds = 2\n'
        self.assertIn("rounds differ in cuts", self.sweep(text, code=1, binary=other))

    def test_data_that_change_meanwhile_are_a_failure(self):
        other = self.disguise(f'[[ $1 != dedup ]] || printf x >>"{self.folder}/b1"')
        text = '[datasets.b]\npath = "b1"\n[[cells]]\nalgorithms = ["gear"]\n'
        said = self.sweep(text, code=1, binary=other)
        self.assertIn("b1 has changed since the checksum of 'b' was taken: start the sweep again", said)
        self.assertEqual(self.select("select outcome from cells"), [("failed",)])

    def test_a_back_end_that_does_not_run_here_is_no_failure(self):
        without = self.disguise("""[[ $1 != list ]] || { "%s" "$@" | sed '/"name": "sse4"/,/runs_here/s/true/false/'; exit; }""" % BINARY)
        text = '[datasets.a]\npath = "a"\n[[cells]]\nalgorithms = ["gear"]\nbackends = ["scalar", "sse4"]\n'
        self.assertIn("unavailable: back end 'sse4' does not run here", self.sweep(text, binary=without))
        self.assertEqual(self.select("select backend, outcome from cells order by 1"), [("scalar", "done"), ("sse4", "unavailable")])

    def test_devices_that_are_not_here_are_no_failure(self):
        text = '[datasets.a]\npath = "a"\n[[cells]]\nalgorithms = ["gear"]\ndevices = ["4095"]\n'
        self.assertIn("unavailable: --device 4095: there is no GPU", self.sweep(text))
        self.assertEqual(self.select("select outcome from cells"), [("unavailable",)])
        self.assertIn("--device: 'much' is not a number", self.sweep(text.replace("4095", "much"), code=2))

    def test_a_gpus_kernels_without_a_gpu_are_no_failure(self):
        without = self.disguise('''[[ "$*" != *"--backend cuda"* ]] || { echo "cutpoint: error: --backend cuda: there is no GPU to use: no driver" >&2; exit 2; }
            [[ $1 != list ]] || { "%s" "$@" | sed '/"name": "cuda"/,/runs_here/s/true/false/'; exit; }''' % BINARY)
        text = '[datasets.a]\npath = "a"\n[[cells]]\nkind = "device-kernels"\nalgorithms = ["gear"]\n[[cells]]\nalgorithms = ["gear"]\n'
        self.assertIn("unavailable: --backend cuda: there is no GPU to use: no driver", self.sweep(text, binary=without))
        self.assertEqual(self.select("select kind, outcome from cells order by 1"), [("dedup", "done"), ("device-kernels", "unavailable")])

    def test_what_a_machine_lacks_is_named_once_with_its_reason_and_the_rest_is_done(self):
        """A GPU, the instruction sets of another architecture, and more threads than run at once."""
        without = self.disguise(
            """if [[ $1 == list ]]; then "%s" "$@" | sed '/"name": "cuda"/,/runs_here/s/true/false/'; exit; fi\n"""
            """if [[ "$*" == *"--backend cuda"* ]]; then echo "cutpoint: error: back end 'cuda' cannot be used: no driver here" >&2; exit 2; fi""" % BINARY
        )
        text = (
            '[datasets.a]\npath = "a"\n[[cells]]\nalgorithms = ["gear", "ram"]\nbackends = ["scalar", "neon", "avx2", "cuda"]\n'
            '[[cells]]\nalgorithms = ["gear"]\nthreads = [1, 4096]\n'
        )
        page = self.folder / "page"
        said = self.sweep(text, "--report", str(page), binary=without)
        absent = dict(self.select("select problem, count(*) from cells where outcome = 'unavailable' group by 1"))
        of_other = "avx2" if "neon" in CATALOG.back_ends else "neon"
        self.assertEqual(absent["back end 'cuda' cannot be used: no driver here"], 2)
        self.assertEqual([count for problem, count in absent.items() if f"no back end '{of_other}'" in problem], [2])
        threads = next(problem for problem in absent if problem.startswith("4096 threads do not run at once here: "))
        self.assertEqual(absent[threads], 1)
        self.assertEqual(self.select("select count(*) from cells where outcome = 'done' and backend = 'scalar'"), [(2,)])
        written = (page / "index.html").read_text(encoding="utf-8")
        missing = written[written.index('<section id="missing">') :]
        self.assertEqual(missing[: missing.index("</section>")].count("<tr"), 1 + len(absent))
        self.assertNotIn('id="problems"', written)
        self.assertIn("unavailable: back end 'cuda' cannot be used: no driver here", said)

    def test_a_data_set_that_cannot_be_made_is_named_and_the_rest_is_done(self):
        (self.folder / "data").mkdir()
        (self.folder / "data" / "random-1M-v1-s1").write_text("in its way")
        text = SMALL.replace("[datasets.b]", '[datasets.random]\nsize = "1M"\nversions = 1\n[datasets.b]')
        said = self.sweep(text, code=1)
        self.assertIn("the cells of 'random' are left out", said)
        self.assertEqual(len(self.cuts()), SMALL_COUNT)

    def test_a_data_set_that_cannot_be_read_is_named_and_the_rest_is_done(self):
        text = SMALL.replace("[datasets.b]", '[datasets.c]\npath = "/proc/self/mem"\n[datasets.b]')
        self.assertIn("failed: /proc/self/mem: Input/output error; the cells of 'c' are left out", self.sweep(text, code=1))
        self.assertEqual(len(self.cuts()), SMALL_COUNT)

    def test_a_data_set_without_bytes_is_named_and_the_rest_is_done(self):
        (self.folder / "empty").touch()
        said = self.sweep(SMALL.replace("[datasets.b]", '[datasets.empty]\npath = "empty"\n[datasets.b]'), code=1)
        self.assertIn("failed: data set 'empty' has no bytes; the cells of 'empty' are left out", said)
        self.assertEqual(len(self.cuts()), SMALL_COUNT)

    def test_two_at_once_are_refused(self):
        self.begin_with(SMALL)
        with Path(str(self.results) + ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("another sweep is writing to", self.sweep(SMALL, code=1))


class ResultsFiles(SweepTest):
    """Whatever lies where results are to be, the sweep ends with a sentence about it."""

    def refused(self, text: str = SMALL) -> str:
        said = self.sweep(text, code=1)
        self.assertRegex(said, rf"^(sweep: .*\n)*sweep: {re.escape(str(self.results))} .*\n$")
        return said.splitlines()[-1]

    def test_what_is_no_results_file_is_named_and_left_alone(self):
        other = self.folder / "other"
        with sqlite3.connect(other) as file:
            file.execute("create table bookmarks (address text)")
        file.close()
        for content, told in ((b"no database" * 400, "no SQLite database"), (other.read_bytes(), "a database of something else, with 'bookmarks'")):
            with self.subTest(told):
                self.results.write_bytes(content)
                self.assertIn("is no results file of scripts/sweep: it is " + told, self.refused())
                self.assertEqual(self.results.read_bytes(), content)

    def test_what_is_no_file_is_named_and_nothing_is_made_beside_it(self):
        for make, told in ((self.results.mkdir, "is a folder"), (lambda: os.mkfifo(self.results), "is no regular file")):
            with self.subTest(told):
                make()
                self.assertIn(told, self.refused())
                self.assertEqual([path.name for path in self.folder.glob("results*")], ["results.sqlite"])
            if self.results.is_dir():
                self.results.rmdir()

    def test_a_damaged_file_is_named_before_anything_is_measured(self):
        self.begin_with(SMALL)
        content = self.results.read_bytes()
        middle = len(content) // 2
        for damaged in (content[:20_000], content[:middle] + b"?" * 4096 + content[middle + 4096 :]):
            self.results.write_bytes(damaged)
            self.assertIn("is damaged: ", self.refused())
            self.assertEqual(self.results.read_bytes(), damaged)

    def test_a_file_that_another_program_locks_is_named_and_keeps_its_results(self):
        self.begin_with(SMALL)
        other = sqlite3.connect(self.results, isolation_level=None)
        self.addCleanup(other.close)
        other.execute("begin immediate")
        with unittest.mock.patch.object(sqlite3, "connect", functools.partial(sqlite3.connect, timeout=0)):
            self.assertIn("is locked by another program: ", self.refused())
        other.execute("rollback")
        self.assertEqual(len(self.cuts()), SMALL_COUNT)

    def test_a_file_that_cannot_grow_keeps_what_was_measured(self):
        limit = 250_000  # as on a full disk: the tables fit, and not all results do
        words = [sys.executable, "-B", "-m", "experiments.sweep", *self.words(SMALL, binary=self.disguise("ulimit -S -f unlimited"))]
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        run = subprocess.run(words, capture_output=True, text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most)))
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertRegex(run.stderr, r"\nsweep: .*results\.sqlite cannot be .*; earlier results are kept, and the same command continues\n$")
        count = len(self.cuts())
        self.assertGreater(count, 0)
        self.assertIn(f"{SMALL_COUNT - count} of {SMALL_COUNT} cells are to be measured", self.sweep(SMALL, binary=self.folder / "cutpoint"))

    def test_names_that_are_not_utf8_are_names(self):
        before = self.folder
        self.folder = before / os.fsdecode(b"M\xfcller")
        self.folder.mkdir()
        for name in ("a", "b1", "b2"):
            (self.folder / name).write_bytes((before / name).read_bytes())
        odd = self.folder / os.fsdecode(b"\xe4.toml")
        odd.write_text(SMALL)
        page = self.folder / "page"
        words = [str(odd), "--data", str(self.folder), "--command", str(BINARY), "--report", str(page)]
        run = run_here(main, *words)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn('<section id="savings">', (page / "index.html").read_text(encoding="utf-8"))
        self.assertTrue((self.folder / "sweeps" / r"\xe4" / "results.sqlite").is_file())


class WrongFiles(SweepTest):
    def test_what_is_wrong_is_named_with_its_place_and_bound(self):
        data, cell = '[datasets.a]\npath = "a"\n', '[[cells]]\nalgorithms = ["gear"]\n'
        (self.folder / "loop").symlink_to("loop")
        (self.folder / "below").mkdir()
        (self.folder / "below" / "c").write_text("c")
        for text, said in (
            ("x = [", "small.toml: "),
            (data, "there are no cells"),
            (data + "[[cells]]\n", "cells, block 1: algorithms are missing"),
            (data + cell + 'sizs = ["8K"]\n', "small.toml:5: cells, block 1 (kind dedup): no key 'sizs'; there are algorithms,"),
            (data + cell + 'kind = "dedupe"\n', "no kind 'dedupe'; there are dedup, backup, restore, kernels, device-kernels, tune"),
            (data + cell + 'inputs = ["tape"]\n', "small.toml:5: cells, block 1: inputs: no input 'tape'; there are cache, cold, memory"),
            (data + cell + 'kind = "backup"\njoins = ["none"]\n', "block 1 (kind backup): no key 'joins'"),
            (data + cell + 'kind = "backup"\nhashes = ["none"]\n', "small.toml:6: cells, block 1: hashes none: "),
            (data + cell + 'memories = ["1K"]\n', "small.toml:5: cells, block 1: memories 1K: "),
            (data + cell + 'datasets = ["b"]\n', "no data set 'b'; there are a"),
            (data + cell + "sizes = []\n", "sizes is empty"),
            (data + cell + "datasets = []\n", "small.toml:5: cells, block 1: datasets is empty"),
            (data + cell + "threads = [1.5]\n", "threads: 1.5 is not a whole number"),
            (data + cell + "rounds = 0\n", "rounds is 0, outside 1 to 1000"),
            (data + cell + "rounds = 100000000000000000000\n", "rounds is 100000000000000000000, outside 1 to 1000"),
            (data + cell + 'kind = "kernels"\nhashes = ["sha1"]\n', "block 1 (kind kernels): no key 'hashes'"),
            (data + cell + 'kind = "kernels"\nbytes = "1K"\n', "bytes is 1K, at least 64K"),
            (data + cell + 'kind = "device-kernels"\nthreads = [1]\n', "block 1 (kind device-kernels): no key 'threads'"),
            (data + cell + 'kind = "device-kernels"\nsizes = ["8Q"]\n', "--size: '8Q' is not a size"),
            (data + cell + 'kind = "device-kernels"\ndevices = ["0,1"]\n', "--device: '0,1' is not a number"),
            (data + cell + 'kind = "tune"\nsample = "0%"\n', "--sample 0%: must be a size, or more than 0%"),
            (data + cell + 'kind = "tune"\nsizes = ["2K:8K:64K"]\n', "--size"),
            (data + cell + 'kind = "tune"\n[cells.grid]\nseq_length = [5]\n', "block 1 (kind tune): no key 'grid'"),
            (data + cell + 'hashes = ["none"]\n', "small.toml:5: cells, block 1: hashes none: "),
            (data + cell + "threads = [100000000000000000000]\n", "--threads"),
            (data + cell + "[cells.grid]\nseq_length = [2026-01-01]\n", "seq_length: datetime.date(2026, 1, 1) is neither a number nor a text"),
            (data + cell + "[cells.grid]\n" + "".join(f"{name} = [1, 2, 3, 4]\n" for name in "abcdefghi"), "more cells than a sweep may have, 100000"),
            ("x = " + "[" * 100_000, "too deep in each other"),
            ("# " + "x" * (16 << 20), "no sweep has more than 16M bytes"),
            (data + cell + 'sizes = ["3K"]\n', "gear: avg_bytes = 3072 must be a power of two"),
            (data + '[[cells]]\nalgorithms = ["gears"]\n', "no algorithm or profile 'gears', did you mean 'gear'?"),
            (data + cell + 'backends = ["mmx"]\n', "no back end 'mmx'; there are scalar,"),
            (data + cell + "[cells.grid]\nseq_length = [5]\n", "seq_length"),
            ('[datasets.a]\npath = "c"\n' + cell, "small.toml:2: datasets.a: path: there is no "),
            ('[datasets.a]\npath = "**/*"\n' + cell, "/**/*; a path is no pattern"),
            ('[datasets.a]\npath = "loop"\n' + cell, "/loop: Too many levels of symbolic links"),
            ('[datasets.a]\npath = "/dev/zero"\n' + cell, "/dev/zero is neither a file nor a folder"),
            ('[datasets.a]\npath = "a\\u0000"\n' + cell, "null byte"),
            ('[datasets.a]\npath = ["a", "b1", "below/../a"]\n' + cell, "/below/../a is given twice, also as "),
            ('[datasets.a]\npath = ["below/c", "below"]\n' + cell, "/below/c is given twice, since it lies in "),
            ('[datasets.a]\npath = "."\n' + cell, f"small.toml:2: datasets.a: path: the results, {self.results}, would be written into "),
            ('[datasets.a]\npath = "a"\nseed = 2\n' + cell, "path stands alone, without seed"),
            ('[datasets.random]\nsize = "big"\n' + cell, "datasets.random: size: 'big' is no size"),
            ('[datasets.random]\nsize = "1K"\n' + cell, "datasets.random: size 1K is outside 1M to"),
            ("[datasets.random]\nversions = 1000\n" + cell, "datasets.random: version count 1000 is outside 1 to 999"),
            ("[datasets.random]\nseed = 100000000000000000000\n" + cell, "datasets.random: seed 100000000000000000000 is outside 0 to"),
            ("[datasets.dice]\n" + cell, "no data set 'dice' can be made; there are "),
        ):
            with self.subTest(said):
                self.assertIn(said, self.sweep(text, code=2))
                self.assertFalse(self.results.exists())

    def lines_of(self, text: str) -> list[int]:
        """The lines of the mistakes that are told of a file."""
        return sorted(int(line) for line in re.findall(r"(?m)^sweep: .*small\.toml:(\d+): ", self.sweep(text, code=2)))

    def test_all_mistakes_are_told_at_once_with_their_lines(self):
        text = (
            '[datasets.a]\npath = "a"\n[datasets.lost]\npath = "lost"\n\n[[cells]]\nalgorithms = ["gear"]\nsizes = []\nthreads = [1.5]\nsizs = 1\n'
            '[[cells]]\ngroup = "second"\nalgorithms = ["gear"]\nrounds = 0\n'
        )
        self.assertEqual(self.lines_of(text), [4, 8, 9, 10, 14])
        refused = '[datasets.a]\npath = "a"\n[[cells]]\nalgorithms = ["gears"]\n[[cells]]\nalgorithms = ["gear"]\nsizes = ["3K", "8K"]\n'
        self.assertEqual(self.lines_of(refused), [4, 7])
        many = "".join(f'[[cells]]\nalgorithms = ["gear"]\nrounds = {-each}\n' for each in range(30))
        self.assertIn("and 10 more", self.sweep('[datasets.a]\npath = "a"\n' + many, code=2))

    def test_mistakes_of_all_kinds_are_told_once_with_the_lines_of_their_keys(self):
        """None hides another: of the file, of a data set, of a kind, of values, and of several settings of one cell."""
        self.assertEqual(self.lines_of(
            """cellz = 1
            datasets = {a = {path = "a"}, b1 = {path = "b1"}, dice = {seed = 1.5, sise = 1}}
            [[cells]]
            kind = "dedupe"
            algorithms = ["rabbin", "gear", "rabin"]
            sizes = ["8Q"]
            backends = ["avx9", 9]
            hashes = ["none"]
            [[cells]]
            algorithms = ["gear"]
            datasets = ["c", "a"]
            rounds = 0
            parameters = [{seq_length = 5}, {seq_length = [5]}]
            [[cells]]
            kind = "kernels"
            algorithms = ["seqcdc-inc"]
            bytes = "1K"
            hashes = ["sha1"]
            """
        ), [1, 2, 2, 2, 4, 5, 6, 7, 7, 8, 11, 12, 13, 13, 17, 18])  # fmt: skip

    def test_options_that_cannot_be_met_are_named_before_anything_is_measured(self):
        (self.folder / "page").write_text("in its way")
        self.assertIn("page is no folder", self.sweep(SMALL, "--report", str(self.folder / "page"), code=2))
        text = self.disguise("echo no JSON; exit")
        self.assertIn("what 'list --json' prints is no JSON", self.sweep(SMALL, code=1, binary=text))
        self.assertFalse(self.results.exists())

    def test_a_file_that_is_not_there(self):
        words = self.words(SMALL)
        (self.folder / "small.toml").unlink()
        run = subprocess.run([sys.executable, "-B", "-m", "experiments.sweep", *words], capture_output=True, text=True, check=False)
        self.assertEqual((run.returncode, run.stderr.count("\n")), (2, 1))
        self.assertIn("No such file", run.stderr)


class Plans(unittest.TestCase):
    def test_sweeps_of_the_project_are_right(self):
        for path in sorted((ROOT / "scripts" / "sweeps").glob("*.toml")):
            with self.subTest(path.name):
                self.assertTrue(plan.read(path).cells())

    def test_keys_tell_settings_data_and_binary_apart(self):
        cell = Cell("dedup", "a", "gear", "8K")
        others = [Cell("dedup", "a", "gear", "4K"), Cell("dedup", "a", "gear", "8K", threads=2), Cell("kernels", "a", "gear", "8K")]
        keys = [cell.key("x", "y"), cell.key("z", "y"), cell.key("x", "z"), *(other.key("x", "y") for other in others)]
        self.assertEqual(len(set(keys)), len(keys))

    def test_what_a_kind_has_no_use_for_is_no_part_of_the_key(self):
        self.assertEqual(Cell("kernels", "a", "gear").key("x", "y"), Cell("kernels", "b", "gear", hash="md5", threads=3).key("x", "y"))


class Words(unittest.TestCase):
    def test_sizes(self):
        for text, value in (("1", 1), ("64K", 65536), ("1.5", None), ("3 GiB", 3 << 30), ("2MB", 2 << 20), ("0", None), ("-1", None), ("", None)):
            with self.subTest(text):
                if value is None:
                    self.assertRaises(ValueError, bytes_of, text)
                else:
                    self.assertEqual(bytes_of(text), value)
        for value in (1, 1000, 1536 << 10, 1 << 30):
            self.assertEqual(bytes_of(text_of(value)), value)
        self.assertEqual([rounded(v) for v in (12, 1 << 10, 1023 << 20, 1300 << 20)], ["12 B", "1 KiB", "1023 MiB", "1.27 GiB"])

    def test_an_estimate_prefers_the_same_algorithm(self):
        estimate = Estimate()
        estimate.learn("dedup", "gear", 10, 1)
        estimate.learn("dedup", "rabin", 10, 9)
        self.assertEqual(estimate.of(Cell("dedup", "a", "gear"), 20), 2)
        self.assertEqual(estimate.of(Cell("dedup", "a", "ram"), 20), 10)

    def test_every_kind_has_an_estimate_before_it_is_measured(self):
        for kind in OF_KIND:
            self.assertGreater(Estimate().of(Cell(kind, "a", "gear"), 10), 0)

    def test_durations(self):
        self.assertEqual([duration(s) for s in (4, 100, 5400, 7500)], ["4 s", "2 min", "1 h 30 min", "2 h 05 min"])


if __name__ == "__main__":
    unittest.main()
