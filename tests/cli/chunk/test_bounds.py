"""Every bound of a parameter is kept by the command: exit code 2, and a message with parameter, value and bound."""

import random

from catalog import as_number, bounded, entries, entries_to_run, option_of, settings_of
from command import CommandTest


class Bounds(CommandTest):
    def assert_out_of_bounds(self, name, arguments, *told):
        """`arguments` are settings, or MIN:AVG:MAX."""
        options = [word for a in arguments for word in (("--param", a) if "=" in a else ("--size", a))]
        run = self.run_command("chunk", option_of(name), name, *options, "missing")
        self.assert_refused(run, f"cutpoint: error: {name}: ", *told)
        self.assertNotIn("missing", run.stderr, "it was read before the bounds were checked")

    def test_of_each_parameter_are_those_that_list_tells(self):
        for entry in entries_to_run():
            for parameter in bounded(entry):
                name = parameter["name"]
                lowest, highest = as_number(parameter["lowest"]), as_number(parameter["highest"])
                others = [s for s in settings_of(entry) if not s.startswith(f"{name}=")]
                if lowest > 0:
                    below = lowest - 1
                    self.assert_out_of_bounds(
                        entry["name"], [*others, f"{name}={below}"], f"{name} = {below} must be at least {lowest}"
                    )
                above = highest + 1
                if above < 1 << 64:
                    told = f"{name} = {above} must be at most {highest}"
                else:
                    told = f"{name}: '{above}' does not fit in 64 bits"
                self.assert_out_of_bounds(entry["name"], [*others, f"{name}={above}"], told)

    def test_of_choices_are_the_names_that_list_tells(self):
        for entry in entries():
            for parameter in entry["parameters"]:
                if parameter["kind"] != "choice" or parameter["fixed"]:
                    continue
                told = f"{parameter['name']} = 'other' must be one of {', '.join(parameter['choices'])}"
                self.assert_out_of_bounds(entry["name"], [f"{parameter['name']}=other"], told)

    def test_of_the_key_are_its_digits(self):
        for key in ("", "00", "0" * 63, "0" * 65, "g" * 64, "0" * 62 + "0x"):
            self.assert_out_of_bounds("borg2-fastcdc", [f"key={key}"], f"key = '{key}' must be 64 hexadecimal digits")

    def test_min_is_at_most_avg(self):
        for name in ("maxp", "seqcdc-inc"):
            self.assert_out_of_bounds(name, ["16K:8K:64K"], "min_bytes = 16384 must be at most avg_bytes = 8192")
        for name in ("fastcdc", "fastcdc2020", "ronomon", "casync"):
            self.assert_out_of_bounds(name, ["512K:256K:1M"], "min_bytes = 524288", "avg_bytes = 262144")
        self.assert_out_of_bounds("borg1", ["min_exp=24", "max_exp=23"], "max_exp = 23", "2^min_exp", "16781312 bytes")
        self.assert_out_of_bounds("borg2-fastcdc", ["min_exp=22"], "min_exp = 22 must be at most mask_bits = 21")

    def test_a_divisor_may_be_below_min(self):
        (self.folder / "data").write_bytes(random.Random(1).randbytes(300_000))
        for name in ("gear", "rabin", "rabin-inck", "adler", "crc32", "buzhash", "tttd"):
            self.assert_out_of_bounds(name, ["128K:8K:64K"], "min_bytes = 131072 must be at most max_bytes = 65536")
            lists = set()
            for backend in ("auto", "scalar"):
                run = self.run_command("chunk", "-q", "--algorithm", name, "--size", "2K:1K:64K", "--backend", backend, "--format", "lengths", "data")
                self.assert_done(run)
                lists.add(run.stdout)
            self.assertEqual(len(lists), 1, name)
            lengths = [int(line) for line in lists.pop().split()]
            self.assertTrue(all(length >= 2048 for length in lengths[:-1]), name)
            self.assertAlmostEqual(sum(lengths) / len(lengths), 3072, delta=350, msg=name)

    def test_avg_is_at_most_max(self):
        for name in ("gear", "rabin", "rabin-inck", "adler", "crc32", "buzhash", "tttd", "maxp", "seqcdc-dec"):
            self.assert_out_of_bounds(name, ["2K:16K:8K"], "avg_bytes = 16384 must be at most max_bytes = 8192")
        for name in ("ae-max", "ae-min", "ram"):
            self.assert_out_of_bounds(name, [":16K:8K"], "avg_bytes = 16384 must be at most max_bytes = 8192")
        for name in ("fastcdc", "fastcdc2020", "ronomon"):
            self.assert_out_of_bounds(name, ["2K:16K:8K"], "avg_bytes = 16384", "max_bytes = 8192")

    def test_avg_is_a_power_of_two_where_a_mask_needs_it(self):
        for name in ("gear", "rabin", "rabin-inck", "adler", "crc32", "buzhash", "tttd", "restic", "kopia-buzhash"):
            self.assert_out_of_bounds(name, ["2K:9000:64K"], "avg_bytes = 9000 must be a power of two")

    def test_min_holds_the_window(self):
        self.assert_out_of_bounds("gear", ["63:8K:64K"], "min_bytes = 63 must be at least 64")
        for name in ("rabin", "rabin-inck", "adler", "crc32", "buzhash", "tttd"):
            self.assert_out_of_bounds(name, ["47:8K:64K"], "min_bytes = 47 must be at least window = 48")
        self.assert_out_of_bounds("rabin", ["64:8K:64K", "window=65"], "min_bytes = 64 must be at least window = 65")

    def test_seq_length_is_1_to_255_and_below_min(self):
        for name in ("seqcdc-inc", "seqcdc-dec"):
            self.assert_out_of_bounds(name, ["seq_length=0"], "seq_length = 0 must be at least 1")
            self.assert_out_of_bounds(name, ["seq_length=256"], "seq_length = 256 must be at most 255")
            for shortest in ("5", "4"):
                self.assert_out_of_bounds(
                    name, [f"{shortest}:8K:16K", "seq_length=5"], f"min_bytes = {shortest} must be", "seq_length", "5"
                )

    def test_a_window_that_follows_from_a_small_avg_is_at_least_1(self):
        for name, window in (("ae-max", "window"), ("ae-min", "window"), ("ram", "window"), ("maxp", "half_window")):
            for avg in ("256", "1"):
                self.assert_out_of_bounds(name, [avg], f"{window} = 0 must be at least 1")
        self.assert_out_of_bounds("ae-max", ["0:0:8K", "value_bytes=8"], "avg_bytes = 0 must be at least 1")

    def test_lest_is_2_to_the_window(self):
        for name in ("ae-max", "ae-min"):
            self.assert_out_of_bounds(name, ["8K", "lest=1"], "lest = 1 must be at least 2, or 0")
            self.assert_out_of_bounds(name, ["8K", "lest=7937"], "lest = 7937 must be at most window = 7936")

    def test_name_what_was_given_where_what_follows_from_it_is_refused(self):
        """Who gave an average and reads of a minimum or a window must learn what the one has to do with the other."""
        for name, avg, refused in (
            ("gear", "128", "min_bytes = 32"),
            ("ae-max", "256", "window = 0"),
            ("maxp", "256", "half_window = 0"),
        ):
            with self.subTest(name=name):
                self.assert_out_of_bounds(name, [avg], refused, "avg_bytes")

    def test_just_kept_are_accepted(self):
        self.write("a", b"content")
        for name, options in (
            ("gear", ("--size", "64:64:64")),
            ("rabin", ("--size", "48:8K:8K")),
            ("tttd", ("--size", "48:64:0")),
            ("seqcdc-inc", ("--size", "6:6:6")),
            ("seqcdc-dec", ("--size", "256:8K:16K", "--param", "seq_length=255")),
            ("ae-max", ("--size", "257")),
            ("ae-max", ("--size", "8K", "--param", "lest=2")),
            ("ae-min", ("--size", "8K", "--param", "lest=7936")),
            ("ae-max", ("--size", "1:2:0", "--param", "value_bytes=8")),
            ("ram", ("--size", "257::0")),
            ("maxp", ("--size", "0:257:0")),
            ("fastcdc2020", ("--size", "64:256:1K")),
            ("fixed", ("--size", "1")),
        ):
            run = self.run_command("chunk", option_of(name), name, *options, "--format", "lengths", "a")
            with self.subTest(name=name, options=options):
                self.assertEqual((run.code, sum(map(int, run.lines))), (0, 7), run)
