"""Tests examples/store on a full disk: a small file system in memory, mounted in a new namespace."""

import subprocess
import unittest

from stores import StoreTest, noise

NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
MOUNT = "mount -t tmpfs -o size=6m none ."


def can_mount(folder) -> bool:
    try:
        return subprocess.run([*NAMESPACE, MOUNT], cwd=folder, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


class FullDisk(StoreTest):
    def setUp(self):
        super().setUp()
        if not can_mount(self.folder):
            self.skipTest("no file system can be mounted here")

    def test_it_is_told_and_the_store_is_as_before(self):
        small, large = self.file("small", noise[: 1 << 20]), self.file("large", noise)
        mounted = self.folder / "mounted"
        mounted.mkdir()
        script = f"""{MOUNT}; cd "$PWD"
            {self.program} put store early {small}
            {self.program} put store late {large}; echo exit code $?
            ls store/incoming store/recipes
            {self.program} verify store
            {self.program} get store early | cmp - {small} && echo the same
            {self.program} put store again {small}"""
        done = self.run_program(*NAMESPACE, script, cwd=mounted)
        self.assertRegex(done.stderr, r"^store: store/incoming/[0-9a-f]{64}: cannot be written: No space left on .*\n$")
        self.assertRegex(done.stdout.decode(), r"""^1048576 bytes .*
exit code 1
store/incoming:

store/recipes:
early
\d+ chunks, 1 streams, 0 problems
the same
1048576 bytes in \d+ chunks; 0 bytes in 0 chunks are new
$""")


if __name__ == "__main__":
    unittest.main()
