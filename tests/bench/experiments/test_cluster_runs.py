"""AppDedupe's tables are measured with small data, and what is measured becomes tables without gaps and verdicts."""

import random
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from programs import BUILD, ROOT
from results_files import words_of

from experiments.papers import appdedupe, cluster_runs, pages
from experiments.papers.__main__ import TABLES
from experiments.papers.claim import CLAIMS, UNKNOWN
from experiments.papers.evidence import Evidence



def versions(folder: Path, name: str, count: int) -> list[Path]:
    """Versions of random data, each with two changed places."""
    source = random.Random(name)
    content = bytearray(source.randbytes(1_500_000))
    paths = []
    for number in range(count):
        for _ in range(2 if number else 0):
            offset = source.randrange(len(content) - 9000)
            content[offset : offset + 9000] = source.randbytes(9000)
        paths.append(folder / f"{name}-{number}")
        paths[-1].write_bytes(content)
    return paths


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        names = (*cluster_runs.SETS, cluster_runs.RANDOM)
        sets = {name: ("a" * 64, versions(folder, name, 1 if name == cluster_runs.RANDOM else 3)) for name in names}
        small = {"BALANCED": {2: 65_536, 8: 65_536}, "LARGEST": 4, "EVOLVED_BYTES": 10 << 20, "NODES": (1, 16, 128)}
        for module in (cluster_runs, appdedupe):
            for name, value in small.items():
                if hasattr(module, name):
                    cls.enterClassContext(unittest.mock.patch.object(module, name, value))
        streams = ("--handprints", "1000", "--super-chunks", "16", "--versions", "2")
        cls.enterClassContext(unittest.mock.patch.object(cluster_runs, "STREAM_WORDS", streams))
        cls.measured = cluster_runs.measure(sets, BUILD, folder, 1, lambda _: None)

    def test_duplicates_are_those_that_the_data_have(self):
        for name, row in self.measured["redundancy"].items():
            self.assertEqual(row["bytes"], 4_500_000)
            self.assertEqual(row["shared_bytes"], 0, name)  # other random data
            self.assertLess(row["unique_bytes"], 1_700_000)
        for simulation, entry in self.measured["clusters"]["all"].items():
            if simulation.startswith("dht"):
                self.assertEqual(entry["normalized_ratio"], 1)

    def test_random_data_are_never_duplicates(self):
        for job, row in self.measured["balance"].items():
            self.assertEqual(row["units"], int(job.split()[0]) * 184, job)  # 1,465 chunks of 1 KiB a node, 8 in a super-chunk

    def test_measuring_a_group_keeps_the_others(self):
        earlier = self.measured | {"versions": dict.fromkeys(cluster_runs.GROUPS, "an earlier binary"), "efficiency_rounds": 3}
        with unittest.mock.patch.object(cluster_runs, "balance", return_value={"new": 1}), tempfile.TemporaryDirectory() as folder:
            again = cluster_runs.measure({}, BUILD, Path(folder), 1, lambda _: None, only=["balance"], known=earlier)
        self.assertEqual(again["balance"], {"new": 1})
        self.assertEqual(again["clusters"], self.measured["clusters"])
        self.assertEqual(again["versions"], earlier["versions"] | {"balance": self.measured["versions"]["balance"]})
        self.assertEqual((again["checksums"], again["efficiency_rounds"]), (self.measured["checksums"], 3))

    def test_a_group_needs_no_other_data_than_its_own(self):
        self.assertEqual(cluster_runs.sets_of(["largest_balance", "streams"]), [cluster_runs.RANDOM])
        self.assertEqual(cluster_runs.sets_of(["streams"]), [])
        self.assertEqual(cluster_runs.sets_of([]), [*cluster_runs.SETS, cluster_runs.RANDOM])

    def test_the_largest_balance_has_each_handprint(self):
        self.assertEqual([self.measured["largest_balance"][str(k)]["units"] for k in cluster_runs.BALANCE_HANDPRINTS], [4 * 184] * 3)

    def test_streams_have_a_rate_for_each_index(self):
        rates = {name: row for name, row in self.measured["streams"].items() if isinstance(row, dict)}
        self.assertEqual(set(rates), {f"look-ups {locks}" for locks in cluster_runs.LOCKS} | {f"{cache} {index}" for cache in ("cold", "warm") for index in ("1 1", "8 1", "8 64")})
        for name, row in rates.items():
            for times in (row["by_clock"], row["by_processor"]):
                self.assertEqual([*times], [str(count) for count in cluster_runs.STREAMS], name)
                self.assertGreater(min(times.values()), 0, name)

    def test_every_claim_has_a_verdict(self):
        for claim in CLAIMS:
            if claim.paper == "AppDedupe":
                is_judged = UNKNOWN not in words_of(claim.judge(Evidence(clusters=self.measured)))
                self.assertEqual(is_judged, claim.text != "the same at 128 nodes", claim.text)

    def test_the_page_is_written_from_what_was_measured(self):
        text = (ROOT / "docs/papers/appdedupe.md").read_text(encoding="utf-8")
        written = pages.rewrite("page", text, lambda name: TABLES[name](Evidence(clusters=self.measured)))
        rows = [line for line in written.splitlines() if line.startswith(("| linux", "| all", "| AppDedupe, ours", "| synthetic"))]
        self.assertGreaterEqual(len(rows), 15)
        self.assertEqual([row for row in rows if "–" in row], [])


class Arithmetic(unittest.TestCase):
    def test_deviations_of_three_loads_lie_between_the_bounds(self):
        for loads in ((0.0, 1.0, 2.0), (0.0, 0.0, 3.0), (0.5, 0.7, 1.8)):
            mean = sum(loads) / 3
            squares = sum((load - mean) ** 2 for load in loads)
            least, most = appdedupe.deviations((max(loads) - min(loads)) / mean)
            for divisor in (3, 2):
                self.assertTrue(least - 1e-9 <= (squares / divisor) ** 0.5 / mean <= most + 1e-9, loads)

    def test_what_the_papers_table_6_implies(self):
        rows = {line.split("|")[1].strip(): line for line in TABLES["appdedupe-table-6-arithmetic"](Evidence())}
        self.assertIn("| 41.1 | 42.1 | 481 to 566 |", rows["AppAware"])
        self.assertIn("| 583 to 588 |", rows["Sigma-Dedupe"])
        self.assertIn("| 604 to 611 |", rows["AppDedupe"])


if __name__ == "__main__":
    unittest.main()
