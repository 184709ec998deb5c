"""Pictures of scan lines: figures of `image` and `view` show the sector with x and z in mm, files of numbers the lines by range and angle."""
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy

PROGRAM = sys.argv[1]
EVENTS, ANGLE = 15, 30.0  # plane waves, and the angle of the outermost, degrees
DEPTH = (0.002, 0.009)  # m
CONFIG = f"""
[imaging]
method = "beams"
backend = "cpu"
threads = 1
[material]
longitudinal_velocity = 1540.0
[filter]
kind = "none"
[beams]
depth = [{DEPTH[0]}, {DEPTH[1]}]
[input]
listen = "127.0.0.1:0"
incomplete_timeout = 60
[server]
images = "127.0.0.1:0"
telemetry = "127.0.0.1:0"
web = "127.0.0.1:0"
control = "127.0.0.1:0"
[simulator]
elements = 16
pitch = 0.3e-3
element_width = 0.25e-3
samples = 600
sample_rate = 40e6
centre_frequency = 5e6
cycle_frames = 1
transmit = "plane"
events = {EVENTS}
angles = [{-ANGLE}, {ANGLE}]
longitudinal_velocity = 1540.0
points = [[0.0, 0.006, 1.0]]
"""


def extent(png):
    """Edges of a figure's image in mm: left, right, upper, lower; None where its axes are others."""
    found = re.search(rb"tEXtExtentMillimetres\0([-0-9. e]*)", png)
    return [float(number) for number in found[1].split()] if found else None


class Pictures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        (self.path / "lines.toml").write_text(CONFIG)

    def start(self, command, *arguments):
        process = subprocess.Popen([PROGRAM, "--log-level", "warning", command, *map(str, arguments)], stdout=subprocess.PIPE, text=True)
        for cleanup in (process.stdout.close, process.wait, process.kill):
            self.addCleanup(cleanup)
        return process

    def check(self, stem):
        left, right, upper, lower = extent((self.path / f"{stem}.png").read_bytes())
        # The sector's chord at its last range, and at least from its first one down; a pixel of the display grid more at either end.
        chord = 2e3 * DEPTH[1] * math.sin(math.radians(ANGLE))
        self.assertAlmostEqual(right - left, chord, delta=0.1 * chord)
        self.assertAlmostEqual(right + left, 0.0, delta=0.02 * chord)
        self.assertAlmostEqual(lower, 1e3 * DEPTH[1], delta=0.1 * 1e3 * DEPTH[1])
        self.assertLess(upper, 1e3 * DEPTH[0] + 0.1)
        self.assertEqual(numpy.load(self.path / f"{stem}.npy").shape[0], EVENTS, "a row a line")

    def outputs(self, option, stem):
        return [text for extension in ("png", "npy") for text in (option, self.path / f"{stem}.{extension}")]

    def test_of_a_recording(self):
        config, file = self.path / "lines.toml", self.path / "lines.mfmc"
        recorder = self.start("record", "--listen", "127.0.0.1:0", "--output", file, "--frames", 1, "--config", config)
        port = re.search(r":(\d+)$", recorder.stdout.readline().strip())[1]
        self.assertEqual(self.start("simulate", "--connect", f"127.0.0.1:{port}", "--config", config, "--frames", 1).wait(300), 0)
        self.assertEqual(recorder.wait(300), 0)
        self.assertEqual(self.start("image", file, "--config", config, *self.outputs("--output", "recorded")).wait(300), 0)
        self.check("recorded")

    def test_live(self):
        config = self.path / "lines.toml"
        server = self.start("serve", "--config", config)
        places = {}
        while "control" not in places:
            line = server.stdout.readline()
            places[line[:11].strip()] = line[12:].strip()
        view = self.start("view", "--connect", places["images out"].split()[-1], "--frames", 3, "--timeout", 300, *self.outputs("--snapshot", "seen"))
        sender = places["frames in"].split("tcp://")[-1].split()[-1]
        simulate = self.start("simulate", "--connect", sender, "--config", config, "--rate", 5)
        self.assertEqual(view.wait(300), 0)
        self.check("seen")
        for process in (simulate, server):
            process.terminate()
            self.assertEqual(process.wait(300), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
