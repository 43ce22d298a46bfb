"""Where the listing goes: a file, a pipe, nowhere; every failure is told, and no input is harmed."""

import os
import resource
import select
import signal
import subprocess

from command import DONE, INPUT_FAILED, PATIENCE, CommandTest, needs_faulty_reads, with_faulty_reads
from listings import read_jsonl

EVERY_COMMAND = (("chunk", "a"), ("list",), ("list", "--json"), ("list", "gear"), ("info",), ("info", "--json"))
SMALL_CHUNKS = ("--algorithm", "fixed", "--size", "10")


class Output(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("a", b"content of a")

    def test_goes_to_a_file_when_asked(self):
        for arguments in EVERY_COMMAND:
            expected = self.run_command(*arguments)
            for options in (("-o", "out"), ("--output=out",)):
                self.write("out", b"older, and longer than what comes now" * 1000)
                run = self.run_command(*arguments, *options)
                self.assert_done(run)
                self.assertEqual(run.stdout, "", run)
                self.assertEqual((self.folder / "out").read_bytes(), expected.bytes, run)

    def test_into_a_pipe_that_does_not_block_is_whole(self):
        """As node.js and others leave their pipes: what does not fit at once is tried again."""
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        self.write("zeros", bytes(1_000_000))
        process = self.start("chunk", *SMALL_CHUNKS, "--format", "lengths", "zeros", stdout=writing)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            self.assertEqual(pipe.read(), b"10\n" * 100_000)
        self.assert_done(self.wait(process))

    def test_goes_to_a_path_that_reads_standard_output(self):
        expected = self.run_command("chunk", "a")
        self.assertEqual(self.run_command("chunk", "a", "-o", "/dev/stdout").stdout, expected.stdout)

    def test_that_cannot_be_opened_is_named_and_no_input_is_read(self):
        for arguments in EVERY_COMMAND:
            run = self.run_command(*arguments, "-o", "missing/out")
            self.assert_failed(run, "missing/out: cannot be opened for writing: No such file or directory")
            run = self.run_command(*arguments, "-o", ".")
            self.assert_failed(run, ".: cannot be opened for writing: Is a directory")
            self.assertEqual(run.stdout, "", run)

    def test_on_a_full_disk_fails(self):
        for arguments in EVERY_COMMAND:
            run = self.run_shell(f'"$CUTPOINT" {" ".join(arguments)} >/dev/full')
            self.assert_failed(run, "standard output: cannot be written: No space left on device")
            self.assert_failed(self.run_command(*arguments, "-o", "/dev/full"), "/dev/full: cannot be written")

        with open("/dev/full", "wb") as full:
            run = self.run_command("chunk", *SMALL_CHUNKS, "/dev/zero", "-", stdout=full)  # which ends at once
        self.assert_failed(run, "standard output: cannot be written: No space left on device")
        self.assertEqual(len(run.stderr.splitlines()), 1, run)

    @needs_faulty_reads
    def test_that_a_server_cannot_store_fails_when_it_is_closed(self):
        full = with_faulty_reads(CUTPOINT_CLOSE_SUFFIX="/out")
        for arguments in EVERY_COMMAND:
            with open(self.folder / "out", "wb") as out:
                run = self.run_command(*arguments, stdout=out, env=full)
            self.assert_failed(run, "standard output: cannot be written: No space left on device")
            self.assert_failed(self.run_command(*arguments, "-o", "out", env=full), "out: cannot be written: No space left on device")

    def test_that_is_closed_fails(self):
        for arguments in EVERY_COMMAND:
            run = self.run_shell(f'"$CUTPOINT" {" ".join(arguments)} >&-')
            self.assert_failed(run, "standard output: cannot be opened for writing: Bad file descriptor")

    def test_that_is_closed_is_no_reason_to_fail_when_another_is_given(self):
        run = self.run_shell('"$CUTPOINT" chunk -o out a >&-')
        self.assert_done(run)
        self.assertEqual((self.folder / "out").read_bytes(), self.run_command("chunk", "a").bytes)

    def test_of_help_and_version_fails_too(self):
        for option in ("--help", "--version"):
            run = self.run_shell(f'"$CUTPOINT" {option} >/dev/full')
            self.assert_failed(run, "standard output: cannot be written: No space left on device")

    def test_into_a_pipe_that_nobody_reads_ends_as_others_do(self):
        """By the signal, silently; with the signal ignored, as a failure that is told."""
        process = self.start("chunk", *SMALL_CHUNKS, "/dev/zero")
        process.stdout.readline()
        process.stdout.close()
        process.stdout = None
        self.assertEqual(process.wait(PATIENCE), -signal.SIGPIPE)
        self.assertEqual(process.stderr.read(), b"")
        run = self.run_shell(
            'trap "" PIPE; { "$CUTPOINT" chunk --algorithm fixed --size 10 /dev/zero; echo $? >code; } | head -1'
        )
        self.assertIn("standard output: cannot be written: Broken pipe", run.stderr, run)
        self.assertEqual((self.folder / "code").read_text(), f"{INPUT_FAILED}\n")

    def test_comes_while_the_input_still_does(self):
        process = self.start("chunk", "--format", "lengths", *SMALL_CHUNKS, "-", stdin=subprocess.PIPE)
        written = []
        while not written:
            written, readable, _ = select.select([process.stdout], [process.stdin], [], PATIENCE)
            self.assertTrue(written or readable, "neither reads nor writes")
            if readable:
                os.write(process.stdin.fileno(), bytes(4096))


class MessagesNowhere(CommandTest):
    def test_change_neither_output_nor_exit_code(self):
        self.write("a")
        told = self.run_command("chunk", "a", "missing", "a")
        self.assertEqual(told.code, INPUT_FAILED)
        for nowhere in ("2>&-", "2>/dev/full"):
            run = self.run_shell(f'"$CUTPOINT" chunk a missing a {nowhere}')
            self.assertEqual((run.code, run.stdout), (told.code, told.stdout), run)

    def test_go_into_no_file_that_is_opened_later(self):
        self.write("a", b"content")
        expected = self.run_command("chunk", "a", "missing")
        run = self.run_shell('"$CUTPOINT" chunk -v -o out a missing 2>&- >&- <&-')
        self.assertEqual(run.code, INPUT_FAILED, run)
        self.assertEqual((self.folder / "out").read_bytes(), expected.bytes)
        self.assertEqual((self.folder / "a").read_bytes(), b"content")


class OutputThatIsAnInput(CommandTest):
    def paths(self, text):
        return [row.path for row in read_jsonl(text).rows]

    def test_in_a_tree_is_passed_over_with_a_warning(self):
        for name in ("tree/a", "tree/out", "tree/z"):
            self.write(name)
        os.link(self.folder / "tree/out", self.folder / "tree/same")
        for words in ("-o tree/out", ">tree/out", ">>tree/out", "-o tree/new"):
            self.write("tree/out", b"")
            run = self.run_shell(f'"$CUTPOINT" chunk --format jsonl tree {words}')
            self.assertEqual(run.code, DONE, run)
            name = "tree/new" if "new" in words else "tree/out"
            self.assertIn(f"warning: {name}: skipped, the results are written to it", run.stderr, run)
            paths = self.paths((self.folder / name).read_text())
            self.assertEqual([path for path in paths if path in ("tree/a", name, "tree/z")], ["tree/a", "tree/z"], run)
            self.assertEqual("tree/same" in run.stderr, name == "tree/out", run)

    def test_is_passed_over_silently_when_quiet(self):
        self.write("tree/a")
        self.assert_done(self.run_command("chunk", "-q", "-o", "tree/out", "tree"))

    def test_and_standard_input_too_does_not_feed_itself(self):
        """Each chunk of 10 bytes adds a longer line to the input."""
        self.write("file", bytes(600_000))
        enough = 16 << 20

        def stop_at_enough():
            resource.setrlimit(resource.RLIMIT_FSIZE, (enough, enough))

        with open(self.folder / "file", "rb") as source, open(self.folder / "file", "ab") as target:
            how = {"stdin": source, "stdout": target, "preexec_fn": stop_at_enough}
            self.run_command("chunk", *SMALL_CHUNKS, "--hash", "none", "-", **how)
        self.assertLess((self.folder / "file").stat().st_size, enough)

    def test_in_a_tree_with_content_is_not_destroyed(self):
        """Only a listing may be replaced by a new one."""
        self.write("tree/sub/photo", b"precious")
        os.link(self.folder / "tree/sub/photo", self.folder / "same")
        for arguments in (("chunk",), ("dedup",), ("tune", "--threads", "1")):
            for out in ("tree/sub/photo", "same"):
                run = self.run_command(*arguments, "tree", "-o", out)
                self.assert_refused(run, "tree/sub/photo: is an input", "written over")
                self.assertEqual((self.folder / out).read_bytes(), b"precious")
        for form in ("text", "csv", "jsonl"):
            for _ in range(2):
                run = self.run_command("chunk", "-q", "--format", form, "tree", "-o", "tree/list")
                self.assert_done(run)
            (self.folder / "tree/list").unlink()

    def test_and_given_by_name_is_not_destroyed(self):
        for paths in (("a",), ("b", "./a")):
            self.write("a", b"precious")
            self.write("b", b"other")
            run = self.run_command("chunk", "-o", "a", *paths)
            self.assertEqual((self.folder / "a").read_bytes(), b"precious", run)
            self.assertNotEqual(run.code, DONE, run)
            self.assertIn("a: ", run.stderr, run)


class Verbosity(CommandTest):
    def test_changes_no_result_and_no_error(self):
        self.write("a", b"12345")
        for option in ("-q", "--quiet", "-v", "--verbose"):
            run = self.run_command("chunk", option, "--format", "lengths", "a")
            self.assertEqual((run.code, run.stdout), (DONE, "5\n"), run)
        self.assert_failed(self.run_command("chunk", "-q", "missing"), "missing: ")
