"""The command's lengths equal the checked-in golden cuts, from a file and from a pipe."""

import hashlib
import json
from pathlib import Path

from command import IS_SANITIZED, CommandTest
from listings import read_lengths
from streams import golden_input

GOLDENS = json.loads((Path(__file__).resolve().parents[2] / "data/goldens.json").read_text(encoding="ascii"))

# One of each kind here: golden_tests has them all, without the command between.
ENTRIES = (
    "fastcdc2020 16K:64K:256K nc1",
    "xet",
    "restic poly=0x3DA3358B4DC173",
    "ae-max avg=8K max=64K",
    "maxp 885:8K:64K",
)


class GoldenCuts(CommandTest):
    def assert_golden(self, entry, name, run):
        self.assert_done(run)
        golden = GOLDENS["cuts"][entry]["of"][name]
        lengths = read_lengths(run.stdout)
        self.assertEqual(lengths[: len(golden["first"])], golden["first"], entry)
        self.assertEqual(len(lengths), golden["chunks"], entry)
        self.assertEqual(hashlib.sha256(run.bytes).hexdigest(), golden["sha256"], entry)

    def test_come_from_files(self):
        self.write("D2", golden_input("D2"))
        for entry in ENTRIES[:1] if IS_SANITIZED else ENTRIES:
            with self.subTest(entry=entry):
                run = self.run_command("chunk", "--format", "lengths", *GOLDENS["cuts"][entry]["args"], "D2")
                self.assert_golden(entry, "D2", run)

    def test_come_from_a_pipe(self):
        entry = ENTRIES[0]
        run = self.run_command(
            "chunk", "--format", "lengths", *GOLDENS["cuts"][entry]["args"], "-", content=golden_input("D3")
        )
        self.assert_golden(entry, "D3", run)
