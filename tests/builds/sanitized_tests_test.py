"""Which tests tools/sanitized-tests picks: those with a label, and of the others a share, another one at each commit."""
import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(TOOLS))
loader = importlib.machinery.SourceFileLoader("sanitized_tests", str(TOOLS / "sanitized-tests"))
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("sanitized_tests", loader))
loader.exec_module(tool)

TESTS = [("test_web.part_0", ["unit", "untrusted", "concurrent"], "test_web"), ("test_web.part_1", ["unit", "untrusted", "concurrent"], "test_web"),
         ("fuzz.hello", ["unit", "untrusted"], None), ("system_soak", ["system", "concurrent"], None), ("house", ["system", "tools"], None),
         *((f"test_{letter}.part_{part}", ["unit"], f"test_{letter}") for letter in "abcde" for part in (0, 1)),
         *((f"system_{letter}", ["system"], None) for letter in "abcde")]


class Chosen(unittest.TestCase):
    def names(self, *choice):
        return [name for name, _ in tool.chosen(TESTS, *choice)]

    def test_a_label_alone(self):
        self.assertEqual(self.names("concurrent", 0, None), ["test_web.part_0", "test_web.part_1", "system_soak"])

    def test_all_shares_together_are_all_that_run_what_the_sanitizer_knows(self):
        labelled = self.names("untrusted", 0, None)
        rest = [name for share in range(4) for name in self.names("untrusted", 4, share) if name not in labelled]
        self.assertEqual(sorted(labelled + rest), sorted(name for name, labels, _ in TESTS if "tools" not in labels))

    def test_parts_of_a_program_stay_together(self):
        for share in range(4):
            chosen = self.names("untrusted", 4, share)
            for letter in "abcde":
                self.assertEqual(f"test_{letter}.part_0" in chosen, f"test_{letter}.part_1" in chosen)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
