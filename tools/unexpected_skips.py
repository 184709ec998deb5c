"""Which tests were skipped, and which of them tests/expected_skips.txt does not expect: tools/run-tests."""
import fnmatch
import os
import pathlib
import re
import sys
import xml.etree.ElementTree as tree

SOURCE = pathlib.Path(__file__).resolve().parents[1]
EXPECTED = SOURCE / "tests/expected_skips.txt"


def skipped_of_program(output):
    """Of a GoogleTest program's output: each skipped test and its reason."""
    reason = ""
    for line in output.splitlines():
        if reason is None:
            reason = line
        elif line.endswith(": Skipped"):
            reason = None
        elif skipped := re.match(r"\[  SKIPPED \] (\S+) \(\d+ ms\)$", line):
            yield skipped[1], reason
            reason = ""


def skipped_of_script(name, output):
    """Of a script's output, that is no skip itself: tests of unittest."""
    for line in output.splitlines():
        if skipped := re.search(r"^(\w+) \(.*\.\.\. skipped (['\"])(.*)\2$", line):
            yield f"{name}: {skipped[1]}", skipped[3]


def skipped_tests(results):
    """(name, reason) of each; and programs that ended before their last test."""
    skipped, early = [], []
    for case in tree.parse(results).getroot().iter("testcase"):
        name, output = case.get("name"), case.findtext("system-out") or ""
        if ".part_" in name:  # a whole program's tests
            if case.get("status") == "run" and not re.search(r"^\[==========\] .* ran\.", output, re.MULTILINE):
                early.append(name)
            skipped += skipped_of_program(output)
        elif case.get("status") in ("notrun", "disabled") or case.find("skipped") is not None:
            said = re.search(r"Skipped\n(.+)|^SKIPPED: *(.+)$", output, re.MULTILINE)
            skipped.append((name, next((part.strip() for part in said.groups() if part), "") if said else ""))
        else:
            skipped += skipped_of_script(name, output)
    return skipped, early


def expectations(text):
    """(when, name, reason) of each line; ValueError for one that is none."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(" | ")]
        if len(parts) != 3 or not re.fullmatch(r"always|ordinary|sanitized|without \w+", parts[0]):
            raise ValueError(f"tests/expected_skips.txt:{number}: found \"{line}\"; expected WHEN | NAME | REASON")
        yield parts


def unexpected(skipped, text, sanitized, demanded):
    """Those of `skipped` that no line of the list's text expects."""
    holds = []
    for when, name, reason in expectations(text):
        without = when.removeprefix("without ") if when.startswith("without ") else None
        if when == "always" or when == ("sanitized" if sanitized else "ordinary") or (without and (sanitized or without not in demanded)):
            holds.append((name, reason))
    return [(name, reason) for name, reason in skipped
            if not any(fnmatch.fnmatchcase(name, a) and fnmatch.fnmatchcase(reason, b) for a, b in holds)]


def main():
    folder = pathlib.Path(sys.argv[1])
    skipped, early = skipped_tests(folder / "test-results.xml")
    cache = folder / "CMakeCache.txt"
    sanitized = cache.exists() and "-fsanitize=" in cache.read_text(errors="replace")
    surprises = unexpected(skipped, EXPECTED.read_text(), sanitized, os.environ.get("ECHOFORM_EXPECT", "").split(","))
    print("Skipped:" if skipped else "Nothing was skipped.")
    for name, reason in skipped:
        print(f"  {name}: {reason}")
    for name in early:
        print(f"{name}: ended before its last test")
    for name, reason in surprises:
        print(f"{name}: skipped (\"{reason}\"), and tests/expected_skips.txt does not expect it")
    sys.exit(1 if early or surprises else 0)


if __name__ == "__main__":
    main()
