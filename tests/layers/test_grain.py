"""Tests that the sources are no slivers, and that their check finds planted ones."""

import pathlib
import tempfile
import unittest

import grain

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONG = "// A file of some length.\n" + "int x;\n" * 140


class Grain(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def problems_with(self, files: dict[str, str]) -> list[str]:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return grain.all_problems(self.root)

    def test_the_sources_are_no_slivers(self):
        self.assertEqual(grain.all_problems(ROOT), [])

    def test_the_check_sees_the_sources(self):
        for layer in grain.LAYERS:
            self.assertTrue(grain.sources(ROOT, (layer,), {".cc", ".h", ".cu", ".py"}), layer)

    def test_every_room_is_there(self):
        self.assertEqual([room for room in grain.ROOMS if not (ROOT / room).is_dir()], [])

    def test_a_layer_of_slivers_is_seen(self):
        long = {f"store/a/{i}.cc": LONG for i in range(grain.FEWEST_SOURCES)}
        self.assertEqual(self.problems_with(long), [])
        self.assertEqual(len(self.problems_with({f"store/b/{i}.cc": "// A sliver.\n" for i in range(2)})), 1)

    def test_rooms_public_headers_and_markers_of_packages_are_not_counted(self):
        long = {f"cli/a/{i}.cc": LONG for i in range(grain.FEWEST_SOURCES)}
        short = {f"cli/store/{i}.cc": "// A sliver.\n" for i in range(50)} | {f"cli/include/cutpoint/{i}.h": "// A sliver.\n" for i in range(50)}
        self.assertEqual(self.problems_with(long | short | {f"cli/{i}/__init__.py": "" for i in range(50)}), [])

    def test_a_header_with_one_user_and_without_a_reason_is_seen(self):
        header, use = "// A header.\n{}#pragma once\n", '#include "host/core/a.h"\n'
        for files, problem_count in (
            ({"host/core/a.h": header.format(""), "host/core/a.cc": use}, 1),
            ({"host/io/b.cc": use}, 1),
            ({"host/core/a.h": header.format("//\n// Apart.\n")}, 1),
            ({"host/core/a.h": header.format("//\n// Apart because the user is generated.\n")}, 0),
            ({"host/core/a.h": header.format(""), "tests/host/core/a_test.cc": use}, 0),
        ):
            self.assertEqual(len(self.problems_with(files)), problem_count, files)


if __name__ == "__main__":
    unittest.main()
