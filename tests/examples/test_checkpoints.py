"""Tests examples/checkpoints by Thrust's C++ back end: files come back byte for byte, and the page's savings are measured."""

import json
import os
import re
import struct

import synthetic_checkpoints as synthetic
from examples import SOURCES, ExampleTest, program

PAGE = SOURCES.parent / "docs" / "checkpoints.md"
LINE = re.compile(r": (\d+) bytes, (\d+) chunks, (\d+) new, (\d+) bytes copied$")
FIXED, DEFINED = "fixed(avg_bytes=64K)", "fastcdc(avg_bytes=64K)"
ALL_CASES = bool(os.environ.get("CUTPOINT_ALL_CASES"))


def page_rows(heading: str) -> dict[str, list[str]]:
    """Returns the rows of the table below a heading of the page: the first cell, and the others."""
    section = PAGE.read_text().partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = (line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| "))
    return {name: cells for name, *cells in rows}


class Checkpoints(ExampleTest):
    def setUp(self):
        super().setUp()
        self.program = program("checkpoints", "checkpoint_dedup")

    def write(self, name: str, tensors, **options):
        return synthetic.write(self.folder / f"{name}.safetensors", tensors, **options)

    def lines(self, *words) -> list[list[int]]:
        """Returns for each checkpoint its bytes, its chunks, the new ones, and the bytes that were copied."""
        said = self.run_program(self.program, *words).stdout.decode().splitlines()
        return [[int(number) for number in LINE.search(line).groups()] for line in said]


class Copies(Checkpoints):
    def small(self):
        base = {f"t{i}": synthetic.random_tensor(f"t{i}", 300_001 + i, "small") for i in range(6)}
        base["twice"] = base["t3"]
        base["empty"] = b""
        return base, {**base, "t2": synthetic.random_tensor("t2", 300_003, "other")}

    def restored(self, paths, *options) -> list[bytes]:
        """Puts the files together from the pack and the recipe."""
        lines = self.lines("--pack", "pack", "--recipe", "recipe", *options, *paths)
        pack = (self.folder / "pack").read_bytes()
        self.assertEqual(len(pack), sum(copied for _, _, _, copied in lines))
        recipe = [line.split() for line in (self.folder / "recipe").read_text().splitlines()]
        self.assertEqual(len(recipe), sum(chunks for _, chunks, _, _ in lines))
        stored, at, every = {}, 0, b""
        for digest, length in recipe:
            if digest not in stored:
                stored[digest] = pack[at : at + int(length)]
                at += int(length)
            every += stored[digest]
        self.assertEqual(at, len(pack))
        self.assertEqual(len(stored), sum(new for _, _, new, _ in lines))
        ends = [sum(size for size, *_ in lines[: i + 1]) for i in range(len(lines))]
        return [every[begin:end] for begin, end in zip([0, *ends], ends)]

    def test_files_come_back_from_what_was_copied(self):
        base, tuned = self.small()
        paths = [self.write("base", base), self.write("tuned", tuned), self.write("base again", base)]
        for options in ((), ("--whole",), ("--cuts", "fixed(avg_bytes=4K)"), ("--cuts", "gear(avg_bytes=1K)")):
            with self.subTest(options):
                self.assertEqual(self.restored(paths, *options), [path.read_bytes() for path in paths])

    def test_only_a_changed_tensor_is_copied(self):
        base, tuned = self.small()
        first, second, third = self.lines(*(self.write(name, tensors) for name, tensors in (("a", base), ("b", tuned), ("c", base))))
        self.assertEqual(first[0] - first[3], len(base["t3"]))  # stored twice in the file
        self.assertEqual(second[3], len(tuned["t2"]))
        self.assertEqual(third[2:], [0, 0])

    def test_files_that_break_the_format_are_named(self):
        def header(text: bytes, data: bytes = b"") -> bytes:
            return struct.pack("<Q", len(text)) + text + data

        def tensors(*ranges) -> bytes:
            return header(json.dumps({str(i): {"data_offsets": each} for i, each in enumerate(ranges)}).encode(), bytes(10))

        broken = {
            "shorter than the length": b"1234567", "a header of 255 bytes in a file of 8": b"\xff" + bytes(7),
            "no object of JSON": header(b"[]"), "no object": header(b"{"), "no data_offsets": header(b'{"a":{}}'),
            "two numbers": tensors([0, -1]), "ends before it begins": tensors([5, 4]), "0 to 11": tensors([0, 11]),
            "5 to 10": tensors([0, 4], [5, 10]), "4 to 10": tensors([0, 5], [4, 10]), "end at byte": tensors([0, 9]),
        }
        for words, data in broken.items():
            with self.subTest(words):
                path = self.file("broken", data)
                self.assertIn(f"{path}: not safetensors: ", (done := self.run_program(self.program, path, code=1)).stderr)
                self.assertIn(words, done.stderr)
        self.assertIn("none: cannot be opened", self.run_program(self.program, "none", code=1).stderr)
        for words in ((), ("--pack",), ("--no-such", "x"), ("--cuts", "x(", "y")):
            self.run_program(self.program, *words, code=2)


class Page(Checkpoints):
    """The tables of docs/checkpoints.md: some rows of each, or all where all generated cases run."""

    def saved(self, first, second, *options) -> str:
        """Returns what share of the second checkpoint's bytes was not copied."""
        sizes = self.lines(*options, *first, *second)[len(first) :]
        return f"{100 * (1 - sum(copied for *_, copied in sizes) / sum(size for size, *_ in sizes)):.1f} %"

    def expect_row(self, heading: str, name: str, first, second):
        measured = [self.saved(first, second, "--cuts", cuts, *whole) for cuts in (FIXED, DEFINED) for whole in (("--whole",), ())]
        self.assertEqual(page_rows(heading)[name], measured, name)

    def test_the_savings_are_those_of_the_page(self):
        base, frozen = synthetic.model(), synthetic.is_frozen
        tuned = synthetic.trained(base, "tuned", frozen)
        names = list(tuned)
        halves = [{name: base[name] for name in names[: len(names) // 2]}, {name: base[name] for name in names[len(names) // 2 :]}]
        metadata = {"format": "pt", "run": "fine-tuning of 26 November"}
        rows = {
            "fine-tuning, every weight changed": lambda: [self.write("b", synthetic.trained(base, "all"))],
            "fine-tuning, embedding and 8 of 12 layers frozen": lambda: [self.write("b", tuned)],
            "the same, with a longer header": lambda: [self.write("b", tuned, metadata=metadata)],
            "the same, with 16 words more": lambda: [self.write("b", synthetic.with_more_rows(tuned, 16))],
            "the base again, in two files": lambda: [self.write(f"half{i}", half) for i, half in enumerate(halves)],
        }
        first = [self.write("base", base)]
        for name in rows if ALL_CASES else ("the same, with 16 words more",):
            self.expect_row("Savings", name, first, rows[name]())

    def test_the_savings_with_optimizer_state_are_those_of_the_page(self):
        weights = {name: data for name, data in synthetic.model().items() if name == "embedding" or name[6:8] in ("00", "11")}
        rows = {"embedding and one of two layers frozen": synthetic.is_frozen, "every weight trained": lambda name: False}
        for name in rows if ALL_CASES else list(rows)[:1]:
            frozen = rows[name]
            first, second = (
                [self.write(step, synthetic.with_optimizer(synthetic.trained(weights, step, frozen), step, frozen))]
                for step in ("step 1000", "step 2000")
            )
            self.expect_row("Savings with the optimizer's state", name, first, second)

    def test_the_savings_by_length_of_chunks_are_those_of_the_page(self):
        base = {"embedding": synthetic.model()["embedding"]}
        first, second = [self.write("base", base)], [self.write("changed", synthetic.with_changed_rows(base, 0.05))]
        for size in ("2K", "8K", "16K", "64K") if ALL_CASES else ("8K",):
            measured = [self.saved(first, second, "--cuts", f"{cuts}(avg_bytes={size})") for cuts in ("fixed", "fastcdc")]
            self.assertEqual(page_rows("Savings by length of chunks")[f"{size[:-1]} KiB"][-2:], measured, size)
