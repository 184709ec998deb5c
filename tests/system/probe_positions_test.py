"""Frames of several positions of the probe, from the simulated source and from Python through servers and files to images: a reflector appears where
it is, MFMC and captures hold the positions, and what cannot be is one line."""
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.environ["ECHOFORM_SOURCE_DIR"], "python"))
try:
    import h5py
    import numpy
    import echoform
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

PROGRAM = sys.argv[1]
PATIENCE = 60  # seconds, for what would otherwise never come
DOORS = '[input]\nlisten = "127.0.0.1:0"\n[server]\nimages = "127.0.0.1:0"\ntelemetry = "127.0.0.1:0"\nweb = "127.0.0.1:0"\ncontrol = "127.0.0.1:0"\n'
REFLECTOR = (0.0035, 0.0135)
PIXEL = 0.0001
VELOCITY = 6320.0
GRID = "[grid]\nx = [0.0, 0.007]\nz = [0.0105, 0.0165]\npixels = [71, 61]\n"
PART = "[material]\nlongitudinal_velocity = 6320.0\nshear_velocity = 3130.0\n"
SOURCE = f"[simulator]\nelements = 12\npitch = 0.6e-3\nsample_rate = 50e6\nnoise_rms = 0.0\ncycle_frames = 1\npoints = [[{REFLECTOR[0]}, {REFLECTOR[1]}, 1.0]]\n"
LINE = "[acquisition]\nposition_count = 5\nposition_step = 2.5e-3\n"
CONTACT = PART + GRID + "[probe]\nx = -0.002\n" + LINE + "{imaging}" + SOURCE + "samples = 900\n"
# Along the crown of a rod, turned with it: the probe 10 mm above, its elements looking at the axis.
ROD_POSES = [(-0.006, 0.0, 0.0, 0.155), (0.0, 0.0, 0.0, 0.0), (0.006, 0.0, 0.0, -0.155)]
ROD = PART + GRID + '[couplant]\nvelocity = 1480.0\n[surface]\nkind = "cylinder"\nradius = 0.040\n[probe]\nstand_off = 0.010\n[acquisition]\npositions = [' + \
      ", ".join(f"[{x}, {y}, {z}, {math.cos(a)}, 0.0, {-math.sin(a)}, 0.0, 1.0, 0.0]" for x, y, z, a in ROD_POSES) + "]\n" + \
      '{imaging}' + SOURCE + "samples = 1700\nwall_echoes = false\nfull_scale = 0.5\n"


class ProbePositions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def config(self, text, name="scene.toml"):
        path = self.path / name
        path.write_text(text)
        return path

    def run_program(self, *arguments, status=0):
        done = subprocess.run([PROGRAM, "--log-level", "warning", *map(str, arguments)], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def one_line(self, *arguments):
        """What a run that is refused says."""
        done = subprocess.run([PROGRAM, "--log-level", "error", *map(str, arguments)], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        lines = done.stderr.strip().splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        return lines[0]

    def start(self, *arguments):
        process = subprocess.Popen([PROGRAM, "--log-level", "warning", *map(str, arguments)], stdout=subprocess.PIPE, text=True)
        for cleanup in (process.stdout.close, process.wait, process.kill):
            self.addCleanup(cleanup)
        return process

    def serve(self, config):
        server = self.start("serve", "--config", config, "--backend", "cpu")
        places = {}
        while "control" not in places:
            line = server.stdout.readline()
            self.assertTrue(line, f"the server did not start: {server.poll()}")
            places[line[:11].strip()] = line[12:].strip()
        return places

    def live_image(self, places, send):
        with echoform.ImageSubscriber(places["images out"], timeout=PATIENCE) as viewer:
            while True:  # until the subscription has arrived
                send(places["frames in"].removeprefix("tcp "))
                try:
                    return numpy.asarray(viewer.receive(timeout=0.5).pixels, dtype=float)
                except echoform.TimedOut:
                    pass

    def simulate(self, config):
        return lambda door: self.run_program("simulate", "--connect", door, "--config", config, "--frames", 1)

    def expect_reflector(self, pixels, velocity=VELOCITY):
        z, x = numpy.unravel_index(pixels.argmax(), pixels.shape)
        place = (PIXEL * x, 0.0105 + PIXEL * z)
        # A quarter of a wavelength at 5 MHz, and where the nearest pixel may lie.
        self.assertLess(math.dist(place, REFLECTOR), velocity / 5e6 / 4 + PIXEL / math.sqrt(2.0), place)
        return pixels[z]

    def test_a_reflector_is_where_it_is_live(self):
        cases = {
            "all elements": CONTACT.replace("{imaging}", ""),
            "plane waves": CONTACT.replace("{imaging}", "") + 'transmit = "plane"\nevents = 7\nangles = [-20.0, 20.0]\n',
            "shear waves": CONTACT.replace("{imaging}", '[imaging]\nviews = ["TT"]\n').replace("samples = 900", "samples = 1600")
            + 'modes = ["T"]\n',
            "turned above a rod": ROD.replace("{imaging}", '[imaging]\ndelay_law = "immersion"\n'),
            "plane waves above a rod": ROD.replace("{imaging}", '[imaging]\ndelay_law = "immersion"\n')
            + 'transmit = "plane"\nevents = 7\nangles = [-6.0, 6.0]\n',
        }
        for name, text in cases.items():
            with self.subTest(name):
                config = self.config(text + DOORS)
                self.expect_reflector(self.live_image(self.serve(config), self.simulate(config)), 3130.0 if "TT" in text else VELOCITY)

    def test_more_positions_are_a_wider_aperture(self):
        def width(count):
            text = CONTACT.replace("{imaging}", "").replace("position_count = 5", f"position_count = {count}").replace(
                "x = -0.002", f"x = {REFLECTOR[0] - 1.25e-3 * (count - 1)}")  # the reflector before the middle
            config = self.config(text + DOORS)
            profile = self.expect_reflector(self.live_image(self.serve(config), self.simulate(config)))
            return numpy.count_nonzero(profile >= 0.5 * profile.max())
        # 12 elements of 7.2 mm alone, five times 2.5 mm apart 17.2 mm: a little more than half as wide at this depth.
        self.assertLess(width(5), 0.75 * width(1))

    def test_python_sends_them(self):
        probe = echoform.Probe.linear(12, 0.6e-3, element_width=0.5e-3, centre_frequency=5e6, bandwidth=3e6)
        poses = [(-0.001, 0.0, 0.0), echoform.Pose((0.006, 0.0, -0.001), x=(0.96, 0.0, -0.28)),
                 echoform.Pose((0.003, 0.002, 0.0), x=(0.0, 1.0, 0.0), y=(-1.0, 0.0, 0.0))]
        for events in ((), [echoform.plane_wave(angle, VELOCITY) for angle in numpy.radians([-10.0, 0.0, 10.0])]):
            acquisition = echoform.Acquisition(probe, 900, 50e6, encoding="float32", events=events, positions=poses)
            frame = echoform.point_scatterers(acquisition, [REFLECTOR], VELOCITY).astype(numpy.float32)
            self.assertEqual(frame.shape, (3 * (len(events) or 12), 12, 900))

            def send(door):
                with echoform.FrameSender(acquisition, door) as sender:
                    sender.send(frame)
            places = self.serve(self.config(PART + GRID + DOORS))
            self.expect_reflector(self.live_image(places, send))
            with echoform.Control(places["control"], timeout=PATIENCE) as control:
                control.set({"output.dynamic_range_db": "30"})
                self.assertIn("12 elements, 3 positions, ", control.acquisition)

    def record(self, name, config):
        recorder = self.start("record", "--listen", "127.0.0.1:0", "--output", self.path / name, "--frames", 2)
        place = re.search(r"127\.0\.0\.1:\d+$", recorder.stdout.readline().strip())[0]
        self.run_program("simulate", "--connect", place, "--config", config, "--rate", "max", "--frames", 2)
        self.assertEqual(recorder.wait(PATIENCE), 0)
        return self.path / name

    def image(self, recording, config, *options):
        out = self.path / "image.npy"
        self.run_program("image", recording, "--config", config, "--output", out, "--field", "analytic", "--backend", "cpu", *options)
        return numpy.load(out)

    def test_files_hold_them(self):
        for name, more in (("all elements", ""), ("plane waves", 'transmit = "plane"\nevents = 3\n')):
            with self.subTest(name):
                config = self.config(CONTACT.replace("{imaging}", "").replace("noise_rms = 0.0", "noise_rms = 0.01") + more)
                stem = name.replace(" ", "_")
                file = self.record(f"{stem}.mfmc", config)
                events = 3 if more else 12
                with h5py.File(file) as read:
                    sequence = read["/SEQUENCES/S1"]
                    self.assertEqual(sequence["MFMC_DATA"].shape, (2, 5 * events * 12, 900))
                    index = sequence["PROBE_PLACEMENT_INDEX"][()]
                    self.assertTrue((index == numpy.repeat(numpy.arange(1, 6), events * 12)).all())
                    origins = sequence["PROBE_POSITION"][()]
                    self.assertEqual(origins.shape, (5, 1, 3))
                    numpy.testing.assert_allclose(origins[:, 0], [(2.5e-3 * k, 0.0, 0.0) for k in range(5)], atol=1e-15)
                    # No two A-scans of a frame have the same noise.
                    first = sequence["MFMC_DATA"][0, :events * 12]
                    self.assertFalse((first[:, 800:] == sequence["MFMC_DATA"][0, events * 12:2 * events * 12, 800:]).all(axis=1).any())
                self.assertIn("violations", json.loads(self.run_program("inspect", file, "--json")))
                said = self.run_program("inspect", file)
                self.assertIn("poses       5 of the probe, from (0, 0, 0) to (10, 0, 0) mm, in each frame", said)
                capture = self.path / f"{stem}.efcap"
                again = self.path / f"{stem}_again.mfmc"
                self.run_program("convert", file, capture)
                self.run_program("convert", capture, again)
                there = self.image(file, config, "--frame", 1)
                self.expect_reflector(abs(there))
                for other in (capture, again):
                    self.assertTrue(numpy.array_equal(self.image(other, config, "--frame", 1), there), other)
                self.assertEqual(len(json.loads(self.run_program("inspect", capture, "--json"))["poses"]), 5)
                # Without what is Echoform's own, as another writer has it: the placements tell.
                with h5py.File(again, "r+") as change:
                    del change["/SEQUENCES/S1"].attrs["ECHOFORM_EVENTS"]
                self.assertTrue(numpy.array_equal(self.image(again, config, "--frame", 1), there))
                # Python reads the same, and its sender sends the same.
                with echoform.Recording(file) as recording:
                    self.assertEqual([pose.origin[0] for pose in recording.acquisition.positions], origins[:, 0, 0].tolist())
                    self.assertEqual(recording.acquisition.shots, 5 * events)
                    self.assertEqual(recording[0].shape, (5 * events, 12, 900))
                said = self.one_line("convert", file, self.path / "frames.mat", "--frame", 0)
                self.assertIn("5 positions of the probe within a frame; expected one", said)
                with h5py.File(again, "r+") as change:
                    change["/SEQUENCES/S1/PROBE_PLACEMENT_INDEX"][1, :12] = 2
                self.assertIn("frame 1: found other positions of the probe than in the first frame", self.one_line(
                    "image", again, "--config", config, "--output", self.path / "x.npy"))

    def test_settings_replace_those_of_the_data(self):
        config = self.config(CONTACT.replace("{imaging}", ""))
        file = self.record("frames.mfmc", config)
        stated = self.config(config.read_text().replace("[acquisition]", "[acquisition]\ntime_offset = 0.0").replace(
            LINE.removeprefix("[acquisition]\n"), "positions = [" + ", ".join(f"[{2.5e-3 * k}, 0.0, 0.0]" for k in range(5)) + "]\n"), "stated.toml")
        self.assertTrue(numpy.array_equal(self.image(file, stated), self.image(file, config)))
        without = self.config(config.read_text().replace(LINE, ""), "without.toml")
        self.assertTrue(numpy.array_equal(self.image(file, without), self.image(file, config)))
        shifted = self.config(config.read_text().replace("position_step = 2.5e-3", "position_step = 2.4e-3"), "shifted.toml")
        self.assertFalse(numpy.array_equal(self.image(file, shifted), self.image(file, config)))
        four = self.config(config.read_text().replace("position_count = 5", "position_count = 4"), "four.toml")
        self.assertTrue(self.one_line("image", file, "--config", four, "--output", self.path / "x.npy").endswith(
            "[acquisition] position_count: found 4; expected 5, as many positions as a frame of the data has"))
        one = self.config(config.read_text().replace("position_count = 5", "position_count = 1"), "one.toml")
        self.assertTrue(self.one_line("image", file, "--config", one, "--output", self.path / "x.npy").endswith(
            "[acquisition] position_count: found 1; expected 5, as many positions as a frame of the data has"))

    def test_plan_tells_them(self):
        config = self.config(CONTACT.replace("{imaging}", ""))
        said = self.run_program("plan", "--config", config)
        self.assertRegex(said, r"positions +5 of the probe, summed coherently; from \(0, 0\) mm to \(10, 0\) mm; figures of rays and aperture are those of "
                               r"position 2 alone")
        self.assertRegex(said, r"frame +1\.296 MB: 720 A-scans of 900 samples, int16")
        # Beside the plane of the image too, below a surface.
        beside = ROD.replace("{imaging}", '[imaging]\ndelay_law = "immersion"\n').replace("[-0.006, 0.0, 0.0,", "[-0.006, 0.001, 0.0,")
        said = self.run_program("plan", "--config", self.config(beside, "beside.toml"))
        self.assertIn("3 of the probe, summed coherently; from (-6, 1, 0) mm to (6, 0) mm", said)

    def test_what_cannot_be_is_one_line(self):
        text = CONTACT.replace("{imaging}", "")
        line = LINE.removeprefix("[acquisition]\n")
        cases = (
            (text.replace(line, "positions = [[0.0, 0.0, inf]]\n"), r"\[acquisition\] positions"),
            (text.replace(line, "positions = [[0, 0, 0], [0, 0, 0, 1, 0, 0, 0, -1, 0]]\n"),
             r"\[simulator\] position 1: found element 0 emitting towards z = -1; expected a probe that is not upside down"),
            (text.replace(line, "positions = [[0, 0, 0, 1, 0, 0, 2, 0, 0]]\n"),
             r"positions, position 0: found directions of x and y that are parallel; expected two directions"),
            (text.replace("elements = 12", "elements = 128").replace("position_count = 5", "position_count = 40"),
             r"\[simulator\] events: found 5120; expected at most 4096"),
            (text.replace("position_count = 5", "position_count = 257"), r"\[acquisition\] position_count: found 257"),
            (text.replace("elements = 12", 'elements = 16\ntransmit = "hadamard"'), "found rows of a code at several positions of the probe"),
            (text.replace("elements = 12", 'elements = 12\nmatrix = "half"'), "found events and a half matrix"),
            (text + '[scan]\npath = "line"\n', r"\[scan\] path: found a scan of frames that have 5 positions of the probe each"),
            (ROD.replace("{imaging}", '[imaging]\ndelay_law = "immersion"\n').replace("[-0.006, 0.0, 0.0,", "[-0.006, 0.0, 0.02,"),
             r"element 0 at .* below the front surface"),
            # Named as [imaging] events knows it: of 3 events a position the second at the second.
            (text.replace(line, "position_count = 2\nposition_step = 3e-3\n").replace("x = -0.002\n", "stand_off = 0.010\n").replace("samples = 900", "samples = 1700")
             + 'transmit = "plane"\nevents = 3\nangles = [-10.0, 80.0]\n[couplant]\nvelocity = 1480.0\n[surface]\nkind = "plane"\n'
             + '[imaging]\ndelay_law = "immersion"\nevents = [0, 3, 4]\n', r"position 1 of the probe: data: transmit event 4: found a plane wave"),
        )
        for source, expected in cases:
            with self.subTest(expected):
                self.assertRegex(self.one_line("plan", "--config", self.config(source)), expected)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
