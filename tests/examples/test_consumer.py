"""Tests that little is needed to use Cutpoint: the examples in C have one page, and a project file has ten lines (twenty for a GPU)."""


from examples import ExampleTest, SOURCES, program


class Consumer(ExampleTest):
    def test_the_examples_in_c_are_under_sixty_lines(self):
        for path in (SOURCES / "c").glob("*.c"):
            self.assertLess(len(path.read_text().splitlines()), 60, path)

    def test_every_project_is_ten_lines_of_cmake_or_twenty_for_a_gpu(self):
        projects = sorted(SOURCES.glob("*/CMakeLists.txt"))
        self.assertEqual([path.parent.name for path in projects], ["c", "casync", "checkpoints", "device", "fastcdc2020", "storage", "store", "xet"])
        for path in projects:
            self.assertLessEqual(len(path.read_text().splitlines()), 20 if path.parent.name in ("checkpoints", "device") else 10, path)

    def test_the_example_in_c_lists_chunks_that_cover_the_file(self):
        path = self.file("data", b"some bytes " * 100_000)
        lines = [line.split() for line in self.run_program(program("c", "chunk_file"), path).stdout.splitlines()]
        ends = [int(offset) + int(length) for offset, length, _ in lines]
        self.assertEqual([0, *ends[:-1]], [int(line[0]) for line in lines])
        self.assertEqual(ends[-1], path.stat().st_size)

    def test_the_example_in_c_serves_sixteen_clients(self):
        lines = self.run_program(program("c", "appliance")).stdout.decode().splitlines()
        self.assertEqual(len(lines), 16)
        for number, line in enumerate(lines):
            self.assertRegex(line, rf"\A *{number}: {64 << 20} bytes, [1-9]\d* chunks, cut by \S+ +\Z")

    def test_the_example_in_c_backs_up_lists_and_restores(self):
        tree = self.folder / "tree"
        (tree / "sub").mkdir(parents=True)
        (tree / "sub" / "file").write_bytes(b"some bytes " * 100_000)
        for target in "first", "second":  # the second backup finds a store
            lines = self.run_program(program("c", "back_up"), "store", target, tree).stdout.decode().splitlines()
            self.assertRegex(lines[0], r"\A[0-9a-f]{64}\Z")
            self.assertRegex(lines[1], r"\A1100000 bytes, \d+ stored anew\Z")
            self.assertRegex(lines[-1], rf"\A0\d{{3}} +1100000 {tree}/sub/file\Z")
            restored = self.folder / target / tree.relative_to("/") / "sub" / "file"
            self.assertEqual(restored.read_bytes(), (tree / "sub" / "file").read_bytes())
        done = self.run_program(program("c", "back_up"), "store", "third", self.folder / "gone", code=1)
        self.assertRegex(done.stderr, "io_error: .*gone")
