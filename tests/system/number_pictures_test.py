"""Velocities, pressures and saturations in pictures: on maps with a sign and 0 in the middle, or from 0 to 1, with what has no value apart.
The same in figures, in DICOM files and in the 8-bit display streams, whose levels stand for the numbers."""
import pathlib
import re
import signal
import sys
import unittest

try:
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

from dicom_elements import read
from pictures import Picture
from program_case import ProgramCase

if any(name in pathlib.Path(sys.argv[1]).read_bytes() for name in (b"__asan_init", b"__tsan_init")):
    print("SKIPPED: a sanitizer makes minutes of its frames, which other tests image too")
    sys.exit(77)

DICOM = sys.argv[2] == "ON"
NYQUIST = 1540.0 * 4000.0 / (4 * 5e6)  # m/s
NO_VALUE = (96, 96, 96)
DOORS = """
[input]
listen = "127.0.0.1:0"
incomplete_timeout = 60
[server]
images = "127.0.0.1:0"
telemetry = "127.0.0.1:0"
web = "127.0.0.1:0"
control = "127.0.0.1:0"
"""
MOVING = """
[material]
longitudinal_velocity = 1540.0
[doppler]
pulse_repetition = 4000.0
wall_filter = "none"
threshold_db = -20.0
[filter]
kind = "none"
[simulator]
elements = 32
pitch = 0.3e-3
element_width = 0.27e-3
samples = 512
sample_rate = 20e6
centre_frequency = 5e6
cycle_frames = 1
repeats = 8
pulse_repetition = 4000.0
longitudinal_velocity = 1540.0
noise_rms = 0.0
scatterers = 800
speckle_x = [-0.004, 0.004]
speckle_z = [0.008, 0.016]
disks = [[0.0, 0.012, 0.0035, 12.0, 0]]
"""
# A disk that turns from +z towards +x: at x > 0 it moves towards the probe, above 0 in velocity.
PIXELS = MOVING + """transmit = "plane"
events = 1
[imaging]
backend = "cpu"
threads = 1
[grid]
x = [-0.0036, 0.0036]
z = [0.0084, 0.0156]
pixels = [61, 61]
"""
LINES = MOVING + """transmit = "beams"
aperture = 16
receive_aperture = 16
events = 17
origins = [-0.0024, 0.0024]
focus = 0.012
[imaging]
method = "beams"
backend = "cpu"
threads = 1
[beams]
depth = [0.008, 0.016]
path = "iq"
frame_rate = 100.0
[m_mode]
line = 8
seconds = 2.0
"""
RING = """
[imaging]
method = "tomography"
backend = "cpu"
threads = 1
[material]
longitudinal_velocity = 1500.0
[grid]
x = [-0.006, 0.006]
z = [-0.006, 0.006]
pixels = [61, 61]
[filter]
kind = "none"
[detectors]
kind = "ring"
count = 64
radius = 20e-3
[simulator]
longitudinal_velocity = 1500.0
samples = 640
sample_rate = 20e6
full_scale = 0.05
noise_rms = 0.0
blur = 0.3e-3
cycle_frames = 1
"""
BALL = (-2.0, 3.0)  # mm
PRESSURE = RING + f"balls = [[{BALL[0] / 1e3}, 0.0, {BALL[1] / 1e3}, 0.6e-3, 1.0]]\n"
BLOOD = RING.replace("[detectors]", '[tomography]\nwavelengths = [750e-9, 850e-9]\n[unmixing]\ncomponents = ["HbO2", "Hb"]\nthreshold = 0.3\n[detectors]') + """
wavelengths = [750e-9, 850e-9]
balls = [[-2e-3, 0.0, 3e-3, 0.8e-3, 1.0], [2e-3, 0.0, -2e-3, 0.8e-3, 1.0]]
ball_saturations = [0.9, 0.3]
"""


def red(colour):
    return colour[0] > colour[2] + 25


def blue(colour):
    return colour[2] > colour[0] + 25


class NumberPictures(ProgramCase):
    recordings = {}  # by configuration: making a frame takes longest

    def recorded(self, config):
        """A frame of the configuration's own source, as a recording."""
        (self.path / "c.toml").write_text(config)
        if config in self.recordings:
            (self.path / "in.efcap").write_bytes(self.recordings[config])
            return
        recorder = self.start("record", "--listen", "127.0.0.1:0", "--output", self.path / "in.efcap", "--frames", 1)
        place = re.search(r"127\.0\.0\.1:\d+", recorder.stdout.readline())[0]
        self.run_program(0, "--log-level", "warning", "simulate", "--connect", place, "--config", self.path / "c.toml", "--frames", 1)
        self.assertEqual(recorder.wait(60), 0)
        self.recordings[config] = (self.path / "in.efcap").read_bytes()

    def images(self, *extensions, more=""):
        (self.path / "c.toml").write_text((self.path / "c.toml").read_text() + more)
        outputs = [text for extension in extensions for text in ("--output", self.path / f"i.{extension}")]
        return self.run_program(0, "--log-level", "warning", "image", self.path / "in.efcap", "--config", self.path / "c.toml", *outputs)

    def check_bar(self, picture):
        """Of numbers with a sign: red above, blue below, and as light as nothing else in the middle, where 0 is."""
        self.assertTrue(red(picture.bar(1.0)) and blue(picture.bar(0.0)), (picture.bar(1.0), picture.bar(0.0)))
        middle = picture.bar(0.5)
        self.assertLess(max(middle) - min(middle), 12, middle)
        for share in (0.0, 0.25, 0.75, 1.0):
            self.assertLess(sum(picture.bar(share)), sum(middle))

    def check_disk(self, picture):
        """Red where it moves towards the probe, blue where it moves away. Speckle is chance: most of some places tell."""
        for side, is_right in ((2.0, red), (-2.0, blue)):
            found = [picture.colour(side, 12.0 + down) for down in (-1.0, -0.5, 0.0, 0.5, 1.0)]
            self.assertGreaterEqual(sum(map(is_right, found)), 4, found)
        self.check_bar(picture)

    def test_velocities_of_pixels_have_their_sign(self):
        self.recorded(PIXELS)
        self.images("png", "npy")
        self.check_disk(Picture(self.path / "i.velocity.png"))
        values = numpy.load(self.path / "i.velocity.npy")
        self.assertLessEqual(numpy.abs(values).max(), NYQUIST * 1.000001)

    def test_powers_of_flow_are_in_decibels_of_powers(self):
        self.recorded(PIXELS)
        self.images("png", "npy", more="[output]\ndynamic_range_db = 30\n")
        picture, values = Picture(self.path / "i.power.png"), numpy.load(self.path / "i.power.npy")
        # A power 15 dB below the greatest has the colour of the middle of the bar: the pixel whose power is nearest to that.
        decibels = 10 * numpy.log10(values / values.max())
        row, column = numpy.unravel_index(numpy.abs(decibels + 15).argmin(), values.shape)
        self.assertAlmostEqual(decibels[row, column], -15, delta=0.5)
        x, z = numpy.linspace(-3.6, 3.6, 61)[column], numpy.linspace(8.4, 15.6, 61)[row]
        # Half a dB of 30 is a sixtieth of the map; between two pixels it is interpolated.
        self.assertLess(max(abs(a - b) for a, b in zip(picture.colour(x, z), picture.bar(0.5))), 30)

    def test_velocities_of_lines_lie_as_the_part_does(self):
        self.recorded(LINES)
        self.images("png", "npy")
        picture = Picture(self.path / "i.velocity.png")
        self.assertIn("ExtentMillimetres", picture.texts)
        self.check_disk(picture)
        self.assertEqual(numpy.load(self.path / "i.velocity.npy").shape[0], 17, "numbers stay lines by ranges")
        # Time and range are in different units: each axis fills the figure.
        scrolled = Picture(self.path / "i.m_mode.png")
        self.assertGreater(min(scrolled.width, scrolled.height), 500)

    def test_pressures_have_their_sign(self):
        self.recorded(PRESSURE)
        self.images("png", "npy")
        picture, values = Picture(self.path / "i.png"), numpy.load(self.path / "i.npy")
        self.check_bar(picture)
        axis = numpy.linspace(-6, 6, 61)
        for at, is_right in ((values.argmax(), red), (values.argmin(), blue)):
            row, column = numpy.unravel_index(at, values.shape)
            found = picture.colour(axis[column], axis[row])
            self.assertTrue(is_right(found), (found, values.min(), values.max()))
        self.assertEqual([round(axis[k], 1) for k in numpy.unravel_index(values.argmax(), values.shape)[::-1]], list(BALL))

    def test_saturations_go_from_0_to_1_and_what_has_none_is_apart(self):
        self.recorded(BLOOD)
        self.images("png", "npy")
        picture, values = Picture(self.path / "i.saturation.png"), numpy.load(self.path / "i.saturation.npy")
        axis = numpy.linspace(-6, 6, 61)
        for x, z in ((-2.0, 3.0), (2.0, -2.0)):
            value = values[round((z + 6) / 0.2), round((x + 6) / 0.2)]
            self.assertTrue(0.0 < value < 1.0, value)
            expected, found = picture.bar(value), picture.colour(x, z)
            # The bar has a row for each of some hundreds of shares.
            self.assertLess(max(abs(a - b) for a, b in zip(expected, found)), 8, (value, expected, found))
        masked = numpy.argwhere(numpy.isnan(values))
        self.assertGreater(len(masked), 1000)
        for row, column in masked[::97]:
            self.assertEqual(picture.colour(axis[column], axis[row]), NO_VALUE)
        self.assertNotIn(NO_VALUE, {picture.bar(k / 400) for k in range(401)})
        self.assertIn(NO_VALUE, picture.below_bar(), "named in the legend")

    @unittest.skipUnless(DICOM, "this build has no DCMTK")
    def test_dicom_figures_and_images(self):
        self.recorded(PIXELS)
        self.images("png", "dcm")
        data = read(self.path / "i.velocity.dcm")[1]
        figure = numpy.frombuffer(data[0x7FE0, 0x10][1], numpy.uint8)
        drawn = Picture(self.path / "i.velocity.png").pixels
        numpy.testing.assert_array_equal(figure[:drawn.size], drawn.ravel())
        # The image itself: levels in a palette, and what they stand for.
        self.images("dcm", "npy", more='[dicom]\npicture = "image"\n')
        data = read(self.path / "i.velocity.dcm")[1]
        self.assertEqual((data[0x28, 4][1], data[0x28, 2][1]), ("PALETTE COLOR", 1))
        levels = numpy.frombuffer(data[0x7FE0, 0x10][1], numpy.uint8)[:61 * 61].reshape(61, 61)
        mapping, = data[0x40, 0x9096][1]
        unit, = mapping[0x40, 0x08EA][1]
        self.assertEqual((unit[8, 0x100][1], unit[8, 0x102][1]), ("m/s", "UCUM"))
        values = mapping[0x40, 0x9224][1] + mapping[0x40, 0x9225][1] * levels
        step = mapping[0x40, 0x9225][1]
        self.assertAlmostEqual(step, NYQUIST / 127, delta=1e-9)
        # Half a level, and the rounding of single precision.
        numpy.testing.assert_allclose(values, numpy.load(self.path / "i.velocity.npy"), atol=0.501 * step)
        red_table, blue_table = (numpy.frombuffer(data[0x28, element][1], "<u2") for element in (0x1201, 0x1203))
        self.assertEqual((len(red_table), len(blue_table)), (256, 256))
        self.assertTrue(red_table[255] > blue_table[255] and red_table[1] < blue_table[1])

    def test_display_streams_are_levels_of_the_numbers(self):
        config = self.path / "live.toml"
        config.write_text(PIXELS + DOORS)
        server = self.start("serve", "--config", config)
        doors = {}
        for line in server.stdout:
            if found := re.match(r"(frames in|images out)\s+tcp\W+(127\.0\.0\.1:\d+)$", line.strip()):
                doors[found[1]] = found[2]
            if len(doors) == 2:
                break
        images = "tcp://" + doors["images out"]
        views = [self.start("view", "--connect", images, "--stream", f"echoform/{stream}", "--frames", 1, "--timeout", 60,
                            "--snapshot", self.path / f"{stem}.npy", "--snapshot", self.path / f"{stem}.png")
                 for stream, stem in (("velocity", "numbers"), ("velocity.display", "levels"))]
        # All frames are the same.
        sender = self.start("simulate", "--connect", doors["frames in"], "--config", config, "--rate", 5)
        for view in views:
            self.assertEqual(view.wait(90), 0, view.stderr.read())
        numbers, levels = (numpy.load(self.path / f"{stem}.npy") for stem in ("numbers", "levels"))
        numpy.testing.assert_allclose(levels, numbers, atol=0.501 * NYQUIST / 127)
        for stem in ("numbers", "levels"):
            self.check_disk(Picture(self.path / f"{stem}.png"))
        for process in (sender, server):
            process.send_signal(signal.SIGINT)
            process.wait(60)


unittest.main(argv=sys.argv[:1], verbosity=2)
