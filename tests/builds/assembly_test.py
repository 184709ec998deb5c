"""Assembly in kernels that touches memory says so to the compiler, which otherwise may move it past stores and barriers."""
import pathlib
import re
import sys
import unittest

SOURCE, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
STATEMENT = re.compile(r"\basm\b[^;\"]*\((?:[^\"()]|\"[^\"]*\"|\([^()]*\))*\)\s*;")
TOUCHES_MEMORY = re.compile(r"\"\s*(ld|st|cp|atom|red|bar|membar|fence)\.")


def silent(text):
    """Statements that touch memory and do not say so."""
    return [found for found in STATEMENT.findall(text) if TOUCHES_MEMORY.search(found) and '"memory"' not in found]


class Assembly(unittest.TestCase):
    def test_the_rule_itself(self):
        load = 'asm volatile("ld.shared.v2.u32 {%0, %1}, [%2+%3];" : "=r"(e.x), "=r"(e.y) : "r"(address), "n"(offset)'
        self.assertEqual(len(silent(load + ");")), 1)
        self.assertEqual(silent(load + ' : "memory");'), [])
        self.assertEqual(silent('asm("mul.lo.u32 %0, %1, %1;" : "=r"(a) : "r"(b));'), [])

    def test_of_every_kernel(self):
        found = 0
        rooms = [room for room in SOURCE.iterdir() if room.is_dir() and not room.name.startswith(".") and room not in BUILD.parents and room != BUILD]
        for file in sorted(path for room in rooms for suffix in ("*.cu", "*.cuh") for path in room.rglob(suffix)):
            text = file.read_text()
            found += len(STATEMENT.findall(text))
            self.assertEqual(len(STATEMENT.findall(text)), len(re.findall(r"\basm\b[^;\"]*\(\s*\"", text)), f"{file}: assembly that this test does not read")
            self.assertEqual(silent(text), [], file)
        self.assertGreater(found, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
