"""scripts/bench-peers as a whole, on few bytes: every peer that has the same definition, and a build of Cutpoint as a peer, gives Cutpoint's
cuts and digests."""

import json
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


class Measured(unittest.TestCase):
    def test_peers_agree(self):
        build = ROOT / "build/release/bench/libcutpoint_as_peer.so"
        command = [ROOT / "scripts/bench-peers", "--bytes", "64K,3M", "--rounds", "2", "--with", build, "--json"]
        run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        comparisons = json.loads(run.stdout)["comparisons"]
        seen = {peer["name"].split()[0]: peer["answer"] for each in comparisons for peer in each["peers"]}
        self.assertIn("openssl", seen)
        self.assertLessEqual(set(seen.values()), {"equal", "other_definition"})
        self.assertTrue([name for name in seen if name.endswith(",")], seen)  # its commit
        if "skipping the Rust crates" not in run.stderr:
            self.assertLessEqual({"fastcdc", "gearhash", "blake3", "seq_chunking"}, set(seen))
        for each in comparisons:
            self.assertGreater(each["ours"]["bytes_per_second"], 0)


if __name__ == "__main__":
    unittest.main()
