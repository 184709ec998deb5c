"""A recording that states its wedge needs no [probe] and no [couplant]: it gives the very image of one that states neither and a
configuration that does, and reflectors are where they are."""
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

PROGRAM = sys.argv[1]
ANGLE = 12.0  # degrees
STAND_OFF, VELOCITY = 0.010, 2330.0
REFLECTOR = (-0.002, 0.012)
WEDGE = f"[couplant]\nvelocity = {VELOCITY}\n[probe]\nstand_off = {STAND_OFF}\nangle = {ANGLE}\nx = {STAND_OFF * math.sin(math.radians(ANGLE))}\n"
PART = '[material]\nlongitudinal_velocity = 6320.0\nshear_velocity = 3130.0\n[imaging]\ndelay_law = "immersion"\nviews = ["LL", "TT"]\n' \
       "[grid]\nx = [-0.008, 0.004]\nz = [0.006, 0.018]\npixels = [49, 49]\n"
SIMULATOR = f"[simulator]\nelements = 24\nsamples = 1600\nsample_rate = 50e6\npoints = [[{REFLECTOR[0]}, {REFLECTOR[1]}, 1.0]]\n" \
            "noise_rms = 0.0\ncycle_frames = 1\nfull_scale = 0.5\nskips = 0\nwall_echoes = false\n"


class Wedge(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def run_echoform(self, *arguments):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout + done.stderr

    def image(self, name, config):
        (self.path / f"{name}.toml").write_text(config)
        said = self.run_echoform("image", self.path / "r.mfmc", "--config", self.path / f"{name}.toml", "--backend", "cpu", "--output",
                                 self.path / f"{name}.npy")
        return said, {view: numpy.load(self.path / f"{name}.{view}.npy") for view in ("LL", "TT")}

    def test_the_face_and_the_velocity_stand_in_for_the_configuration(self):
        (self.path / "simulate.toml").write_text(PART + WEDGE + SIMULATOR)
        recorder = subprocess.Popen([PROGRAM, "--log-level", "warning", "record", "--listen", "127.0.0.1:0", "--frames", "1", "--output",
                                     str(self.path / "r.mfmc")], stdout=subprocess.PIPE, text=True)
        self.addCleanup(recorder.stdout.close)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        port = re.search(r":(\d+)$", recorder.stdout.readline().strip())[1]
        self.run_echoform("simulate", "--connect", f"127.0.0.1:{port}", "--config", self.path / "simulate.toml", "--frames", "1")
        self.assertEqual(recorder.wait(timeout=60), 0)

        said, stated = self.image("stated", PART + WEDGE)
        self.assertNotIn("no ray reaches", said)
        # 17 rows of 49, those up to the surface itself, lie in the wedge.
        said, _ = self.image("high", PART.replace("z = [0.006, 0.018]", "z = [-0.004, 0.008]") + WEDGE)
        self.assertIn("no ray reaches 33 % of the pixels of LL, 33 % of the pixels of TT: they stay dark", said)
        turned = math.radians(ANGLE)
        with h5py.File(self.path / "r.mfmc", "r+") as file:
            probe = file["PROBES/P1"]
            probe.attrs["WEDGE_SURFACE_NORMAL"] = [math.sin(turned), 0.0, math.cos(turned)]
            probe.attrs["WEDGE_SURFACE_POINT"] = [STAND_OFF * math.sin(turned), 0.0, STAND_OFF * math.cos(turned)]
            file["SEQUENCES/S1"].attrs["WEDGE_VELOCITY"] = [1150.0, VELOCITY]
        said, found = self.image("found", PART)
        self.assertIn(f"[couplant] velocity: {VELOCITY:g} m/s of the recording's wedge", said)
        for view, image in found.items():
            # Places differ by rounding, 1e-18 m, and images in single precision by which way transforms are planned.
            difference = numpy.linalg.norm(image - stated[view]) / numpy.linalg.norm(stated[view])
            self.assertLess(difference, 1e-5, view)
        z, x = numpy.unravel_index(found["LL"].argmax(), found["LL"].shape)
        place = (-0.008 + 0.00025 * x, 0.006 + 0.00025 * z)
        self.assertLess(math.dist(place, REFLECTOR), 6320 / 5e6 / 4 + 0.00018)

        self.assertRegex(self.run_echoform("inspect", self.path / "r.mfmc"),
                         r"the wedge's face puts the aperture's middle 10 mm above the part, turned by 12 degrees[^$]*wedge +longitudinal 2330 m/s")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
