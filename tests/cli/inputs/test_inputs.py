"""Files, trees, standard input, pipes and FIFOs are cut as streams; what cannot be read is named, the rest is done."""

import os
import select
import socket
import subprocess
import threading

from command import DONE, INPUT_FAILED, PATIENCE, CommandTest, is_waiting, wait_until
from listings import failed_paths, read_jsonl, read_lengths, read_text
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

    def test_standard_input_from_a_pipe(self):
        self.assert_cut_alike(self.run_command(*LENGTHS, "-", content=self.content))

    def test_standard_input_from_a_file(self):
        with open(self.folder / "a", "rb") as file:
            self.assert_cut_alike(self.run_command(*LENGTHS, "-", stdin=file))

    def test_standard_input_begins_where_its_descriptor_stands(self):
        with open(self.folder / "a", "rb", buffering=0) as file:
            file.seek(len(self.content) - 100)
            self.assertEqual(self.run_command(*LENGTHS, "-", stdin=file).stdout, "100\n")

    def test_a_pipe_in_a_shell(self):
        self.assert_cut_alike(self.run_shell('cat a | "$CUTPOINT" chunk --format lengths -'))

    def test_a_pipe_by_its_path(self):
        self.assert_cut_alike(self.run_command(*LENGTHS, "/dev/stdin", content=self.content))

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

    def test_a_fifo_with_a_writer(self):
        os.mkfifo(self.folder / "fifo")
        process = self.start(*LENGTHS, "fifo")  # waits for the writer
        (self.folder / "fifo").write_bytes(self.content)
        self.assert_cut_alike(self.wait(process))

    def test_a_link_that_is_given(self):
        os.symlink("a", self.folder / "link")
        self.assert_cut_alike(self.run_command(*LENGTHS, "link"))

    def test_a_file_with_holes(self):
        with open(self.folder / "holes", "wb") as file:
            file.truncate(5_000_000)
        with open(self.folder / "zeros", "wb") as file:
            file.write(bytes(5_000_000))
        self.assertEqual(self.run_command(*LENGTHS, "holes").stdout, self.run_command(*LENGTHS, "zeros").stdout)


class ManyInputs(CommandTest):
    def paths(self, *arguments):
        run = self.run_command("chunk", "--hash", "none", "--format", "jsonl", *arguments)
        self.assert_done(run)
        return [row.path for row in read_jsonl(run.stdout).rows]

    def test_come_in_the_order_given(self):
        for name in "cab":
            self.write(name)
        self.assertEqual(self.paths("c", "a", "b", "a"), ["c", "a", "b", "a"])

    def test_each_begin_a_stream_anew(self):
        content = random_bytes(9000)
        self.write("a", content)
        self.write("b", content)
        one = self.run_command(*LENGTHS, "a").stdout
        self.assertEqual(self.run_command(*LENGTHS, "a", "b").stdout, one + one)

    def test_of_a_tree_come_in_the_byte_order_of_names(self):
        for name in ("b", "a/z", "a/b/c", "a.b", "B", "a-b", "é", "\udcff", "~", "a/Z", "\x01", "10", "9"):
            self.write(f"tree/{name}")
        expected = ["\x01", "10", "9", "B", "a/Z", "a/b/c", "a/z", "a-b", "a.b", "b", "~", "é", "\udcff"]
        self.assertEqual(self.paths("tree"), [f"tree/{name}" for name in expected])
        self.assertEqual(self.paths("tree/"), [f"tree/{name}" for name in expected])

    def test_of_a_tree_have_the_path_given_before_them(self):
        self.write("tree/a")
        for spelling in (".", "./tree", "tree//", str(self.folder), "/" + str(self.folder)):
            paths = self.paths(spelling)
            self.assertEqual(len(paths), 1)
            self.assertTrue(paths[0].startswith(spelling), paths)

    def test_that_are_empty_have_no_chunk(self):
        self.write("empty", b"")
        self.write("full", b"1")
        (self.folder / "folder").mkdir()
        self.assertEqual(self.paths("empty", "folder", "full", "empty"), ["full"])

    def test_may_be_very_many(self):
        names = [f"tree/{index:04}" for index in range(1000)]
        for name in names:
            self.write(name, name.encode())
        self.assertEqual(self.paths("tree"), names)
        self.assertEqual(self.paths(*names), names)

    def test_may_lie_deep(self):
        name = "/".join(["d"] * 200) + "/file"
        self.write(name)
        self.assertEqual(self.paths("d"), [name])

    def test_may_be_files_and_standard_input_together(self):
        self.write("a")
        run = self.run_command("chunk", "--format", "jsonl", "a", "-", "a", content=b"piped")
        self.assert_done(run)
        self.assertEqual([row.path for row in read_jsonl(run.stdout).rows], ["a", "-", "a"])

    def test_named_like_commands_are_paths(self):
        for name in ("list", "info", "chunk"):
            self.write(name)
        self.assertEqual(self.paths("list", "info", "chunk"), ["list", "info", "chunk"])

    def test_are_counted_when_verbose(self):
        self.write("a", b"12345")
        self.write("b", b"123")
        run = self.run_command("chunk", "-v", "a", "b", "gone")
        self.assertEqual(run.code, INPUT_FAILED, run)
        self.assertIn("2 inputs, 8 bytes, 2 chunks, 1 failed", run.stderr, run)


class InputThatFails(CommandTest):
    """It is named, the others are done, and the exit code is 1."""

    def setUp(self):
        super().setUp()
        self.write("a", b"before")
        self.write("z", b"after")

    def assert_only_fails(self, name, *told, **how):
        run = self.run_command("chunk", "--hash", "none", "--format", "jsonl", "a", name, "z", **how)
        self.assert_failed(run, *told)
        self.assertEqual([row.path for row in read_jsonl(run.stdout).rows], ["a", "z"], run)
        self.assertEqual(len(run.stderr.splitlines()), 1, run)
        return run

    def test_when_missing(self):
        self.assert_only_fails("missing", "missing: ", "No such file or directory")

    def test_when_below_a_file(self):
        self.assert_only_fails("a/b", "a/b: ", "Not a directory")

    def test_when_its_name_is_too_long(self):
        self.assert_only_fails("n" * 300, "File name too long")

    def test_when_it_is_a_socket(self):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.path.relpath(self.folder / "socket"))
            self.assert_only_fails("socket", "socket: ")

    def test_when_standard_input_is_a_folder(self):
        descriptor = os.open(self.folder, os.O_RDONLY)
        self.addCleanup(os.close, descriptor)
        self.assert_only_fails("-", "standard input: ", "Is a directory", stdin=descriptor)

    def test_when_standard_input_is_closed(self):
        run = self.run_shell('"$CUTPOINT" chunk --format lengths a - z <&-')
        self.assert_failed(run, "standard input: ", "Bad file descriptor")
        self.assertEqual(run.stdout, "6\n5\n")

    def test_when_a_read_fails_on_the_way(self):
        self.assert_only_fails("/proc/self/mem", "/proc/self/mem: cannot be read: Input/output error")

    def test_when_it_vanishes_from_a_tree(self):
        """The listing fills the pipe and the bytes the memory, so the command stands still in tree/a and knows of tree/b,
        which goes then."""
        self.write("tree/a", random_bytes(2_000_000))
        self.write("tree/b")
        self.write("tree/c", b"12345678")
        options = ("--algorithm", "fixed", "--size", "10", "--format", "jsonl", "--hash", "none")
        process = self.start("chunk", *options, "--memory", "256K", "tree")
        self.assertTrue(select.select([process.stdout], [], [], PATIENCE)[0], "no output")
        wait_until(lambda: is_waiting(process), "the pipe is full")
        os.remove(self.folder / "tree/b")
        run = self.wait(process)
        self.assert_failed(run, "tree/b: cannot be found: No such file or directory")
        self.assertEqual(read_jsonl(run.stdout).rows[-1].path, "tree/c")

    def test_is_told_in_the_listing_too(self):
        for name in ("missing", "/proc/self/mem"):
            run = self.assert_only_fails(name)
            self.assertEqual(failed_paths(run.stdout), [name], run)
        run = self.run_command("chunk", "--hash", "none", "a", "miss\ning", "z")
        self.assertEqual(run.lines[3], "# failed: miss\\x0aing: cannot be found: No such file or directory", run)
        self.assertEqual([row.path for row in read_text(run.stdout).rows], ["a", "z"])


class MethodsOfReading(CommandTest):
    """--input changes nothing that comes out."""

    def has_uring(self):
        return self.run_command("chunk", "--input", "uring", "--format", "lengths", "/dev/null").code == DONE

    def test_give_the_same_listing_of_a_tree(self):
        sizes = (0, 1, 4096, 5000, 65_536, 300_000, 1_048_576, 3_000_001)
        for index, size in enumerate(sizes):
            self.write(f"tree/{index}", random_bytes(size, index))
        with open(self.folder / "tree/holes", "wb") as file:
            file.seek(3_000_000)
            file.write(b"end")
        expected = self.run_command("chunk", "--input", "pread", "tree")
        self.assert_done(expected)
        for name in ("auto", "uring", "direct") if self.has_uring() else ("auto",):
            run = self.run_command("chunk", "--input", name, "tree")
            self.assert_done(run)
            self.assertEqual(run.stdout, expected.stdout, name)

    def test_that_there_are_none_of_are_refused(self):
        run = self.run_command("chunk", "--input", "uringg", "x")
        self.assert_refused(run, "uringg", "uring")

    def test_that_hold_more_than_the_memory_are_refused_or_done_without(self):
        self.write("a", b"content")
        for name in ("uring", "direct"):
            run = self.run_command("chunk", "--input", name, "--memory", "15M", "a")
            self.assert_refused(run, f"--input {name}: reading ahead needs a --memory of at least 16M")
        run = self.run_command("chunk", "-v", "--memory", "15M", "--format", "lengths", "a")
        self.assertEqual((run.code, run.stdout), (DONE, "7\n"), run)
        self.assertIn("files are not read ahead: ", run.stderr)


class FifoWithSlowWriter(CommandTest):
    def test_is_waited_for(self):
        os.mkfifo(self.folder / "fifo")
        process = self.start(*LENGTHS, "fifo")

        def write_slowly():
            with open(self.folder / "fifo", "wb", buffering=0) as fifo:
                for _ in range(20):
                    fifo.write(b"x" * 50)
                    threading.Event().wait(0.005)

        writer = threading.Thread(target=write_slowly)
        writer.start()
        run = self.wait(process)
        writer.join()
        self.assert_done(run)
        self.assertEqual(sum(read_lengths(run.stdout)), 1000)
