"""scripts/papers builds the programs of the experiments that are asked for, and the command with them, and nothing for the pages alone."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = {
    "scripts/papers": (ROOT / "scripts/papers").read_text(),
    "scripts/lib.sh": (ROOT / "scripts/lib.sh").read_text() + 'build() { printf "built %s\\n" "$*" >&2; }\n',
    "scripts/setup": "#!/bin/sh\n",
    "tools/python3": '#!/bin/sh\necho "$@"\n',
}


class Papers(unittest.TestCase):
    def built(self, *words: str) -> str:
        """What the script builds before it calls the program in Python."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in SCRIPTS.items():
                path = Path(folder) / name
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
                path.chmod(0o755)
            environment = os.environ | {"PATH": f"{folder}/tools:{os.environ['PATH']}"}
            run = subprocess.run([f"{folder}/scripts/papers", *words], env=environment, capture_output=True, text=True, timeout=60)
            self.assertEqual((run.returncode, run.stdout), (0, " ".join(["-BP -m experiments.papers", *words]) + "\n"), run.stderr)
            return run.stderr.strip()

    def test_what_is_measured_is_built(self):
        self.assertEqual(self.built("--tablets", "--only", "open"), "built release cutpoint cutpoint_tablets")
        self.assertEqual(self.built("--phases"), "built release cutpoint cutpoint_paper_runs")
        both = self.built("--cluster", "--store")
        self.assertEqual(both, "built release cutpoint cutpoint_node_streams cutpoint_cluster_program cutpoint_store_pipeline")

    def test_pages_alone_need_no_build(self):
        for words in (["results.sqlite", "--check"], ["--help"], ["--store", "--build", "build/debug"]):
            self.assertEqual(self.built(*words), "")

    def test_no_program_is_forgotten(self):
        experiments = "".join(path.read_text() for path in (ROOT / "bench/experiments/papers").glob("*.py"))
        programs = set(re.findall(r'"bench/(cutpoint_\w+)"', experiments))
        self.assertLessEqual({"cutpoint_tablets", "cutpoint_paper_runs"}, programs)
        self.assertEqual({name for name in programs if name not in SCRIPTS["scripts/papers"]}, set())


if __name__ == "__main__":
    unittest.main()
