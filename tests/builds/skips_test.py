"""tools/unexpected_skips.py: a test that is skipped without being expected to be is a failure."""
import pathlib
import subprocess
import sys
import tempfile
import unittest
from xml.sax.saxutils import escape

TOOLS = sys.argv[1]
sys.path.insert(0, TOOLS)
from unexpected_skips import EXPECTED, expectations, unexpected  # noqa: E402

LIST = """
# a comment
always | Backends/*cuda* | no GPU: *
without cuda | Gpu.* | a build without CUDA code
sanitized | Heap.* | *sanitizer*
"""


class Skips(unittest.TestCase):
    def surprises(self, name, reason, sanitized=False, demanded=()):
        return unexpected([(name, reason)], LIST, sanitized, demanded) != []

    def test_name_and_reason_are_both_expected(self):
        self.assertFalse(self.surprises("Backends/Stage.Sums/cuda", "no GPU: no driver"))
        self.assertTrue(self.surprises("Backends/Stage.Sums/cuda", "no file"))
        self.assertTrue(self.surprises("Backends/Stage.Sums/cpu", "no GPU: no driver"))

    def test_a_sanitizers_skips_are_its_own(self):
        self.assertFalse(self.surprises("Heap.Grows", "the sanitizer has the heap", sanitized=True))
        self.assertTrue(self.surprises("Heap.Grows", "the sanitizer has the heap"))

    def test_what_is_asked_for_has_to_be_there(self):
        self.assertFalse(self.surprises("Gpu.Copies", "a build without CUDA code"))
        self.assertTrue(self.surprises("Gpu.Copies", "a build without CUDA code", demanded=["cuda"]))

    def test_the_list_can_be_read(self):
        self.assertGreater(len(list(expectations(EXPECTED.read_text()))), 20)
        with self.assertRaisesRegex(ValueError, "expected WHEN"):
            list(expectations("sometimes | a | b"))

    def outcome(self, *cases):
        with tempfile.TemporaryDirectory(prefix="skips-") as folder:
            text = "".join(f'<testcase name="{name}" status="{status}"><system-out>{escape(output)}</system-out></testcase>' for name, status, output in cases)
            (pathlib.Path(folder) / "test-results.xml").write_text(f"<testsuite>{text}</testsuite>")
            return subprocess.run([sys.executable, f"{TOOLS}/unexpected_skips.py", folder], capture_output=True, text=True)

    def test_skips_within_programs_and_scripts_count(self):
        ran = "\n[==========] 1 test ran.\n"
        fine = self.outcome(("test_a.part_0", "run", "a.cpp:1: Skipped\nno GPU: no driver\n[  SKIPPED ] Backends/Sum.IsExact/cuda (0 ms)" + ran))
        self.assertEqual(fine.returncode, 0, fine.stdout)
        self.assertIn("Backends/Sum.IsExact/cuda: no GPU: no driver", fine.stdout)
        for name, output in (("test_a.part_0", "a.cpp:1: Skipped\nno reason\n[  SKIPPED ] Sum.IsExact (0 ms)" + ran),
                             ("system_a", "test_it (__main__.A.test_it) ... skipped 'no reason'\n"),
                             ("test_a.part_0", "[ RUN      ] Sum.IsExact\n")):
            with self.subTest(output):
                self.assertEqual(self.outcome((name, "run", output)).returncode, 1)
        self.assertEqual(self.outcome(("system_a", "notrun", "SKIPPED: no reason\n")).returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
