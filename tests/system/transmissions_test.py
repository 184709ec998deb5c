"""Every kind of transmission, live from the simulated source through a server to a viewer: a reflector appears where it is."""
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.environ["ECHOFORM_SOURCE_DIR"], "python"))
try:
    import numpy
    import echoform
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

PROGRAM = sys.argv[1]
PATIENCE = 60  # seconds, for what would otherwise never come
DOORS = '[input]\nlisten = "127.0.0.1:0"\n[server]\nimages = "127.0.0.1:0"\ntelemetry = "127.0.0.1:0"\nweb = "127.0.0.1:0"\ncontrol = "127.0.0.1:0"\n'
REFLECTOR = (0.0015, 0.0135)
PIXEL = 0.0001
GRID = f"[grid]\nx = [-0.002, 0.005]\nz = [0.0105, 0.0165]\npixels = [71, 61]\n"
PART = "[material]\nlongitudinal_velocity = 6320.0\nshear_velocity = 3130.0\n"
SOURCE = f"[simulator]\nelements = 32\npitch = 0.6e-3\nsample_rate = 50e6\nnoise_rms = 0.0\ncycle_frames = 1\npoints = [[{REFLECTOR[0]}, {REFLECTOR[1]}, 1.0]]\n"
CONTACT = PART + GRID + DOORS + "{imaging}" + SOURCE + "samples = 900\n"
ROD = PART + GRID + DOORS + '[couplant]\nvelocity = 1480.0\n[surface]\nkind = "cylinder"\nradius = 0.040\n[probe]\nstand_off = 0.010\n' \
      "{imaging}" + SOURCE + "samples = 1600\nwall_echoes = false\nfull_scale = 0.5\n"
KINDS = {
    "plane waves": 'transmit = "plane"\nevents = 15\nangles = [-20.0, 20.0]\n',
    "virtual sources": 'transmit = "diverging"\nevents = 12\nfocus = 0.006\n',
    "focused beams": 'transmit = "focused"\nevents = 24\nfocus = 0.010\naperture = 16\n',
    "sparse firings": "fire = [1, 6, 11, 16, 21, 26, 31]\nreceive_aperture = 20\n",
    "a Hadamard code": 'transmit = "hadamard"\n',
}
IN_THE_ROD = {
    "plane waves": 'transmit = "plane"\nevents = 15\nangles = [-6.0, 6.0]\n',
    "virtual sources": 'transmit = "diverging"\nevents = 12\nfocus = 0.012\n',
    "sparse firings": "fire = [1, 6, 11, 16, 21, 26, 31]\n",
    "a Hadamard code": 'transmit = "hadamard"\n',
}


class Transmissions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.config = pathlib.Path(folder.name) / "serve.toml"

    def serve(self, text):
        self.config.write_text(text)
        server = subprocess.Popen([PROGRAM, "--log-level", "warning", "serve", "--config", str(self.config), "--backend", "cpu"],
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        places = {}
        while "control" not in places:
            line = server.stdout.readline()
            self.assertTrue(line, f"the server did not start: {server.poll()}")
            places[line[:11].strip()] = line[12:].strip()
        return places

    def image(self, places):
        """One frame of the source, as the viewer sees it."""
        door = places["frames in"].removeprefix("tcp ")
        with echoform.ImageSubscriber(places["images out"], timeout=PATIENCE) as viewer:
            while True:  # until the subscription has arrived
                subprocess.run([PROGRAM, "--log-level", "error", "simulate", "--connect", door, "--config", str(self.config), "--frames", "1"],
                               check=True, capture_output=True, timeout=PATIENCE)
                try:
                    image = viewer.receive(timeout=0.5)
                    break
                except echoform.TimedOut:
                    pass
        return numpy.asarray(image.pixels, dtype=float)

    def expect_reflector(self, pixels, velocity):
        z, x = numpy.unravel_index(pixels.argmax(), pixels.shape)
        place = (-0.002 + PIXEL * x, 0.0105 + PIXEL * z)
        # A quarter of a wavelength at 5 MHz, and where the nearest pixel may lie.
        self.assertLess(math.dist(place, REFLECTOR), velocity / 5e6 / 4 + PIXEL / math.sqrt(2.0), place)

    def test_a_reflector_is_where_it_is_in_contact(self):
        for kind, keys in KINDS.items():
            for view, velocity in (("LL", 6320.0), ("TT", 3130.0)):
                with self.subTest(kind=kind, view=view):
                    samples = "" if view == "LL" else 'modes = ["T"]\nwave_medium = "T"\n'
                    source = CONTACT.replace("{imaging}", f'[imaging]\nviews = ["{view}"]\n') + keys
                    if view == "TT":
                        if "events" not in keys:
                            samples = 'modes = ["T"]\n'
                        source = source.replace("samples = 900", "samples = 1400") + samples
                    self.expect_reflector(self.image(self.serve(source)), velocity)

    def test_a_reflector_is_where_it_is_in_a_rod(self):
        for kind, keys in IN_THE_ROD.items():
            with self.subTest(kind=kind):
                text = ROD.replace("{imaging}", '[imaging]\ndelay_law = "immersion"\nviews = ["LL"]\n') + keys
                self.expect_reflector(self.image(self.serve(text)), 6320.0)

    def test_a_point_is_as_wide_as_the_sum_of_its_waves_makes_it(self):
        # Along x through a point: |sum over events, elements that fire and receivers of the analytic pulse at the difference of the time
        # at which the sum looks and the one at which the echo is there|, by formulas in double precision, without samples or a transform.
        velocity, frequency = 6320.0, 5e6
        probe = echoform.Probe.linear(32, 0.6e-3, element_width=0.5e-3, centre_frequency=frequency, bandwidth=3e6)
        x_of = probe.centres[:, 0]
        slownesses = numpy.sin(numpy.radians(numpy.linspace(-20.0, 20.0, 15))) / velocity
        sources = [(x, -0.006) for x in numpy.linspace(-0.009, 0.009, 8)]
        kinds = {
            "plane waves": ([echoform.PlaneWave(slowness, delay=0.0) for slowness in slownesses],
                            lambda k, x, z: slownesses[k] * x + numpy.sqrt(velocity**-2 - slownesses[k]**2) * z),
            "virtual sources": ([echoform.PointWave(x=x, z=z, velocity=velocity, delay=0.0) for x, z in sources],
                                lambda k, x, z: (numpy.hypot(x - sources[k][0], z - sources[k][1]) - numpy.hypot(*sources[k])) / velocity),
        }
        grid = '[grid]\nx = [-0.001, 0.004]\nz = [0.0135, 0.0135]\npixels = [501, 1]\n[filter]\nkind = "none"\n[imaging]\ncrop = "never"\n'
        x = numpy.linspace(-0.001, 0.004, 501)

        def width(profile):
            above = numpy.flatnonzero(profile >= 0.5 * profile.max())
            ends = []
            for inside, outside in ((above[0], above[0] - 1), (above[-1], above[-1] + 1)):
                share = (profile[inside] - 0.5 * profile.max()) / (profile[inside] - profile[outside])
                ends.append(x[inside] + share * (x[outside] - x[inside]))
            return ends[1] - ends[0]

        for kind, (events, passes) in kinds.items():
            with self.subTest(kind=kind):
                acquisition = echoform.Acquisition(probe, 900, 50e6, encoding="float32", start_time=-2e-6, events=events)
                frame = echoform.point_scatterers(acquisition, [REFLECTOR], velocity).astype(numpy.float32)
                expected = numpy.zeros(len(x), dtype=complex)
                back = [numpy.hypot(x - receiver, REFLECTOR[1]) / velocity for receiver in x_of]
                there = numpy.hypot(x_of - REFLECTOR[0], REFLECTOR[1]) / velocity
                for k in range(len(events)):
                    for delay, out in zip((passes(k, element, 0.0) for element in x_of), there):
                        for receiver, home in zip(back, there):
                            u = passes(k, x, REFLECTOR[1]) + receiver - (delay + out + home)
                            expected += numpy.exp(-0.5 * (u * frequency / 0.4) ** 2 + 2j * numpy.pi * frequency * u)
                places = self.serve(PART + grid + DOORS)
                with echoform.ImageSubscriber(places["images out"], timeout=PATIENCE) as viewer, \
                        echoform.FrameSender(acquisition, places["frames in"].removeprefix("tcp ")) as sender:
                    while True:  # until the subscription has arrived
                        sender.send(frame)
                        try:
                            image = viewer.receive(timeout=0.5)
                            break
                        except echoform.TimedOut:
                            pass
                found = width(numpy.asarray(image.pixels, dtype=float).ravel())
                self.assertLess(abs(found / width(abs(expected)) - 1.0), 0.03)

    def test_fewer_waves_are_compounded_live(self):
        places = self.serve(CONTACT.replace("{imaging}", "") + KINDS["plane waves"])
        self.expect_reflector(self.image(places), 6320.0)
        with echoform.Control(places["control"], timeout=PATIENCE) as control:
            control.set({"imaging.compounded": "3"})
            self.assertEqual(control.acquisition, "32 elements, 15 plane waves, 900 samples at 50 MHz, int16")
            self.expect_reflector(self.image(places), 6320.0)
            with self.assertRaisesRegex(echoform.Rejected, r"\[imaging\] events: found event 15; expected events 0 to 14 of a frame"):
                control.set({"imaging.events": "[3, 15]"})
            control.set({"imaging.events": "[7]"})
            self.expect_reflector(self.image(places), 6320.0)

    def test_what_cannot_be_imaged_is_refused_by_event(self):
        places = self.serve(CONTACT.replace("{imaging}", "") + 'transmit = "plane"\nevents = 3\nangles = [-40.0, 40.0]\nwave_medium = "T"\nmodes = ["L", "T"]\n')
        done = subprocess.run([PROGRAM, "simulate", "--connect", places["frames in"].removeprefix("tcp "), "--config", str(self.config), "--frames", "1"],
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"transmit event 0: found a plane wave of sin\(angle\) / velocity = 0\.0002054 s/m, a sine of 1\.298 at 6320 m/s")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
