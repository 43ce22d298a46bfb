"""Where OpenSSL lacks algorithms, as under FIPS rules, tables say so and have the rest, and refusals name what is missing."""

from command import CommandTest, needs_faulty_reads, with_faulty_reads

DRAWN_BY_AES = ("borg2-fastcdc", "toeplitz128-aes")


@needs_faulty_reads
class MissingAlgorithms(CommandTest):
    def without(self, missing: str, *words):
        return self.run_command(*words, env=with_faulty_reads(CUTPOINT_MISSING_ALGORITHMS=missing))

    def setUp(self):
        super().setUp()
        self.write("data", b"content " * 10_000)
        if self.without("MD5", "chunk", "--hash", "md5", "data").code == 0:
            self.skipTest("OpenSSL is a part of this command")

    def test_a_bench_has_a_row_for_each_and_measures_the_rest(self):
        short = ("bench", "-q", "--cpu", "--rounds", "1", "--bytes", "64K")
        run = self.without("MD5 SHA1 AES-256-CTR", *short, "--kernels", "--json")
        self.assert_done(run)
        outcomes: dict[str, set] = {}
        for row in run.json()["rows"]:
            outcomes.setdefault(row["name"], set()).update(cell["outcome"] for cell in row["back_ends"].values())
            if outcomes[row["name"]] == {"unavailable"}:
                cell = row["back_ends"]["scalar"]
                self.assertEqual((row["auto"], row["mean_bytes"], cell["bytes_per_second"]), (None, None, None))
                self.assertIn("OpenSSL", cell["problem"])
        for name in ("md5", "sha1", *DRAWN_BY_AES):
            self.assertEqual(outcomes[name], {"unavailable"}, name)
        for name in ("sha256", "blake3", "gear", "restic"):
            self.assertIn("measured", outcomes[name], name)
        run = self.without("SHA1", *short, "--engine")
        self.assert_done(run)
        self.assertIn("-  sha1: OpenSSL does not offer SHA1 here\n", run.stdout)
        self.assertRegex(run.stdout, r"fastcdc +2K:8K:64K +sha1 +[0-9.]+ [KM]iB +- +-\n")
        self.assertRegex(run.stdout, r"fastcdc +2K:8K:64K +sha256 +[0-9.]+ [KM]iB +[0-9]")
        run = self.without("MD5", *short, "--hash", "md5")
        self.assert_refused(run, "--hash md5: OpenSSL does not offer MD5 here")

    def test_a_list_has_all_and_says_what_is_missing(self):
        run = self.without("MD5 AES-256-CTR", "list", "--json")
        self.assert_done(run)
        listed = run.json()
        whole = self.run_command("list", "--json").json()
        self.assertEqual(whole["missing_entries"], [])
        names = {entry["name"] for entry in whole["entries"]}
        missing = {entry["name"]: entry["problem"] for entry in listed["missing_entries"]}
        self.assertEqual({entry["name"] for entry in listed["entries"]} | set(missing), names)
        self.assertLessEqual(set(DRAWN_BY_AES), set(missing))
        for name, problem in missing.items():
            self.assertIn("AES-256-CTR", problem)
            for words in (("list", name), ("chunk", "--profile" if name == "borg2-fastcdc" else "--algorithm", name, "data")):
                self.assert_refused(self.without("AES-256-CTR", *words), name, "AES-256-CTR")
        problems = {info["name"]: info["problem"] for info in listed["fingerprints"]}
        self.assertEqual({name for name, problem in problems.items() if problem}, {"md5"})
        text = self.without("MD5 AES-256-CTR", "list").stdout
        self.assertIn("; not here: OpenSSL does not offer MD5 here\n", text)
        self.assertIn("not here: OpenSSL", text.split("Profiles")[1].split("Fingerprints")[0])
        for words in (("info",), ("tune", "-q", "--size", "4K", "data")):
            self.assertEqual(self.without("MD5 SHA1 AES-256-CTR", *words).code, 0, words)

    def test_a_fingerprint_is_refused_by_its_name(self):
        for words in (("chunk", "--hash", "md5", "data"), ("dedup", "--hash", "md5", "data"), ("tune", "--hash", "md5", "data"),
                      ("info", "--calibrate", "--hash", "md5")):  # fmt: skip
            run = self.without("MD5", *words)
            self.assertNotEqual(run.code, 0, run)
            self.assertIn("OpenSSL does not offer MD5 here", run.stderr, run)

    def test_an_encrypted_store_names_what_it_lacks_and_one_without_encryption_works(self):
        self.write("key", bytes(range(32)))
        self.write("password", b"correct horse")
        by_file = ("--encryption", "key-file", "--key-file", "key")
        by_password = ("--encryption", "password", "--password-file", "password")
        for missing, name in (("HKDF", "HKDF"), ("SHA2-256", "SHA2-256"), ("AES-256-GCM", "AES-256-GCM"), ("AES-256-CTR", "AES-256-CTR")):
            run = self.without(missing, "init", "--store", "none", *by_file)
            self.assertNotEqual(run.code, 0, run)
            self.assertIn(name, run.stderr, run)
        run = self.without("SCRYPT", "init", "--store", "none", *by_password)
        self.assert_failed(run, "OpenSSL does not offer SCRYPT here", "only a key file")
        self.assert_done(self.without("SCRYPT", "init", "--store", "by-file", *by_file))
        for store, how, missing in (("store", by_file, "AES-256-GCM"), ("other", by_password, "SCRYPT")):
            self.assert_done(self.run_command("init", "--store", store, *how))
            run = self.without(missing, "backup", "--store", store, *how[2:], "data")
            self.assert_refused(run, f"OpenSSL does not offer {missing} here")
        everything = "MD5 SHA1 AES-256-CTR AES-256-GCM HKDF SCRYPT"
        for words in (("init", "--encryption", "none"), ("backup", "data"), ("check", "--read-data"), ("restore", "latest", "--target", "out")):
            self.assert_done(self.without(everything, words[0], "--store", "plain", *words[1:]))
