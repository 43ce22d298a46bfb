"""The cuts of encrypted stores: which ones they take, by which keys they cut, and what is said of those that hide little."""

import os
import shutil

from command import WRONG_USAGE
from store_reader import Reference, Store
from streams import random_bytes
from test_store_contexts import ContextTest

EXPONENTS = "min_exp=9,max_exp=12,mask_bits=10,normalization=2"
SMALL = f"toeplitz128-aes({EXPONENTS},normal_size=0)"
GEAR = f"borg2-fastcdc({EXPONENTS})"
BUZHASH = "borg1(min_exp=9,max_exp=14,mask_bits=10,window=4095,seed=0x0)"
INSECURE = "whoever sees lengths of chunks can compute the key of these cuts"
GIVEN_UP = "lengths of chunks give the key of these cuts away, and then tell which known contents are stored"
RULE = '[class.logs]\nextensions = ["log"]\n'


class EncryptedTest(ContextTest):
    def init(self, store: str, *words):
        return self.run_on(store, "init", "--encryption", "password" if "-" in store else "none", *words)

    def refusal(self, *words, store="store-one") -> str:
        run = self.init(store, *words)
        self.assertEqual(run.code, WRONG_USAGE, run)
        self.assertFalse((self.folder / store / "config").exists())
        return run.stderr

    def reader(self, store: str) -> Store:
        return Store(self.folder / store, password=b"password " + store.rsplit("-", 1)[1].encode())

    def stored_lengths(self, reader: Store) -> dict[str, list]:
        (snapshot,) = reader.snapshots().values()
        top = os.fsencode(self.folder / "files")[1:] + b"/"
        return {
            os.fsdecode(path.removeprefix(top)): [each.length for each in reader.extents(entry) for _ in range(each.count)]
            for path, entry in reader.walk(Reference(*snapshot.root))
            if path.startswith(top) and entry.kind == 1
        }

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
        lengths = self.stored_lengths(reader)["rest"]
        self.assertEqual(lengths, self.lengths_by_key("rest", usual, reader.chunker_key(b"toeplitz128-aes")))
        self.assertTrue(all(16384 < length <= 262144 for length in lengths[:-1]), lengths)
        self.assertGreater(len(lengths), 15)

    def test_are_chosen_by_the_options_of_chunk(self):
        sizes = [word for each in EXPONENTS.split(",") for word in ("--param", each)]
        for words in (sizes, ("--algorithm", "toeplitz128-aes", *sizes), ("--cuts", SMALL)):
            with self.subTest(words=words):
                shutil.rmtree(self.folder / "store-one", ignore_errors=True)
                run = self.init("store-one", *words)
                self.assert_done(run)
                self.assertIn(SMALL, run.stdout)
        for words, cuts in ((("--profile", "xet"), "gear(min_bytes=8192,avg_bytes=65536,max_bytes=131072,table=xet)"), (("--size", "2K:4K:8K"), "fastcdc(min_bytes=2048,avg_bytes=4096,max_bytes=8192")):
            with self.subTest(words=words):
                shutil.rmtree(self.folder / "plain", ignore_errors=True)
                run = self.init("plain", *words)
                self.assert_done(run)
                self.assertIn(cuts, run.stdout)

    def test_are_by_a_key_of_the_store_and_of_the_algorithm(self):
        """The reader derives the keys as docs/formats/store.md says."""
        kinds = {"toeplitz128-aes": SMALL, "toeplitz-aes": f"toeplitz-aes({EXPONENTS},normal_size=0)",
                 "rabin-aes": f"rabin-aes({EXPONENTS},normal_size=0)", "borg2-fastcdc": GEAR, "borg1": BUZHASH}
        by_algorithm = {}
        for algorithm, cuts in kinds.items():
            with self.subTest(algorithm=algorithm):
                self.write(f"password-{algorithm.replace('-', '')}", f"password {algorithm.replace('-', '')}\n".encode())
                store = f"store-{algorithm.replace('-', '')}"
                self.assertEqual(self.init(store, "--cuts", cuts, "--insecure-cuts").code, 0)
                run = self.run_on(store, "backup", "files")
                self.assertEqual(run.code, 0, run)
                reader = self.reader(store)
                self.assertNotIn(b"key=", reader.chunker)
                key = reader.chunker_key(algorithm.encode())
                for name, lengths in self.stored_lengths(reader).items():
                    self.assertEqual(lengths, self.lengths_by_key(name, cuts, key), name)
                    self.assertNotEqual(lengths, self.lengths_by_key(name, cuts, bytes(32)), name)
                by_algorithm[algorithm] = lengths
        self.make("store-two", "--cuts", SMALL)
        self.backup("store-two")
        self.assertNotEqual(self.stored_lengths(self.reader("store-two"))["rest"], by_algorithm["toeplitz128-aes"])

    def test_of_rules_are_by_keys_too(self):
        rule = f'cuts = "{SMALL[:-1]},key=09408fecf594e2b1)"\n'  # the name of the key of zeros
        for at, text in enumerate((rule, 'algorithm = "toeplitz128-aes"\nparameters = { min_exp = 9, max_exp = 12, mask_bits = 10 }\n')):
            with self.subTest(text=text):
                store = ("store-one", "store-two")[at]
                self.write("rules.toml", (RULE + text).encode())
                run = self.init(store, "--context", "rules.toml")
                self.assert_done(run)
                self.backup(store)
                reader = self.reader(store)
                ((_, _, cuts, _),) = reader.rules
                self.assertEqual(cuts, SMALL[:-1] + ",key=09408fecf594e2b1)")
                lengths = self.stored_lengths(reader)
                key = reader.chunker_key(b"toeplitz128-aes")
                self.assertEqual(lengths["a.log"], self.lengths_by_key("a.log", SMALL, key))
                self.assertEqual(lengths["rest"], self.lengths_by_key("rest", reader.chunker.decode(), key))
                self.on(store, "check", "--read-data")

    def test_of_copies_are_those_of_the_target(self):
        self.make("plain", "--cuts", "gear(avg_bytes=4096,min_bytes=1024,max_bytes=16384)")
        self.backup("plain")
        self.make("store-one", "--cuts", SMALL)
        self.copy("plain", "store-one")
        self.make("store-two", "--cuts", SMALL)
        self.copy("store-one", "store-two")
        for store in ("store-one", "store-two"):
            reader = self.reader(store)
            key = reader.chunker_key(b"toeplitz128-aes")
            for name, lengths in self.stored_lengths(reader).items():
                self.assertEqual(lengths, self.lengths_by_key(name, SMALL, key), name)
        self.make("back", "--cuts", "gear(avg_bytes=4096,min_bytes=1024,max_bytes=16384)")
        self.copy("store-two", "back")
        self.assertEqual({name: lengths for name, (lengths, _) in self.stored("back").items()},
                         {name: lengths for name, (lengths, _) in self.stored("plain").items()})

    def test_are_the_same_after_a_rewrite_and_a_prune(self):
        self.make("store-one", "--cuts", SMALL)
        self.backup("store-one")
        before = self.stored_lengths(self.reader("store-one"))
        self.on("store-one", "rewrite", "--exclude", "b.gz", "--forget")
        self.on("store-one", "prune", "--max-unused", "0")
        after = self.stored_lengths(self.reader("store-one"))
        del before["b.gz"]
        self.assertEqual(after, before)
        self.on("store-one", "check", "--read-data")
        self.assertLess(self.backup("store-one", "--exclude", "b.gz", "--force")["data_added"], 20_000)  # nodes


class Refused(EncryptedTest):
    def test_keyed_gear_and_buzhash_need_a_word(self):
        for cuts in (GEAR, BUZHASH):
            told = self.refusal("--cuts", cuts)
            self.assertIn(f"{cuts.split('(')[0]}(", told)
            self.assertIn(GIVEN_UP, told)
            self.write("rules.toml", f'{RULE}cuts = "{cuts}"\n'.encode())
            told = self.refusal("--context", "rules.toml")
            self.assertIn(f"class logs: {cuts.split('(')[0]}(", told)
            self.assertIn(GIVEN_UP, told)

    def test_cuts_without_a_key_are_none(self):
        for words in ((), ("--insecure-cuts",)):
            self.assertIn("needs an algorithm with a key", self.refusal("--cuts", "gear()", *words))
            self.write("rules.toml", (RULE + 'algorithm = "gear"\n').encode())
            self.assertRegex(self.refusal("--context", "rules.toml", *words), r"class logs: gear\(.*needs an algorithm with a key")
        self.assertIn("needs an algorithm with a key", self.refusal("--cuts", "fixed(avg_bytes=65536)"))

    def test_a_key_is_not_given(self):
        for cuts in (f"{GEAR[:-1]},key={'12' * 32})", BUZHASH.replace("seed=0x0", "seed=0x7")):
            told = self.refusal("--cuts", cuts, "--insecure-cuts")
            self.assertIn("an encrypted store derives the key of its cuts itself: give none", told)
            self.assertNotIn("1212", told)

    def test_without_encryption_secret_keys_are_none(self):
        told = self.refusal("--cuts", SMALL, store="plain")
        self.assertIn("a store without encryption has no secret, so these cuts would hide nothing", told)
        self.write("rules.toml", (RULE + 'algorithm = "toeplitz128-aes"\n').encode())
        told = self.refusal("--context", "rules.toml", store="plain")
        self.assertRegex(told, r"class logs: toeplitz128-aes\(.*a store without encryption has no secret")


class Warned(EncryptedTest):
    def warnings(self, run) -> list[str]:
        self.assertEqual(run.code, 0, run)
        return [line.removeprefix("cutpoint: warning: ") for line in run.stderr.splitlines()]

    def test_insecure_cuts_are_at_each_opening(self):
        self.write("rules.toml", f'{RULE}cuts = "{BUZHASH}"\n[others]\ncuts = "{GEAR}"\n'.encode())
        told = self.warnings(self.init("store-one", "--context", "rules.toml", "--insecure-cuts"))
        self.assertEqual([INSECURE in each for each in told], [True, True], told)
        self.assertTrue(told[0].startswith(GEAR) and told[1].startswith("class logs: borg1("), told)
        for words in (("backup", "files"), ("snapshots",), ("check", "--read-data")):
            self.assertEqual(self.warnings(self.run_on("store-one", *words)), [f"store-one: {each}" for each in told])
        self.make("store-two")
        told_of_source = self.warnings(self.run_copy("store-one", "store-two"))
        self.assertEqual(told_of_source, [f"store-one: {each}" for each in told])
        self.assert_done(self.run_on("store-two", "check", "--read-data"))

    def test_fixed_lengths_are_once(self):
        (told,) = self.warnings(self.init("store-one", "--context", "prune"))
        self.assertIn("class immutable: fixed(avg_bytes=8192) takes no key: lengths of chunks tell how long the files", told)
        self.backup("store-one")
        self.reader("store-one")

    def test_digests_of_64_bits_are_once(self):
        (told,) = self.warnings(self.init("store-one", "--cuts", SMALL.replace("toeplitz128", "toeplitz")))
        self.assertIn("a digest of 64 bits promises something for a GiB of data only", told)
        self.backup("store-one")

    def test_a_key_without_encryption_is_once(self):
        cuts = f"{GEAR[:-1]},key={'12' * 32})"
        (told,) = self.warnings(self.init("plain", "--cuts", cuts))
        self.assertIn("the store is not encrypted, so whoever reads it reads this key, too", told)
        self.backup("plain")
        self.assert_done(self.init("other", "--cuts", GEAR))
