"""`diff` names what differs between two snapshots, as restic does."""

import os

from stores import StoreTest
from streams import random_bytes


class Diff(StoreTest):
    def setUp(self):
        super().setUp()
        self.write_tree()
        self.before = self.backup()
        data = self.folder / "data"
        (data / "deep/empty").unlink()
        self.write("data/new/folder/file", b"1234")
        content = random_bytes(200_000, 2) + bytes(100_000)
        self.write("data/deep/folder/b", content[:50] + b"changed" + content[50:])
        (data / "a").chmod(0o600)
        (data / "link").unlink()
        (data / "link").mkdir()
        self.after = self.backup()

    def diff(self, *words) -> list[str]:
        """The lines of changes, without the sums."""
        text = self.store("diff", *words)
        return text[: text.index("\nfiles ")].splitlines()

    def test_changes_are_told_by_letters(self):
        top = str(self.folder / "data")
        self.assertEqual(self.diff(self.before, "latest"), [
            f"-    {top}/deep/empty", f"M    {top}/deep/folder/b", f"T    {top}/link/", f"+    {top}/new/",
            f"+    {top}/new/folder/", f"+    {top}/new/folder/file",
        ])  # fmt: skip
        with_metadata = self.diff(f"{self.before}:{top}", f"{self.after}:{top}", "--metadata")
        for line in ("U    /a", "U    /deep/", "M    /deep/folder/b"):  # the second for its mtime
            self.assertIn(line, with_metadata)
        self.assertEqual(self.diff(self.after, self.after, "--metadata"), [])
        new = f"{self.after}:{top}/new"
        self.assertEqual(self.diff(f"{new}/folder", new), ["-    /file", "+    /folder/", "+    /folder/file"])

    def test_json_has_the_changes_and_the_sums(self):
        *changes, sums = self.json_of("diff", f"{self.before}:{self.folder}/data", f"latest:{self.folder}/data")
        self.assertEqual(changes[0], {"message_type": "change", "path": "/deep/empty", "modifier": "-"})
        self.assertEqual([each["modifier"] for each in changes], ["-", "M", "T", "+", "+", "+"])
        self.assertEqual((sums["message_type"], sums["source_snapshot"], sums["target_snapshot"]), ("statistics", self.before, self.after))
        self.assertEqual(sums["changed_files"], 1)
        added, removed = sums["added"], sums["removed"]
        self.assertEqual({**added, "bytes": 0}, {"files": 1, "dirs": 3, "others": 0, "bytes": 0})
        self.assertEqual({**removed, "bytes": 0}, {"files": 1, "dirs": 0, "others": 1, "bytes": 0})
        # Chunks have at most 256 KiB: only the first ones of the file differ.
        self.assertLess(removed["bytes"], 262_144 + 1)
        self.assertEqual(added["bytes"], removed["bytes"] + 7 + 4)

    def test_a_link_with_another_target_is_modified(self):
        snapshots = []
        for target in ("a", "b"):
            (self.folder / "link").unlink(missing_ok=True)
            (self.folder / "link").symlink_to(target)
            run = self.run_store("backup", "link")  # which says that it is a link
            self.assertIn("link: is stored as a symbolic link, without what it leads to", run.stderr)
            snapshots.append(run.stdout.strip())
        self.assertEqual(self.diff(*snapshots), [f"M    {self.folder}/link"])

    def test_what_cannot_be_compared_is_refused(self):
        self.assert_failed(self.run_store("diff", self.before, "nothing"), "nothing: no snapshot")
        self.assert_failed(self.run_store("diff", f"{self.before}:/missing", self.after), "/missing: the snapshot has no such file")
        run = self.run_store("diff", self.before, f"{self.after}:{self.folder}/data/a")
        self.assert_failed(run, f"{self.folder}/data/a: it is not a folder")
        self.assertEqual(run.stdout, "")
        self.assert_refused(self.run_store("diff", self.before), "AFTER")

    def test_a_lost_folder_is_named(self):
        # The last backup stored the nodes that it changed in a container of its own.
        os.remove(max(self.objects("containers"), key=lambda path: path.stat().st_mtime_ns))
        run = self.run_store("diff", self.before, self.after)
        self.assert_failed(run, "cannot be compared any further")
        self.assertNotIn("+    ", run.stdout)
