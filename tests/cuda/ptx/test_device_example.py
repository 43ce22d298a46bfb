"""Tests the program of examples/device on the interpreted device: its chunks cover the files and have their digests."""

import hashlib
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["CUTPOINT_DEVICE_CHUNKS"]


class DeviceChunks(unittest.TestCase):
    def test_chunks_cover_the_files_and_have_their_digests(self):
        with tempfile.TemporaryDirectory() as folder:
            files = {str(pathlib.Path(folder, name)): random.Random(name).randbytes(size) for name, size in (("a", 90_000), ("b", 0), ("c", 9))}
            for path, data in files.items():
                pathlib.Path(path).write_bytes(data)
            done = subprocess.run([PROGRAM, *files], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        ends = dict.fromkeys(files, 0)
        lines = [line.split() for line in done.stdout.splitlines()]
        for path, offset, length, digest in lines:
            self.assertEqual(int(offset), ends[path])
            ends[path] += int(length)
            self.assertEqual(digest, hashlib.sha256(files[path][int(offset) : ends[path]]).hexdigest())
        self.assertEqual(ends, {path: len(data) for path, data in files.items()})
        self.assertGreater(len(lines), 5)

    def test_a_file_that_cannot_be_read_is_named(self):
        done = subprocess.run([PROGRAM, "/no/such/file"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/no/such/file", done.stderr)


if __name__ == "__main__":
    unittest.main()
