"""Back ends: forced by option or environment, said in the report, and of no effect on what comes out."""

import os

from command import DONE, CommandTest
from streams import random_bytes

KERNELS = ("--algorithm", "seqcdc-inc", "--hash", "sha1")
# Which back end stands in where one has no kernel of these.
CUT_BY = {"avx512-dl": "avx512", "sha-ni": "sse4"}
HASHED_BY = {"avx512-dl": "avx512"}


class BackEnds(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("data", random_bytes(600_000, 5) + bytes(50_000) + b"the same again\n" * 9_000)
        listed = self.run_command("list", "--json").json()["back_ends"]
        self.built = [back_end["name"] for back_end in listed]
        self.here = [name for name in self.built if self.forced(name).code == DONE]

    def forced(self, name, *options):
        return self.run_command("dedup", "--json", "--backend", name, *options, "data")

    def test_the_reference_is_always_there(self):
        self.assertEqual(self.here[0], "scalar")

    def test_a_forced_one_does_the_work(self):
        for name in self.here:
            used = self.forced(name, *KERNELS).json()["backends"]
            self.assertEqual(used, {"chunking": CUT_BY.get(name, name), "fingerprinting": HASHED_BY.get(name, name)})

    def test_the_reference_stands_in_where_there_is_no_kernel(self):
        for name in set(self.here) - {"cuda"}:
            used = self.forced(name, "--algorithm", "fixed", "--hash", "md5").json()["backends"]
            self.assertEqual(used, {"chunking": "scalar", "fingerprinting": "scalar"})

    def test_one_that_runs_here_is_chosen(self):
        used = self.forced("auto", *KERNELS).json()["backends"]
        self.assertLessEqual(set(used.values()), set(self.here))

    def test_the_listing_is_the_same_on_each(self):
        for cuts in (("--algorithm", "ae-max"), ("--algorithm", "rabin"), ("--profile", "casync"), ()):
            for print_name in ("sha1", "sha256", "blake3"):
                expected = None
                for name in (*self.here, "auto"):
                    run = self.run_command("chunk", "--backend", name, *cuts, "--hash", print_name, "data")
                    self.assert_done(run)
                    expected = expected or run.stdout
                    self.assertEqual(run.stdout, expected, (name, cuts, print_name))

    def test_a_gpu_that_cannot_be_used_is_refused_with_the_reason(self):
        if "cuda" in self.here:
            self.skipTest("this machine has a GPU")
        info = self.run_command("info", "--json").json()
        reason = info.get("why_no_gpus") or info["gpus"][0]["problem"]
        for name in ("cuda", "hybrid"):
            self.assert_refused(self.forced(name), f"back end '{name}' cannot be used", reason)
        self.assertNotIn("cuda", self.forced("auto", *KERNELS).json()["backends"].values())

    def test_options_of_a_device_are_for_the_gpu_only(self):
        for option, value in (("--device", "0"), ("--device-memory", "1G"), ("--batch", "8M")):
            self.assert_refused(self.forced("scalar", option, value), f"{option} {value}: --backend scalar uses no device")

    def test_devices_are_named_once_each_within_bounds(self):
        self.assert_refused(self.forced("auto", "--device", "0,1,0"), "--device 0,1,0: GPU 0 is named twice")
        self.assert_refused(self.forced("auto", "--device", "4096"), "--device 4096: must be between 0 and 4095")
        self.assert_refused(self.forced("auto", "--device", "0,"), "--device: ''")
        self.assert_refused(self.forced("auto", "--batch", "1K"), "--batch 1K: must be at least 4K")

    def test_devices_that_are_not_there_are_refused_also_where_the_processor_could_do(self):
        info = self.run_command("info", "--json").json()
        for option, value in (("--device", "4095"), ("--device-memory", "1G"), ("--batch", "8M")):
            run = self.forced("auto", option, value)
            if "cuda" not in self.here:
                self.assert_refused(run, f"{option} {value}: ", info.get("why_no_gpus") or info["gpus"][0]["problem"])
            elif option == "--device":
                count = len(info["gpus"])
                self.assert_refused(run, f"--device 4095: there is no GPU 4095: this machine has {count}, counted from 0")
            else:
                self.assert_done(run)

    def test_the_environment_stands_in_for_the_option(self):
        told = {**os.environ, "CUTPOINT_BACKEND": "scalar"}
        run = self.run_command("dedup", "--json", *KERNELS, "data", env=told)
        self.assertEqual(run.json()["backends"]["chunking"], "scalar")
        if len(self.here) > 1:
            run = self.run_command("dedup", "--json", "--backend", self.here[1], *KERNELS, "data", env=told)
            self.assertEqual(run.json()["backends"]["chunking"], CUT_BY.get(self.here[1], self.here[1]))
        run = self.run_command("dedup", "data", env={**told, "CUTPOINT_BACKEND": "fast"})
        self.assert_refused(run, "no back end 'fast'", "scalar")

    def test_one_that_does_not_run_here_is_refused(self):
        missing = [name for name in self.built if name not in self.here and name not in ("cuda", "hybrid")]
        if not missing:
            self.skipTest("every back end of this build runs here")
        for name in missing:
            self.assert_refused(self.run_command("chunk", "--backend", name, "data"), name, "does not run")
