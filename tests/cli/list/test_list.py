"""`cutpoint list` is complete, is what `cutpoint chunk` accepts, and is the same as text and as JSON."""

import json
import math
import random

from catalog import as_number, bounded, entries, entries_to_run, listed, option_of, settings_of
from command import DONE, WRONG_USAGE, CommandTest

ENTRY = "name kind algorithm candidates source cuts reach_bytes behind_bytes lookahead_bytes parameters sized_cuts".split()
GIB = 1 << 30
FINGERPRINTS = {"none": 0, "sha1": 20, "sha256": 32, "sha512-256": 32, "md5": 16, "xxh3": 16, "blake3": 32}


class Json(CommandTest):
    def test_has_every_name_once_in_the_shape_that_programs_expect(self):
        self.assertEqual(list(listed()), ["version", "entries", "fingerprints", "back_ends", "missing_entries"])
        names = [entry["name"] for entry in entries()]
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual({"gear", "seqcdc-inc", "casync", "xet"}, set(names))
        kinds = [entry["kind"] for entry in entries()]
        self.assertEqual(kinds, sorted(kinds), "algorithms before profiles")
        sizes = {f["name"]: f["digest_bytes"] for f in listed()["fingerprints"]}
        self.assertEqual({name: sizes.get(name) for name in FINGERPRINTS}, FINGERPRINTS)
        self.assertIn("scalar", [backend["name"] for backend in listed()["back_ends"]])
        for entry in entries():
            self.assertEqual(list(entry), ENTRY)
            self.assertIn(entry["candidates"], ("windowed", "restarted", "walking"))
            self.assertTrue(entry["cuts"].startswith(entry["algorithm"] + "("), entry["cuts"])
            self.assertTrue(entry["source"] and entry["parameters"], entry["name"])
            for parameter in entry["parameters"]:
                self.assert_parameter(parameter)
            defaults = {p["name"]: p["default"] for p in entry["parameters"]}
            self.assertGreaterEqual(entry["reach_bytes"], defaults.get("max_bytes", 0), entry["name"])

    def assert_parameter(self, parameter):
        always = {"name", "kind", "meaning", "default", "fixed"}
        also = {"choice": {"choices"}, "key": set(), "secret": set()}.get(parameter["kind"], {"lowest", "highest"})
        self.assertEqual(set(parameter) - {"when_left_out", "rules"}, always | also, parameter)
        self.assertTrue(parameter["meaning"], parameter)
        self.assertIs(type(parameter["default"]), int if parameter["kind"] in ("size", "count") else str, parameter)
        if "lowest" in parameter:
            lowest, default, highest = (as_number(parameter[key]) for key in ("lowest", "default", "highest"))
            self.assertTrue(lowest <= default <= highest, parameter)
        self.assertIn(parameter["default"], parameter.get("choices", [parameter["default"]]))

    def test_of_one_name_is_its_entry(self):
        for name in ("gear", "casync"):
            run = self.run_command("list", "--json", name)
            self.assert_done(run)
            self.assertEqual(run.json(), next(entry for entry in entries() if entry["name"] == name))


class Names(CommandTest):
    """What is listed is what `chunk` does."""

    def cuts(self, *arguments):
        run = self.run_command("chunk", "-q", "--format", "jsonl", *arguments, "/dev/null")
        self.assert_done(run)
        return json.loads(run.lines[0])["cuts"]

    def test_stand_for_their_cuts_also_with_every_default_given(self):
        for entry in entries_to_run():
            settings = [word for setting in settings_of(entry) for word in ("--param", setting)]
            for options in ((), settings):
                self.assertEqual(self.cuts(option_of(entry["name"]), entry["name"], *options), entry["cuts"])

    def test_of_back_ends_are_taken(self):
        for backend in listed()["back_ends"]:
            if backend["runs_here"]:
                self.cuts("--backend", backend["name"])
            else:
                run = self.run_command("chunk", "--backend", backend["name"], "/dev/null")
                why = "cannot be used" if backend["name"] in ("cuda", "hybrid") else "does not run"
                self.assert_refused(run, f"'{backend['name']}' ", why)


class Bounds(CommandTest):
    """What is listed of a parameter tells what is accepted: values within the bounds that keep the rules."""

    @staticmethod
    def numbers(entry):
        return [parameter for parameter in entry["parameters"] if "lowest" in parameter]

    @staticmethod
    def is_kept(rule, value, values):
        other = values[rule["parameter"]] if "parameter" in rule else rule.get("value")
        if value == rule.get("or") or (rule.get("unless_zero") and other == 0):
            return True
        return {
            "at_least": lambda: value >= other,
            "at_most": lambda: value <= other,
            "more_than": lambda: value > other,
            "less_than": lambda: value < other,
            "power_of_two": lambda: value.bit_count() == 1,
            "even": lambda: value % 2 == 0,
            "odd": lambda: value % 2 == 1,
            "irreducible": lambda: True,
            "holds_window": lambda: 1 << value >= (1 << values["min_exp"]) + values["window"] + 1,
            "has_mask": lambda: value + round(math.log2(values["avg_bytes"])) <= rule["value"],
            "mean_of_bounds": lambda: value == (values["min_bytes"] + values["max_bytes"] + 1) // 2,
        }[rule["must"]]()

    def drawn(self, entry, draw):
        """Values of all numbers, each about as likely large as small; and whether the rules are kept."""
        values, has_mean = {}, False
        for parameter in self.numbers(entry):
            lowest, highest = as_number(parameter["lowest"]), as_number(parameter["highest"])
            musts = [rule["must"] for rule in parameter.get("rules", ())]
            if parameter["fixed"] or "irreducible" in musts:
                values[parameter["name"]] = as_number(parameter["default"])
                continue
            value = int(2 ** draw.uniform(math.log2(lowest or 1), math.log2(highest or 1)))
            if "power_of_two" in musts and draw.random() < 0.9:
                value = 1 << (value.bit_length() - 1)
            if "even" in musts and draw.random() < 0.9:
                value -= value % 2
            if "odd" in musts and draw.random() < 0.9:
                value |= 1
            values[parameter["name"]] = min(max(value, lowest), highest)
            if "mean_of_bounds" in musts:
                has_mean = draw.random() < 0.9
        if has_mean:
            values["avg_bytes"] = min(-(-(values["min_bytes"] + values["max_bytes"]) // 2), GIB)
        obeys = all(
            self.is_kept(rule, values[parameter["name"]], values)
            for parameter in self.numbers(entry)
            for rule in parameter.get("rules", ())
        )
        return values, obeys

    def is_accepted(self, entry, values):
        settings = [f"{p['name']}={values[p['name']]}" for p in bounded(entry)]
        words = [word for setting in settings for word in ("--param", setting)]
        run = self.run_command("chunk", option_of(entry["name"]), entry["name"], *words, "/dev/null")
        if "more than the memory allowed" in run.stderr:
            return True
        self.assertIn(run.code, (DONE, WRONG_USAGE), run)
        return run.code == DONE

    def test_and_rules_are_all_that_is_checked(self):
        draw = random.Random(8)
        for entry in entries_to_run():
            wanted = {True: 2, False: 1}
            for _ in range(3000):
                values, obeys = self.drawn(entry, draw)
                if wanted == {True: 0, False: 0}:
                    break
                if wanted[obeys] > 0:
                    wanted[obeys] -= 1
                    with self.subTest(entry=entry["name"], values=values):
                        self.assertEqual(self.is_accepted(entry, values), obeys)
            self.assertEqual(wanted[True], 0, entry["name"])


class Text(CommandTest):
    def test_has_every_name_and_says_which_back_ends_do_not_run_here(self):
        run = self.run_command("list")
        self.assert_done(run)
        lines = {line.split()[0]: line for line in run.lines if line.strip()}
        self.assertLessEqual({*(entry["name"] for entry in entries()), *FINGERPRINTS}, set(lines))
        for backend in listed()["back_ends"]:
            self.assertEqual("does not run here" in lines[backend["name"]], not backend["runs_here"])

    def test_of_one_name_has_every_parameter_and_bound(self):
        for entry in entries_to_run():
            run = self.run_command("list", entry["name"])
            self.assert_done(run)
            self.assertIn(entry["cuts"], run.stdout)
            for parameter in entry["parameters"]:
                self.assertIn(f"--param {parameter['name']}={parameter['default']}", run.stdout)
            for parameter in bounded(entry):
                if parameter["kind"] == "count":
                    self.assertIn(f"{parameter['lowest']} to {parameter['highest']}", run.stdout)
