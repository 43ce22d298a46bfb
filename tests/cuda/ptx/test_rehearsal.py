"""The four parts of docs/gpu-check.md in a folder like an unpacked bundle's and in an empty environment. The programs run on the interpreted
device, and a stand-in for compute-sanitizer runs what it is given. Then scripts/gpu_results.py makes its page."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
COMMAND, KERNELS, BENCHMARK, TESTS = map(Path, os.environ["CUTPOINT_PROGRAMS"].split(":"))
PROGRAMS = {"cutpoint": COMMAND, "cutpoint_bench": KERNELS, "cutpoint_device": BENCHMARK} | dict.fromkeys(("cuda_tests", "cuda_golden_tests", "pipeline_tests"), TESTS)

SANITIZER = """while [[ $1 == --* ]]; do shift 2; done
"$@" || exit 99
echo '========= ERROR SUMMARY: 0 errors'"""



class Rehearsal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        bundle = cls.folder / "cutpoint-gpu"
        (bundle / "bin").mkdir(parents=True)
        (bundle / "data").mkdir()
        for name, program in PROGRAMS.items():
            (bundle / "bin" / name).symlink_to(program)
        shutil.copy(ROOT / "scripts" / "gpu-check", bundle)
        shutil.copy(ROOT / "tests" / "data" / "goldens.json", bundle / "data")
        (bundle / "commit").write_text("abc123\n")
        (cls.folder / "tools").mkdir()
        for name, body in (("compute-sanitizer", SANITIZER), ("nvidia-smi", "echo 'name, driver'")):
            (cls.folder / "tools" / name).write_text(f"#!/usr/bin/env bash\n{body}\n")
            (cls.folder / "tools" / name).chmod(0o755)
        (cls.folder / "files").mkdir()
        for number in range(3):
            (cls.folder / "files" / str(number)).write_bytes(bytes(i * i * (number + 3) // 7 % 251 for i in range(40_000)))

    def rehearse(self, number: int) -> dict[str, str]:
        """Runs a part and returns the outcome of each step."""
        words = ["env", "-i", f"PATH={self.folder}/tools:/usr/bin:/bin", "cutpoint-gpu/gpu-check", "--part", str(number), "--bytes", "128K"]
        run = subprocess.run([*words, "--data", "files"], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
        results = self.folder / "gpu-results"
        self.assertEqual(run.returncode, 0, run.stderr + "".join(log.read_text(errors="replace")[-2000:] for log in results.glob("*.log")))
        self.assertIn("interpreter of PTX", (results / "machine.txt").read_text())
        return dict(line.split("\t")[:2] for line in (results / f"part-{number}.tsv").read_text().splitlines())

    def test_hwloc_places_the_device(self):
        """The XML stands for this machine: two memory nodes, and the interpreted device's bus is attached to the second."""
        everything = 'cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3" nodeset="0x3" complete_nodeset="0x3" allowed_nodeset="0x3"'
        nodes = ""
        for number, device in ((0, ""), (1, '<object type="PCIDev" gp_index="20" pci_busid="ffff:ff:1f.0" pci_type="0302 [10de:2330] [0000:0000] a1"/>')):
            place = f'os_index="{number}" cpuset="{1 << number:#x}" complete_cpuset="{1 << number:#x}" nodeset="{1 << number:#x}" complete_nodeset="{1 << number:#x}"'
            inside = "".join(f'<object type="{kind}" {place} gp_index="{10 * number + index}"/>' for index, kind in enumerate(("NUMANode", "PU"), 4))
            nodes += f'<object type="Package" {place} gp_index="{10 * number + 3}">{inside}{device}</object>'
        machine = self.folder / "machine.xml"
        machine.write_text(f'<topology version="2.0"><object type="Machine" os_index="0" {everything} gp_index="1">{nodes}</object></topology>')
        words = ["env", "-i", f"HWLOC_XMLFILE={machine}", self.folder / "cutpoint-gpu" / "bin" / "cutpoint", "info", "--json"]
        run = subprocess.run(words, capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, 0, run.stderr)
        told = json.loads(run.stdout)
        self.assertEqual({(gpu["pci_bus_id"], gpu["numa_node"]) for gpu in told["gpus"]}, {("ffff:ff:1f.0", 1)})

    def test_part_1(self):
        outcomes = self.rehearse(1)
        self.assertEqual(outcomes.pop("device"), "passed")
        self.assertEqual(list(outcomes), ["cuda-tests", "golden-tests", "engine-tests"])
        for outcome in outcomes.values():
            self.assertRegex(outcome, "^passed: [0-9]+ tests$")

    def test_part_2(self):
        self.assertEqual(self.rehearse(2), {"resident": "passed", "engine": "passed"})
        runs = json.loads((self.folder / "gpu-results" / "resident.json").read_text())["benchmarks"]
        measured = {run["run_name"].split("/cuda/")[0] for run in runs if run.get("bytes_per_second", 0) > 0}
        hashes = ("sha1", "sha256", "blake3")
        with_hashes = {each for name in hashes for each in (f"fingerprint/{name}", f"chunk+{name}/gear")}
        self.assertLessEqual({"chunk/gear", "chunk/fixed"} | with_hashes, measured)

    def test_part_3(self):
        self.assertEqual(set(self.rehearse(3).values()), {"passed"})
        logs = {where: self.folder / "gpu-results" / f"backup-{where}.log" for where in ("processor", "cuda", "hybrid")}
        lines = {where: next(line for line in log.read_text().splitlines() if '"message_type":"summary"' in line) for where, log in logs.items()}
        reports = {where: json.loads(line) for where, line in lines.items()}
        self.assertEqual(len({report["new_raw_bytes"] for report in reports.values()}), 1)
        self.assertEqual(reports["cuda"]["device_cut_share"], 1)
        rows = json.loads((self.folder / "gpu-results" / "kernels.json").read_text())["rows"]
        self.assertEqual([(row["name"], row["place"], row["back_ends"]["cuda"]["outcome"]) for row in rows],
                         [(name, "device", "measured") for name in ("rabin", "fastcdc")])  # fmt: skip

    def test_part_4(self):
        self.assertEqual(list(self.rehearse(4)), ["memcheck", "synccheck", "racecheck"])

    def test_results(self):
        words = [sys.executable, "-B", ROOT / "scripts" / "gpu_results.py", self.folder / "gpu-results", self.folder / "page.md"]
        run = subprocess.run(words, capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, 0, run.stderr)
        page = (self.folder / "page.md").read_text()
        self.assertNotIn("did not come back", page)
        for heading in ("## Limits", "## Data in device memory", "## The engine", "## The GPU's kernels", "## Files", "## Variants"):
            self.assertIn(heading, page)


if __name__ == "__main__":
    unittest.main()
