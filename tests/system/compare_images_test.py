"""tools/compare-images: a program's images are its own, bit for bit, and another's are told from them."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]
TOOL = pathlib.Path(os.environ["ECHOFORM_SOURCE_DIR"]) / "tools/compare-images"

# The program, but for its images: the largest value of each is FACTOR times as large.
STAND_IN = """#!{python}
import os, subprocess, sys
words = sys.argv[1:]
if "image" not in words:
    os.execv({program!r}, [{program!r}, *words])
import numpy
code = subprocess.run([{program!r}, *words]).returncode
if code == 0:
    path = words[words.index("--output") + 1]
    image = numpy.load(path)
    image.flat[numpy.abs(image).argmax()] *= {factor}
    numpy.save(path, image)
sys.exit(code)
"""


class CompareImages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compare(self, after, *options, code):
        figures = self.folder / "images.json"
        done = subprocess.run([sys.executable, str(TOOL), PROGRAM, str(after), "--json", str(figures), *options], capture_output=True, text=True,
                              timeout=200)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout, {row["image"]: row for row in json.loads(figures.read_text())["images"]}

    def test_a_program_and_itself(self):
        text, images = self.compare(PROGRAM, "--only", "demo", "--only", "half packed12, dead elements", code=0)
        self.assertEqual(sorted(images), [
            "demo's source", "demo, analytic", "demo, envelope", "demo, live, LL", "demo, live, LL, display",
            *(f"half packed12, dead elements, {field}, {view}" for field in ("analytic", "envelope") for view in ("LL", "LT")),
            *(f"half packed12, dead elements, live, {view}{kind}" for view in ("LL", "LT") for kind in ("", ", display"))])
        self.assertTrue(all(image["same_bits"] for image in images.values()))
        self.assertIn("13 images: 13 of the same bits, 0 differ.", text)

    def test_a_single_pixel_that_differs(self):
        other = self.folder / "other"
        other.write_text(STAND_IN.format(python=sys.executable, program=PROGRAM, factor=1.0 + 1e-3))
        other.chmod(0o755)
        text, images = self.compare(other, "--only", "half_summed packed12", "--field", "envelope", code=1)
        image = images["half_summed packed12, envelope"]
        self.assertFalse(image["good"])
        self.assertAlmostEqual(image["largest"], 1e-3, delta=1e-6)  # single precision
        self.assertIn("| **differs** |", text)

    def test_a_program_that_fails(self):
        text, _ = self.compare("/bin/false", "--only", "half_summed packed12", code=1)
        self.assertIn("/bin/false", text)


if __name__ == "__main__":
    if not TOOL.exists():
        print("SKIPPED: the sources are not here")
        sys.exit(77)
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        print(f"SKIPPED: {error}")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
