"""Files, trees, standard input, pipes and FIFOs are cut as streams; what cannot be read is named, the rest is done."""

import os
import select
import socket
import subprocess
import threading

from command import DONE, INPUT_FAILED, PATIENCE, CommandTest, is_waiting, wait_until
from listings import ListingTest, failed_paths, read_jsonl, read_lengths, read_text
from streams import random_bytes

LENGTHS = ("chunk", "--format", "lengths")


class EveryInput(CommandTest):
    """The same bytes have the same cuts wherever they come from."""

    def setUp(self):
        super().setUp()
        self.content = random_bytes(700_003)
        self.write("a", self.content)
        run = self.run_command(*LENGTHS, "a")
        self.assert_done(run)
        self.expected = read_lengths(run.stdout)
        self.assertEqual(sum(self.expected), len(self.content))

    def assert_cut_alike(self, run):
        self.assert_done(run)
        self.assertEqual(read_lengths(run.stdout), self.expected)

    def test_standard_input_and_pipes(self):
        self.assert_cut_alike(self.run_command(*LENGTHS, "-", content=self.content))
        self.assert_cut_alike(self.run_command(*LENGTHS, "/dev/stdin", content=self.content))
        self.assert_cut_alike(self.run_shell('cat a | "$CUTPOINT" chunk --format lengths -'))
        with open(self.folder / "a", "rb", buffering=0) as file:
            self.assert_cut_alike(self.run_command(*LENGTHS, "-", stdin=file))
            file.seek(len(self.content) - 100)
            self.assertEqual(self.run_command(*LENGTHS, "-", stdin=file).stdout, "100\n", "it begins where the descriptor stands")

    def test_a_pipe_that_comes_in_pieces_of_any_size(self):
        process = self.start(*LENGTHS, "-", stdin=subprocess.PIPE)
        rest, size = self.content, 1
        while rest:
            os.write(process.stdin.fileno(), rest[:size])
            rest, size = rest[size:], size * 2 % 65521
        self.assert_cut_alike(self.wait(process))

    def test_a_pipe_that_does_not_block(self):
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        process = self.start(*LENGTHS, "-", stdin=reading)
        os.close(reading)
        with os.fdopen(writing, "wb", buffering=0) as pipe:
            for start in range(0, len(self.content), 100_000):
                wait_until(lambda: is_waiting(process), "it waits for more")
                pipe.write(self.content[start : start + 100_000])
        self.assert_cut_alike(self.wait(process))

    def test_a_fifo_whose_writer_comes_late_and_writes_slowly(self):
        os.mkfifo(self.folder / "fifo")
        process = self.start(*LENGTHS, "fifo")
        wait_until(lambda: is_waiting(process), "it waits for the writer")
        with open(self.folder / "fifo", "wb", buffering=0) as fifo:
            for start in range(0, len(self.content), 200_000):
                fifo.write(self.content[start : start + 200_000])
                threading.Event().wait(0.01)
        self.assert_cut_alike(self.wait(process))

    def test_a_link_that_is_given_and_a_file_with_holes(self):
        os.symlink("a", self.folder / "link")
        self.assert_cut_alike(self.run_command(*LENGTHS, "link"))
        self.write("zeros", bytes(5_000_000))
        with open(self.folder / "holes", "wb") as file:
            file.truncate(5_000_000)
        self.assertEqual(self.run_command(*LENGTHS, "holes").stdout, self.run_command(*LENGTHS, "zeros").stdout)


class ManyInputs(ListingTest):
    def test_come_in_the_order_given_each_as_a_stream_of_its_own(self):
        for name in ("c", "a", "list"):  # the last is named like a command
            self.write(name)
        self.write("empty", b"")
        (self.folder / "folder").mkdir()
        self.assertEqual(self.paths("c", "a", "-", "list", "empty", "folder", "a", content=b"piped"), ["c", "a", "-", "list", "a"])
        self.write("a", random_bytes(9000))
        one = self.run_command(*LENGTHS, "a").stdout
        self.assertEqual(self.run_command(*LENGTHS, "a", "a").stdout, one + one)

    def test_of_a_tree_come_in_the_byte_order_of_names_with_the_path_given_before_them(self):
        expected = ["\x01", "10", "9", "B", "a/Z", "a/b/c", "a/z", "a-b", "a.b", "b", "~", "é", "\udcff"]
        for name in reversed(expected):
            self.write(f"tree/{name}")
        for spelling, begin in (("tree", "tree/"), ("tree//", "tree//"), (".", "./tree/"), (f"/{self.folder}/tree", f"/{self.folder}/tree/")):
            self.assertEqual(self.paths(spelling), [f"{begin}{name}" for name in expected])

    def test_may_be_very_many_and_are_counted_when_verbose(self):
        names = [f"tree/{index:04}" for index in range(1000)]
        for name in names:
            self.write(name, name.encode())
        self.assertEqual(self.paths("tree"), names)
        self.assertEqual(self.paths(*names), names)
        run = self.run_command("chunk", "-v", *names[:2], "gone")
        self.assertEqual(run.code, INPUT_FAILED, run)
        self.assertIn("2 inputs, 18 bytes, 2 chunks, 1 failed", run.stderr, run)


class InputThatFails(ListingTest):
    """It is named, the others are done, and the exit code is 1."""

    def setUp(self):
        super().setUp()
        self.write("a", b"before")
        self.write("z", b"after")

    def assert_only_fails(self, name, *told, **how):
        paths, run = self.listed("a", name, "z", code=INPUT_FAILED, **how)
        self.assert_failed(run, *told)
        self.assertEqual((paths, failed_paths(run.stdout)), (["a", "z"], [name]), run)
        self.assertEqual(len(run.stderr.splitlines()), 1, run)

    def test_whatever_it_is(self):
        for name, *told in (
            ("missing", "missing: ", "No such file or directory"),
            ("a/b", "a/b: ", "Not a directory"),
            ("n" * 300, "File name too long"),
            ("/proc/self/mem", "/proc/self/mem: cannot be read: Input/output error"),
        ):
            self.assert_only_fails(name, *told)
        run = self.run_command("chunk", "--hash", "none", "a", "miss\ning", "z")
        self.assertEqual(run.lines[3], "# failed: miss\\x0aing: cannot be found: No such file or directory", run)
        self.assertEqual([row.path for row in read_text(run.stdout).rows], ["a", "z"])

    def test_when_it_is_a_socket(self):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.path.relpath(self.folder / "socket"))
            self.assert_only_fails("socket", "socket: ")

    def test_when_standard_input_is_a_folder_or_closed(self):
        descriptor = os.open(self.folder, os.O_RDONLY)
        self.addCleanup(os.close, descriptor)
        self.assert_only_fails("-", "standard input: ", "Is a directory", stdin=descriptor)
        run = self.run_shell('"$CUTPOINT" chunk --format lengths a - z <&-')
        self.assert_failed(run, "standard input: ", "Bad file descriptor")
        self.assertEqual(run.stdout, "6\n5\n")

    def test_when_it_changes_or_vanishes_meanwhile(self):
        """The listing fills the pipe and the bytes the memory, so the command stands still in tree/a and knows of tree/b."""
        self.write("tree/a", random_bytes(2_000_000))
        self.write("tree/b")
        self.write("tree/c", b"12345678")
        process = self.start("chunk", "--hash", "none", "--format", "jsonl", "--algorithm", "fixed", "--size", "10", "--memory", "256K", "tree")
        self.assertTrue(select.select([process.stdout], [], [], PATIENCE)[0], "no output")
        wait_until(lambda: is_waiting(process), "the pipe is full")
        os.remove(self.folder / "tree/b")
        os.utime(self.folder / "tree/a", (1, 1))
        run = self.wait(process)
        self.assert_failed(run, "tree/b: cannot be found: No such file or directory", "tree/a: was written to while it was read")
        self.assertEqual(failed_paths(run.stdout), ["tree/a", "tree/b"])
        rows = read_jsonl(run.stdout).rows
        self.assertEqual([row.path for row in rows], ["tree/a"] * 200_000 + ["tree/c"])


class MethodsOfReading(CommandTest):
    """--input changes nothing that comes out."""

    def test_give_the_same_listing_of_a_tree(self):
        for index, size in enumerate((0, 1, 4096, 5000, 65_536, 300_000, 1_048_576, 3_000_001)):
            self.write(f"tree/{index}", random_bytes(size, index))
        with open(self.folder / "tree/holes", "wb") as file:
            file.seek(3_000_000)
            file.write(b"end")
        expected = self.run_command("chunk", "--input", "pread", "tree")
        self.assert_done(expected)
        has_uring = self.run_command(*LENGTHS, "--input", "uring", "/dev/null").code == DONE
        for name in ("auto", "uring", "direct") if has_uring else ("auto",):
            run = self.run_command("chunk", "--input", name, "tree")
            self.assert_done(run)
            self.assertEqual(run.stdout, expected.stdout, name)

    def test_that_hold_more_than_the_memory_are_refused_or_done_without(self):
        self.write("a", b"content")
        for name in ("uring", "direct"):
            run = self.run_command("chunk", "--input", name, "--memory", "15M", "a")
            self.assert_refused(run, f"--input {name}: reading ahead needs a --memory of at least 16M")
        run = self.run_command(*LENGTHS, "-v", "--memory", "15M", "a")
        self.assertEqual((run.code, run.stdout), (DONE, "7\n"), run)
        self.assertIn("files are not read ahead: ", run.stderr)
