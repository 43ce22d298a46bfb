"""Folders of snapshots are written as archives, from which GNU tar extracts what a restore restores."""

import os
import shutil
import socket
import stat
import struct
import subprocess
import tarfile

from stores import StoreTest, all_facts_of, damage
from streams import random_bytes


def access_list(*entries) -> bytes:
    """An access control list as the kernel takes it."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


class Dump(StoreTest):
    def setUp(self):
        super().setUp()
        self.write("data/a", random_bytes(100_000, 1))

    def dump(self):
        """Writes an archive. Skips the test if this build cannot."""
        run = self.run_store("dump", f"latest:{self.folder}/data", "-o", "dumped.tar")
        if "without libarchive" in run.stderr:
            self.skipTest(run.stderr)
        return run

    def extract(self, name="dumped.tar"):
        shutil.rmtree(self.folder / "extracted", ignore_errors=True)
        (self.folder / "extracted").mkdir()
        words = ("tar", "-xpf", name, "-C", "extracted", "--xattrs", "--xattrs-include=*", "--acls", "--numeric-owner")
        done = subprocess.run(words, cwd=self.folder, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done)
        for line in done.stderr.splitlines():  # GNU tar does not know how names that are not UTF-8 are announced, and takes them
            self.assertRegex(line, b"hdrcharset|implausibly old")

    def assert_extracted_as_restored(self) -> dict:
        """Returns what is known of the files."""
        self.backup()
        self.assert_done(self.dump())
        self.extract()
        self.restored(f"latest:{self.folder}/data")
        expected = all_facts_of(self.folder / "out")
        self.assertEqual(all_facts_of(self.folder / "extracted"), expected)
        return expected

    def test_extracted_files_are_those_that_a_restore_restores(self):
        self.write("data/empty", b"")
        self.write("data/large", random_bytes(5_000_000, 2))
        os.link(self.folder / "data/large", self.folder / "data/zz another name")
        os.link(self.folder / "data/large", self.write("data/deep/x").parent / "third")
        self.write("data/" + "/".join(letter * 120 for letter in "abcdefghij"))
        for name in (b"latin-\xe9", "unicode-\u00e9\u4e2d".encode(), b"new\nline", b"\\back=slash ", b"-dash"):
            self.write(b"data/names/" + name, name)
            os.symlink(name * 20, os.fsencode(self.folder) + b"/data/names/link to " + name)
        os.mkfifo(self.folder / "data/fifo")
        (self.folder / "data/empty folder").mkdir(mode=0o3711)
        self.write("data/mode").chmod(0o4751)
        for i, name in enumerate(("a", "deep", ".")):
            os.utime(self.folder / "data" / name, ns=(5, 1_234_567_890_123_456_789 - i * 500_000_000_000_000_000))
        os.utime(self.folder / "data/mode", ns=(5, -631_054_554_876_543_211))  # before 1970, with a fraction
        os.symlink("to the past", self.folder / "data/link")
        os.utime(self.folder / "data/link", ns=(5, 6), follow_symlinks=False)
        if os.geteuid() == 0:
            os.mknod(self.folder / "data/device", 0o640 | stat.S_IFCHR, os.makedev(300, 70_000))
            os.chown(self.write("data/owner"), 4_000_000_000, 3_000_000)
            os.lchown(self.folder / "data/link", 77, 88)
        expected = self.assert_extracted_as_restored()
        self.assertEqual(expected, all_facts_of(self.folder / "data"))
        with tarfile.open(self.folder / "dumped.tar") as archive:  # another reader knows the same names
            names = {os.fsencode(name) for name in archive.getnames()}
        self.assertEqual({os.path.normpath(name) for name in names}, {os.path.normpath(name) for name in expected})

    def test_extended_attributes_and_access_control_lists(self):
        self.write("data/deep/b")
        entries = [(1, 7, 2**32 - 1), (2, 5, 1234), (4, 4, 2**32 - 1), (8, 6, 77), (16, 7, 2**32 - 1), (32, 0, 2**32 - 1)]
        try:
            os.setxattr(self.folder / "data/a", "user.comment", b"\0bytes\xff")
            os.setxattr(self.folder / "data/a", "user.empty", b"")
            os.setxattr(self.folder / "data/a", "system.posix_acl_access", access_list(*entries))
            os.setxattr(self.folder / "data/deep", "system.posix_acl_default", access_list(*entries))
        except OSError as error:
            self.skipTest(f"this file system has no attributes: {error}")
        self.assert_extracted_as_restored()

    def test_holes_stay_holes(self):
        huge = 9 << 30  # more than an octal number in a header can say
        for name, places, size in (("data/huge", (0, 5_000_000, huge - 1), huge), ("data/hole", (), 1 << 20), ("data/end", (123,), 1 << 24)):
            with open(self.write(name, b""), "r+b") as file:
                for place in places:
                    file.seek(place)
                    file.write(b"x")
                file.truncate(size)
        self.backup()
        self.assert_done(self.dump())
        self.assertLess((self.folder / "dumped.tar").stat().st_size, 2_000_000)
        self.extract()
        for name in ("huge", "hole", "end"):
            one, other = ((self.folder / folder / name).stat() for folder in ("extracted", "data"))
            self.assertEqual(one.st_size, other.st_size)
            self.assertLessEqual(one.st_blocks, other.st_blocks + 64)
        with open(self.folder / "extracted/huge", "rb") as file:
            for place in (0, 5_000_000, huge - 1):
                file.seek(max(place - 1, 0))
                self.assertEqual(file.read(2).strip(b"\0"), b"x")

    def test_a_whole_snapshot_and_standard_output(self):
        snapshot = self.backup()
        self.dump()
        run = self.run_store("dump", snapshot)
        self.assertEqual((run.code, run.stderr), (0, ""))
        (self.folder / "whole.tar").write_bytes(run.bytes)
        with tarfile.open(self.folder / "whole.tar") as archive:
            self.assertIn(f"{self.folder}/data/a"[1:], archive.getnames())
        self.extract("whole.tar")
        inner = self.folder / "extracted" / str(self.folder)[1:] / "data"
        self.assertEqual(all_facts_of(inner), all_facts_of(self.folder / "data"))
        self.assertEqual(self.run_store("dump", f"{snapshot}:{self.folder}/data/a").bytes, random_bytes(100_000, 1))

    def test_sockets_are_left_out_with_a_warning(self):
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(self.folder / "data/socket"))
        self.backup()
        run = self.dump()
        self.assertEqual((run.code, run.stderr), (0, "cutpoint: warning: socket: sockets are not stored in archives\n"))
        with tarfile.open(self.folder / "dumped.tar") as archive:
            self.assertEqual(archive.getnames(), [".", "a"])

    def test_what_is_lost_is_named(self):
        for i in range(20):
            self.write(f"data/file{i}", random_bytes(300_000 + i, i))
        self.write("data/large", random_bytes(9_000_000, 99))
        self.backup()
        self.dump()
        for container in self.objects("containers"):
            damage(container, *range(200_000, container.stat().st_size - 1_000_000, 3_700_000))
        run = self.dump()
        self.assert_failed(run)
        self.extract()
        lost = 0
        for path in (self.folder / "data").iterdir():
            extracted = self.folder / "extracted" / path.name
            if extracted.exists() and extracted.read_bytes() == path.read_bytes():
                self.assertNotIn(f"error: {path.name}:", run.stderr)
                continue
            lost += 1
            self.assertIn(f"error: {path.name}:", run.stderr)
            self.assertTrue(path.name == "large" or not extracted.exists())
        self.assertGreater(lost, 2)
        self.assertIn("large: the archive has zeros in the place of what is lost", run.stderr)
        self.assertEqual((self.folder / "extracted/large").stat().st_size, 9_000_000)

    def test_an_output_that_fails_ends_the_dump(self):
        self.write("data/large", random_bytes(3_000_000, 5))
        self.backup()
        self.dump()
        with open("/dev/full", "wb") as full:
            self.assert_failed(self.run_store("dump", "latest", stdout=full), "standard output: cannot be written")
        self.assert_failed(self.run_store("dump", "latest:/nosuch"), "no such file")
