"""--memory bounds what a cut may depend on: what does not fit is told, what fits changes no cut."""


from command import DONE, CommandTest
from listings import read_lengths
from streams import MIB, random_bytes


class MemoryLimit(CommandTest):
    def test_that_a_cut_does_not_fit_in_is_refused(self):
        self.write("a", b"content")
        for memory in ("0", "1K", "65535"):
            run = self.run_command("chunk", "--memory", memory, "--format", "lengths", "a", "-", content=b"more")
            self.assert_refused(run, "depends on 65536 bytes, more than the memory allowed", "--memory")

    def test_that_a_cut_just_fits_in_changes_no_cut(self):
        self.write("a", random_bytes(500_000))
        expected = self.run_command("chunk", "--format", "lengths", "a")
        self.assert_done(expected)
        for memory in ("64K", "65537", "100K", "1G", "1000T"):
            run = self.run_command("chunk", "--memory", memory, "--format", "lengths", "a")
            self.assertEqual((run.code, run.stdout), (DONE, expected.stdout), memory)

    def test_that_a_chunk_outgrows_is_told_and_the_rest_is_done(self):
        self.write("a", b"\x01" * 1000 + bytes(2 * MIB))
        self.write("b", b"fits")
        arguments = ("--algorithm", "rabin", "--size", "2K:8K:0", "--memory", "1M", "--format", "lengths")
        run = self.run_command("chunk", *arguments, "a", "b")
        self.assert_failed(run, "a: the chunk at offset 0 outgrows the memory allowed, 1M: give a maximum")
        self.assertEqual(run.stdout, "4\n", run)

    def test_that_a_chunk_outgrows_does_not_wait_for_the_end(self):
        arguments = ("--algorithm", "rabin", "--size", "2K:8K:0", "--memory", "1M")
        self.assert_failed(self.run_command("chunk", *arguments, "/dev/zero"), "/dev/zero: the chunk at offset 0")

    def test_chunks_before_the_one_that_outgrows_are_listed(self):
        content = random_bytes(100_000) + bytes(2 * MIB)
        arguments = ("--algorithm", "rabin", "--size", "2K:8K:0", "--format", "lengths", "-")
        expected = read_lengths(self.run_command("chunk", *arguments, content=content).stdout)
        run = self.run_command("chunk", "--memory", "1M", *arguments, content=content)
        lengths = read_lengths(run.stdout)
        self.assertGreater(len(lengths), 3)
        self.assertEqual(lengths, expected[:-1])
        self.assert_failed(run, f"the chunk at offset {sum(lengths)} outgrows")
