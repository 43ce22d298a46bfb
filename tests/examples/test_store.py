"""Tests that examples/store keeps equal chunks once, returns every stream byte for byte, and passes no damage on."""

import random
import re

from examples import MIB, SOURCES, ExampleTest, program

noise = random.Random(7).randbytes(8 * MIB)


class Store(ExampleTest):
    def setUp(self):
        super().setUp()
        self.program = program("store", "store")

    def put(self, name: str, data: bytes) -> list[int]:
        """Returns the numbers that `put` prints: bytes of the stream, new ones, and stored ones."""
        return [int(number) for number in re.findall(rb"\d+", self.run_program(self.program, "put", "kept", name, input=data).stdout)]

    def ids(self) -> dict[str, str]:
        lines = self.run_program(self.program, "list", "kept").stdout.decode().splitlines()
        return {name: id for id, _, name in (line.split() for line in lines)}

    def get(self, id: str, code: int = 0) -> bytes:
        return self.run_program(self.program, "get", "kept", id, code=code).stdout

    def test_equal_chunks_are_kept_once_and_all_streams_come_back(self):
        second = noise[: 3 * MIB] + b"inserted" + noise[3 * MIB :]
        self.assertGreaterEqual(self.put("first", noise)[1], len(noise))
        self.assertLess(self.put("second", second)[1], MIB)
        self.assertEqual(self.put("nothing", b"")[0], 0)
        ids = self.ids()
        self.assertEqual(list(ids), ["first", "second", "nothing"])
        for name, data in ("first", noise), ("second", second), ("nothing", b""):
            self.assertEqual(self.get(ids[name]), data)

    def test_damage_is_named_and_not_passed_on(self):
        self.put("data", noise[:MIB])
        for path in (self.folder / "kept" / "containers").glob("*/*"):
            path.chmod(0o600)
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 1
            path.write_bytes(data)
        got = self.get("latest", code=1)
        self.assertLess(len(got), MIB)
        self.assertTrue(noise.startswith(got))

    def test_wrong_calls_are_refused(self):
        self.run_program(self.program, "get", "kept", code=2)
        self.run_program(self.program, "list", "kept", code=1)
        self.put("data", b"data")
        self.get("ffff" * 16, code=1)

    def test_it_is_one_page(self):
        self.assertLess(len((SOURCES / "store" / "store.cc").read_text().splitlines()), 80)
