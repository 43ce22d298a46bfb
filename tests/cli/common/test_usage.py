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

    def test_of_options_values_and_parameters(self):
        for arguments, *told in (
            (("--algorithm", "fastcdd"), "'fastcdd', did you mean 'fastcdc'?"),
            (("--algorithm", "Gear"), "'Gear', did you mean 'gear'?"),
            (("--algorithm", "zzzzzzzz"), "no algorithm", "'zzzzzzzz'", "gear", "fixed"),
            (("--profile", "kasync"), "'kasync', did you mean 'casync'?"),
            (("--algorithm", "xet"), "'xet' is a profile: say --profile xet"),
            (("--profile", "gear"), "'gear' is an algorithm: say --algorithm gear"),
            (("--param", "avgbytes=8K"), "no parameter 'avgbytes', did you mean 'avg_bytes'?"),
            (("--algorithm", "gear", "--param", "zzzz=1"), "no parameter 'zzzz'; there are min_bytes"),
            (("--algoritm",), "no option '--algoritm', did you mean '--algorithm'? 'cutpoint chunk --help' shows"),
            (("--thread=2",), "no option '--thread', did you mean '--threads'? 'cutpoint chunk --help' shows"),
            (("--Hash",), "no option '--Hash', did you mean '--hash'? 'cutpoint chunk --help' shows"),
            (("--zzzzzzzz",), "--zzzzzzzz", "'cutpoint chunk --help'"),
            (("--hash", "sha265"), "no fingerprint 'sha265', did you mean 'sha256'?"),
            (("--hash", "crc"), "no fingerprint 'crc'", "sha1", "none"),
            (("--hash", "sha3"), "no fingerprint 'sha3'; there are sha256, sha512-256, blake3, none, sha1, md5, xxh3"),
            (("--hash", "md-5"), "no fingerprint 'md-5'; there are sha256"),
            (("--format", "length"), "no format 'length', did you mean 'lengths'?"),
            (("--format", "xml"), "no format 'xml'", "text", "lengths", "csv", "jsonl"),
            (("--backend", "scalr"), "no back end 'scalr', did you mean 'scalar'?"),
            (("--backend", "abacus"), "no back end 'abacus'", "auto", "scalar"),
            (("--input", "uringg"), "uringg", "uring"),
            (("--cuts", CUTS.replace("gear", "gearr")), "'gearr', did you mean 'gear'?"),
            (("--cuts", CUTS.replace("min_bytes", "mim_bytes")), "'mim_bytes', did you mean 'min_bytes'?"),
        ):
            with self.subTest(arguments=arguments):
                self.refused(*arguments, told=told)

    def test_of_commands_and_their_arguments(self):
        for arguments, told in (
            *(((wrong,), wrong) for wrong in ("chunkk", "Chunk", "lst", "help")),
            (("backup", "--sotre", "x", "a"), "did you mean '--store'?"),
            (("--vresion",), "did you mean '--version'?"),
            (("prune", "--store", "x", "--max-repack-size", "1G"), "no option '--max-repack-size', did you mean '--max-rewrite'?"),
            (("backup", "-", "--stdin-filename=x"), "no option '--stdin-filename', did you mean '--stdin-name'?"),
            (("restore", "latest", "--include-file", "x"), "no option '--include-file', did you mean '--include'?"),
            (("dedup", "x", "--include-caches"), "not expected here: --include-caches;"),
            (("chunk", "x", "--max-repack-size", "1G"), "not expected here: --max-repack-size"),
            (("list", "gearr"), "'gearr', did you mean 'gear'?"),
            (("list", "gear", "xet"), "xet"),
            (("info", "all"), "all"),
            (("chunk", "a", "--json"), "--json"),
            (("init", "--quiet", "avx2"), "not expected here: avx2; 'cutpoint init --help'"),
            (("dedup", "a", "--device"), "--device: has no value; 'cutpoint dedup --help'"),
            (("dedup", "a", "--hash", "sha1", "--hash", "md5"), "--hash: is given more than once; 'cutpoint dedup --help'"),
        ):
            with self.subTest(arguments=arguments):
                self.assert_refused(self.run_command(*arguments), told)


class Contradictions(Usage):
    def test_are_named(self):
        for arguments, *told in (
            *((("--hash-key", "00" * 32, *named), "--hash-key", "--hash blake3", "takes no key")
              for named in ((), ("--hash", "sha256"), ("--hash", "none"), ("--format", "lengths"))),
            (("-q", "-v"), "--quiet", "--verbose"),
            (("--algorithm", "gear", "--profile", "xet"), "--algorithm", "--profile"),
            (("--algorithm", "gear", "--cuts", CUTS), "--algorithm", "--cuts"),
            (("--profile", "xet", "--cuts", CUTS), "--profile", "--cuts"),
            (("--cuts", CUTS, "--size", "8K"), "--cuts", "--size"),
            (("--cuts", CUTS, "--param", "min_bytes=64"), "--cuts", "--param"),
            (("--format", "lengths", "--hash", "sha1"), "--hash", "--format lengths"),
            (("--param", "min_bytes=1K", "--param", "min_bytes=1K"), "min_bytes", "twice"),
            (("--size", "1K:8K:64K", "--param", "min_bytes=1K"), "min_bytes", "twice"),
            (("--cuts", CUTS.replace("min_bytes=64", "min_bytes=64,min_bytes=64")), "min_bytes", "twice"),
            *(((option, value, option, value), option) for option, value in (("--algorithm", "gear"), ("--memory", "1M"))),
            (("-", "-"), "'-'", "twice"),
            (("--param", "normalization=1"), "normalization = 1", "fastcdc", "2"),
            (("--profile", "casync", "--param", "window=64"), "window = 64", "casync", "48"),
        ):  # fmt: skip
            with self.subTest(arguments=arguments):
                self.refused(*arguments, told=told)
        self.assert_done(self.run_command("chunk", "--format", "lengths", "--hash", "none", "a"))
        self.assertEqual(self.run_command("chunk", "--profile", "casync", "--param", "window=48", "a").code, DONE)


class Malformed(Usage):
    def test_values_are_told_as_they_were_given(self):
        for arguments, told in (
            *((("--size", size), f"'{size}' is not a size") for size in ("x", "8.5K", " 8K", "-8K", "")),
            *((("--size", size), f"--size {size}: must be MIN:AVG:MAX or AVG") for size in ("1K:2K", "1K:2K:3K:4K")),
            (("--size", "::"), "--size ::: must have a part that is not empty"),
            (("--size", "16777216T"), "'16777216T' does not fit in 64 bits"),
            *((("--param", setting), f"--param {setting}: must be KEY=VALUE") for setting in ("min_bytes", "=64", "", "=")),
            *((("--param", f"seed={value}"), f"'{value}' is not a number") for value in ("", "1.5", "0xg")),
            *((("--cuts", cuts), "cutpoint: error: ") for cuts in ("", "gear", "gear(min_bytes)")),
            *((("--memory", memory), f"'{memory}'") for memory in ("", "x", "-1", "16777216T")),
            # Also those that a parser might take for lists; and as from --size=$UNSET: what comes next is not the value.
            *(((option, "[x]"), "'[x]'") for option in ("--algorithm", "--profile", "--cuts", "--size", "--hash", "--backend", "--memory")),
            *(((f"{option}=",), "''") for option in ("--size", "--memory", "--hash", "--format", "--algorithm")),
        ):  # fmt: skip
            with self.subTest(arguments=arguments):
                self.refused(*arguments, told=[told])

    def test_keys_are_refused_and_not_told(self):
        right = "5e" * 32
        for key in ("", right[2:], right[1:] + "g", "+5" * 32):
            options = ("--hash", "blake3", "--hash-key", key)
            run = self.refused(*options, told=("--hash-key must be 64 hexadecimal digits",))
            self.assertNotIn("5", run.stderr)
            self.assert_refused(self.run_command("dedup", *options, "a"), "--hash-key")

    def test_outputs_without_a_name_take_no_other_argument(self):
        for options in (("--output=",), ("-o", ""), ("--output", "")):
            self.assert_refused(self.run_command("chunk", *options, "a", "missing"), "--output", "name of a file")
        self.assertEqual((self.folder / "a").read_bytes(), b"content of a")

    def test_flags_take_no_value(self):
        for flag in ("--follow=", "--quiet="):
            with self.subTest(flag=flag):
                run = self.run_command("chunk", flag, "--format", "lengths", "a")
                self.assertIn((run.code, run.stdout), ((WRONG_USAGE, ""), (DONE, "12\n")), run)

    def test_runs_without_what_they_need(self):
        options_without_value = (("chunk", "a", option) for option in ("--algorithm", "-o"))
        for arguments in ((), ("chunk",), ("chunk", "--hash", "none"), ("--",), *options_without_value):
            self.assert_refused(self.run_command(*arguments), "cutpoint: error: ")


class Bounds(Usage):
    """Those of all parameters are tested in tests/host/core/bounds_test.cc."""

    def test_are_told_with_the_parameter_and_its_value_before_anything_is_read(self):
        for name, options, told in (
            ("gear", ("--size", "63:8K:64K"), "min_bytes = 63 must be at least 64"),
            ("fastcdc", ("--size", "512K:256K:1M"), "min_bytes = 524288"),
            ("seqcdc-inc", ("--param", "seq_length=256"), "seq_length = 256 must be at most 255"),
            ("buzhash", ("--param", "table=other"), "table = 'other' must be one of casync, kopia, ipfs"),
            ("maxp", ("--size", "256"), "half_window = 0 must be at least 1"),
            ("mincdchash4", ("--param", f"addend={1 << 64}"), f"addend: '{1 << 64}' does not fit in 64 bits"),
        ):
            run = self.run_command("chunk", "--algorithm", name, *options, "missing")
            self.assert_refused(run, f"cutpoint: error: {name}: ", told)
            self.assertNotIn("missing", run.stderr)
        self.assert_refused(self.run_command("chunk", "--profile", "borg2-fastcdc", "--param", "key=00", "a"), "must be 64 hexadecimal digits")

    def test_just_kept_are_accepted(self):
        for name, options in (("gear", ("64:64:64",)), ("ram", ("257::0",)), ("ae-max", ("1:2:0", "--param", "value_bytes=8"))):
            run = self.run_command("chunk", "--algorithm", name, "--size", *options, "--format", "lengths", "a")
            self.assertEqual((run.code, sum(map(int, run.lines))), (0, 12), run)


class Accepted(Usage):
    def listing(self, *arguments):
        run = self.run_command("chunk", *arguments, "--format", "jsonl", "a")
        self.assert_done(run)
        return run.stdout

    def test_sizes_and_numbers_in_every_way_of_writing(self):
        expected = self.listing("--size", "2048:8192:65536")
        for size in ("2k:8k:64k", "2KiB:8KB:64kib", "2048B:8K:65536b", "02K:08K:064K", "8K", ":8K:", "2K::64K", "2K:8K:"):
            self.assertEqual(self.listing("--size", size), expected, size)
        self.assertEqual(self.listing("--param", "min_bytes=2K", "--param=avg_bytes=8KiB"), expected)
        self.assertEqual(self.listing("--param", "seed=255"), self.listing("--param", "seed=0xff"))

    def test_parameters_that_an_algorithm_takes_without_effect_are_warned_of(self):
        for name in ("fixed", "ram"):
            run = self.run_command("chunk", "--algorithm", name, "--size", "1K:8K:", "a")
            self.assertEqual((run.code, run.stderr), (DONE, f"cutpoint: warning: {name} takes no min_bytes: 1K is ignored\n"))
            for quiet in (("--size", "0:8K:"), ("--size", "1K:8K:", "-q")):
                self.assert_done(self.run_command("chunk", "--algorithm", name, *quiet, "a"))


class Help(Usage):
    def test_is_there_for_each_command_and_lists_no_exclusions(self):
        for arguments in ((), *((name,) for name in subcommands())):
            run = self.run_command(*arguments, "--help")
            self.assert_done(run)
            self.assertIn("Usage: cutpoint", run.stdout)
            self.assertNotIn("Excludes", run.stdout)
        for arguments in ((), ("chunk",)):
            self.assertEqual(self.run_command(*arguments, "-h").stdout, self.run_command(*arguments, "--help").stdout)

    def test_groups_options(self):
        shown = self.run_command("dedup", "--help").stdout
        headings = ("Inputs", "Cuts and fingerprints", "Back ends, threads and memory", "Output")
        options = ("--files-from", "--algorithm", "--backend", "--json")
        places = [place for pair in zip(headings, options) for place in (shown.find(f"\n{pair[0]}:\n"), shown.find(pair[1]))]
        self.assertNotIn(-1, places, shown)
        self.assertEqual(places, sorted(places), shown)

    def test_is_where_wrong_usage_points(self):
        for arguments, helper in (((), "cutpoint"), (("chunk",), "cutpoint chunk"), (("tune", "--nothing"), "cutpoint tune")):
            run = self.run_command(*arguments)
            self.assertEqual(run.code, WRONG_USAGE)
            self.assertRegex(run.stderr, f"^cutpoint: error: [^\n]*'{helper} --help'[^\n]*\n$")


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


@unittest.skipIf(IS_SANITIZED, "a sanitizer takes more address space than the limit")
class WhatTheSystemRefuses(Usage):
    def test_is_no_wrong_usage(self):
        for options, told in (
            (("--threads", "4000"), "threads cannot be started"),
            (("--memory", "64G", "--segment", "8G", "--threads", "1"), "cannot be mapped"),
        ):
            for command in ("chunk", "dedup"):
                run = self.run_command(command, *options, "a", preexec_fn=limit_memory)
                self.assertEqual(run.stdout, "", run)
                self.assert_failed(run, told)
