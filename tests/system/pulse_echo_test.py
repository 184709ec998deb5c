"""Pulse-echo, of which each element receives its own firing alone, through every command: nothing is filled up with zeros, and images
are the mean of what was received, against the plain sum in double precision."""
import pathlib
import re
import subprocess
import sys
import unittest

try:
    import h5py
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

from program_case import PROGRAM, ProgramCase

ELEMENTS, SAMPLES, RATE, PITCH, VELOCITY = 48, 700, 40e6, 0.6e-3, 6320.0
PART = f"[material]\nlongitudinal_velocity = {VELOCITY}\nshear_velocity = 3130.0\n[grid]\nx = [-0.006, 0.006]\nz = [0.006, 0.016]\npixels = [25, 21]\n"
SOURCE = PART + f"""[simulator]
elements = {ELEMENTS}
pitch = {PITCH}
samples = {SAMPLES}
sample_rate = {RATE}
points = [[0.001, 0.010, 1.0]]
"""
CASE = pathlib.Path(__file__).resolve().parents[2] / "../shared/cases/pulse_echo.mfmc"


class PulseEcho(ProgramCase):
    def recorded(self, receivers, name="echo.mfmc", frames=2):
        config, file = self.path / "source.toml", self.path / name
        config.write_text(SOURCE + receivers)
        recorder = self.start("record", "--listen", "127.0.0.1:0", "--output", file, "--frames", frames)
        place = re.search(r"127\.0\.0\.1:\d+", recorder.stdout.readline())[0]
        self.run_program(0, "simulate", "--connect", place, "--config", config, "--rate", "max", "--frames", frames)
        self.assertEqual(recorder.wait(60), 0)
        return file

    def foreign(self, receivers):
        """As another program writes it: no word of ours on what the list of A-scans means."""
        file = self.recorded(receivers)
        with h5py.File(file, "r+") as opened:
            del opened["SEQUENCES/S1"].attrs["ECHOFORM_EVENTS"]
        return file

    def image(self, file, *options, filter_kind="none"):
        config = self.path / "image.toml"
        config.write_text(PART + f'[filter]\nkind = "{filter_kind}"\n[imaging]\nbackend = "cpu"\n')
        self.run_program(0, "image", file, "--config", config, "--field", "analytic", "--output", self.path / "image.npy", *options)
        return numpy.load(self.path / "image.npy")

    def plain(self, a_scans, pairs):
        """(1 / A-scans) times the sum over (transmitter, receiver): the definitions alone, in double precision."""
        rows = numpy.fft.fft(a_scans, axis=1)
        weights = numpy.zeros(SAMPLES)
        weights[0] = weights[SAMPLES // 2] = 1.0
        weights[1:SAMPLES // 2] = 2.0
        analytic = numpy.fft.ifft(rows * weights, axis=1)
        x = numpy.linspace(-0.006, 0.006, 25)[None, :]
        z = numpy.linspace(0.006, 0.016, 21)[:, None]
        at = (numpy.arange(ELEMENTS) - 0.5 * (ELEMENTS - 1)) * PITCH
        image = numpy.zeros((21, 25), complex)
        for row, (transmit, receive) in zip(analytic, pairs):
            u = (numpy.hypot(x - at[transmit], z) + numpy.hypot(x - at[receive], z)) / VELOCITY * RATE
            n = numpy.clip(numpy.floor(u).astype(int), 0, SAMPLES - 2)
            value = row[n] + (u - n) * (row[n + 1] - row[n])
            image += numpy.where((u >= 0) & (u < SAMPLES - 1), value, 0.0)
        return image / len(pairs)

    def distance(self, found, expected):
        return numpy.linalg.norm(found - expected) / numpy.linalg.norm(expected)

    def test_images_are_the_mean_of_what_was_received(self):
        for receivers in ("receive_aperture = 1\n", "receive_aperture = 4\n"):
            file = self.foreign(receivers)
            found = self.inspect(file)
            pairs = [(event["element"], receiver) for event in found["events"] for receiver in event["receivers"]]
            self.assertEqual(len(pairs), found["a_scans"])
            with h5py.File(file) as opened:
                frame = opened["SEQUENCES/S1/MFMC_DATA"][0].astype(float)
                scale = opened["SEQUENCES/S1"].attrs.get("ECHOFORM_SAMPLE_SCALE", [1.0])[0]
            expected = self.plain(frame * scale, pairs)
            # Single precision, in the transform and in sums of up to 200 terms.
            self.assertLess(self.distance(self.image(file), expected), 1e-5, receivers)
            self.assertLess(self.distance(self.image(file, "--by-groups"), expected), 1e-5, receivers)
            file.unlink()

    def test_it_is_said_and_converted_as_it_is(self):
        file = self.foreign("receive_aperture = 1\n")
        found = self.inspect(file)
        self.assertEqual((found["matrix"], found["a_scans"], len(found["events"])), ("pulse-echo", ELEMENTS, ELEMENTS))
        self.assertRegex(self.run_program(0, "inspect", file), rf"(?m)^matrix +pulse-echo, {ELEMENTS} A-scans$")
        image = self.image(file)
        samples = 2 * 2 * ELEMENTS * SAMPLES  # bytes, of two frames of int16
        for name, times, frames in (("a.mfmc", 1, 2), ("a.onde", 1, 2), ("a.efcap", 1, 2), ("a.mat", 4, 1)):
            converted = self.path / name
            self.run_program(0, "convert", file, converted, *(("--frame", 0) if frames == 1 else ()))
            self.assertEqual(self.inspect(converted)["matrix"], "pulse-echo", name)
            # Laws are groups of 4 to 8 KiB each in HDF5; the zeros of half a matrix would be 24 times the samples.
            self.assertLess(converted.stat().st_size, times * samples * frames / 2 + 2 * ELEMENTS * 8192 + 65536, name)
            numpy.testing.assert_array_equal(self.image(converted) if name != "a.mat" else image, image, name)
        self.assertIn("found events that some elements record", self.run_program(2, "convert", file, self.path / "a.uff"))

    def test_it_is_replayed_and_planned(self):
        file = self.foreign("receive_aperture = 1\n")
        recorder = self.start("record", "--listen", "127.0.0.1:0", "--output", self.path / "again.mfmc", "--frames", 2)
        place = re.search(r"127\.0\.0\.1:\d+", recorder.stdout.readline())[0]
        self.run_program(0, "replay", file, "--connect", place, "--rate", "max", "--frames", 2)
        self.assertEqual(recorder.wait(60), 0)
        self.assertEqual(self.inspect(self.path / "again.mfmc")["matrix"], "pulse-echo")
        config = self.path / "plan.toml"
        config.write_text(PART)
        said = self.run_program(0, "plan", "--config", config, "--recording", file, "--no-measure")
        self.assertRegex(said, rf"(?m)^frame .*{ELEMENTS} A-scans of {SAMPLES} samples")

    def test_the_case_of_300_elements(self):
        if not CASE.exists():
            self.skipTest(f"no {CASE}")
        found = self.inspect(CASE)
        self.assertEqual((found["matrix"], found["a_scans"]), ("pulse-echo", 300))
        self.run_program(0, "convert", CASE, self.path / "again.mfmc")
        # 1.2 MB of samples, and a group for each of 300 laws, as the case has them too.
        self.assertLessEqual((self.path / "again.mfmc").stat().st_size, CASE.stat().st_size)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
