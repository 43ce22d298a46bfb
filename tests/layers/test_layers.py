"""Tests that the sources keep to the include rule, and that its check finds violations."""

import pathlib
import tempfile
import unittest

import layers

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Layers(unittest.TestCase):
    def problems_with(self, files: dict[str, str]) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return layers.all_problems(pathlib.Path(folder))

    def test_the_sources_keep_to_the_layers(self):
        self.assertEqual(layers.all_problems(ROOT), [])

    def test_the_check_sees_the_sources(self):
        for folder in ("host", "cuda", "pipeline", "cli", "bindings/c"):
            self.assertTrue(any((ROOT / folder).rglob("*.h")), folder)

    def test_a_layer_may_include_what_is_below(self):
        files = {"host/a.h": "", "cuda/b.h": '#include "host/a.h"\n#include <vector>\n', "pipeline/c.cc": '#include "cuda/b.h"\n'}
        self.assertEqual(self.problems_with(files), [])

    def test_a_layer_may_not_include_what_is_above_or_beside(self):
        for above, below in (("pipeline", "host"), ("cuda", "simd"), ("store", "cluster"), ("cluster", "pipeline"), ("cli", "pipeline"), ("pipeline", "cli"), ("tests", "host")):
            files = {f"{above}/a.h": "", f"{below}/b.cc": f'#include "{above}/a.h"\n'}
            self.assertEqual(len(self.problems_with(files)), 1, (above, below))

    def test_what_uses_the_library_sees_public_headers_only(self):
        for user in ("cli", "bindings/c"):
            files = {"host/include/cutpoint/a.h": "", "host/b.h": "", f"{user}/c.cc": "#include <cutpoint/a.h>\n"}
            self.assertEqual(self.problems_with(files), [])
            self.assertEqual(len(self.problems_with({**files, f"{user}/d.cc": '#include "host/b.h"\n'})), 1)

    def test_a_lower_layer_may_not_include_a_public_header_of_a_higher_one(self):
        files = {"pipeline/include/cutpoint/a.h": "", "host/b.cc": "#include <cutpoint/a.h>\n"}
        self.assertEqual(len(self.problems_with(files)), 1)

    def test_public_headers_include_no_third_party(self):
        files = {"host/include/cutpoint/a.h": "#include <fmt/format.h>\n"}
        self.assertEqual(len(self.problems_with(files)), 1)

    def test_one_public_header_is_over_thrust(self):
        for name, include, problems in (("cuda_dedup.h", "thrust/sort.h", 0), ("cuda_dedup.h", "fmt/format.h", 1), ("cuda.h", "thrust/sort.h", 1)):
            files = {f"cuda/include/cutpoint/{name}": f"#include <{include}>\n"}
            self.assertEqual(len(self.problems_with(files)), problems, (name, include))

    def test_the_standard_library_has_headers_of_c(self):
        self.assertEqual(self.problems_with({"bindings/c/include/cutpoint/a.h": "#include <stdint.h>\n"}), [])

    def test_public_headers_include_nothing_private(self):
        files = {"host/b.h": "", "host/include/cutpoint/a.h": '#include "host/b.h"\n'}
        self.assertEqual(len(self.problems_with(files)), 1)

    def test_includes_are_paths_from_the_root(self):
        self.assertEqual(len(self.problems_with({"host/a.h": "", "host/b.cc": '#include "a.h"\n'})), 1)

    def test_launches_stand_in_cuda_files_only(self):
        self.assertEqual(len(self.problems_with({"cuda/a.h": "kernel<<<1, 2>>>();\n"})), 1)
        self.assertEqual(self.problems_with({"cuda/a.cu": "kernel<<<1, 2>>>();\n"}), [])

    def test_a_folder_includes_only_folders_of_earlier_rows_of_its_layer(self):
        page = "# A\n\n## Folders\n\n| `host/low/` | a |\n| `host/one/`, `host/two/` | b |\n| `host/` | c |\n| `host/high/` | d |\n"
        for including, included, problem_count in (
            ("host/one", "host/low", 0),
            ("host/one", "host/one", 0),
            ("host", "host/two", 0),
            ("host/high", "host", 0),
            ("host/low", "host/one", 1),
            ("host/one", "host/two", 1),
            ("host/one", "host", 1),
            ("host/high", "host/unnamed", 1),
            ("host/unnamed", "host/low", 1),
        ):
            files = {"docs/architecture.md": page, f"{included}/a.h": "", f"{including}/b.cc": f'#include "{included}/a.h"\n'}
            self.assertEqual(len(self.problems_with(files)), problem_count, (including, included))

    def test_the_page_has_the_order_of_all_layers(self):
        layers_with_order = {name.split("/")[0] for name in layers.folder_order((ROOT / "docs/architecture.md").read_text())}
        self.assertEqual(layers_with_order, {*(name.split("/")[0] for name in layers.MAY_INCLUDE), "bench"})


if __name__ == "__main__":
    unittest.main()
