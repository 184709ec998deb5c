"""Transmit laws of several elements: a file that h5py alone makes is read and imaged, and one that the program writes of plane waves
is read by h5py alone, field by field."""
import json
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
PITCH, COUNT, RATE, VELOCITY = 0.6e-3, 8, 40e6, 6320.0
X = PITCH * (numpy.arange(COUNT) - (COUNT - 1) / 2)


class MfmcEvents(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def run_program(self, *arguments, status=0):
        done = subprocess.run([PROGRAM, "--log-level", "warning", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def config(self, name, text):
        place = self.path / name
        place.write_text(text)
        return place

    def image(self, recording, config):
        output = self.path / "image.npy"
        output.unlink(missing_ok=True)
        self.run_program("image", recording, "--config", config, "--output", output, "--field", "analytic", "--backend", "cpu")
        return numpy.load(output)

    def foreign(self, file, delays, frames=2):
        """A CSM sequence as other writers have it: groups at the root, 8 elements a transmit law, int8 samples, float64 indices, scalar
        ELEMENT datasets of the receive laws, compressed. The samples are pulses that one point would send back."""
        samples, point = 500, (0.5e-3, 9e-3)
        time = numpy.arange(samples) / RATE
        data = numpy.zeros((frames, len(delays) * COUNT, samples), numpy.int8)
        legs = numpy.hypot(X - point[0], point[1]) / VELOCITY
        for event, law in enumerate(delays):
            for receiver in range(COUNT):
                for element in range(COUNT):
                    t = time - law[element] - legs[element] - legs[receiver]
                    data[:, event * COUNT + receiver] += numpy.round(
                        12 * numpy.exp(-0.5 * (t / 125e-9) ** 2) * numpy.cos(2 * numpy.pi * 5e6 * t)).astype(numpy.int8)
        with h5py.File(file, "w") as out:
            probe = out.create_group("PROBE<1>")
            probe.attrs["TYPE"] = "PROBE"
            probe["ELEMENT_POSITION"] = numpy.column_stack([X, numpy.zeros((COUNT, 2))])
            probe["ELEMENT_MAJOR"] = numpy.tile([0.0, 5e-3, 0.0], (COUNT, 1))
            probe["ELEMENT_MINOR"] = numpy.tile([-2.5e-4, 0.0, 0.0], (COUNT, 1))
            probe["ELEMENT_SHAPE"] = numpy.ones(COUNT)
            probe.attrs["CENTRE_FREQUENCY"] = [5e6]
            sequence = out.create_group("SEQUENCE<1>")
            sequence.attrs["TYPE"] = "SEQUENCE"

            def law(name, elements, delay=None):
                group = sequence.create_group(name)
                group.attrs["TYPE"] = "LAW"
                group.create_dataset("PROBE", data=[probe.ref] * numpy.size(elements), dtype=h5py.ref_dtype)
                group["ELEMENT"] = elements
                if delay is not None:
                    group["DELAY"] = numpy.asarray(delay, numpy.float64)
                return group.ref

            waves = [law(f"LAW<{k + 1}>", numpy.arange(1.0, COUNT + 1.0), delay) for k, delay in enumerate(delays)]
            receivers = [law(f"LAW<{len(delays) + k + 1}>", k + 1.0) for k in range(COUNT)]
            sequence.create_dataset("TRANSMIT_LAW", data=[wave for wave in waves for _ in receivers], dtype=h5py.ref_dtype)
            sequence.create_dataset("RECEIVE_LAW", data=receivers * len(waves), dtype=h5py.ref_dtype)
            sequence.create_dataset("PROBE_LIST", data=[probe.ref], dtype=h5py.ref_dtype)
            sequence.attrs["TIME_STEP"] = [1 / RATE]
            sequence.attrs["START_TIME"] = [0.0]
            sequence.attrs["SPECIMEN_VELOCITY"] = [3130.0, VELOCITY]
            sequence["PROBE_POSITION"] = numpy.zeros((1, 1, 3))
            sequence["PROBE_X_DIRECTION"] = numpy.array([[[1.0, 0.0, 0.0]]])
            sequence["PROBE_Y_DIRECTION"] = numpy.array([[[0.0, 1.0, 0.0]]])
            sequence["PROBE_PLACEMENT_INDEX"] = numpy.ones(data.shape[:2])
            sequence.create_dataset("MFMC_DATA", data=data, chunks=(1, *data.shape[1:]), maxshape=(None, *data.shape[1:]),
                                    compression="gzip")
        return point

    def test_laws_of_eight_elements_by_another_writer(self):
        source = self.path / "csm.mfmc"
        angles = numpy.radians([-12.0, -6.0, 0.0, 6.0, 12.0])
        delays = [X * math.sin(angle) / VELOCITY - min(X * math.sin(angle) / VELOCITY) for angle in angles]
        x, z = self.foreign(source, delays)
        # Indices in floating point are against the rules, and read all the same.
        self.assertIn("laws of 8, 8, 8, 8, 8 elements", self.run_program("inspect", source, status=2))
        found = json.loads(self.run_program("inspect", source, "--json", status=2))
        self.assertTrue(found["imaged"])
        self.assertEqual(len(found["events"]), 5)
        grid = self.config("grid.toml", "[grid]\nx = [-0.003, 0.003]\nz = [0.005, 0.013]\npixels = [61, 81]\n"
                                        '[filter]\nkind = "none"\n[imaging]\ncrop = "never"\n')
        envelope = abs(self.image(source, grid))
        row, column = numpy.unravel_index(envelope.argmax(), envelope.shape)
        quarter = VELOCITY / 5e6 / 4
        self.assertLess(abs(-0.003 + 1e-4 * column - x), quarter)
        self.assertLess(abs(0.005 + 1e-4 * row - z), quarter)
        # Written again by the program, it says the same.
        again = self.path / "again.mfmc"
        self.run_program("convert", source, again)
        self.assertTrue(numpy.array_equal(self.image(again, grid), self.image(source, grid)))
        with h5py.File(source) as one, h5py.File(again) as other:
            self.assertTrue(numpy.array_equal(other["/SEQUENCES/S1/MFMC_DATA"], one["/SEQUENCE<1>/MFMC_DATA"]))
            for k, delay in enumerate(delays):
                law = other[f"/LAWS/T{k + 1}"]
                written = law["DELAY"][()] if "DELAY" in law else numpy.zeros(COUNT)  # where all are 0
                self.assertLess(abs(written - delay).max(), 1e-12)

    def record(self, output, config):
        recorder = subprocess.Popen([PROGRAM, "--log-level", "warning", "record", "--listen", "127.0.0.1:0", "--output", str(output),
                                     "--frames", "1"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for cleanup in (recorder.stdout.close, recorder.wait, recorder.kill):
            self.addCleanup(cleanup)
        place = re.search(r"127\.0\.0\.1:\d+$", recorder.stdout.readline().strip())[0]
        self.run_program("simulate", "--connect", place, "--config", config, "--rate", "max", "--frames", 1)
        said, _ = recorder.communicate(timeout=60)
        self.assertEqual(recorder.returncode, 0, said)

    def test_plane_waves_field_by_field(self):
        config = self.config("plane.toml", "[material]\nlongitudinal_velocity = 6320.0\nshear_velocity = 3130.0\n[simulator]\n"
                                           'elements = 8\nsamples = 400\ntransmit = "plane"\nevents = 3\nangles = [-15, 15]\n'
                                           "cycle_frames = 1\n[grid]\nx = [-0.003, 0.003]\nz = [0.005, 0.013]\npixels = [31, 41]\n"
                                           '[imaging]\ncrop = "never"\n')
        file = self.path / "plane.mfmc"
        capture = self.path / "plane.efcap"
        self.record(file, config)
        with h5py.File(file) as read:
            sequence = read["/SEQUENCES/S1"]
            self.assertEqual(sequence["MFMC_DATA"].shape, (1, 24, 400))
            self.assertEqual(sequence.attrs["ECHOFORM_EVENTS"].tolist(), [3])
            transmit = [read[reference].name for reference in sequence["TRANSMIT_LAW"]]
            self.assertEqual(transmit, [f"/LAWS/T{k}" for k in (1, 2, 3) for _ in range(8)])
            for row, reference in enumerate(sequence["RECEIVE_LAW"]):
                law = read[reference]
                self.assertEqual(law.attrs["TYPE"], "LAW")
                self.assertEqual(law["ELEMENT"][()].tolist(), [row % 8 + 1])
                self.assertEqual(sorted(law), ["ELEMENT", "PROBE"])
            probe = read[sequence["PROBE_LIST"][0]]
            for k, angle in enumerate(numpy.radians([-15.0, 0.0, 15.0])):
                law = read[f"/LAWS/T{k + 1}"]
                self.assertEqual(law.attrs["TYPE"], "LAW")
                self.assertEqual(law["ELEMENT"].dtype.kind, "i")
                self.assertEqual(law["ELEMENT"][()].tolist(), list(range(1, 9)))
                self.assertTrue(all(read[reference] == probe for reference in law["PROBE"]))
                self.assertNotIn("WEIGHTING", law)
                delay = X * math.sin(angle) / VELOCITY
                if angle == 0.0:
                    self.assertNotIn("DELAY", law)
                else:
                    self.assertEqual(law["DELAY"].dtype, numpy.float64)
                    self.assertLess(abs(law["DELAY"][()] - (delay - delay.min())).max(), 1e-15)
                stated = law.attrs["ECHOFORM_PLANE_WAVE"]
                self.assertTrue(numpy.allclose(stated, [math.sin(angle) / VELOCITY, 0.0, -delay.min()], rtol=1e-12, atol=1e-18), stated)
        # The same events and image by way of a capture, which holds the Hello itself: waves, not just delays.
        self.run_program("convert", file, capture)
        self.assertIn("plane waves of slowness -0.04095, 0, 0.04095 us/mm", self.run_program("inspect", file))
        self.assertTrue(numpy.array_equal(self.image(file, config), self.image(capture, config)))
        self.assertGreater(abs(self.image(file, config)).max(), 0.0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
