"""Each policy places each chunk of random traces where its plain model places it."""

import os
import random
import tempfile
import unittest
from pathlib import Path

import models
from traces import IS_SANITIZED, random_files, run_command, trace_bytes

TRACE_COUNT = 100 if IS_SANITIZED else 1000 if os.environ.get("CUTPOINT_ALL_CASES") else 200


def random_options(generator: random.Random) -> models.Options:
    node_count = generator.randint(1, 9)
    percents = sorted(generator.sample(range(101), generator.randrange(3)))
    return models.Options(
        node_count=node_count,
        handprint_size=generator.choice([1, 2, 4, 8]),
        super_chunk_bytes=generator.choice([2, 10_000, 50_000, 100_000]),
        is_fixed=generator.random() < 0.3,
        points=generator.choice([1, 3, 20]),
        batch_size=generator.choice([1, 2, 16]),
        overload_percent=generator.choice([0, 100, 105, 150]),
        changes=[(percent, generator.randint(1, node_count)) for percent in percents],
    )


def words_of(options: models.Options) -> list[str]:
    words = ["--nodes", str(options.node_count), "--handprint", str(options.handprint_size)]
    words += ["--super-chunk", str(options.super_chunk_bytes), "--points", str(options.points)]
    words += ["--batch", str(options.batch_size), "--overload", str(options.overload_percent)]
    words += ["--fixed-super-chunks"] if options.is_fixed else []
    return words + [word for percent, count in options.changes for word in ("--live", f"{count}@{percent}")]


class Models(unittest.TestCase):
    def test_each_chunk_is_placed_where_the_model_places_it(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for seed in range(TRACE_COUNT):
                generator = random.Random(seed)
                files = random_files(generator)
                options = random_options(generator)
                (folder / "trace").write_bytes(trace_bytes(files))
                run = run_command("simulate", "trace", *words_of(options), "--placements", "placements", "-q", cwd=folder)
                self.assertEqual((run.returncode, run.stderr), (0, ""), seed)
                actual: dict[str, list] = {policy: [] for policy in models.POLICIES}
                for line in (folder / "placements").read_text().splitlines()[1:]:
                    policy, _, *numbers = line.split(",")
                    actual[policy].append(tuple(map(int, numbers)))
                for policy, placed in actual.items():
                    self.assertEqual(placed, models.placements(policy, files, options), (seed, policy, options))
