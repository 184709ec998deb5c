"""The tour of examples/python_client.py runs to its end, with what it says being so."""
import os
import subprocess
import sys
import tempfile
import unittest

from support import PROGRAM, SOURCE, need, run

need("numpy", "zmq", "google.protobuf")


class Tour(unittest.TestCase):
    def test_runs_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, str(SOURCE / "examples/python_client.py")], cwd=folder, capture_output=True, text=True,
                                  timeout=240, env={**os.environ, "ECHOFORM_PROGRAM": PROGRAM, "MPLBACKEND": "agg"})
        self.assertEqual(done.returncode, 0, done.stderr)
        # The strongest of its three points, to a pixel of 0.2 mm.
        self.assertRegex(done.stdout, r"brightest at x = -(3\.8|4\.0|4\.2) mm, z = (8\.8|9\.0|9\.2) mm")
        self.assertIn("relative difference to the plain sum", done.stdout)
        self.assertRegex(done.stdout, r"frames received (\d+) = published \1 \+ dropped 0 \+ in flight 0\n")


if __name__ == "__main__":
    run()
