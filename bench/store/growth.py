"""Prints the processor time of each command on stores with more and more snapshots: a table for docs/results/growth.md.

    CUTPOINT_BIN=build/release/cli/cutpoint python3 -B bench/store/growth.py [NUMBER...]

The snapshots and the commands are those of tests/cli/store/test_growth.py: 20 small files, of which each backup changes one. The
stores lie in TMPDIR, which should be in memory. Each command runs once.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2] / "tests/cli"
sys.path += [str(TESTS / "support"), str(TESTS / "store")]

from command import BINARY  # noqa: E402
from test_growth import COMMANDS, Sample, many_snapshots  # noqa: E402


def processor_seconds(words: list[str], folder: Path) -> float:
    shutil.rmtree(os.environ["CUTPOINT_STATE_DIR"], ignore_errors=True)  # the store is again as it was before another command
    process = subprocess.Popen([BINARY, *words], cwd=folder, stdout=subprocess.DEVNULL)
    _, state, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(state)
    if process.returncode != 0:
        raise RuntimeError(f"{words}: {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def main():
    numbers = [int(word) for word in sys.argv[1:]] or [100, 400, 1000]
    with tempfile.TemporaryDirectory(prefix="cutpoint-growth-") as folder:
        os.environ["CUTPOINT_STATE_DIR"] = f"{folder}/state"
        samples = [Sample(Path(folder) / str(number), number) for number in numbers]
        for sample in samples:
            many_snapshots(sample)
        print("| command |", " | ".join(f"{number:,}" for number in numbers), "|")
        print("|---|" + "--:|" * len(numbers))
        for command in COMMANDS:
            seconds = [sample.cost_of(command, processor_seconds) for sample in samples]
            print(f"| `{command}` |", " | ".join(f"{each:.3f}" for each in seconds), "|", flush=True)


if __name__ == "__main__":
    main()
