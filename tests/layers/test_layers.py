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

    def test_the_rules_are_kept(self):
        public, private = {"host/include/cutpoint/a.h": ""}, {"host/b.h": ""}
        forbidden = (("pipeline", "host"), ("cuda", "simd"), ("store", "cluster"), ("cluster", "pipeline"), ("cli", "pipeline"), ("pipeline", "cli"), ("tests", "host"))
        for problem_count, files in (
            (0, {"host/a.h": "", "cuda/b.h": '#include "host/a.h"\n#include <vector>\n', "pipeline/c.cc": '#include "cuda/b.h"\n'}),  # layers below
            *((1, {f"{above}/a.h": "", f"{below}/b.cc": f'#include "{above}/a.h"\n'}) for above, below in forbidden),
            *((0, {**public, f"{user}/c.cc": "#include <cutpoint/a.h>\n"}) for user in ("cli", "bindings/c")),
            *((1, {**private, f"{user}/c.cc": '#include "host/b.h"\n'}) for user in ("cli", "bindings/c")),
            (1, {"pipeline/include/cutpoint/a.h": "", "host/b.cc": "#include <cutpoint/a.h>\n"}),  # a public header of a higher layer
            # Public headers include the standard library and each other. One is over Thrust.
            (0, {"bindings/c/include/cutpoint/a.h": "#include <stdint.h>\n"}),
            (1, {"host/include/cutpoint/a.h": "#include <fmt/format.h>\n"}),
            (0, {"cuda/include/cutpoint/cuda_dedup.h": "#include <thrust/sort.h>\n"}),
            (1, {"cuda/include/cutpoint/cuda_dedup.h": "#include <fmt/format.h>\n"}),
            (1, {"cuda/include/cutpoint/cuda.h": "#include <thrust/sort.h>\n"}),
            (1, {**private, "host/include/cutpoint/a.h": '#include "host/b.h"\n'}),
            (1, {"host/a.h": "", "host/b.cc": '#include "a.h"\n'}),  # no path from the root
            (1, {"cuda/a.h": "kernel<<<1, 2>>>();\n"}),
            (0, {"cuda/a.cu": "kernel<<<1, 2>>>();\n"}),
        ):
            self.assertEqual(len(self.problems_with(files)), problem_count, files)

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
