"""README.md and docs/command.md name what the command has, and nothing else, and what README.md shows is what the command does."""

import json
import os
import re
import subprocess
from pathlib import Path

from command import BINARY, CommandTest, subcommands

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text()


class Documents(CommandTest):
    def setUp(self):
        super().setUp()
        self.listed = json.loads(self.run_command("list", "--json").stdout)

    def entries(self, kind: str) -> list[str]:
        return sorted(entry["name"] for entry in self.listed["entries"] if entry["kind"] == kind)

    def test_the_readme_says_how_many_algorithms_profiles_and_fingerprints_there_are(self):
        named = [each for each in self.listed["fingerprints"] if each["name"] != "none"]
        counts = {"algorithms": len(self.entries("algorithm")), "profiles": len(self.entries("profile")), "fingerprints": len(named)}
        for word, count in counts.items():
            self.assertEqual({int(said) for said in re.findall(rf"(\d+) {word}", README)}, {count}, word)

    def test_the_readme_names_only_what_there_is(self):
        sentence = re.search(r"^`cutpoint list` shows .*?\n\n", README, re.MULTILINE | re.DOTALL)[0].partition("All back ends")
        names = {*self.entries("algorithm"), *self.entries("profile"), *(each["name"] for each in self.listed["fingerprints"])}
        self.assertLessEqual(set(re.findall(r"`([\w-]+)`", sentence[0])), names)
        self.assertLessEqual({each["name"] for each in self.listed["back_ends"]}, set(re.findall(r"`([\w-]+)`", sentence[2])))

    def test_the_page_of_the_command_has_all_commands(self):
        text = (ROOT / "docs/command.md").read_text()
        table = text[text.index("| command |") :].partition("\n\n")[0]
        first_column = "".join(line.split("|")[1] for line in table.splitlines()[2:])
        self.assertEqual(sorted(re.findall(r"`(\w+)", first_column)), sorted(subcommands()))

    def test_the_pages_have_all_keys_of_the_schemas(self):
        """Those of the trace are Chrome's."""
        pages = "".join((ROOT / f"docs/{page}.md").read_text() for page in ("json", "dedup", "command", "store-commands", "tune"))
        names = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`\n]*)`", pages))))
        for path in sorted((ROOT / "docs/schemas").glob("*.json")):
            if path.name != "trace.schema.json":
                self.assertEqual(keys_of(json.loads(path.read_text())) - names, set(), path.name)

    def test_the_pages_have_all_options_of_copy(self):
        pages = (ROOT / "docs/store.md").read_text() + (ROOT / "docs/store-commands.md").read_text()
        options = set(re.findall(r"--from-[a-z-]+", self.run_command("copy", "--help").stdout))
        self.assertEqual({option for option in options if f"`{option}`" not in pages}, set())


class Examples(CommandTest):
    """The examples of README.md, on small folders in place of theirs."""

    def block(self, language: str, about: str) -> list[str]:
        blocks = re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
        matching, = (block for block in blocks if about in block)
        return matching.splitlines()

    def shown(self, line: str) -> str:
        """What the command prints for a line of an example."""
        (self.folder / "home").mkdir(exist_ok=True)
        environment = {**os.environ, "HOME": str(self.folder / "home"), "CUTPOINT_STORE": str(self.folder / "srv/store"), "LC_ALL": "C.UTF-8"}
        words = re.sub("/(srv|tmp)/", rf"{self.folder}/\1/", line.partition("#")[0])
        words = words.replace("cutpoint bench", "cutpoint bench --cpu --bytes 64K --rounds 1")
        script = f'cutpoint() {{ "{BINARY}" "$@"; }}\nset -o pipefail\n{words}'
        run = subprocess.run(["bash", "-c", script], cwd=self.folder, env=environment, text=True, capture_output=True)
        self.assertEqual(run.returncode, 0, f"{line}\n{run.stderr}")
        return (run.stderr + run.stdout).replace(f"{self.folder}/", "/")

    def test_of_backups_print_what_they_show(self):
        for number in range(3):
            self.write(f"srv/data/folder{number}/file", os.urandom(100_000))
        lines = self.block("console", "cutpoint backup")
        for place, line in enumerate(lines):
            if not line.startswith("$ "):
                continue
            if "changed" in line:
                self.write("srv/data/folder1/file", os.urandom(100_000))
            shown = [lines[i] for i in range(place + 1, len(lines)) if all(not after.startswith("$ ") for after in lines[place + 1 : i + 1])]
            self.assertEqual(without_numbers(self.shown(line[2:])), without_numbers("\n".join(shown)), line)

    def test_of_usage_run(self):
        for name in ("DISK.img", "BACKUPS/a", "PATH/b", "FILE"):
            self.write(name, os.urandom(300_000))
        for line in self.block("sh", "cutpoint bench"):
            if not line.startswith("cutpoint-ray"):  # which is of the Python package, and has tests there
                self.assertTrue(self.shown(line), line)


def without_numbers(text: str) -> list[str]:
    """Lines without their numbers, ids, units and plural endings."""
    text = re.sub(r"\b[0-9a-f]{12,64}\b", "ID", text)
    text = re.sub(r"\d[\d,.]*( [KMGT]?i?B\b)?", "N", text)
    return [re.sub(r"(N \w+?)s\b", r"\1", line).rstrip() for line in text.splitlines()]


def keys_of(schema) -> set[str]:
    """The names of all properties in a schema."""
    if isinstance(schema, list):
        return set().union(*map(keys_of, schema))
    if not isinstance(schema, dict):
        return set()
    properties = schema.get("properties", {})
    return set(properties).union(*map(keys_of, schema.values()), *map(keys_of, properties.values()))
