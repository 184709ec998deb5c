"""tools/tomography-study, at its smallest: what it writes, and that models beat back-projection where data are few and noisy."""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

PROGRAM = sys.argv[1]
TOOLS = pathlib.Path(os.environ["ECHOFORM_SOURCE_DIR"]) / "tools"
sys.path.insert(0, str(TOOLS))

import study_data  # noqa: E402


class Study(unittest.TestCase):
    def study(self, *arguments, program=PROGRAM):
        return subprocess.run([sys.executable, TOOLS / "tomography-study", program, *map(str, arguments)], capture_output=True, text=True, timeout=800)

    def test_models_beat_back_projection_where_data_are_few_and_noisy(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.study("--scale", "tiny", "--parts", "noise,mouse", "--iterations", 8, "--backend", "cpu", "--output", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(pathlib.Path(folder) / "study.csv", newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            text = (pathlib.Path(folder) / "study.md").read_text(encoding="utf-8")
            for name in ("noise.png", "mouse.png"):
                self.assertGreater((pathlib.Path(folder) / name).stat().st_size, 1000)
                self.assertIn(f"]({name})", text)

        def errors(part, method):
            return [float(row["rmse"]) for row in rows if row["part"] == part and row["method"] == method]

        # With whatever penalty: noise of a tenth of the peak is twice the image in FBP.
        self.assertEqual(len(errors("noise", "PLS-Sph")), 5)
        self.assertLess(max(errors("noise", "PLS-Sph")), 0.7 * errors("noise", "FBP")[0])
        # Too much penalty is worse than some.
        self.assertGreater(errors("noise", "PLS-Sph")[-1], min(errors("noise", "PLS-Sph")))
        for part in ("mouse, full data", "mouse, quarter data"):
            for method in ("PLS-Int", "PLS-Sph"):
                self.assertLess(min(errors(part, method)), errors(part, "FBP")[0], (part, method))
        self.assertIn("| noise | 5 x 8 | FBP |", text)
        self.assertIn("tiny", text)

    def test_the_truth_is_that_of_the_sound(self):
        """Integrals over the volume are those of balls, which a blur leaves as they are."""
        scale = study_data.SCALES["tiny"]
        voxels = study_data.Voxels(scale, 0.2e-3)
        ball = (0.3e-3, -0.2e-3, 0.5e-3, 1.0e-3, 2.0)
        # Within the box but for a hundredth of the blur; voxels of 0.2 mm sum what is as smooth as 0.77 mm to 1e-6.
        self.assertAlmostEqual(voxels.truth([ball]).sum() * voxels.spacing ** 3 / (2.0 * 4 / 3 * numpy.pi * 1e-9), 1.0, delta=1e-2)

    def test_bad_input_is_refused(self):
        for words, line in ((("--scale", "huge"), "invalid choice"), (("--parts", "views,none"), "--parts"), (("--iterations", 0), "--iterations")):
            done = self.study(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(line, done.stderr)
        self.assertIn("found no file", self.study(program="/none/echoform").stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
