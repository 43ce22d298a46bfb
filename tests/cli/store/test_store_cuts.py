"""The cuts of encrypted stores: which ones they take, by which keys they cut, and what is said of those that hide little."""

from streams import random_bytes
from test_store_contexts import ContextTest

EXPONENTS = "min_exp=9,max_exp=12,mask_bits=10,normalization=2"
SMALL = f"toeplitz128-aes({EXPONENTS},normal_size=0)"
GEAR = f"borg2-fastcdc({EXPONENTS})"
BUZHASH = "borg1(min_exp=9,max_exp=14,mask_bits=10,window=4095,seed=0x0)"
PLAIN = "gear(min_bytes=1024,avg_bytes=4096,max_bytes=16384)"
INSECURE = "whoever sees lengths of chunks can compute the key of these cuts"
RULE = '[class.logs]\nextensions = ["log"]\n'


class EncryptedTest(ContextTest):
    def lengths_by_key(self, name: str, cuts: str, key: bytes) -> list[int]:
        """The lengths of a file's chunks by a key that this test has derived from that of the store."""
        algorithm, rest = cuts.split("(")
        if algorithm == "borg2-fastcdc":
            return self.lengths(name, ("--cuts", f"{cuts[:-1]},key={key.hex()})"))
        if algorithm == "borg1":
            return self.lengths(name, ("--cuts", f"{cuts.rsplit(',', 1)[0]},seed={int.from_bytes(key[:4], 'little')})"))
        self.write("chunker-key", key)
        parameters = [word for each in rest.rstrip(")").split(",") for word in ("--param", each)]
        return self.lengths(name, ("--algorithm", algorithm, *parameters, "--key-file", "chunker-key"))

    def check_cuts_by_key(self, store: str, cuts: str):
        key = self.reader(store).chunker_key(cuts.split("(")[0].encode())
        for name, lengths in self.stored_lengths(store).items():
            self.assertEqual(lengths, self.lengths_by_key(name, cuts, key), name)


class Cuts(EncryptedTest):
    def test_are_by_default_of_64_kib_and_hide_what_is_stored(self):
        usual = "toeplitz128-aes(min_exp=14,max_exp=18,mask_bits=16,normalization=2,normal_size=0)"
        run = self.init("store-one")
        self.assert_done(run)
        self.assertIn(f"cuts {' ' * 9}{usual}\n".replace(" ", ""), run.stdout.replace(" ", ""))
        self.write("files/rest", random_bytes(2_000_000, 7))
        self.backup("store-one")
        reader = self.reader("store-one")
        reader.verify()
        self.assertEqual(reader.chunker.decode(), usual)
        self.check_cuts_by_key("store-one", usual)
        lengths = self.stored_lengths("store-one")["rest"]
        self.assertTrue(all(16384 < length <= 262144 for length in lengths[:-1]), lengths)
        self.assertGreater(len(lengths), 15)

    def test_are_chosen_by_the_options_of_chunk(self):
        sizes = [word for each in EXPONENTS.split(",") for word in ("--param", each)]
        for number, (store, words, cuts) in enumerate((
            ("store-", sizes, SMALL),
            ("store-", ("--algorithm", "toeplitz128-aes", *sizes), SMALL),
            ("store-", ("--cuts", SMALL), SMALL),
            ("store", ("--profile", "xet"), "gear(min_bytes=8192,avg_bytes=65536,max_bytes=131072,table=xet)"),
            ("store", ("--size", "2K:4K:8K"), "fastcdc(min_bytes=2048,avg_bytes=4096,max_bytes=8192"),
        )):  # fmt: skip
            run = self.init(f"{store}{number}", *words)
            self.assert_done(run)
            self.assertIn(cuts, run.stdout)

    def test_are_by_a_key_of_the_store_and_of_the_algorithm(self):
        """The reader derives the keys as docs/formats/store.md says."""
        for cuts in (SMALL, f"toeplitz-aes({EXPONENTS},normal_size=0)", f"rabin-aes({EXPONENTS},normal_size=0)", GEAR, BUZHASH):
            with self.subTest(cuts=cuts):
                store = f"store-{cuts.split('(')[0]}"
                self.assertEqual(self.init(store, "--cuts", cuts, "--insecure-cuts").code, 0)
                self.assertEqual(self.run_on(store, "backup", "files").code, 0)
                self.assertNotIn(b"key=", self.reader(store).chunker)
                self.check_cuts_by_key(store, cuts)
                self.assertNotEqual(self.stored_lengths(store)["rest"], self.lengths_by_key("rest", cuts, bytes(32)))
        self.make("store-two", "--cuts", SMALL)
        self.backup("store-two")
        self.assertNotEqual(self.stored_lengths("store-two"), self.stored_lengths("store-toeplitz128-aes"))

    def test_of_rules_are_by_keys_too(self):
        rule = f'cuts = "{SMALL[:-1]},key=09408fecf594e2b1)"\n'  # the name of the key of zeros
        for at, text in enumerate((rule, 'algorithm = "toeplitz128-aes"\nparameters = { min_exp = 9, max_exp = 12, mask_bits = 10 }\n')):
            with self.subTest(text=text):
                store = f"store-{at}"
                self.write("rules.toml", (RULE + text).encode())
                self.make(store, "--context", "rules.toml")
                self.backup(store)
                reader = self.reader(store)
                ((_, _, cuts, _),) = reader.rules
                self.assertEqual(cuts, SMALL[:-1] + ",key=09408fecf594e2b1)")
                key = reader.chunker_key(b"toeplitz128-aes")
                for name, cuts in (("a.log", SMALL), ("rest", reader.chunker.decode())):
                    self.assertEqual(self.stored_lengths(store)[name], self.lengths_by_key(name, cuts, key))
                self.on(store, "check", "--read-data")

    def test_of_copies_are_those_of_the_target(self):
        for store, cuts in (("plain", PLAIN), ("store-one", SMALL), ("store-two", SMALL), ("back", PLAIN)):
            self.make(store, "--cuts", cuts)
        self.backup("plain")
        for source, target in (("plain", "store-one"), ("store-one", "store-two"), ("store-two", "back")):
            self.copy(source, target)
        for store in ("store-one", "store-two"):
            self.check_cuts_by_key(store, SMALL)
        self.assertEqual(self.stored_lengths("back"), self.stored_lengths("plain"))

    def test_are_the_same_after_a_rewrite_and_a_prune(self):
        self.make("store-one", "--cuts", SMALL)
        self.backup("store-one")
        before = self.stored_lengths("store-one")
        self.on("store-one", "rewrite", "--exclude", "b.gz", "--forget")
        self.on("store-one", "prune", "--max-unused", "0")
        del before["b.gz"]
        self.assertEqual(self.stored_lengths("store-one"), before)
        self.on("store-one", "check", "--read-data")
        self.assertLess(self.backup("store-one", "--exclude", "b.gz", "--force")["data_added"], 20_000)  # nodes


class Refused(EncryptedTest):
    def assert_no_store(self, told: str, store: str, *words):
        run = self.init(store, *words)
        self.assert_refused(run)
        self.assertRegex(run.stderr, told)
        self.assertNotIn("1212", run.stderr)
        self.assertFalse((self.folder / store / "config").exists())

    def test_are_cuts_that_hide_nothing(self):
        given_up = "lengths of chunks give the key of these cuts away, and then tell which known contents are stored"
        for store, cuts, rule, words, told in (
            ("store-one", GEAR, f'cuts = "{GEAR}"', (), rf"borg2-fastcdc\(.*{given_up}"),
            ("store-one", BUZHASH, f'cuts = "{BUZHASH}"', (), rf"borg1\(.*{given_up}"),
            ("store-one", "gear()", 'algorithm = "gear"', (), r"gear\(.*needs an algorithm with a key"),
            ("store-one", "gear()", 'algorithm = "gear"', ("--insecure-cuts",), r"gear\(.*needs an algorithm with a key"),
            ("plain", SMALL, 'algorithm = "toeplitz128-aes"', (), r"toeplitz128-aes\(.*a store without encryption has no secret"),
        ):
            with self.subTest(cuts=cuts):
                self.assert_no_store(told, store, "--cuts", cuts, *words)
                self.write("rules.toml", f"{RULE}{rule}\n".encode())
                self.assert_no_store(f"class logs: {told}", store, "--context", "rules.toml", *words)
        self.assert_no_store("needs an algorithm with a key", "store-one", "--cuts", "fixed(avg_bytes=65536)")

    def test_are_cuts_with_a_key_of_their_own(self):
        for cuts in (f"{GEAR[:-1]},key={'12' * 32})", BUZHASH.replace("seed=0x0", "seed=0x7")):
            told = "an encrypted store derives the key of its cuts itself: give none"
            self.assert_no_store(told, "store-one", "--cuts", cuts, "--insecure-cuts")


class Warned(EncryptedTest):
    def warnings(self, run) -> list[str]:
        self.assertEqual(run.code, 0, run)
        return [line.removeprefix("cutpoint: warning: ") for line in run.stderr.splitlines()]

    def test_insecure_cuts_are_at_each_opening(self):
        self.write("rules.toml", f'{RULE}cuts = "{BUZHASH}"\n[others]\ncuts = "{GEAR}"\n'.encode())
        told = self.warnings(self.init("store-one", "--context", "rules.toml", "--insecure-cuts"))
        self.assertEqual([INSECURE in each for each in told], [True, True], told)
        self.assertTrue(told[0].startswith(GEAR) and told[1].startswith("class logs: borg1("), told)
        told = [f"store-one: {each}" for each in told]
        for words in (("backup", "files"), ("snapshots",), ("check", "--read-data")):
            self.assertEqual(self.warnings(self.run_on("store-one", *words)), told)
        self.make("store-two")
        self.assertEqual(self.warnings(self.run_copy("store-one", "store-two")), told)
        self.assert_done(self.run_on("store-two", "check", "--read-data"))

    def test_others_are_once(self):
        for store, words, told in (
            ("store-fixed", ("--context", "prune"), "class immutable: fixed(avg_bytes=8192) takes no key: lengths of chunks tell how long the files"),
            ("store-64", ("--cuts", SMALL.replace("toeplitz128", "toeplitz")), "a digest of 64 bits promises something for a GiB of data only"),
            ("plain", ("--cuts", f"{GEAR[:-1]},key={'12' * 32})"), "the store is not encrypted, so whoever reads it reads this key, too"),
        ):
            (warning,) = self.warnings(self.init(store, *words))
            self.assertIn(told, warning)
            self.backup(store)
        self.assert_done(self.init("other", "--cuts", GEAR))
