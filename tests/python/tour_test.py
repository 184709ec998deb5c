"""The tour of examples/python_client.py runs to its end, with what it says being so."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

from support import PROGRAM, SOURCE, need, run

need("numpy", "zmq", "google.protobuf")


class Tour(unittest.TestCase):
    def check(self, place, *options):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, str(SOURCE / "examples/python_client.py"), *options], cwd=folder, capture_output=True,
                                  text=True, timeout=240, env={**os.environ, "ECHOFORM_PROGRAM": PROGRAM, "MPLBACKEND": "agg"})
        self.assertEqual(done.returncode, 0, done.stderr)
        x, z = map(float, re.search(r"brightest at x = (\S+) mm, z = (\S+) mm", done.stdout).groups())
        for found, expected in zip((x, z), place):
            self.assertAlmostEqual(found, expected, delta=0.21)  # a pixel is 0.2 mm
        self.assertIn("relative difference to the plain sum", done.stdout)
        self.assertIn("81x81 float32>: x -2 .. 2 mm, z 12 .. 16 mm", done.stdout)
        self.assertRegex(done.stdout, r"refused: .*grid")
        self.assertRegex(done.stdout, r"frames received (\d+) = published \1 \+ dropped 0 \+ in flight 0\n")
        return done.stdout

    # Which of its three points is the strongest depends on what each transmit lights; the last has moved to x = 3 mm.

    def test_runs_whole(self):
        self.assertIn("frames are (32, 32, 512) ", self.check((-4.0, 9.0)))

    def test_runs_on_plane_waves(self):
        shown = self.check((3.0, 18.0), "--plane-waves", "16")
        self.assertIn("frames are (16, 32, 512) ", shown)
        # 31 pitches of 0.6 mm at 20 degrees in 6320 m/s; the wave leans towards small x, so the last fires first.
        self.assertIn("event 0: element 0 fires at 1007 ns, element 31 at 0 ns", shown)


if __name__ == "__main__":
    run()
