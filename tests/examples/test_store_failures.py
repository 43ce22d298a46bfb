"""Tests that examples/store names what is damaged, missing, interrupted or full, and never damages stored streams."""

import fcntl
import os
import signal
import subprocess
import time
import unittest

from examples import MIB
from stores import StoreTest, noise


class Damage(StoreTest):
    def setUp(self):
        super().setUp()
        self.data = {"first": noise[: 2 * MIB], "second": noise[4 * MIB : 6 * MIB]}
        for name, data in self.data.items():
            self.put(name, data)
        lines = self.recipe_lines("first")
        self.digest = lines[5][0]
        self.offset = sum(length * count for _, length, count in lines[:5])
        self.chunk = self.store / "chunks" / self.digest[:2] / self.digest

    def expect_named(self, problem: str, of_chunk: str | None):
        """Expects that `verify` and `get` name the damage of one stream, and that the other stream is intact."""
        problems = self.verify(code=1)
        expected = [] if of_chunk is None else [f"{self.chunk}: {of_chunk}"]
        expected.append(f"stream 'first': chunk {self.digest} at {self.offset} is {problem}")
        self.assertEqual(problems[:-1], expected)
        self.assertRegex(problems[-1], rf" 2 streams, {len(expected)} problems$")
        done = self.get("first", code=1)
        self.assertEqual(done.stdout, self.data["first"][: self.offset])
        self.assertIn(f"store: stream 'first' ends at {self.offset}: {self.chunk}: ", done.stderr)
        self.assertEqual(self.get("second").stdout, self.data["second"])

    def write_chunk(self, data: bytes):
        self.chunk.chmod(0o644)
        self.chunk.write_bytes(data)

    def test_a_changed_chunk_is_named(self):
        data = bytearray(self.chunk.read_bytes())
        data[len(data) // 2] ^= 1
        self.write_chunk(data)
        self.expect_named("damaged", "has other bytes than its name says")

    def test_a_chunk_of_another_length_is_named(self):
        for data in (b"", self.chunk.read_bytes()[:-1], self.chunk.read_bytes() + b"x"):
            self.write_chunk(data)
            self.expect_named("damaged", "has other bytes than its name says")

    def test_a_missing_chunk_is_named(self):
        self.chunk.unlink()
        self.expect_named("missing", None)

    def test_putting_the_stream_again_mends_what_is_missing_or_of_another_length(self):
        self.chunk.unlink()
        self.put("again", self.data["first"])
        self.write_chunk(b"short")
        self.put("once more", self.data["first"])
        self.expect_whole(**self.data, again=self.data["first"], **{"once more": self.data["first"]})

    def test_a_chunk_in_the_wrong_folder_is_named(self):
        moved = self.store / "chunks" / ("00" if self.digest[:2] != "00" else "01") / self.digest
        self.chunk.rename(moved)
        self.assertIn(f"{moved}: is in the wrong folder", self.verify(code=1))

    def write_recipe(self, text: bytes):
        self.recipe("first").chmod(0o644)
        self.recipe("first").write_bytes(text)

    def expect_damaged_recipe(self):
        done = self.get("first", code=1)
        self.assertEqual(done.stdout, b"")
        self.assertRegex(done.stderr, rf"^store: {self.recipe('first')}: is damaged: line \d+ .+\n$")
        self.assertEqual(self.verify(code=1)[0], done.stderr.removeprefix("store: ").strip())

    def test_a_changed_recipe_restores_nothing(self):
        whole = self.recipe("first").read_bytes()
        for at in range(0, len(whole), 53):
            with self.subTest(at=at):
                self.write_recipe(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
                self.expect_damaged_recipe()

    def test_a_recipe_that_was_cut_off_restores_nothing(self):
        whole = self.recipe("first").read_bytes()
        for end in [*range(0, len(whole), 397), len(whole) - 1]:
            with self.subTest(end=end):
                self.write_recipe(whole[:end])
                self.expect_damaged_recipe()

    def test_a_recipe_with_other_lines_restores_nothing(self):
        lines = self.recipe("first").read_bytes().splitlines(keepends=True)
        for changed in (lines[:4] + lines[5:], lines[:5] + lines[4:], [*lines[:4], lines[5], lines[4], *lines[6:]],
                        [*lines, b"\n"], [*lines[:-1], b"x" * 10_000, lines[-1]], [*lines[:4], b"\0", *lines[4:]],
                        [*lines[:4], b"0" * 64 + b" 18446744073709551615 2\n", *lines[4:]],
                        [*lines[:4], b"0" * 64 + b" 65536 18446744073709551615\n", *lines[4:]],
                        [*lines[:4], b"0" * 64 + b" 65536 0\n", *lines[4:]], [lines[0], b"cuts none\n", *lines[2:]]):
            self.write_recipe(b"".join(changed))
            self.expect_damaged_recipe()

    def test_a_name_that_is_none_is_refused(self):
        for name in ("", ".", "..", "../store", "a/b", ".hidden", "x" * 256):
            for command in ("put", "get"):
                done = self.run_program(self.program, command, self.store, name, code=1, stdin=subprocess.DEVNULL)
                self.assertIn("is no name for a stream: 1 to 255 bytes", done.stderr)
        self.expect_whole(**self.data)

    def test_a_name_is_taken_once(self):
        self.assertIn("has a stream 'first' already", self.put("first", b"other", code=1).stderr)
        self.expect_whole(**self.data)

    def test_a_stream_that_is_not_there_is_named(self):
        self.assertIn("recipes/none: cannot be opened: No such file", self.get("none", code=1).stderr)

    def test_output_that_is_full_is_told(self):
        with open("/dev/full", "wb") as full:
            done = self.run_program(self.program, "get", self.store, "first", code=1, stdout=full)
        self.assertEqual(done.stderr, "store: standard output: cannot be written: No space left on device\n")

    def test_one_puts_at_a_time(self):
        folder = os.open(self.store, os.O_RDONLY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)
        self.assertIn("another put is under way", self.put("third", b"bytes", code=1).stderr)
        self.assertEqual(self.get("first").stdout, self.data["first"])


class NoStore(StoreTest):
    def test_a_folder_of_other_things_is_left_alone(self):
        self.store.mkdir()
        (self.store / "letter").write_text("dear reader")
        self.assertIn("is not empty, and no store", self.put("first", b"bytes", code=1).stderr)
        self.assertEqual([entry.name for entry in self.store.iterdir()], ["letter"])
        for words in (["get", self.store, "first"], ["verify", self.store], ["verify", self.folder / "none"]):
            self.assertIn("is no store", self.run_program(self.program, *words, code=1).stderr)

    def test_an_empty_folder_becomes_one(self):
        self.store.mkdir()
        self.put("first", noise)
        self.expect_whole(first=noise)

    def test_a_file_is_none(self):
        self.store.write_bytes(b"")
        self.assertIn("cannot be opened: Not a directory", self.put("first", b"bytes", code=1).stderr)

    def test_a_stream_that_cannot_be_read_leaves_nothing(self):
        done = self.run_program(self.program, "put", self.store, "first", self.folder, code=1)
        self.assertIn(f"{self.folder}", done.stderr)
        self.put("second", b"bytes")
        self.expect_whole(second=b"bytes")


class Interrupted(StoreTest):
    def start(self) -> subprocess.Popen:
        return self.enterContext(subprocess.Popen([self.program, "put", self.store, "late"], stdin=subprocess.PIPE,
                                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE))

    def feed_until_chunks_lie_there(self, putting: subprocess.Popen):
        """Writes more than the pipe and a batch of chunks hold, and waits until chunks are stored."""
        before = len(self.chunks())
        for _ in range(4):
            putting.stdin.write(os.urandom(24 * MIB))
        limit = time.monotonic() + 60
        while len(self.chunks()) == before:
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.01)

    def test_a_put_that_is_killed_leaves_the_store_as_it_was(self):
        self.put("early", noise[:MIB])
        for seconds in (0, 0.003, 0.01, 0.03):
            putting = self.start()
            putting.stdin.write(noise[: 16 * MIB])
            time.sleep(seconds)
            putting.kill()
            putting.wait()
            self.assertEqual(self.verify()[0].split(", ", 1)[1], "1 streams, 0 problems")
        putting = self.start()
        self.feed_until_chunks_lie_there(putting)
        putting.kill()
        putting.wait()
        self.assertEqual(self.verify()[0].split(", ", 1)[1], "1 streams, 0 problems")
        self.assertIn("cannot be opened", self.get("late", code=1).stderr)
        self.put("late", noise)
        self.expect_whole(early=noise[:MIB], late=noise)

    def test_a_new_store_that_is_killed_can_be_put_into(self):
        for seconds in (0, 0.002, 0.004, 0.008, 0.016):
            putting = self.start()
            time.sleep(seconds)
            putting.kill()
            putting.wait()
        self.put("first", noise[:MIB])
        self.expect_whole(first=noise[:MIB])

    def test_interrupted_by_a_signal_it_tidies_up(self):
        self.put("early", noise[:MIB])
        for number in (signal.SIGINT, signal.SIGTERM):
            putting = self.start()
            putting.stdin.write(noise[: 16 * MIB])
            putting.send_signal(number)
            self.assertEqual(putting.wait(timeout=60), 130)
            self.assertIn(b"store: ", putting.stderr.read())
            self.expect_whole(early=noise[:MIB])


if __name__ == "__main__":
    unittest.main()
