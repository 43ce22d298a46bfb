"""What the commands on stores refuse, in one sentence each."""

from command import CommandTest
from stores import StoreTest


class NoStore(CommandTest):
    def test_commands_need_one(self):
        (self.folder / "folder").mkdir()
        for words, told in (
            (("snapshots",), "no store: give --store or set CUTPOINT_STORE"),
            (("check", "--store", "folder"), "folder: this is not a store"),
            (("copy", "--store", "folder"), "no store: give --from-store or set CUTPOINT_FROM_STORE"),
        ):
            self.assert_refused(self.run_command(*words), told)

    def test_stores_that_cannot_be_made(self):
        self.write("password", b"word\n")
        self.write("empty", b"")
        for words, told in (
            ((), "--encryption"),
            (("--encryption", "some"), "the names are none, password and key-file"),
            (("--encryption", "password"), "needs --password-file"),
            (("--encryption", "none", "--password-file", "password"), "takes no password"),
            (("--encryption", "password", "--password-file", "empty"), "empty"),
            (("--encryption", "password", "--password-file", "."), ".: cannot be read: Is a directory"),
            (("--encryption", "key-file", "--key-file", "/dev/zero"), "/dev/zero: is longer than 1048576 bytes"),
            (("--encryption", "none", "--hash", "sha1"), "collisions can be made on purpose"),
            (("--encryption", "none", "--hash", "none"), "a store needs fingerprints"),
            (("--encryption", "none", "--compression", "gzip"), "the names are zstd and none"),
            (("--encryption", "none", "--cuts", "nonsense(x=1)"), "nonsense"),
            (("--encryption", "none", "--algorithm", "xet"), "say --profile xet"),
            (("--encryption", "none", "--algorithm", "toeplitz128-aes"), "has no secret"),
            (("--encryption", "none", "--size", "256M"), "at most"),
            (("--encryption", "none", "--cuts", "gear(max_bytes=0)"), "a maximum of at most 64 MiB"),
        ):
            run = self.run_command("init", "--store", "store", *words)
            self.assertNotEqual(run.code, 0, run)
            self.assertIn(told, run.stderr, run)
            self.assertFalse((self.folder / "store/config").exists(), run)


class Refusals(StoreTest):
    def test_a_store_is_not_made_over_another(self):
        self.assert_failed(self.run_store("init", "--encryption", "none"), "a store is there already")

    def test_a_copy_needs_another(self):
        self.assert_refused(self.run_command("copy", "--from-store", "store"), "no store: give --store or set CUTPOINT_STORE")

    def test_snapshots_that_do_not_exist(self):
        self.assert_failed(self.run_store("restore", "latest", "--target", "out"), "latest: no snapshot")
        self.assert_failed(self.run_store("forget", "ab"), "ab: no snapshot")
        self.assertFalse((self.folder / "out").exists())
        self.write("file")
        for _ in range(17):  # two of them begin with the same digit
            self.backup("file", "--force")
        digits = [each["id"][0] for each in self.snapshots()]
        common = max(set(digits), key=digits.count)
        self.assert_failed(self.run_store("forget", common), f"{digits.count(common)} snapshots")

    def test_keys(self):
        self.assert_failed(self.run_store("key", "list"), "is not encrypted: it has no keys")
        for words, told in (
            (("change",), "the actions are list, add, remove, passwd"),
            (("add",), "give --new-password-file, --new-password-command or --new-key-file"),
            (("list", "--new-key-file", "password"), "makes no new key"),
            (("remove",), "give the begin of a key's id"),
            (("list", "abc"), "takes no key"),
        ):
            self.assert_refused(self.run_store("key", *words), told)

    def test_a_newer_version(self):
        for name in "config", "config.copy":
            config = self.folder / "store" / name
            config.chmod(0o644)
            config.write_bytes(b"CUTPOINT" + config.read_bytes()[8:12] + b"\x09" + config.read_bytes()[13:])
        run = self.run_store("snapshots")
        self.assertNotEqual(run.code, 0)
        self.assertIn("config", run.stderr)
