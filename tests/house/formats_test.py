"""Formats of recordings and images stand in their tables: what else names them by hand agrees with these.

  formats_test.py SOURCE

docs/formats.md is what the tables say; tests/formats/formats_test.cpp compares it with them.
"""
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
if not (SOURCE / "CMakeLists.txt").is_file():
    print(f"{SOURCE} holds no sources to read: a bundle does not bring them")
    sys.exit(77)

EXTENSION = re.compile(r"`(\.\w+)`")


def text_of(name):
    return (SOURCE / name).read_text(encoding="utf-8")


def rows_below(text, heading):
    """Cells of the rows of the first table below a heading."""
    lines = text[text.index(heading):].split("\n| --- ", 1)[1].splitlines()[1:]
    end = next((number for number, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[:end]]


def in_order(extensions):
    return list(dict.fromkeys(extensions))


class Formats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        page = text_of("docs/formats.md")
        cls.recordings, cls.images = rows_below(page, "## Recordings"), rows_below(page, "## Images and volumes")
        cls.read = in_order(extension for row in cls.recordings for extension in EXTENSION.findall(row[0]))
        cls.drawn = [EXTENSION.findall(row[0])[0] for row in cls.images]
        cls.sources = {path: path.read_text(encoding="utf-8") for path in sorted((SOURCE / "formats").glob("*.cpp"))}

    def entries(self, kind, suffix, table):
        """{name: the text of its entry}"""
        names = re.findall(r"^ *FORMAT\((\w+)\)", text_of(table), re.MULTILINE)
        self.assertTrue(names)
        found = {}
        for text in self.sources.values():
            found.update(re.findall(rf"^constinit const {kind} (\w+){suffix}\{{(.*?)^\}};", text, re.MULTILINE | re.DOTALL))
        self.assertEqual(sorted(names), sorted(found), "a line of the table is an entry, and an entry a line")
        return {name: found[name] for name in names}

    def test_the_page_has_a_row_for_each_entry(self):
        for entries, rows in ((self.entries("RecordingFormat", "_format", "formats/recording_formats.hpp"), self.recordings),
                              (self.entries("ImageFormat", "_image_format", "formats/image_formats.hpp"), self.images)):
            meanings = [re.search(r'\.meaning = "(.*?)"', entry)[1] for entry in entries.values()]
            self.assertEqual([row[-2] if rows is self.images else row[2] for row in rows], meanings, "run: echoform info --formats > docs/formats.md")

    def test_the_readme_leads_to_the_page(self):
        bullet, = [text for text in re.split(r"\n- ", text_of("README.md")) if text.startswith("Recordings in ")]
        self.assertIn("(docs/formats.md)", bullet)
        examples = EXTENSION.findall(bullet)
        self.assertTrue(examples)
        self.assertLessEqual(set(examples), {*self.read, *self.drawn}, "formats that are no longer there")

    def test_the_tables_of_commands_agree(self):
        page = text_of("docs/command-line.md")
        converted = {extension for row in rows_below(page, "| from \\ to |") for extension in EXTENSION.findall(row[0])}
        self.assertLessEqual(converted, set(self.read), "formats that are no longer there")
        self.assertEqual(sorted(row[0].strip("`") for row in rows_below(page, "| file | holds |")), sorted(self.drawn))

    def test_every_format_has_a_fuzzer_and_every_fuzzer_a_format(self):
        named = set()
        for name, entry in self.entries("RecordingFormat", "_format", "formats/recording_formats.hpp").items():
            fuzzers = re.findall(r'"(\w+)"', re.search(r"\.fuzzers = \{(.*?)\}", entry)[1])
            self.assertTrue(fuzzers, name)
            for fuzzer in fuzzers:
                named.add(fuzzer)
                self.assertRegex(text_of(f"tests/fuzz/{fuzzer}_fuzz.cpp"), rf"\b{name}_format\b", "reads that format")
        # tests/fuzz/CMakeLists.txt finds these by the same line.
        reads = {path.name.removesuffix("_fuzz.cpp") for path in (SOURCE / "tests/fuzz").glob("*_fuzz.cpp")
                 if '#include "formats/recording_formats.hpp"' in path.read_text(encoding="utf-8")}
        self.assertEqual(reads, named)

    def test_what_they_need_is_installed(self):
        installed = set(text_of("tools/install-packages").replace('"', " ").split())
        for row in self.recordings + self.images:
            for package in row[-1].split():
                self.assertIn(package, installed, row[0])

    def test_the_rest_of_the_program_asks_the_tables(self):
        literal = re.compile("|".join(f'"{re.escape(extension)}"' for extension in in_order(self.read + self.drawn)))
        built = re.findall(r"^ *add_subdirectory\((\w+)\)", text_of("CMakeLists.txt"), re.MULTILINE)
        self.assertIn("apps", built)
        found = [f"{path.relative_to(SOURCE)}: {word}" for room in built if room not in ("formats", "tests")
                 for path in sorted((SOURCE / room).rglob("*.?pp")) for word in literal.findall(path.read_text(encoding="utf-8"))]
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
