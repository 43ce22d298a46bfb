"""The binary interface for C (functions, numbers, offsets of fields) equals binary_interface.txt, for 64 bits. Lines may be added to this
file. A line that is changed or removed breaks compiled programs and needs another SOVERSION."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
INCLUDES = HERE.parents[2] / "bindings" / "c" / "include"
HEADERS = ("cutpoint/cutpoint.h", "cutpoint/cutpoint_store.h", "cutpoint/cutpoint_cuda.h")
RECORD = HERE / "binary_interface.txt"
NEVER_GROW = ("cutpoint_error", "cutpoint_chunk", "cutpoint_attribute", "cutpoint_device_rates")


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def fields_of(body: str) -> list[str]:
    """The names that the declarations of a structure declare."""
    names = []
    for declaration in filter(None, (each.strip() for each in body.split(";"))):
        match = re.search(r"\(\*(\w+)\)\(", declaration) or re.search(r"(\w+)(?:\[\d+\])?$", declaration)
        names.append(match[1])
    return names


def program(path: str, header: str) -> str:
    """One that prints a line for each number and each field of a header."""
    lines = []
    for enumeration in re.findall(r"enum\s*{(.*?)}", header, re.DOTALL):
        for name in re.findall(r"\b(CUTPOINT_\w+)\s*=", enumeration):
            lines.append(f'printf("{name} %d\\n", {name});')
    for name, body in re.findall(r"typedef struct (\w+)\s*{(.*?)}\s*\1;", header, re.DOTALL):
        if name in NEVER_GROW:
            lines.append(f'printf("{name} %zu bytes\\n", sizeof({name}));')
        for field in fields_of(body):
            size = f"sizeof((({name}*)0)->{field})"
            lines.append(f'printf("{name}.{field} at %zu, %zu bytes\\n", offsetof({name}, {field}), {size});')
    body = "\n".join(lines)
    return f"#include <{path}>\n#include <stdio.h>\nint main(void) {{\n{body}\nreturn 0;\n}}\n"


def interface_of(path: str) -> list[str]:
    header = without_comments((INCLUDES / path).read_text())
    with tempfile.TemporaryDirectory() as folder:
        built = pathlib.Path(folder) / "program"
        words = [os.environ["CUTPOINT_CC"], "-std=c99", "-I", str(INCLUDES), "-x", "c", "-", "-o", str(built)]
        subprocess.run(words, input=program(path, header), text=True, check=True)
        printed = subprocess.run([built], capture_output=True, text=True, check=True).stdout.splitlines()
    functions = re.findall(r"^CUTPOINT_API ([^;]*);", header, re.MULTILINE)
    return [*printed, *(re.sub(r"\s+", " ", function) for function in functions)]


class BinaryInterface(unittest.TestCase):
    def test_is_as_recorded(self):
        current = [line for path in HEADERS for line in interface_of(path)]
        self.assertGreater(len(current), 190)
        self.assertEqual(current, RECORD.read_text().splitlines())

    def test_a_moved_field_shows(self):
        self.assertIn("cutpoint_chunk.digest at 40, 32 bytes", interface_of(HEADERS[0]))
        self.assertEqual(fields_of("uint64_t a; int (*b)(void* c, uint64_t d); char e[5];"), ["a", "b", "e"])


if __name__ == "__main__":
    unittest.main()
