"""cutpoint_bench registers every algorithm and fingerprint for the processor's back ends and the GPU, and says what cannot run here."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BENCH, COMMAND = os.environ["CUTPOINT_BENCH"], os.environ["CUTPOINT_BIN"]
SHORT = ("--bytes=64K", "--benchmark_min_time=0", "--benchmark_repetitions=2")


def run(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([BENCH, *words], capture_output=True, text=True, timeout=100, check=False)


def listed() -> dict:
    return json.loads(subprocess.run([COMMAND, "list", "--json"], capture_output=True, check=True, timeout=60).stdout)


class CutpointBench(unittest.TestCase):
    def measure(self, chosen: str, *words: str) -> list[dict]:
        """The runs that were chosen, as JSON has them."""
        done = run(*SHORT, *words, f"--benchmark_filter={chosen}", "--benchmark_format=json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["benchmarks"]

    def names(self, chosen: str) -> set[str]:
        done = run(f"--benchmark_filter={chosen}", "--benchmark_list_tests")
        self.assertEqual(done.returncode, 0, done.stderr)
        return {name.removesuffix("/repeats:1") for name in done.stdout.split()}

    def reasons(self, runs: list[dict]) -> dict[str, str]:
        """Of the runs that were skipped; version 1.8 says so, and earlier ones call it an error."""
        return {each["run_name"].removesuffix("/repeats:1"): each["error_message"] if "error_message" in each else each["skip_message"]
                for each in runs if each.get("error_occurred") or each.get("skipped")}  # fmt: skip

    def test_has_every_algorithm_and_fingerprint_for_processor_and_gpu(self):
        told = listed()
        algorithms = {entry["name"] for entry in told["entries"]}
        fingerprints = {each["name"] for each in told["fingerprints"]} - {"none"}
        for kind, all_names in (("chunk", algorithms), ("fingerprint", fingerprints)):
            for where in ("scalar", "cuda"):
                names = {name.split("/")[1] for name in self.names(f"^{kind}/[^/]+/{where}(/|$)")}
                self.assertEqual(names, all_names, (kind, where))
        for where in ("processor", "cuda", "hybrid"):
            self.assertEqual({name.split("/")[1] for name in self.names(f"^engine/[^/]+/{where}(/|$)")}, algorithms, where)
        for back_end in told["back_ends"]:
            if back_end["name"] not in ("cuda", "hybrid", "sha-ni"):
                self.assertIn(f"chunk/rabin/{back_end['name']}", self.names("^chunk/rabin/"))

    def test_says_in_a_sentence_what_cannot_run_here(self):
        chosen = "^(chunk/(gear|rabin)|chunk[+]sha1/gear|fingerprint/(sha1|md5)|engine/gear)/"
        reasons = self.reasons(self.measure(chosen))
        back_ends = {each["name"]: each["runs_here"] for each in listed()["back_ends"]}
        for name, runs_here in back_ends.items():
            if not runs_here and name not in ("cuda", "hybrid"):
                self.assertEqual(reasons[f"chunk/rabin/{name}"], f"this processor does not run {name}")
        self.assertEqual(reasons["fingerprint/md5/cuda"], "devices do not make md5")
        if back_ends["cuda"]:
            self.skipTest("a GPU is here")
        for name in ("chunk/gear/cuda", "chunk+sha1/gear/cuda", "fingerprint/sha1/cuda", "engine/gear/cuda", "engine/gear/hybrid"):
            self.assertRegex(reasons[name], "this build has no CUDA code|no NVIDIA driver|no device", name)

    def test_measures_what_can_run(self):
        runs = self.measure("^(read|chunk/(gear|ae-max)/(scalar|sse4)|fingerprint/sha1/scalar|engine/(gear|rabin)/processor|intrinsic|baseline)")
        skipped = self.reasons(runs)
        measured = {each["run_name"] for each in runs if each.get("aggregate_name") == "median"}
        self.assertLessEqual({"read", "chunk/gear/scalar", "fingerprint/sha1/scalar", "baseline/gear/two-stages", "baseline/rabin/rc-ind"}, measured)
        self.assertEqual({name.split("/")[1] for name in measured if name.startswith("engine/")}, {"gear", "rabin"})
        for each in runs:
            if each.get("aggregate_name") == "median":
                rate = "items_per_second" if each["run_name"].startswith("intrinsic/") else "bytes_per_second"
                self.assertGreater(each[rate], 0, each)
        for name in ("baseline/gear/ss-cdc", "baseline/crc32/ss-cdc", "intrinsic/pdep/latency", "intrinsic/popcnt/throughput"):
            self.assertTrue((name in measured) != (name in skipped), name)

    @unittest.skipUnless(shutil.which("qemu-x86_64"), "qemu-user is not installed")
    def test_older_processors_skip_what_they_lack(self):
        """An instruction of a newer set, before the question whether the processor has it, would end the program."""
        for processor in ("Nehalem", "Haswell"):
            words = ["qemu-x86_64", "-cpu", processor, BENCH, "--bytes=64K", "--benchmark_min_time=0", "--benchmark_repetitions=1",
                     "--benchmark_filter=^(baseline|intrinsic)/", "--benchmark_format=json"]  # fmt: skip
            done = subprocess.run(words, capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(done.returncode, 0, f"{processor}: {done.stderr}")
            reasons = self.reasons(json.loads(done.stdout)["benchmarks"])
            self.assertEqual(reasons["baseline/gear/ss-cdc"], "this processor does not run avx512")
            self.assertEqual("intrinsic/pdep/latency" in reasons, processor == "Nehalem")

    def test_begins_nothing_after_its_time(self):
        runs = self.measure("^chunk/rabin/scalar$", "--seconds=1", "--bytes=64M", "--benchmark_min_time=3", "--benchmark_repetitions=3")
        self.assertIn("not measured: out of time", self.reasons(runs).values())

    def test_refuses_wrong_usage(self):
        for words, told in (
            (("--bytes=1K",), "--bytes=1K: give a size of at least 64K"),
            (("--bytes=much",), "--bytes=much: "),
            (("--seconds=0",), "--seconds=0: give a number from 1 to 86400"),
            (("--nonsense",), "--nonsense"),
        ):
            done = run(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(told, done.stderr)

    def test_compare_py_reads_the_files(self):
        tool = shutil.which("compare.py") or "/usr/share/benchmark/compare.py"
        helped = subprocess.run([sys.executable, tool, "--help"], capture_output=True, text=True, timeout=60, check=False)
        if helped.returncode != 0:
            self.skipTest(f"Google Benchmark's compare.py does not run here: {helped.stderr.splitlines()[-1]}")
        with tempfile.TemporaryDirectory() as folder:
            for name in ("before", "after"):
                self.measure("^(read|chunk/gear/(scalar|cuda))", f"--benchmark_out={folder}/{name}.json")
            words = [sys.executable, tool, "--no-color", "-a", "benchmarks", f"{folder}/before.json", f"{folder}/after.json"]
            done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(re.search(r"chunk/gear/scalar_median\s+[+-]\d", done.stdout), done.stdout)


if __name__ == "__main__":
    unittest.main()
