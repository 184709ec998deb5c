"""Errors of bad input that no test has seen grow no more (tools/untested_errors.py).

  untested_errors_test.py SOURCE             the test
  untested_errors_test.py SOURCE --shrink    lowers the numbers to what there is by now; they are never raised

untested_errors.txt: "ROOM NUMBER" a line, of rooms that have such errors.
"""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(SOURCE / "tools"))
from untested_errors import untested  # noqa: E402

ALLOWED = HERE / "untested_errors.txt"
HEAD = "# Errors of bad input whose message shares no text with a test, at most. tools/untested_errors.py lists them; numbers are never raised.\n"


def allowed():
    """{room: number}"""
    lines = [line.split() for line in ALLOWED.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return {room: int(number) for room, number in lines}


def found():
    """{room: ["FILE:LINE: message"]}"""
    rooms = {}
    for name, line, message in untested(SOURCE)[0]:
        rooms.setdefault(name.split("/")[0], []).append(f"{name}:{line}: {message}")
    return rooms


class Ratchet(unittest.TestCase):
    def test_no_more_than_stated(self):
        stated = allowed()
        for room, errors in found().items():
            with self.subTest(room):
                listed = "\n  ".join(errors)
                self.assertLessEqual(len(errors), stated.get(room, 0),
                                     f"a new error needs a test that asserts its message; untested in {room}:\n  {listed}")
                if len(errors) < stated.get(room, 0):
                    print(f"{room}: {len(errors)} by now, of {stated[room]} (untested_errors_test.py SOURCE --shrink)")


class Finds(unittest.TestCase):
    def untested(self, source, test, header="", other=""):
        """Lines of formats/a.cpp that the test does not know."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {"formats/a.cpp": source, "formats/a.hpp": header, "formats/b.cpp": other, "tests/formats/a_test.cpp": test}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return [f"{name.removeprefix('formats/')}:{line}" for name, line, _ in untested(root)[0]]

    THROW = 'void f() {\n  throw InputError(where, fmt::format("{} bytes of sound", n), "at least one sample");\n}\n'

    def test_whole_pieces_of_found_or_expected_are_known(self):
        for test in ('"x: found 3 bytes of sound; expected at least one sample"', '"expected at least one sample"', '"bytes of " "sound"',
                     'R"(at least one sample)"'):
            self.assertEqual(self.untested(self.THROW, f"EXPECT_EQ(line, {test});"), [], test)

    def test_other_texts_are_not(self):
        for test in ('"at least two samples"', '"bytes"', '"found 3 "', "// at least one sample"):
            self.assertEqual(self.untested(self.THROW, f"EXPECT_EQ(line, {test});"), ["a.cpp:2"], test)

    def test_a_part_of_a_message(self):
        self.assertEqual(self.untested(self.THROW, 'HasSubstr("one sample")'), [])
        self.assertEqual(self.untested('void f() {\n  throw InputError("key", fmt::format("{} values", n), fmt::format("{}, one a row", m));\n}\n',
                                       'HasSubstr("x: found 5 values; expected 6")'), [])

    def test_what_is_handed_on_to_a_function_that_throws(self):
        helper = 'void fail(const std::string& found, const char* expected) {\n  throw InputError(place, found, expected);\n}\n'
        calls = 'void g() {\n  fail("no such row", "a row");\n  fail(fmt::format("row {}", n), "another one of them");\n}\n'
        self.assertEqual(self.untested(helper + calls, 'HasSubstr("another one of them")'), ["a.cpp:5"])
        of_lambda = 'void g() {\n  const auto refuse = [&](const char* found) { throw InputError(place, found, expected); };\n  refuse("no such row");\n}\n'
        self.assertEqual(self.untested(of_lambda, ""), ["a.cpp:3"])
        self.assertEqual(self.untested(helper, "", header="void fail(const std::string& found, const char* expected);\n",
                                       other='#include "formats/a.hpp"\nvoid h() {\n  fail("no such row", "a row");\n}\n'), ["b.cpp:3"])

    def test_a_throw_without_text_of_its_own_does_not_count(self):
        self.assertEqual(self.untested('void f() {\n  throw InputError(line);\n  throw InputError(key, fmt::format("{}", 3), "0 to 7");\n}\n', ""), [])

    def test_comments_throw_nothing(self):
        self.assertEqual(self.untested('// throw InputError(where, "no such row", "a row");\n', ""), [])


if __name__ == "__main__":
    if "--shrink" in sys.argv:
        stated, now = allowed(), {room: len(errors) for room, errors in found().items()}
        lowered = {room: min(number, now.get(room, 0)) for room, number in stated.items()}
        ALLOWED.write_text(HEAD + "".join(f"{room} {number}\n" for room, number in sorted(lowered.items()) if number), encoding="utf-8")
    else:
        unittest.main(argv=sys.argv[:1], verbosity=2)
