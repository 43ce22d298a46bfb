"""What the report compares: equal aims, fronts, curves, and colours that stay the algorithm's."""

import unittest

from results_files import BACK_ENDS, CATALOG, cuts_of, report_of

from experiments.report import charts, style
from experiments.report.charts.lengths import curve
from experiments.report.charts.pareto import mark_front
from experiments.report.charts.savings import finding
from experiments.report.charts.throughput import spread, with_bounds
from experiments.report.charts.tunes import label
from experiments.report.select import ENGINE, usual
from experiments.results import GIB


class Words(unittest.TestCase):
    def test_who_saves_most_is_said_of_like_means(self):
        rows = [
            {"dataset": "a", "algorithm": name, "aim": "8K", "mean_bytes": mean, "savings": saved}
            for name, mean, saved in (("gear", 8000, 0.3), ("ram", 9000, 0.2), ("maxp", 3000, 0.5))
        ]
        self.assertIn("gear saves most on a", finding(rows))

    def test_seqcdcs_parameters_stand_in_the_papers_order(self):
        parameters = {"avg_bytes": 16384, "seq_length": 6, "skip_size": 64, "skip_trigger": 75}
        self.assertEqual(label({"name": "seqcdc-inc", "target_bytes": 16384.0, "parameters": parameters}), "seqcdc-inc 16K 6/75/64")


class Throughput(unittest.TestCase):
    def test_the_title_has_an_order_only_where_no_rounds_overlap(self):
        def title(*rates: tuple[str, list[float]]) -> str:
            rows = [{"algorithm": name, "aim": "8K", "bytes_per_second": each[0] * GIB} for name, each in rates]
            return spread([with_bounds(row, [rate * GIB for rate in each]) for row, (_, each) in zip(rows, rates)], "It")

        self.assertEqual(title(("gear", [3, 2.5, 3.5]), ("rabin", [1, 0.5, 2])), "It: gear is 3 times as fast as rabin at 8 KiB")
        for other in ([1, 0.5, 2.5], [1]):
            self.assertIn("rounds do not tell the algorithms apart at 8 KiB", title(("gear", [3, 2.5, 3.5]), ("rabin", other)))


class BackEnds(unittest.TestCase):
    def test_the_fastest_of_equally_many_is_reported(self):
        """As one would run it: a headline by the back end that happens to be named first would be about nobody's speed."""
        rows = [
            {"hash": "sha1", "backend": name, "threads": 0, "segment": "auto", "bytes_per_second": speed + number}
            for name, speed in (("scalar", 1), ("avx2", 4), ("sse4", 2))
            for number in range(3)
        ]
        self.assertEqual({row["backend"] for row in usual(rows, ENGINE)}, {"avx2"})
        self.assertEqual({row["backend"] for row in usual([*rows, rows[0]], ENGINE)}, {"scalar"}, "that of more rows")


class Aims(unittest.TestCase):
    def test_a_rolling_hash_aims_at_its_minimum_and_its_divisor_together(self):
        # PRUNE equation 2, by hand: 4096 + 4096 (1 - (1 - 1/4096)^12288) = 4096 + 4096 (1 - e^-3.0004)
        self.assertAlmostEqual(CATALOG.expected_mean("rabin", cuts_of("rabin", 4096, 4096, 16384)), 4096 + 4096 * 0.950232, delta=1)
        self.assertEqual(CATALOG.aim("rabin", cuts_of("rabin", 4096, 4096, 16384)), "8K")
        self.assertEqual(CATALOG.aim("rabin", cuts_of("rabin", 2048, 8192, 65536)), "8K")

    def test_every_algorithm_aims_at_the_size_that_is_asked_for(self):
        """Two names of one canonical word, such as mincdc4 and mincdchash4, have no size of their own."""
        algorithms = [name for name in CATALOG.entries if not CATALOG.is_profile(name)]
        self.assertGreater(len(algorithms), 10)
        for algorithm in algorithms:
            self.assertEqual(CATALOG.aim(algorithm, cuts_of(algorithm, 0, 8192, 0)), "8K", algorithm)

    def test_others_aim_at_their_average(self):
        for algorithm in ("fastcdc", "maxp", "ae-max", "seqcdc-inc", "mincdchash4"):
            self.assertEqual(CATALOG.aim(algorithm, cuts_of(algorithm, 4096, 4096, 16384)), "4K")
        self.assertEqual(CATALOG.aim("ae-max", cuts_of("ae-max", 0, 10240, 65536)), "8K")

    def test_a_profile_has_its_own(self):
        for profile in filter(CATALOG.is_profile, CATALOG.entries):
            self.assertEqual(CATALOG.aim(profile, cuts_of(profile, 524288, 1048576, 8388608)), "own", profile)

    def test_a_profile_has_the_mechanism_of_its_algorithm(self):
        mechanisms = {name: CATALOG.mechanism(name) for name in ("restic", "casync", "ronomon", "ae-min", "mincdchash4", "invented")}
        self.assertEqual(
            mechanisms,
            {"restic": "rabin", "casync": "buzhash", "ronomon": "ronomon", "ae-min": "ae-min", "mincdchash4": "mincdchash4", "invented": "invented"},
        )


class Front(unittest.TestCase):
    def test_none_beats_a_member_in_both(self):
        rows = [{"cost": cost, "savings": savings} for cost, savings in ((1, 0.1), (2, 0.3), (2, 0.2), (3, 0.3), (4, 0.5), (5, 0.4))]
        on_front = [(row["cost"], row["savings"]) for row in mark_front(rows) if row["front"]]
        self.assertEqual(on_front, [(1, 0.1), (2, 0.3), (4, 0.5)])


class Curve(unittest.TestCase):
    def test_it_rises_only_where_there_are_chunks(self):
        report = report_of("gear", 0.5, mean=8192, size=300 * 8192)
        points = [(point["b"], point["s"]) for point in curve({"algorithm": "gear", "report": report})]
        self.assertEqual(points, [(4096, 0.0), (4607, 0.3333), (8191, 0.3333), (8292, 1.0)])

    def test_buckets_too_small_to_see_are_left_out_and_the_end_is_1(self):
        report = report_of("gear", 0.5)
        buckets = [{"least_bytes": 1000 + i, "most_bytes": 1000 + i, "chunk_count": 1} for i in range(2000)]
        report["result"]["chunks"] |= {"histogram": buckets, "min_bytes": 1000, "max_bytes": 2999}
        points = curve({"algorithm": "gear", "report": report})
        self.assertLess(len(points), 1100)
        self.assertEqual((points[-1]["b"], points[-1]["s"]), (2999, 1.0))
        self.assertEqual(points, sorted(points, key=lambda point: (point["b"], point["s"])))


class Style(unittest.TestCase):
    def test_every_algorithm_has_a_colour_of_its_own_in_both_themes(self):
        for theme in ("light", "dark"):
            known = style.tokens(theme)
            colours = [known[style.colour(name).removeprefix("@")] for name in CATALOG.entries if not CATALOG.is_profile(name)]
            self.assertNotIn(known["muted"], colours)
            self.assertEqual(len(set(colours)), len(colours))
            for name, colour in known.items():
                self.assertRegex(colour, "^#[0-9a-f]{6}$", name)

    def test_every_back_end_looks_different(self):
        looks = style.back_end_looks(CATALOG.in_order(BACK_ENDS), "scalar")
        self.assertEqual(list(looks), BACK_ENDS)
        self.assertEqual(len(set(looks.values())), len(looks))
        self.assertEqual({colour.removeprefix("@") for colour, _ in looks.values()} - set(style.tokens("dark")), set())

    def test_members_of_a_family_differ_in_shape(self):
        for _, members in style.FAMILIES.values():
            self.assertEqual(len({style.member(name) for name in members}), len(members))

    def test_sections_have_names_of_their_own(self):
        self.assertEqual(len({make.__name__ for make in charts.SECTIONS}), len(charts.SECTIONS))


if __name__ == "__main__":
    unittest.main()
