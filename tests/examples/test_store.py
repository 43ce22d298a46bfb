"""Tests that examples/store keeps equal chunks once and returns every stream byte for byte."""

import hashlib
import os
import subprocess
import threading
import time
import unittest

from examples import GIB, MIB
from stores import LONGEST_CHUNK, StoreTest, noise


class Store(StoreTest):
    def test_three_versions_are_kept_as_one_and_their_differences(self):
        first = noise[: 16 * MIB]
        second = first[: 5 * MIB] + b"inserted" + first[5 * MIB :]
        third = second[: 9 * MIB] + second[10 * MIB :] + noise[16 * MIB : 17 * MIB]
        self.assertEqual(self.put_numbers("first", first)[2], len(first))
        self.assertLess(self.put_numbers("second", second)[2], 3 * LONGEST_CHUNK)
        self.assertLess(self.put_numbers("third", third)[2], MIB + 4 * LONGEST_CHUNK)
        self.assertLess(self.chunk_bytes(), len(first) + MIB + 7 * LONGEST_CHUNK)
        self.expect_whole(first=first, second=second, third=third)

    def test_what_it_says_is_what_lies_there(self):
        data = noise[: 2 * MIB] + bytes(4 * MIB) + noise[: 2 * MIB]
        byte_count, chunk_count, new_bytes, new_chunks = self.put_numbers("data", data)
        lines = self.recipe_lines("data")
        self.assertEqual(byte_count, len(data))
        self.assertEqual(byte_count, sum(length * count for _, length, count in lines))
        self.assertEqual(chunk_count, sum(count for _, _, count in lines))
        self.assertEqual((new_bytes, new_chunks), (self.chunk_bytes(), len(self.chunks())))
        self.assertLess(len(self.chunks()), chunk_count)

    def test_a_chunk_is_named_by_its_sha256_in_the_folder_of_its_first_letters(self):
        self.put("data", noise[:MIB])
        for path in self.chunks():
            self.assertEqual(path.name, hashlib.sha256(path.read_bytes()).hexdigest())
            self.assertEqual(path.parent.name, path.name[:2])

    def test_a_file_is_put_as_standard_input_is(self):
        path = self.file("data", noise)
        self.put("piped", noise)
        self.run_program(self.program, "put", self.store, "read", path)
        self.assertEqual(self.recipe("piped").read_bytes(), self.recipe("read").read_bytes())

    def test_small_streams(self):
        streams = {f"bytes{size}": noise[:size] for size in (0, 1, 2, 16383, 16384, 16385)}
        for name, data in streams.items():
            self.put(name, data)
        self.expect_whole(**streams)

    def test_a_hole_is_one_line_and_quick(self):
        path = self.folder / "hole"
        with open(path, "wb") as file:
            file.truncate(10 * GIB)
        begin = time.monotonic()
        self.run_program(self.program, "put", self.store, "hole", path)
        with open(self.folder / "restored", "wb") as file:
            self.run_program(self.program, "get", self.store, "hole", stdout=file)
        self.assertLess(time.monotonic() - begin, 20)  # 10 GiB are not read, hashed or written in that time
        self.assertEqual(len(self.chunks()), 1)
        self.assertLess(len(self.recipe_lines("hole")), 5)
        restored = os.stat(self.folder / "restored")
        self.assertEqual(restored.st_size, 10 * GIB)
        self.assertLess(restored.st_blocks * 512, MIB)

    def test_holes_lie_where_the_zeros_were(self):
        for end in (b"", b"end"):
            data = noise[:MIB] + bytes(8 * MIB) + end
            self.put(f"data{len(end)}", data)
            restored = self.folder / "restored"
            with open(restored, "wb") as file:
                self.run_program(self.program, "get", self.store, f"data{len(end)}", stdout=file)
            self.assertEqual(restored.read_bytes(), data)
            self.assertLess(restored.stat().st_blocks * 512, 3 * MIB)

    def test_zeros_are_written_where_a_hole_would_show_what_was_there(self):
        data = noise[:MIB] + bytes(2 * MIB) + b"end"
        self.put("data", data)
        path = self.file("old", b"x" * 4 * MIB)
        with open(path, "r+b") as file:
            self.run_program(self.program, "get", self.store, "data", stdout=file)
        self.assertEqual(path.read_bytes(), data + b"x" * (MIB - len(b"end")))
        path = self.file("appended", b"before")
        with open(path, "ab") as file:
            self.run_program(self.program, "get", self.store, "data", stdout=file)
        self.assertEqual(path.read_bytes(), b"before" + data)

    def test_memory_is_bounded(self):
        """Stores a stream of a GiB that has a few MiB of different chunks."""
        feeder = subprocess.Popen([self.program, "put", self.store, "long"], stdin=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL)

        def feed():
            with feeder.stdin:
                for _ in range(64):
                    feeder.stdin.write(noise[: 16 * MIB])

        thread = threading.Thread(target=feed)
        thread.start()
        _, code, usage = os.wait4(feeder.pid, 0)
        thread.join()
        feeder.returncode = os.waitstatus_to_exitcode(code)
        self.assertEqual(feeder.returncode, 0)
        self.assertLess(usage.ru_maxrss * 1024, 400 * MIB)
        self.assertEqual(sum(length * count for _, length, count in self.recipe_lines("long")), GIB)

    def test_a_store_keeps_to_the_cuts_that_it_was_made_with(self):
        self.put("before", noise[:MIB])
        mark = self.store / "store"
        mark.chmod(0o644)
        mark.write_text("cutpoint-store 1\ncuts fixed(avg_bytes=100000)\n")
        self.put("after", noise[:MIB])
        self.assertEqual({length for _, length, _ in self.recipe_lines("after")}, {100_000, MIB % 100_000})
        self.assertIn("cuts fixed(avg_bytes=100000)", self.recipe("after").read_text())
        self.expect_whole(before=noise[:MIB], after=noise[:MIB])

    def test_wrong_usage(self):
        for words in ([], ["put"], ["put", "a"], ["get", "a"], ["verify"], ["verify", "a", "b"], ["forget", "a", "b"]):
            self.assertIn("usage: store put", self.run_program(self.program, *words, code=2).stderr)
        self.assertFalse(self.store.exists())


if __name__ == "__main__":
    unittest.main()
