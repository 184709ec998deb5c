"""A simulated MicroPulse, as a process of its own, connected to by `record` and `serve`: the image shows the reflector where it is."""
import re
import sys
import time
import unittest
import urllib.request

try:
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

from program_case import ProgramCase

X, Z = 0.003, 0.012
SETUP = ('[material]\nlongitudinal_velocity = 6320.0\nshear_velocity = 3130.0\n[grid]\nx = [-0.008, 0.008]\nz = [0.006, 0.018]\npixels = [161, 121]\n'
         '[imaging]\nbackend = "cpu"\nthreads = 1\n'
         f'[simulator]\nelements = 16\npoints = [[{X}, {Z}, 1.0]]\nholes = []\ncycle_frames = 1\n'
         '[server]\nimages = "127.0.0.1:0"\ntelemetry = "127.0.0.1:0"\ncontrol = "127.0.0.1:0"\nweb = "127.0.0.1:0"\n[input]\nlisten = "127.0.0.1:0"\n')
INSTRUMENT = ('[input.micropulse]\nconnect = "{place}"\nelements = 16\npitch = 0.6e-3\nsamples = 400\ngain = 40.0\npulse_repetition = 2000\nreset_wait = 0.0\n{more}\n')


class Micropulse(ProgramCase):
    def config(self, name, text):
        file = self.path / name
        file.write_text(text)
        return file

    def instrument(self, more=""):
        """Started; the configuration for who connects to it."""
        settings = INSTRUMENT.format(place="127.0.0.1:1067", more=more)
        instrument = self.start("instrument", "micropulse", "--listen", "127.0.0.1:0", "--config", self.config("instrument.toml", SETUP + settings))
        line = instrument.stdout.readline()
        self.assertRegex(line, r"listens at 127\.0\.0\.1:\d+")
        place = re.search(r"127\.0\.0\.1:\d+", line)[0]
        return self.config("client.toml", SETUP + INSTRUMENT.format(place=place, more=more))

    def shows_the_point(self, more):
        config = self.instrument(more)
        file = self.path / "frames.mfmc"
        recorder = self.start("record", "--output", file, "--frames", 3, "--config", config)
        output, errors = recorder.communicate(timeout=300)
        self.assertEqual(recorder.returncode, 0, errors)
        self.assertIn("wrote 3 frames", output)
        image = self.start("image", file, "--config", config, "--output", self.path / "image.npy")
        _, errors = image.communicate(timeout=300)
        self.assertEqual(image.returncode, 0, errors)
        pixels = numpy.load(self.path / "image.npy")
        k, i = numpy.unravel_index(numpy.argmax(pixels), pixels.shape)
        # A wavelength is 1.3 mm; pixels are 0.1 mm apart.
        self.assertAlmostEqual(-0.008 + 0.0001 * i, X, delta=0.0003)
        self.assertAlmostEqual(0.006 + 0.0001 * k, Z, delta=0.0003)

    def test_full_matrix_of_16_bits(self):
        self.shows_the_point("")

    def test_half_matrix_of_12_low_bits_with_channels_from_1(self):
        self.shows_the_point('transmit = "hmc"\nbits = 12\njustified = "low"\nchannel_base = 1\ncycling = "unbuffered"')

    def test_plane_waves_of_8_bits_asked_for_one_by_one(self):
        self.shows_the_point('transmit = "plane"\nevents = 9\nbits = 8\ncycling = "single"')

    def test_some_elements_behind_a_gate_that_begins_late(self):
        self.shows_the_point('transmit = "elements"\nfire = [0, 5, 10, 15]\ngate_start = 60')

    def test_serve_counts_the_instrument_as_a_door(self):
        server = self.start("serve", "--config", self.instrument())
        places = {}
        while "telemetry" not in places:
            line = server.stdout.readline()
            self.assertTrue(line, "the server ended")
            places[line[:11].strip()] = line[12:].strip()
        self.assertTrue(places["MicroPulse"].startswith("micropulse 127.0.0.1:"), places)
        web = re.search(r"http://[^/ ]+", places["viewer"])[0]
        deadline = time.monotonic() + 300
        while True:
            with urllib.request.urlopen(web + "/metrics", timeout=60) as page:
                found = {name: float(value) for name, value in re.findall(r"^echoform_(\S+) (\S+)$", page.read().decode(), re.MULTILINE)}
            if found["frames_published_total"] >= 5:
                break
            self.assertLess(time.monotonic(), deadline, found)
        self.assertEqual(found['door_senders_total{door="micropulse",outcome="accepted"}'], 1)
        self.assertEqual(found['door_decode_errors_total{door="micropulse"}'], 0)
        self.assertGreaterEqual(found['door_shots_total{door="micropulse",outcome="taken"}'], 80)

    def test_gain_rate_and_gate_change_while_it_fires(self):
        try:
            import zmq  # noqa: F401
            from google.protobuf import descriptor  # noqa: F401
        except ImportError as error:
            self.skipTest(str(error))
        import echoform
        server = self.start("serve", "--config", self.instrument())
        places = {}
        while "control" not in places:
            line = server.stdout.readline()
            self.assertTrue(line, "the server ended")
            places[line[:11].strip()] = line[12:].strip()
        with echoform.Control(places["control"], timeout=300) as control, echoform.ImageSubscriber(places["images out"], timeout=300) as images:
            def image(revision):
                while True:
                    image = images.receive()
                    if image.settings_revision >= revision:
                        return image
            before = image(1)
            # -6 dB between two frames: every image behind is wholly by it.
            after = image(control.set({"input.micropulse.gain": 34.0}))
            self.assertAlmostEqual(after.pixels.max() / before.pixels.max(), 10 ** (-6 / 20), delta=0.01)
            control.set({"input.micropulse.pulse_repetition": 1000})
            self.assertIn("400 samples", control.acquisition)
            # The point is still within this gate; another acquisition, and so another stream.
            shorter = image(control.set({"input.micropulse.gate_start": 40, "input.micropulse.samples": 300}))
            self.assertIn("300 samples", control.acquisition)
            k, i = numpy.unravel_index(numpy.argmax(shorter.pixels), shorter.pixels.shape)
            self.assertLess(numpy.hypot(shorter.x[i] - X, shorter.z[k] - Z), 0.0003)
            for changes, words in (({"input.micropulse.gain": 40.1}, "gain: found 40.1; expected 0 to 70 dB in steps of 0.25"),
                                   ({"input.micropulse.gain": 80}, "gain: found 80"),
                                   ({"input.micropulse.samples": 9000}, "samples: found 9000"),
                                   ({"input.micropulse.pulse_repetition": 1}, "silence_timeout: found 5 s; expected more than the 16 s")):
                with self.assertRaisesRegex(echoform.Rejected, words):
                    control.set(changes)
            self.assertEqual(control["input.micropulse.gain"], 34.0)

    def fails(self, text, *arguments):
        process = self.start(*arguments)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2, errors)
        self.assertIn(text, errors)

    def test_what_cannot_be_is_named(self):
        self.fails('NAME: found "omniscan"; expected micropulse', "instrument", "omniscan")
        for more, text in (("averages = 3", "[input.micropulse] averages: found 3; expected a power of two"),
                           ("bits = 14", "[input.micropulse] bits: found 14; expected 8, 10, 12 or 16"),
                           ("gains = 3", "the unknown key gains in [input.micropulse]"),
                           ("encoder_axis = 1\ncycling = \"unbuffered\"", 'encoder_axis: found 1 with cycling = "unbuffered"')):
            self.fails(text, "serve", "--config", self.config("bad.toml", SETUP + INSTRUMENT.format(place="127.0.0.1:9", more=more)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
