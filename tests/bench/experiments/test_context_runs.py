"""PRUNE's eight methods and contexts by the real programs on little data, and the page's tables and verdicts from chosen numbers."""

import json
import random
import shutil
import tarfile
import tempfile
import tomllib
import unittest
import unittest.mock
from pathlib import Path

from programs import BUILD, ROOT
from results_files import words_of

from experiments.papers import context_runs, context_search, pages
from experiments.papers.__main__ import TABLES
from experiments.papers.claim import CLAIMS
from experiments.papers.context_runs import KINDS, METHODS, RULED, TREES, groups, with_bits
from experiments.papers.evidence import Evidence
from experiments.papers.store_runs import Programs

PAGE = ROOT / "docs/papers/prune-contexts.md"


@unittest.skipUnless(shutil.which("zstd"), "the program zstd is not installed")
class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        sets = {name: ("c", cls.archives() if name == "media" else []) for name in context_runs.SETS}
        cls.enterClassContext(unittest.mock.patch.multiple(context_runs, TREES={"mixed": {"media": 2}}))
        (cls.measured,) = context_runs.measure(sets, BUILD, cls.folder / "scratch", 1, lambda _: None)
        (cls.again,) = context_runs.measure(sets, BUILD, cls.folder / "scratch", 1, print, known=cls.measured)

    @classmethod
    def archives(cls) -> list[Path]:
        """A tar for each of two versions, as data sets have them."""
        draws = random.Random(1)
        source = b"".join(draws.choices([b"chunk ", b"segment ", b"digest ", b"index "], k=250_000))
        picture = draws.randbytes(1_200_000)
        paths = []
        for number, (inserted, small) in enumerate(((b"", "notes"), (b"inserted ", ".hidden"))):
            version = cls.folder / f"version{number}"
            version.mkdir()
            for name, content in {"a.c": inserted + source, "b.png": picture, small: b"small"}.items():
                (version / name).write_bytes(content)
            paths.append(cls.folder / f"{number}.tar")
            with tarfile.open(paths[-1], "w") as archive:
                archive.add(version, arcname=version.name)
        return paths

    def test_everything_is_measured_once_and_read_back(self):
        self.assertEqual(self.again, self.measured)
        self.assertEqual(json.loads(context_runs.text_of(self.measured)), self.measured)
        tree = self.measured["trees"]["mixed"]
        self.assertEqual((tree["content"]["files"], tree["extensions"]["png"], tree["extensions"][""]), (6, 2_400_000, 10))
        jobs = {name: job["stored_bytes"] for name, job in tree["jobs"].items()}
        self.assertEqual(set(jobs), {job.name for group in groups("mixed") for job in group})
        self.assertGreater(jobs["mixed TAR"], tree["content"]["bytes"], "a tar has headers")
        self.assertLess(jobs["mixed TAR-zip"], jobs["mixed TAR"])
        self.assertLess(jobs["mixed V"], 0.6 * jobs["mixed TAR"], "equal files are stored once")
        self.assertGreater(jobs["mixed F"], 1.2 * jobs["mixed V"], "fixed lengths lose what follows an insertion")
        self.assertLess(jobs["mixed V-zip"], 0.7 * jobs["mixed V"], "words are compressed")
        self.assertEqual(jobs["mixed CA-zip"], min(jobs["mixed CA-zip"], jobs["mixed CA"]))
        self.assertGreater(tree["jobs"]["mixed TAR"]["seconds"], 0)
        self.assertLessEqual(jobs["mixed searched-zip"], jobs["mixed usual-zip"])
        self.assertEqual(tree["search"]["runs"], 3 * (len(context_search.RULES) + 1))

    def test_a_search_keeps_the_best_rule_of_each_class(self):
        tree = self.measured["trees"]["mixed"]
        classes = tree["search"]["classes"]
        self.assertEqual({name: entry["bytes"] for name, entry in classes.items() if name != "c"}, {"others": 10, "png": 2_400_000})
        for name, entry in classes.items():
            self.assertEqual(entry["stored"][entry["rule"]], min(entry["stored"].values()), name)
        self.assertTrue(classes["c"]["rule"].startswith("fastcdc"), "fixed lengths lose what follows an insertion")
        self.assertEqual([classes[name]["is_compressed"] for name in ("c", "png")], [True, False])
        rules = tomllib.loads(tree["contexts"]["searched"])
        self.assertEqual(rules["others"]["cuts"], context_search.RULES[classes["others"]["rule"]])
        (of_pictures,) = (rule for rule in rules["class"].values() if "png" in rule["extensions"])
        self.assertEqual((of_pictures["extensions"], of_pictures["compression_level"]), (["png"], 0))

    def test_a_program_that_fails_says_why(self):
        programs = Programs(BUILD, self.folder)
        with self.assertRaisesRegex(RuntimeError, "(?s)cutpoint backup.*none"):
            programs.timed(programs.command, "backup", "--store", self.folder / "none", self.folder)
        with unittest.mock.patch.object(shutil, "which", return_value=None), self.assertRaisesRegex(RuntimeError, "the program bash is missing"):
            next(context_runs.measure({}, BUILD, self.folder, 1, lambda _: None))


class Pages(unittest.TestCase):
    """Numbers as the paper has them hold all its claims."""

    SPEEDS = {
        "linux": {"F": 36.7, "V": 34.2, "CA": 34.2, "TAR": 34.5, "F-zip": 17.5, "V-zip": 17.5, "CA-zip": 17.5, "TAR-zip": 17.0},
        "media": {"F": 103, "V": 72.2, "CA": 103, "TAR": 131.1, "F-zip": 22.4, "V-zip": 20.2, "CA-zip": 22.4, "TAR-zip": 20},
        "mixed": {"F": 79.6, "V": 60, "CA": 79, "TAR": 96.9, "F-zip": 23.1, "V-zip": 19.6, "CA-zip": 23, "TAR-zip": 20},
    }
    SAVED = {
        "linux": {"F": 57, "V": 65, "CA": 65, "TAR": -5.8, "F-zip": 84, "V-zip": 88, "CA-zip": 88, "TAR-zip": 70},
        "media": {},
        "mixed": {"F": 10, "V": 11.6, "CA": 11.5, "F-zip": 15, "V-zip": 15.6, "CA-zip": 14.9},
    }

    def setUp(self):
        trees = {}
        for tree in TREES:
            jobs = {}
            for group in groups(tree):
                for job in group:
                    key = job.name.removeprefix(f"{tree} ")
                    rate = 51 if key == "V 11 bits" else self.SPEEDS.get(tree, {}).get(key, 80) * (77 / 60 if (tree, key) == ("mixed", "V") else 1)
                    share = self.SAVED.get(tree, {}).get(key, 0)
                    jobs[job.name] = {"seconds": 1e9 / (rate * 1e6), "stored_bytes": 1e9 * (1 - share / 100)}
            content = {"bytes": 1_000_000_000, "files": 1000, "median": 2048, "least": 1, "most": 5_000_000}
            trees[tree] = {"content": content, "extensions": {"c": 9e8, "": 1e7}, "jobs": jobs}
        for tree in RULED:
            stored = dict.fromkeys(context_search.RULES, 40e6) | {"whole": 30e6}
            class_of_c = {"bytes": 50_000_000, "rule": "whole", "is_compressed": False, "stored": stored}
            trees[tree] |= {"tune_seconds": {"balanced": 3.0, "savings": 3.0}, "search": {"runs": 10, "seconds": 7.0, "classes": {"c": class_of_c}}}
        measured = {"processor": "p", "processors": 2, "version": "v", "rounds": 5, "checksums": {"linux": "c"}, "trees": trees}
        self.evidence = Evidence(contexts=measured)
        self.nothing = Evidence()

    def test_a_page_has_its_tables(self):
        text = PAGE.read_text(encoding="utf-8")
        for evidence in (self.evidence, self.nothing):
            pages.rewrite(PAGE.name, text, lambda name, evidence=evidence: TABLES[name](evidence))
        self.assertIn("| TAR | 34.5 | 34 | 131.1 | 131 | 96.9 | 97 |", TABLES["prune-figure-17-speed"](self.evidence))
        self.assertIn("| V | 65.0 | 65.0 | – | 0.0 | 11.6 | 11.6 |", TABLES["prune-figure-17-bytes"](self.evidence))
        self.assertIn("| mixed | media 4, packages 4 | 1,000 | 1,000 | 976.6 | 2.0 | 1 | 5.0 | c 90, none 1 |", TABLES["prune-table-5"](self.evidence))
        self.assertIn("| mixed | c | 50.0 | whole | no | 30.00 | 40.00 | 40.00 |", TABLES["prune-contexts-classes"](self.evidence))
        self.assertEqual(len(TABLES["prune-contexts-rules"](self.evidence)), 2 + 2 * len(context_runs.RULE_SETS))

    def test_the_papers_numbers_hold_its_claims(self):
        claims = [claim for claim in CLAIMS if claim.page == PAGE.name]
        self.assertGreater(len(claims), 10)
        for claim in claims:
            self.assertEqual({*words_of(claim.judge(self.nothing))}, {"not measured"}, claim.text)
            self.assertNotIn("does not hold", words_of(claim.judge(self.evidence)), f"{claim.text}: {claim.judge(self.evidence)}")

    def test_other_numbers_do_not(self):
        trees = self.evidence.contexts["trees"]
        for kind in KINDS:
            for method in METHODS:
                trees[kind]["jobs"][f"{kind} {method}"] = {"seconds": 1.0, "stored_bytes": 5e8}
                trees[kind]["jobs"][f"{kind} {method}-zip"] = {"seconds": 0.9, "stored_bytes": 4e8}
            trees[kind]["jobs"][with_bits(kind, 11).name] = {"seconds": 1.0, "stored_bytes": 5e8}
        trees["linux"]["jobs"]["linux TAR"]["seconds"] = 2.0
        verdicts = {claim.text.split(" (")[0]: words_of(claim.judge(self.evidence)) for claim in CLAIMS if claim.page == PAGE.name}
        not_held = [text for text, words in verdicts.items() if "does not hold" in words]
        self.assertEqual(len(not_held), 8, verdicts)


if __name__ == "__main__":
    unittest.main()
