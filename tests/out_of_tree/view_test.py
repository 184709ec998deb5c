"""The program of examples/view: commands take its view, and a reflector shows where it is by echoes of the wave that the view is for."""
import tomllib
import unittest

import numpy

import echoform
from program_case import EXAMPLE, PROGRAM, ProgramCase

try:
    import google.protobuf  # noqa: F401
    import zmq  # noqa: F401
    live = True
except ImportError:
    live = False

CONFIG = EXAMPLE / "head_wave.toml"
SETTINGS = tomllib.loads(CONFIG.read_text())
LONGITUDINAL, SHEAR = SETTINGS["material"]["longitudinal_velocity"], SETTINGS["material"]["shear_velocity"]
PLACE = (0.022, 0.015)
FREQUENCY, RATE, SAMPLES, ELEMENTS = 5e6, 100e6, 3072, 32
ACQUISITION = echoform.Acquisition(
    echoform.Probe.linear(ELEMENTS, 0.6e-3, element_width=0.5e-3, centre_frequency=FREQUENCY, bandwidth=3e6), SAMPLES, RATE,
    matrix="full", encoding="float32")


def head_wave_time(d, z):
    """Along the surface by s, then straight as a shear wave: the least over all s, by golden sections. No angle, no formula."""
    def time(s):
        return s / LONGITUDINAL + numpy.hypot(d - s, z) / SHEAR
    low, high, ratio = 0.0, d, 0.5 * (5.0 ** 0.5 - 1.0)
    for _ in range(80):
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, b) if time(a) < time(b) else (a, high)
    return time(0.5 * (low + high))


def echoes():
    """[tx, rx, sample]: out as the head wave, back as the shear wave, of one scatterer, with amplitude 1."""
    elements = (numpy.arange(ELEMENTS) - 0.5 * (ELEMENTS - 1)) * 0.6e-3
    out = numpy.array([head_wave_time(PLACE[0] - x, PLACE[1]) for x in elements])
    back = numpy.hypot(PLACE[0] - elements, PLACE[1]) / SHEAR
    t = numpy.arange(SAMPLES) / RATE - (out[:, None, None] + back[None, :, None])
    return (numpy.exp(-0.5 * (t / 0.2e-6) ** 2) * numpy.cos(2 * numpy.pi * FREQUENCY * t)).astype(numpy.float32)


class View(ProgramCase):
    def send(self, address):
        with echoform.FrameSender(ACQUISITION, address) as sender:
            sender.send(echoes())

    def images(self):
        """Of both views, from a recording."""
        recording = self.recorded(self.send)
        self.run_program("image", recording, "--config", CONFIG, "--output", self.path / "image.npy")
        return (numpy.load(self.path / f"image.{view}.npy") for view in ("H-T", "TT"))

    def test_its_echoes_show_the_reflector_where_it_is(self):
        grid = SETTINGS["grid"]
        x, z = (numpy.linspace(*grid[axis], count) for axis, count in zip("xz", grid["pixels"]))
        head, shear = self.images()
        px, pz, value = self.strongest(head, x, z, PLACE, 1.0)
        print(f"H-T: {value:.4f} at ({1e3 * px:.2f}, {1e3 * pz:.2f}) mm; the strongest of TT {shear.max():.4f}")
        self.assertEqual((px, pz), tuple(min(axis, key=lambda at: abs(at - place)) for axis, place in zip((x, z), PLACE)))
        # In phase all N^2 pairs add up to 1, less what linear interpolation loses of 5 MHz sampled at 100 MHz: sinc^2(5 / 100) is 0.992
        # on the average over delays.
        self.assertAlmostEqual(float(value), 0.992, delta=0.01)
        self.assertLess(shear.max(), 0.5 * value)
        # Under the probe no head wave arrives: where every element is nearer than z tan(theta), sin(theta) = c_T / c_L.
        tangent = SHEAR / numpy.sqrt(LONGITUDINAL ** 2 - SHEAR ** 2)
        gx, gz = numpy.meshgrid(x, z)
        aperture = 0.5 * (ELEMENTS - 1) * 0.6e-3
        dark = gx + aperture < gz * tangent - 1e-9
        self.assertGreater(dark.sum(), 100)
        self.assertEqual(head[dark].max(), 0.0)

    def test_commands_know_it(self):
        self.assertRegex(self.run_program("info"), r"views +by the modes .*\n +H-T: Head wave of the creeping")
        self.assertIn("2 views", self.run_program("plan", "--config", CONFIG, "--no-measure"))

    @unittest.skipUnless(live, "no pyzmq or protobuf")
    def test_a_server_takes_it_live(self):
        settings = {section: SETTINGS[section] for section in ("material", "grid")}
        with echoform.Server(settings | {"imaging": {"views": ["TT"], "crop": "never"}}, program=PROGRAM) as server, \
                echoform.Control(server.control) as control:
            control.set({"imaging.views": ["TT", "H-T"]})
            with self.assertRaisesRegex(echoform.EchoformError, "up to 3 a side, or H-T"):
                control.set({"imaging.views": ["H-L"]})
            with echoform.ImageSubscriber(server.images, "echoform/H-T", timeout=0.2) as images, \
                    echoform.FrameSender(ACQUISITION, server.frames) as sender:
                image = self.first_image(images, sender)
        self.assertEqual(image.view, "H-T")
        expected, _ = self.images()
        # The same sums in single precision, in the order that the threads of each have.
        self.assertLess(numpy.linalg.norm(image.pixels - expected), 1e-5 * numpy.linalg.norm(expected))

    def first_image(self, images, sender):
        """Sends until one comes: a publisher does not say when a subscription has reached it."""
        frame = echoes()
        for _ in range(300):
            sender.send(frame)
            try:
                return images.receive()
            except echoform.TimedOut:
                pass
        self.fail("no image came")

    def test_unknown_views_get_one_line_that_names_the_known(self):
        line = self.bad_line("plan", "--no-measure", replace="H-T", text="H-L")
        self.assertIn('[imaging] views: found "H-L"; expected LL, LT, TL or TT', line)
        self.assertIn("up to 3 a side, or H-T\n", line)
        self.assertIn("[grid] z: found no value", self.bad_line("plan", "--no-measure", replace="z = [0.004, 0.040]", text=""))


if __name__ == "__main__":
    unittest.main(argv=["view_test.py"])
