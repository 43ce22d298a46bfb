"""Wrong usage is refused before anything is read or written: exit code 2, a message that helps, no output."""

import resource
import unittest

from command import DONE, IS_SANITIZED, WRONG_USAGE, CommandTest, subcommands

CUTS = "gear(min_bytes=64,avg_bytes=256,max_bytes=1024,table=fastcdc2020)"


class Usage(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("a", b"content of a")

    def refused(self, *arguments, told=()):
        """Refused, and the output file is neither made nor emptied."""
        self.write("out", b"kept")
        run = self.run_command("chunk", *arguments, "-o", "out", "a")
        self.assert_refused(run, *told)
        self.assertEqual((self.folder / "out").read_bytes(), b"kept", run)
        return run


class UnknownNames(Usage):
    """The nearest name is told, or the choice where none is near."""

    def test_of_algorithms(self):
        for wrong, near in (("fastcdd", "fastcdc"), ("Gear", "gear"), ("seqcdc-ink", "seqcdc-inc")):
            self.refused("--algorithm", wrong, told=(f"'{wrong}', did you mean '{near}'?",))
        self.refused("--algorithm", "zzzzzzzz", told=("no algorithm", "'zzzzzzzz'", "gear", "fixed"))

    def test_of_profiles(self):
        for wrong, near in (("resticc", "restic"), ("kasync", "casync"), ("fastcdc-2020", "fastcdc2020")):
            self.refused("--profile", wrong, told=(f"'{wrong}', did you mean '{near}'?",))

    def test_of_the_other_kind_say_the_option(self):
        self.refused("--algorithm", "xet", told=("'xet' is a profile: say --profile xet",))
        self.refused("--profile", "gear", told=("'gear' is an algorithm: say --algorithm gear",))

    def test_of_parameters(self):
        self.refused("--param", "avgbytes=8K", told=("no parameter 'avgbytes', did you mean 'avg_bytes'?",))
        self.refused("--algorithm", "gear", "--param", "zzzz=1", told=("no parameter 'zzzz'; there are min_bytes",))

    def test_of_options(self):
        for wrong, near in (("--algoritm", "--algorithm"), ("--thread=2", "--threads"), ("--Hash", "--hash")):
            word = wrong.split("=")[0]
            self.refused(wrong, told=(f"no option '{word}', did you mean '{near}'? 'cutpoint chunk --help' shows",))
        self.assert_refused(self.run_command("backup", "--sotre", "x", "a"), "did you mean '--store'?")
        self.assert_refused(self.run_command("--vresion"), "did you mean '--version'?")
        self.refused("--zzzzzzzz", told=("--zzzzzzzz", "'cutpoint chunk --help'"))

    def test_of_fingerprints(self):
        self.refused("--hash", "sha265", told=("no fingerprint 'sha265', did you mean 'sha256'?",))
        self.refused("--hash", "crc", told=("no fingerprint 'crc'", "sha1", "none"))

    def test_of_formats(self):
        self.refused("--format", "length", told=("no format 'length', did you mean 'lengths'?",))
        self.refused("--format", "xml", told=("no format 'xml'", "text", "lengths", "csv", "jsonl"))

    def test_of_back_ends(self):
        self.refused("--backend", "scalr", told=("no back end 'scalr', did you mean 'scalar'?",))
        self.refused("--backend", "abacus", told=("no back end 'abacus'", "auto", "scalar"))

    def test_in_canonical_strings(self):
        self.refused("--cuts", CUTS.replace("gear", "gearr"), told=("'gearr', did you mean 'gear'?",))
        self.refused("--cuts", CUTS.replace("min_bytes", "mim_bytes"), told=("'mim_bytes', did you mean 'min_bytes'?",))

    def test_of_options_are_told(self):
        self.refused("--algoritm", "gear", told=("--algoritm",))

    def test_of_commands_are_told(self):
        for wrong in ("chunkk", "Chunk", "lst", "help"):
            with self.subTest(command=wrong):
                self.assert_refused(self.run_command(wrong), wrong)

    def test_are_told_by_list(self):
        self.assert_refused(self.run_command("list", "gearr"), "'gearr', did you mean 'gear'?")


class Contradictions(Usage):
    def test_of_a_key_and_a_fingerprint_that_takes_none(self):
        for named in ((), ("--hash", "sha256"), ("--hash", "none"), ("--format", "lengths")):
            self.refused("--hash-key", "00" * 32, *named, told=("--hash-key", "--hash blake3", "takes no key"))

    def test_of_quiet_and_verbose(self):
        self.refused("-q", "-v", told=("--quiet", "--verbose"))

    def test_of_two_names_for_the_cuts(self):
        self.refused("--algorithm", "gear", "--profile", "xet", told=("--algorithm", "--profile"))
        self.refused("--algorithm", "gear", "--cuts", CUTS, told=("--algorithm", "--cuts"))
        self.refused("--profile", "xet", "--cuts", CUTS, told=("--profile", "--cuts"))

    def test_of_cuts_and_what_they_name_already(self):
        self.refused("--cuts", CUTS, "--size", "8K", told=("--cuts", "--size"))
        self.refused("--cuts", CUTS, "--param", "min_bytes=64", told=("--cuts", "--param"))

    def test_of_lengths_and_a_fingerprint(self):
        self.refused("--format", "lengths", "--hash", "sha1", told=("--hash", "--format lengths"))
        self.assert_done(self.run_command("chunk", "--format", "lengths", "--hash", "none", "a"))

    def test_of_a_parameter_given_twice(self):
        for arguments in (
            ("--param", "min_bytes=1K", "--param", "min_bytes=1K"),
            ("--size", "1K:8K:64K", "--param", "min_bytes=1K"),
        ):
            self.refused(*arguments, told=("min_bytes", "twice"))
        self.refused("--cuts", CUTS.replace("min_bytes=64", "min_bytes=64,min_bytes=64"), told=("min_bytes", "twice"))

    def test_of_an_option_given_twice(self):
        for option, value in (("--algorithm", "gear"), ("--size", "8K"), ("--hash", "md5"), ("--memory", "1M")):
            self.refused(option, value, option, value, told=(option,))

    def test_of_standard_input_given_twice(self):
        self.refused("-", "-", told=("'-'", "twice"))
        self.refused("-", "a", "-", told=("'-'", "twice"))

    def test_of_a_parameter_and_the_name_that_stands_for_it(self):
        self.refused("--param", "normalization=1", told=("normalization = 1", "fastcdc", "2"))
        self.refused("--profile", "casync", "--param", "window=64", told=("window = 64", "casync", "48"))
        run = self.run_command("chunk", "--profile", "casync", "--param", "window=48", "a")
        self.assertEqual(run.code, DONE, run)


class Malformed(Usage):
    def test_sizes(self):
        for size in ("x", "8X", "8KK", "-8K", "8.5K", "0x100", " 8K", "8K ", "1e3", "8 K", "+8K", ""):
            self.refused("--size", size, told=("avg_bytes", f"'{size}' is not a size"))
        for size in ("1K:2K", "1K:2K:3K:4K"):
            self.refused("--size", size, told=(f"--size {size}: must be MIN:AVG:MAX or AVG",))
        self.refused("--size", "::", told=("--size ::: must have a part that is not empty",))
        for size in ("18446744073709551616", "99999999999999999999", "16777216T"):
            self.refused("--size", size, told=(f"'{size}' does not fit in 64 bits",))

    def test_parameters(self):
        for setting in ("min_bytes", "=64", "", "="):
            self.refused("--param", setting, told=(f"--param {setting}: must be KEY=VALUE",))
        for value in ("", "x", "1.5", "-1", "0x", " 1", "1 ", "0xg"):
            self.refused("--param", f"seed={value}", told=("seed", f"'{value}' is not a number"))

    def test_canonical_strings(self):
        for cuts in ("", "gear", "gear(", "gear)", "(", "()", "gear(min_bytes)", "gear(=1)", "gear(min_bytes=)"):
            self.refused("--cuts", cuts)

    def test_keys_are_refused_and_not_told(self):
        right = "5e" * 32
        for key in ("", "5", right[2:], right + "5e", right[1:] + "g", "0x" + right[2:], " " + right[1:], "+5" * 32):
            options = ("--hash", "blake3", "--hash-key", key)
            run = self.refused(*options, told=("--hash-key must be 64 hexadecimal digits",))
            self.assertNotIn("5", run.stderr)
            self.assert_refused(self.run_command("dedup", "--hash", "blake3", "--hash-key", key, "a"), "--hash-key")

    def test_memory(self):
        for memory in ("", "x", "1Q", "-1", "16777216T"):
            self.refused("--memory", memory, told=("--memory", f"'{memory}'"))

    def test_empty_values_take_no_other_argument(self):
        """As from --size=$UNSET: what comes next is not the value."""
        for option in ("--size", "--memory", "--hash", "--format", "--algorithm"):
            with self.subTest(option=option):
                self.refused(f"{option}=", told=("''",))
        with self.subTest(option="--output"):
            for options in (("--output=",), ("-o", ""), ("--output", "")):
                self.assert_refused(self.run_command("chunk", *options, "a", "missing"), "--output", "name of a file")
            self.assertEqual((self.folder / "a").read_bytes(), b"content of a")

    def test_values_are_told_as_they_were_given(self):
        """Also those that a parser might take for lists."""
        for option in ("--algorithm", "--profile", "--cuts", "--size", "--hash", "--format", "--backend", "--memory"):
            with self.subTest(option=option):
                self.refused(option, "[x]", told=("'[x]'",))

    def test_flags_take_no_value(self):
        for flag in ("--follow=", "--quiet="):
            with self.subTest(flag=flag):
                run = self.run_command("chunk", flag, "--format", "lengths", "a")
                self.assertIn((run.code, run.stdout), ((WRONG_USAGE, ""), (DONE, "12\n")), run)

    def test_options_without_their_value(self):
        for option in ("--algorithm", "--hash", "--format", "--memory", "-o"):
            self.assert_refused(self.run_command("chunk", "a", option), "cutpoint: error: ")

    def test_runs_without_what_they_need(self):
        for arguments in ((), ("chunk",), ("chunk", "--hash", "none"), ("--",)):
            self.assert_refused(self.run_command(*arguments), "cutpoint: error: ")

    def test_arguments_that_nothing_takes(self):
        for arguments in (("list", "gear", "xet"), ("info", "all"), ("chunk", "a", "--json")):
            self.assert_refused(self.run_command(*arguments), arguments[-1])


class Accepted(Usage):
    def lengths(self, *arguments):
        run = self.run_command("chunk", *arguments, "--format", "jsonl", "a")
        self.assert_done(run)
        return run.stdout

    def test_sizes_in_every_way_of_writing(self):
        expected = self.lengths("--size", "2048:8192:65536")
        short = ("8K", ":8K:", "2K::64K", "2K:8K:")
        for size in ("2K:8K:64K", "2k:8k:64k", "2KiB:8KB:64kib", "2048B:8K:65536b", "02K:08K:064K", *short):
            self.assertEqual(self.lengths("--size", size), expected, size)
        self.assertEqual(self.lengths("--param", "min_bytes=2K", "--param=avg_bytes=8KiB"), expected)

    def test_numbers_in_every_way_of_writing(self):
        expected = self.lengths("--param", "seed=255")
        for seed in ("0xff", "0XFF", "0x0ff", "0255"):
            self.assertEqual(self.lengths("--param", f"seed={seed}"), expected, seed)

    def test_parameters_that_an_algorithm_takes_without_effect_are_warned_of(self):
        for name in ("fixed", "ae-max", "ae-min", "ram"):
            run = self.run_command("chunk", "--algorithm", name, "--size", "1K:8K:", "a")
            self.assertEqual(run.code, DONE, run)
            self.assertEqual(run.stderr, f"cutpoint: warning: {name} takes no min_bytes: 1K is ignored\n", run)
            self.assert_done(self.run_command("chunk", "--algorithm", name, "--size", "0:8K:", "a"))

    def test_back_ends_by_name(self):
        self.assertEqual(self.lengths("--backend", "scalar"), self.lengths("--backend", "auto"))

    def test_help_of_each_command(self):
        for arguments in ((), *((name,) for name in subcommands())):
            for option in ("-h", "--help"):
                run = self.run_command(*arguments, option)
                self.assert_done(run)
                self.assertIn("Usage: cutpoint", run.stdout)

    def test_help_groups_options_and_lists_no_exclusions(self):
        for command in subcommands():
            self.assertNotIn("Excludes", self.run_command(command, "--help").stdout)
        shown = self.run_command("dedup", "--help").stdout
        headings = ("Inputs", "Cuts and fingerprints", "Back ends, threads and memory", "Output")
        options = ("--files-from", "--algorithm", "--backend", "--json")
        places = [place for pair in zip(headings, options) for place in (shown.find(f"\n{pair[0]}:\n"), shown.find(pair[1]))]
        self.assertNotIn(-1, places, shown)
        self.assertEqual(places, sorted(places), shown)

    def test_help_is_where_wrong_usage_points(self):
        for arguments, helper in (((), "cutpoint"), (("chunk",), "cutpoint chunk"), (("tune", "--nothing"), "cutpoint tune")):
            run = self.run_command(*arguments)
            self.assertEqual(run.code, WRONG_USAGE)
            self.assertRegex(run.stderr, f"^cutpoint: error: [^\n]*'{helper} --help'[^\n]*\n$")


def limited_memory():
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


@unittest.skipIf(IS_SANITIZED, "a sanitizer takes more address space than the limit")
class WhatTheSystemRefuses(Usage):
    """The usage is right: exit code 1."""

    def refused_by_system(self, *arguments, told):
        for command in ("chunk", "dedup"):
            run = self.run_command(command, *arguments, "a", preexec_fn=limited_memory)
            self.assertEqual(run.stdout, "", run)
            self.assert_failed(run, *told)

    def test_threads(self):
        self.refused_by_system("--threads", "4000", told=("threads cannot be started",))

    def test_memory(self):
        self.refused_by_system("--memory", "64G", "--segment", "8G", "--threads", "1", told=("cannot be mapped",))
