"""Tests of the reference itself: against physics, against sums written out in full, and against what real recordings show."""
import cmath
import contextlib
import io
import math
import os
import pathlib
import tempfile
import unittest

import numpy as np

import tfm_reference as tfm

DATA = pathlib.Path(os.environ.get("ECHOFORM_DATA_DIR", pathlib.Path(__file__).resolve().parents[2] / "../shared/data"))


def run(*arguments):
    """Exit code and output of the command line."""
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        code = tfm.main([str(a) for a in arguments])
    return code, out.getvalue(), errors.getvalue()


def scatterer_frame(x, z, elements=8, samples=256, rate=50e6, velocity=6000.0):
    """Full matrix of one point scatterer: Gaussian 5 MHz pulses whose envelopes peak at the travel times."""
    places = 0.6e-3 * (np.arange(elements) - 0.5 * (elements - 1))
    time = np.arange(samples) / rate
    legs = np.hypot(places - x, z) / velocity
    delays = legs[:, None] + legs[None, :]
    t = time - delays[..., None]
    return places, np.exp(-0.5 * (t / 1.2e-7) ** 2) * np.cos(2 * np.pi * 5e6 * t)


class AnalyticSignal(unittest.TestCase):
    def test_is_the_periodic_transform_written_out(self):
        random = np.random.default_rng(1)
        for count in (2, 7, 12):
            s = random.standard_normal(count)
            spectrum = [sum(s[n] * cmath.exp(-2j * math.pi * k * n / count) for n in range(count)) for k in range(count)]
            expected = []
            for n in range(count):
                value = spectrum[0]
                for k in range(1, count):
                    weight = 2 if 2 * k < count else 1 if 2 * k == count else 0
                    value += weight * spectrum[k] * cmath.exp(2j * math.pi * k * n / count)
                expected.append(value / count)
            np.testing.assert_allclose(tfm.analytic_signal(s), expected, atol=1e-13)

    def test_real_part_is_the_signal(self):
        s = np.random.default_rng(2).standard_normal((3, 31))
        np.testing.assert_allclose(tfm.analytic_signal(s).real, s, atol=1e-14)


class Sampling(unittest.TestCase):
    signal = np.array([10.0, 20.0, 40.0])

    def test_linear_is_open_at_its_end(self):
        u = np.array([-1e-9, 0.0, 0.25, 1.5, 2.0 - 1e-12, 2.0, 5.0])
        np.testing.assert_allclose(tfm.look_up(self.signal, u, "linear"), [0, 10, 12.5, 30, 40, 0, 0], atol=1e-9)

    def test_nearest_rounds_half_up_and_keeps_both_ends(self):
        u = np.array([-0.6, -0.5, 0.49, 0.5, 1.5, 2.4999, 2.5])
        np.testing.assert_array_equal(tfm.look_up(self.signal, u, "nearest"), [0, 10, 10, 20, 40, 40, 0])


class Image(unittest.TestCase):
    def test_is_the_sum_written_out(self):
        places, samples = scatterer_frame(1e-3, 9e-3, elements=3)
        elements = np.column_stack([places, np.zeros((3, 2))])
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/fmc.npy", samples)
            frame = tfm.frame_from_npy(f"{folder}/fmc.npy", elements, 50e6, 0.0)
        image = tfm.total_focus(frame, np.array([1.1e-3]), np.array([8.8e-3]), 6000.0, time_offset=2e-8)
        signals = tfm.analytic_signal(samples)
        total = 0.0
        for i in range(3):
            for j in range(3):
                u = ((math.hypot(1.1e-3 - places[i], 8.8e-3) + math.hypot(1.1e-3 - places[j], 8.8e-3)) / 6000.0 + 2e-8) * 50e6
                k = int(u)
                total += signals[i, j, k] * (1 - (u - k)) + signals[i, j, k + 1] * (u - k)
        np.testing.assert_allclose(image[0, 0], total / 9, rtol=1e-12)

    def test_focuses_on_a_scatterer_and_halves_agree(self):
        places, samples = scatterer_frame(1e-3, 9e-3)
        upper = np.triu_indices(8)
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/full.npy", samples)
            np.save(f"{folder}/half.npy", samples[upper])
            doubled = np.where(upper[0] == upper[1], 1.0, 2.0)
            np.save(f"{folder}/summed.npy", samples[upper] * doubled[:, None])
            np.save(f"{folder}/x.npy", places)
            common = ("--x", -3e-3, 3e-3, 61, "--z", 6e-3, 12e-3, 61, "--velocity", 6000, "--sample-rate", 50e6,
                      "--element-x", f"{folder}/x.npy")
            code, out, _ = run(f"{folder}/full.npy", *common, "--output", f"{folder}/a.npy", "--peaks", 1)
            self.assertEqual(code, 0)
            image = np.load(f"{folder}/a.npy")
            self.assertEqual(image.dtype, np.complex128)
            row, column = np.unravel_index(np.argmax(np.abs(image)), image.shape)
            self.assertAlmostEqual(np.linspace(-3e-3, 3e-3, 61)[column], 1e-3, delta=1e-4)
            self.assertAlmostEqual(np.linspace(6e-3, 12e-3, 61)[row], 9e-3, delta=1e-4)
            # The envelope's peak is 1; linear interpolation of 5 MHz at 50 MHz loses 1 - cos(pi / 10) at most.
            self.assertAlmostEqual(np.abs(image).max(), 1.0, delta=0.05)
            self.assertIn("peak x    1.000 mm  z    9.000 mm", out)
            for name, more in (("half", ()), ("summed", ("--half-summed",))):
                code, out, _ = run(f"{folder}/{name}.npy", *common, *more, "--compare", f"{folder}/a.npy", "--tolerance", 1e-12)
                self.assertEqual(code, 0, out)
            np.save(f"{folder}/envelope.npy", np.abs(image).astype(np.float32))
            self.assertEqual(run(f"{folder}/full.npy", *common, "--compare", f"{folder}/envelope.npy", "--tolerance", 1e-6)[0], 0)
            np.save(f"{folder}/off.npy", image * 1.01)
            code, out, _ = run(f"{folder}/full.npy", *common, "--compare", f"{folder}/off.npy", "--tolerance", 1e-3)
            self.assertEqual(code, 1)
            self.assertIn("relative L2 1.000e-02 (complex)", out)

    def test_bad_input_is_exit_code_2(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(f"{folder}/a.mat").write_bytes(b"no MAT file" * 30)
            code, _, errors = run(f"{folder}/a.mat", "--x", 0, 1, 2, "--z", 0, 1, 2)
            self.assertEqual((code, errors), (2, f"{folder}/a.mat: {folder}/a.mat: not a little-endian MAT file of version 5\n"))
            self.assertEqual(run(f"{folder}/none.npy", "--x", 0, 1, 2, "--z", 0, 1, 2)[0], 2)


class RealRecordings(unittest.TestCase):
    def image(self, name, velocity, x, z):
        if not (DATA / name).exists():
            self.skipTest(f"no {DATA / name}: set ECHOFORM_DATA_DIR to the folder of real recordings")
        frame = tfm.frame_from_mat(DATA / name)
        return tfm.find_peaks(tfm.total_focus(frame, x, z, velocity), x, z, 8)

    def expect_peak(self, peaks, x, z, level):
        near = [p for p in peaks if (x is None or abs(p[0] - x) <= 0.5e-3) and abs(p[1] - z) <= 0.5e-3]
        self.assertTrue(near, peaks)
        self.assertAlmostEqual(near[0][2], level, delta=0.5)

    def test_contact_notch(self):
        peaks = self.image("contact_notch_aluminium.mat", 6320.0, np.linspace(-20e-3, 20e-3, 161), np.linspace(1e-3, 45e-3, 177))
        self.expect_peak(peaks, None, 40.75e-3, 0.0)
        self.expect_peak(peaks, 6.75e-3, 19.75e-3, -5.3)

    def test_contact_notch_300(self):
        peaks = self.image("contact_notch_aluminium_300.mat", 6300.0,
                           np.linspace(-20e-3, 20e-3, 161), np.linspace(15e-3, 45e-3, 121))
        self.expect_peak(peaks, None, 41.25e-3, 0.0)
        self.expect_peak(peaks, -2.0e-3, 20.0e-3, -2.4)


if __name__ == "__main__":
    unittest.main()
