"""Tests that little is needed to use Cutpoint: the example in C has one page, and its project file ten lines."""

import unittest

from examples import ExampleTest, SOURCES, program


class Consumer(ExampleTest):
    def test_the_example_in_c_is_under_sixty_lines(self):
        self.assertLess(len((SOURCES / "c" / "chunk_file.c").read_text().splitlines()), 60)

    def test_every_project_is_ten_lines_of_cmake(self):
        projects = sorted(SOURCES.glob("*/CMakeLists.txt"))
        self.assertEqual([path.parent.name for path in projects], ["c", "casync", "fastcdc2020", "store", "xet"])
        for path in projects:
            self.assertLessEqual(len(path.read_text().splitlines()), 10, path)

    def test_the_example_in_c_lists_chunks_that_cover_the_file(self):
        path = self.file("data", b"some bytes " * 100_000)
        lines = [line.split() for line in self.run_program(program("c", "chunk_file"), path).stdout.splitlines()]
        ends = [int(offset) + int(length) for offset, length, _ in lines]
        self.assertEqual([0, *ends[:-1]], [int(line[0]) for line in lines])
        self.assertEqual(ends[-1], path.stat().st_size)


if __name__ == "__main__":
    unittest.main()
