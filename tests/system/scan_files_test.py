"""Scans from recordings: frames of a probe that moves, recorded with their encoder counts, become one image; a point is where it is, pixels that
nothing has covered are NaN, and what cannot be is one line."""
import json
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
X, Z = numpy.linspace(-4, 36, 161), numpy.linspace(6, 14, 33)  # mm
POINT = (21.0, 10.0)
CONFIG = f"""
[material]
longitudinal_velocity = 6320.0
[grid]
x = [{X[0] / 1e3}, {X[-1] / 1e3}]
z = [{Z[0] / 1e3}, {Z[-1] / 1e3}]
pixels = [{X.size}, {Z.size}]
[imaging]
backend = "cpu"
"""
SCAN = """
[scan]
path = "line"
encoder_step = 1e-3
coverage = 3e-3
"""
SIMULATOR = f"""
[simulator]
elements = 8
pitch = 0.6e-3
samples = 256
noise_rms = 0.0
points = [[{POINT[0] / 1e3}, {POINT[1] / 1e3}, 1.0]]
"""
ENCODER = """
encoder_first = 0
encoder_last = 30
encoder_step = 1
"""


class ScanFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def config(self, text, name="scan.toml"):
        path = self.path / name
        path.write_text(text)
        return path

    def record(self, file, frames, sender, *options):
        """What the command `sender` sends, with the place to send to added."""
        recorder = subprocess.Popen([PROGRAM, "--log-level", "warning", "record", "--listen", "127.0.0.1:0", "--output", file, "--frames", str(frames), *options],
                                    stdout=subprocess.PIPE, text=True)
        for cleanup in (recorder.stdout.close, recorder.wait, recorder.kill):
            self.addCleanup(cleanup)
        port = re.search(r":(\d+)$", recorder.stdout.readline().strip())[1]
        subprocess.run([PROGRAM, "--log-level", "warning", *sender, "--connect", f"127.0.0.1:{port}", "--rate", "max"], check=True,
                       stdout=subprocess.DEVNULL, timeout=120)
        self.assertEqual(recorder.wait(60), 0)
        return file

    def recording(self, frames, source, scan=SCAN, name="frames.mfmc", placed=False):
        config = self.config(CONFIG + scan + source, "source.toml")
        return self.record(self.path / name, frames, ("simulate", "--config", config, "--frames", str(frames)), *(("--config", config) if placed else ()))

    def image(self, recording, config, *options):
        return subprocess.run([PROGRAM, "image", recording, "--config", config, "--output", self.path / "image.npy", *options],
                              capture_output=True, text=True, timeout=240)

    def values(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        return numpy.load(self.path / "image.npy")

    def check_point(self, values):
        z, x = numpy.unravel_index(numpy.nanargmax(numpy.abs(values)), values.shape)
        self.assertLessEqual(numpy.hypot(X[x] - POINT[0], Z[z] - POINT[1]), 6.32 / 5 / 4)

    def test_one_image_of_all_positions(self):
        recording = self.recording(40, SIMULATOR + ENCODER)  # to 30 and some way back
        self.check_point(self.values(self.image(recording, self.config(CONFIG + SCAN))))
        coherent = self.config(CONFIG + SCAN + 'composition = "coherent"\n')
        done = self.image(recording, coherent, "--field", "analytic")
        values = self.values(done)
        self.assertIn("31 cells, 9 frames repeated", done.stderr)
        self.assertEqual(values.dtype, numpy.complex64)
        self.check_point(values)
        # Frames 3 to 5 cover 0 mm to 8 mm.
        values = self.values(self.image(recording, coherent, "--from", "3", "--to", "5"))
        covered = (X > -1e-9) & (X < 8 + 1e-9)
        self.assertTrue(numpy.isnan(values[:, ~covered]).all())
        self.assertTrue(numpy.isfinite(values[:, covered]).all())

    def test_a_coherent_scan_is_the_mean_of_its_positions(self):
        recording = self.recording(6, SIMULATOR + ENCODER)
        whole = self.config(CONFIG + SCAN.replace("coverage = 3e-3", 'composition = "coherent"'))
        together = self.values(self.image(recording, whole, "--field", "analytic"))
        mean = numpy.zeros_like(together, numpy.complex128)
        for frame in range(6):
            # Where the probe was then, said by hand.
            placed = self.config(CONFIG + f"[probe]\nx = {frame}e-3\n", "placed.toml")
            mean += self.values(self.image(recording, placed, "--field", "analytic", "--frame", str(frame))) / 6
        # Sums of floats in another order.
        self.assertLess(numpy.linalg.norm(together - mean), 1e-5 * numpy.linalg.norm(mean))

    def test_placements_say_what_counts_say(self):
        for kind, scan in (("line", SCAN + 'composition = "coherent"\norigin = -2e-3\nsign = -1.0\ndirection = [-0.8, 0.0, 0.001]\n'),
                           ("circle", SCAN.replace("line", "circle") + 'centre = [0.0, 0.0, 0.3]\naxis = [0.0, -1.0, 0.0]\n')):
            with self.subTest(kind):
                source = SIMULATOR + ENCODER
                counted = self.recording(40, source, scan, f"{kind}.counted.mfmc")
                placed = self.recording(40, source, scan, f"{kind}.placed.mfmc", placed=True)
                config = self.config(CONFIG + scan)
                by_counts = self.values(self.image(counted, config))
                both = self.image(placed, config)
                self.assertEqual(by_counts.tobytes(), self.values(both).tobytes())
                self.assertNotIn("placements count", both.stderr)
                self.assertIn("31 cells, 9 frames repeated", both.stderr)
                # By the numbers of the file, frame by frame.
                with h5py.File(placed, "r+") as file:
                    sequence = file["SEQUENCES/S1"]
                    count = sequence["ECHOFORM_ENCODER_COUNT"][:, 0]
                    place = sequence["PROBE_POSITION"][:, 0]
                    x = sequence["PROBE_X_DIRECTION"][:, 0]
                    self.assertEqual(list(sequence["PROBE_PLACEMENT_INDEX"][:, 0]), list(range(1, 41)))
                    if kind == "line":
                        s = -2e-3 - 1e-3 * count
                        way = numpy.array([-0.8, 0, 0.001]) / numpy.hypot(0.8, 0.001)
                        numpy.testing.assert_allclose(place[:40], s[:, None] * way, atol=1e-15)
                        numpy.testing.assert_allclose(x[:40], numpy.tile([1.0, 0, 0], (40, 1)), atol=1e-15)
                    else:
                        turn = -1e-3 * count / 0.3  # about +y, by the way of a probe whose middle is 0.3 m from the axis
                        numpy.testing.assert_allclose(x[:40], numpy.stack([numpy.cos(turn), 0 * turn, -numpy.sin(turn)], 1), atol=1e-14)
                        numpy.testing.assert_allclose(place[:40], numpy.stack([-0.3 * numpy.sin(turn), 0 * turn, 0.3 - 0.3 * numpy.cos(turn)], 1), atol=1e-14)
                    del sequence["ECHOFORM_ENCODER_COUNT"], sequence.attrs["ECHOFORM_PLACED_BY_ENCODER"]
                # The encoder is another's business now: places in nanometres, of the same cells.
                by_places = self.image(placed, config)
                values = self.values(by_places)
                self.assertIn("31 cells, 9 frames repeated", by_places.stderr)
                self.assertEqual((~numpy.isnan(values)).sum(), (~numpy.isnan(by_counts)).sum())
                # Half a nanometre is 1e-6 of a wavelength, by which phases differ at most.
                self.assertLess(numpy.nanmax(numpy.abs(values - by_counts)), 1e-4 * numpy.nanmax(by_counts))
                # Sent again they are the counts that they were.
                again = self.record(self.path / f"{kind}.again.mfmc", 40, ("replay", placed, "--config", config))
                with h5py.File(again) as file:
                    self.assertEqual(list(file["SEQUENCES/S1/ECHOFORM_ENCODER_COUNT"][:, 0]), list(count))
                self.assertEqual(by_counts.tobytes(), self.values(self.image(again, config)).tobytes())

    def test_placements_and_counts_that_disagree(self):
        placed = self.recording(6, SIMULATOR + ENCODER, placed=True)
        config = self.config(CONFIG + SCAN)
        right = self.values(self.image(placed, config))
        with h5py.File(placed, "r+") as file:
            file["SEQUENCES/S1/ECHOFORM_ENCODER_COUNT"][3:, 0] += 2
        done = self.image(placed, config)
        differs = "frame 3: the encoder's count 5 is 2 mm along the path of [scan] from where the file places the probe: "
        self.assertIn(differs + "the counts count, of which its placements were made", done.stderr)
        self.assertGreater(numpy.nanmax(numpy.abs(self.values(done) - right)), 0.1 * numpy.nanmax(right))
        with h5py.File(placed, "r+") as file:
            del file["SEQUENCES/S1"].attrs["ECHOFORM_PLACED_BY_ENCODER"]  # whoever placed them: not the encoder
        done = self.image(placed, config)
        self.assertIn(differs + "the placements count for all frames", done.stderr)
        values = self.values(done)
        self.assertLess(numpy.nanmax(numpy.abs(values - right)), 1e-4 * numpy.nanmax(right))
        coarse = self.config(CONFIG + SCAN.replace("1e-3", "0.3e-3"))
        replayed = subprocess.run([PROGRAM, "replay", placed, "--config", coarse], capture_output=True, text=True, timeout=60)
        self.assertEqual(replayed.returncode, 2, replayed.stderr)
        self.assertRegex(replayed.stderr, r"\[scan\] encoder_step: found 0.0003 m, of which no count is where .* has frame \d: 0.1 mm off; expected a step")

    def test_a_file_of_another_program(self):
        """Made with h5py alone: a point that each placement sees, from 7 places 1 mm apart on a line that leads across, of a probe that stands above
        x = 3 mm."""
        file = self.path / "other.mfmc"
        elements = (numpy.arange(8) - 3.5) * 0.6e-3
        places = numpy.array([[3e-3, 1e-3 * k - 4e-3, 0.0] for k in range(7)])
        point = numpy.array([3.5e-3, -1e-3, 10e-3])
        time = numpy.arange(256) / 40e6
        transmit, receive = (pairs.ravel() for pairs in numpy.indices((8, 8)))

        def make(places, x_directions=None):
            frames = len(places)
            samples = numpy.zeros((frames, 64, 256), "f4")
            for k, place in enumerate(places):
                ways = numpy.linalg.norm(place + numpy.column_stack([elements, numpy.zeros((8, 2))]) - point, axis=1) / 6320
                after = time - ways[transmit][:, None] - ways[receive][:, None]
                samples[k] = numpy.cos(2 * numpy.pi * 5e6 * after) * numpy.exp(-(after / 0.15e-6)**2)
            with h5py.File(file, "w") as out:
                probe = out.create_group("A")
                probe.attrs["TYPE"] = "PROBE"
                probe["ELEMENT_POSITION"] = numpy.column_stack([elements, numpy.zeros((8, 2))])
                probe["ELEMENT_MAJOR"] = numpy.tile([0.0, 5e-3, 0.0], (8, 1))
                probe["ELEMENT_MINOR"] = numpy.tile([-0.25e-3, 0.0, 0.0], (8, 1))
                probe["ELEMENT_SHAPE"] = numpy.ones(8, "u1")
                probe.attrs["CENTRE_FREQUENCY"] = [5e6]
                laws = []
                for i in range(8):
                    law = out.create_group(f"B{i}")
                    law.attrs["TYPE"] = "LAW"
                    law.create_dataset("PROBE", data=[probe.ref], dtype=h5py.ref_dtype)
                    law["ELEMENT"] = [i + 1]
                    laws.append(law.ref)
                sequence = out.create_group("C")
                sequence.attrs["TYPE"] = "SEQUENCE"
                sequence.create_dataset("PROBE_LIST", data=[probe.ref], dtype=h5py.ref_dtype)
                sequence.create_dataset("TRANSMIT_LAW", data=[laws[i] for i in transmit], dtype=h5py.ref_dtype)
                sequence.create_dataset("RECEIVE_LAW", data=[laws[j] for j in receive], dtype=h5py.ref_dtype)
                sequence.attrs["TIME_STEP"], sequence.attrs["START_TIME"], sequence.attrs["SPECIMEN_VELOCITY"] = 1 / 40e6, 0.0, [3130.0, 6320.0]
                sequence["PROBE_POSITION"] = numpy.array(places)[:, None]
                sequence["PROBE_X_DIRECTION"] = numpy.tile([1.0, 0.0, 0.0], (frames, 1, 1)) if x_directions is None else numpy.array(x_directions)[:, None]
                sequence["PROBE_Y_DIRECTION"] = numpy.tile([0.0, 1.0, 0.0], (frames, 1, 1))
                sequence["PROBE_PLACEMENT_INDEX"] = numpy.tile(numpy.arange(1, frames + 1)[:, None], (1, 64))
                sequence["MFMC_DATA"] = samples

        grid = "[grid]\nx = [1e-3, 6e-3]\ny = [-4e-3, 2e-3]\nz = [8e-3, 12e-3]\npixels = [21, 25, 17]\n[imaging]\nbackend = \"cpu\"\n"
        scan = '[scan]\npath = "line"\ndirection = [0.0, 3.0, 0.0]\nstep = 1e-3\ncomposition = "coherent"\n'
        config = self.config(grid + scan)
        make(places)
        done = self.image(file, config)
        values = self.values(done)
        self.assertIn("7 cells, 0 frames repeated", done.stderr)
        z, y, x = numpy.unravel_index(numpy.argmax(values), values.shape)
        found = numpy.array([1e-3 + 0.25e-3 * x, -4e-3 + 0.25e-3 * y, 8e-3 + 0.25e-3 * z])
        self.assertLessEqual(numpy.linalg.norm(found - point), 6320 / 5e6 / 4)
        # The first frames alone are where they are, not where the scan begins.
        late = self.values(self.image(file, config, "--from", "3", "--to", "3"))
        one = self.config(grid, "one.toml")
        self.assertLess(numpy.abs(late - self.values(self.image(file, one, "--frame", "3"))).max(), 1e-5 * values.max())

        beside = places.copy()
        beside[4, 0] += 0.25e-3
        make(beside)
        done = self.image(file, config)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("other.mfmc: frame 4: found a placement 0.25 mm beside the path of [scan]; expected at most 0.1 mm ([scan] tolerance)", done.stderr)
        self.assertEqual(self.image(file, self.config(grid + scan + "tolerance = 0.3e-3\n")).returncode, 0)
        directions = numpy.tile([1.0, 0.0, 0.0], (7, 1))
        directions[5] = [numpy.cos(0.02), 0.0, numpy.sin(0.02)]
        make(places, directions)
        done = self.image(file, self.config(grid + scan))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("other.mfmc: frame 5: found a probe turned 1.15 degrees from where the path of [scan] has it; expected at most 0.5", done.stderr)
        replayed = subprocess.run([PROGRAM, "replay", file, "--connect", "127.0.0.1:9"], capture_output=True, text=True, timeout=60)
        self.assertIn("the probe moves from frame to frame", replayed.stderr)

    def test_plan_is_of_one_position(self):
        planned = subprocess.run([PROGRAM, "plan", "--config", self.config(CONFIG + SCAN + SIMULATOR + ENCODER), "--json", self.path / "plan.json"],
                                 capture_output=True, text=True, timeout=120)
        self.assertEqual(planned.returncode, 0, planned.stderr)
        # 3 mm to either side of 16 mm, the middle of the grid, every 0.25 mm.
        self.assertRegex(planned.stdout, r"(?m)^scan .* covers 25 x 33 of the scan's 161 x 33 pixels; cells of 1 mm, 1 mm a count$")
        self.assertRegex(planned.stdout, r"(?m)^images .* new positions/s here")
        self.assertEqual(json.loads((self.path / "plan.json").read_text())["scan"]["pixels_of_a_position"], 25 * 33)

    def test_what_cannot_be(self):
        recording = self.recording(2, SIMULATOR)
        done = self.image(recording, self.config(CONFIG + SCAN))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 frames state no encoder count", done.stderr)
        self.assertTrue(numpy.isnan(numpy.load(self.path / "image.npy")).all())
        (self.path / "image.npy").unlink()
        served = subprocess.run([PROGRAM, "serve", "--config", self.config(CONFIG + SCAN + "sign = 0.5\n")], capture_output=True, text=True, timeout=60)
        self.assertEqual(served.returncode, 2, served.stderr)
        self.assertIn("[scan] sign: found 0.5; expected 1 or -1", served.stderr)
        for text, options, expected in (
                (CONFIG + SCAN, ("--field", "analytic"), '[scan] composition: found "maximum" for a complex image; expected "coherent"'),
                (CONFIG + SCAN, ("--by-groups",), "--by-groups: found a scan ([scan] path); expected frames that are images of their own"),
                (CONFIG + SCAN + "direction = [0.0, 0.0, 0.0]\n", (), "[scan] direction: found [0, 0, 0]; expected a direction"),
                (CONFIG + SCAN + "step = 0.0\n", (), "[scan] step"),
                (CONFIG + SCAN + "[display]\npixels = [10, 10]\n", (), "[display]: found a grid of its own for a scan"),
                (CONFIG.replace("z = ", "# "), (), None),
                (CONFIG.replace("z = ", "# ") + SCAN, (), "[grid] z: found none; expected [first, last] in m"),
                (CONFIG + SCAN.replace('"line"', '"circle"') + "centre = [0.0, 0.0, 0.0]\n", (), "[scan] centre: found an axis through the middle of")):
            with self.subTest(expected):
                done = self.image(recording, self.config(text), *options)
                if expected is None:
                    self.assertEqual(done.returncode, 0, done.stderr)
                    (self.path / "image.npy").unlink()
                    continue
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(expected, done.stderr)
                self.assertFalse((self.path / "image.npy").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
