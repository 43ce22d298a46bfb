"""What the commands on stores refuse, in one sentence each."""


from command import CommandTest


class Refusals(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("password", b"word\n")
        self.write("empty", b"")

    def test_no_store(self):
        self.assert_refused(self.run_command("snapshots"), "no store: give --store or set CUTPOINT_STORE")
        self.assert_failed(self.run_command("snapshots", "--store", "missing"), "missing", code=self.run_command("snapshots", "--store", "missing").code)
        (self.folder / "folder").mkdir()
        self.assert_failed(self.run_command("check", "--store", "folder"), "folder: this is not a store", code=2)

    def test_stores_that_cannot_be_made(self):
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

    def test_a_store_is_not_made_over_another(self):
        self.assert_done(self.run_command("init", "--store", "store", "--encryption", "none"))
        self.assert_failed(self.run_command("init", "--store", "store", "--encryption", "none"), "a store is there already")

    def test_snapshots_that_do_not_exist(self):
        self.assert_done(self.run_command("init", "--store", "store", "--encryption", "none"))
        self.assert_failed(self.run_command("restore", "latest", "--target", "out", "--store", "store"), "latest: no snapshot")
        self.assert_failed(self.run_command("forget", "ab", "--store", "store"), "ab: no snapshot")
        self.assertFalse((self.folder / "out").exists())
        for _ in range(17):  # two of them begin with the same digit
            self.assert_done(self.run_command("backup", "password", "--force", "--store", "store"))
        lines = self.run_command("snapshots", "--store", "store").lines
        digits = [line[0] for line in lines]
        common = max(set(digits), key=digits.count)
        self.assert_failed(self.run_command("forget", common, "--store", "store"), f"{digits.count(common)} snapshots")

    def test_keys(self):
        self.assert_done(self.run_command("init", "--store", "store", "--encryption", "none"))
        self.assert_failed(self.run_command("key", "list", "--store", "store"), "is not encrypted: it has no keys")
        for words, told in (
            (("change",), "the actions are list, add, remove, passwd"),
            (("add",), "give --new-password-file, --new-password-command or --new-key-file"),
            (("list", "--new-key-file", "password"), "makes no new key"),
            (("remove",), "give the begin of a key's id"),
            (("list", "abc"), "takes no key"),
        ):
            self.assert_refused(self.run_command("key", *words, "--store", "store"), told)

    def test_a_newer_version(self):
        self.assert_done(self.run_command("init", "--store", "store", "--encryption", "none"))
        config = self.folder / "store/config"
        config.chmod(0o644)
        config.write_bytes(b"CUTPOINT" + config.read_bytes()[8:12] + b"\x09" + config.read_bytes()[13:])
        run = self.run_command("snapshots", "--store", "store")
        self.assertNotEqual(run.code, 0)
        self.assertIn("config", run.stderr)
