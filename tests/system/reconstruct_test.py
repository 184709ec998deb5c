"""`reconstruct`: what it writes, and that it goes on with the same bits after it was killed or interrupted."""
import re
import signal
import sys
import unittest

try:
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

from program_case import beginnings_of_steps, run_on_terminal
from reconstruct_job import GRID, ReconstructTest

ReconstructTest.program, ReconstructTest.recorder = sys.argv[1:3]
SOLVERS = {"conjugate_gradients": "", "lsqr": "", "fista": "", "total_variation": ""}


class Reconstruct(ReconstructTest):
    def test_the_ball_is_in_every_output(self):
        said = self.run_job("ball.npy", "--iterations", 8, "--output", self.path / "ball.nrrd", "--output", self.path / "ball.vti",
                            "--output", self.path / "ball.png", "--output", self.path / "ball.h5")
        for ending in ("npy", "nrrd", "vti", "png", "h5"):
            self.assertGreater(len(self.bytes_of(f"ball.{ending}")), 1000)
            self.assertIn(f"wrote {self.path / f'ball.{ending}'}", said)
        self.assertEqual(len(re.findall(r"iteration \d+: residual ", said)), 8)
        self.assertIn("8 iterations: all iterations done", said)
        residuals = [float(text) for text in re.findall(r"residual ([0-9.e-]+)", said)]
        self.assertEqual(residuals, sorted(residuals, reverse=True))
        volume = numpy.load(self.path / "ball.npy")
        self.assertEqual(volume.shape, (16, 16, 16))
        self.assertEqual(volume.dtype, numpy.float32)
        # The ball of pressure 2 is about (0.9, -0.5, 0.6) mm; voxels are 0.4 mm.
        centres = numpy.linspace(-3.0, 3.0, 16)
        z, y, x = numpy.meshgrid(centres, centres, centres, indexing="ij")
        inside = numpy.where(volume > 1.0, volume, 0.0)
        for along, place in ((x, 0.9), (y, -0.5), (z, 0.6)):
            self.assertAlmostEqual((inside * along).sum() / inside.sum(), place, delta=0.15)

    def test_the_bar_is_not_half_full_when_iterations_begin(self):
        code, said = run_on_terminal(self.command("ball.npy", "--iterations", 3))
        self.assertEqual(code, 0, said)
        begun = beginnings_of_steps(said)
        self.assertLess(begun["reconstructing"], 0.1, said)
        self.assertGreater(begun["writing"], 0.9, said)

    def test_noise_ends_it(self):
        config = self.write("noise.toml", "[reconstruction]\nmodel = \"spherical\"\nnoise = 0.05\niterations = 100\n")
        said = self.run_job("ball.npy", config=config)
        self.assertIn("the residual is that of the noise", said)

    def test_killed_at_any_moment_it_goes_on_with_the_same_bits(self):
        for solver in SOLVERS:
            with self.subTest(solver):
                config = self.write(f"{solver}.toml", f'[reconstruction]\nmodel = "spherical"\nsolver = "{solver}"\npenalty = 1e-3\n')
                state = self.path / f"{solver}.state"
                options = ("--checkpoint", state, "--every", 1, "--resume")
                for iterations in (1, 3, 4, 2):
                    process = self.start("resumed.npy", "--iterations", 100000, *options, config=config)
                    for _ in range(iterations):
                        self.wait_for_line(process, ": residual ")
                    process.kill()
                    process.wait()
                    self.assertNotIn("resumed.npy", self.files())
                # What the last one had done is known from its checkpoint alone.
                said = self.run_job("done.npy", "--iterations", 1, *options, config=config)
                iterations = int(re.search(r"goes on after (\d+) iterations", said)[1]) + 3
                self.run_job("resumed.npy", "--iterations", iterations, *options, config=config)
                self.run_job("whole.npy", "--iterations", iterations, config=config)
                self.assertEqual(self.bytes_of("resumed.npy"), self.bytes_of("whole.npy"))
                (self.path / "resumed.npy").unlink()

    def test_killed_before_the_first_checkpoint_it_begins_anew(self):
        self.run_job("whole.npy", "--iterations", 4)
        said = self.run_job("resumed.npy", "--iterations", 4, "--checkpoint", self.path / "state", "--resume")
        self.assertIn("not there yet", said)
        self.assertEqual(self.bytes_of("resumed.npy"), self.bytes_of("whole.npy"))
        # And with more iterations from its end.
        self.run_job("more.npy", "--iterations", 7, "--checkpoint", self.path / "state", "--resume")
        self.run_job("whole.npy", "--iterations", 7)
        self.assertEqual(self.bytes_of("more.npy"), self.bytes_of("whole.npy"))

    def test_an_interrupt_leaves_the_checkpoint_and_no_output(self):
        for wish in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(wish):
                state = self.path / "interrupted.state"
                process = self.start("ball.npy", "--iterations", 100000, "--checkpoint", state, "--every", 100000)
                self.wait_for_line(process, "iteration 2:")
                process.send_signal(wish)
                _, said = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 1, said)
                done = re.search(r"^echoform: interrupted after (\d+) iterations; --resume goes on from ", said, re.MULTILINE)
                self.assertTrue(done, said)
                self.assertEqual(self.files(), ["ball.efcap", "interrupted.state", "job.toml"])
                iterations = int(done[1]) + 2
                self.run_job("resumed.npy", "--iterations", iterations, "--checkpoint", state, "--resume")
                self.run_job("whole.npy", "--iterations", iterations)
                self.assertEqual(self.bytes_of("resumed.npy"), self.bytes_of("whole.npy"))
                for name in ("resumed.npy", "whole.npy", "interrupted.state"):
                    (self.path / name).unlink()

    def test_without_a_checkpoint_an_interrupt_leaves_nothing(self):
        process = self.start("ball.npy", "--iterations", 100000)
        self.wait_for_line(process, "iteration 2:")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1)
        self.assertRegex(said, r"echoform: interrupted after \d+ iterations; nothing is written\n")
        self.assertEqual(self.files(), ["ball.efcap", "job.toml"])

    def assert_refused(self, line, *arguments, config=None, output="ball.npy"):
        before = self.files()
        said = self.run_job(output, *arguments, config=config, code=2)
        faults = [text for text in said.splitlines() if text.startswith("echoform: ")]
        self.assertEqual(len(faults), 1, said)
        self.assertIn(line, faults[0])
        self.assertEqual(self.files(), before)

    def test_bad_input_is_one_line(self):
        state = self.path / "state"
        self.assert_refused("--resume: found no --checkpoint", "--resume")
        self.assert_refused("--every: found no --checkpoint", "--every", 3)
        self.assert_refused("--iterations: found 0", "--iterations", 0)
        self.assert_refused("--frame: found 1; expected 0", "--frame", 1)
        self.assert_refused("which is an --output too", "--checkpoint", self.path / "ball.npy")
        self.assert_refused("no directory", "--checkpoint", self.path / "none" / "state")
        self.assert_refused(".tiff", output="ball.tiff")
        self.assert_refused("twice", "--output", self.path / "ball.npy")
        none = self.write("none.toml", "", grid="[material]\nlongitudinal_velocity = 1500.0\n")
        self.assert_refused("[grid] x: found no such key", config=none)
        slow = self.write("slow.toml", "", grid=GRID.replace("1500.0", "200.0"))
        self.assert_refused("expected some of it within the record", config=slow)
        around = self.write("around.toml", "", grid=GRID.replace("3e-3", "30e-3"))
        self.assert_refused("within the grid", config=around)
        word = self.write("word.toml", '[reconstruction]\nmodel = "spherical"\nsolver = "newton"\n')
        self.assert_refused('[reconstruction] solver: found "newton"', config=word)

        self.run_job("first.npy", "--iterations", 2, "--checkpoint", state)
        self.assert_refused("--resume to go on from it, or a new name", "--iterations", 2, "--checkpoint", state)
        other = self.write("other.toml", "[reconstruction]\nmodel = \"spherical\"\npenalty = 2e-3\n")
        self.assert_refused("the checkpoint of another job", "--checkpoint", state, "--resume", config=other)
        state.write_bytes(state.read_bytes()[:-5])
        self.assert_refused("a damaged file", "--checkpoint", state, "--resume")
        state.write_text("not of ours")
        self.assert_refused("no checkpoint", "--checkpoint", state, "--resume")

    def test_the_filter_and_the_mute_are_applied_and_said(self):
        config = self.write("filter.toml", '[filter]\nkind = "band"\nband = [0, 3e6]\nupper_skirt = 2e6\nmute = 9.6e-6\n'
                                           '[reconstruction]\nmodel = "spherical"\n')
        said = self.run_job("ball.npy", "--iterations", 1, config=config)
        self.assertIn("A-scans and what the model says of them are filtered: a band of 0 to 3 MHz passes", said)
        self.assertIn("the first 8 of 160 samples, up to 9.7 us, are left out ([filter] mute)", said)
        self.run_job("plain.npy", "--iterations", 1)
        self.assertNotEqual(self.bytes_of("ball.npy"), self.bytes_of("plain.npy"))

    def test_the_residual_in_band_is_beside_the_whole(self):
        for solver in SOLVERS:
            with self.subTest(solver):
                config = self.write("band.toml", f'[reconstruction]\nmodel = "spherical"\nsolver = "{solver}"\n')
                said = self.run_job("ball.npy", "--iterations", 12, config=config)
                # Of voxels of 0.4 mm at 1500 m/s.
                beyond = float(re.search(r"([0-9.]+) of the data, as residuals count, lies above 1.875 MHz", said)[1])
                whole, within = (float(text) for text in re.findall(r"residual ([0-9.e-]+), in band ([0-9.e-]+)", said)[-1])
                self.assertGreater(beyond, 0.1)
                self.assertLess(within, whole)
                # Both are parts of one sum of squares, but for what of the model leaks out of its band where a record ends; figures have
                # three digits.
                self.assertAlmostEqual(whole**2, beyond**2 + (1 - beyond**2) * within**2, delta=0.05 * whole**2)

    def test_tolerances_below_what_is_out_of_band_are_warned_of(self):
        config = self.write("tolerance.toml", '[reconstruction]\nmodel = "spherical"\ntolerance = 1e-3\n')
        self.assertIn("[reconstruction] tolerance: 0.001 cannot be met", self.run_job("ball.npy", "--iterations", 1, config=config))

    def test_what_is_shown_of_the_volume_is_written(self):
        model = '[reconstruction]\nmodel = "spherical"\niterations = 2\n'
        self.run_job("signed.npy", config=self.write("signed.toml", model))
        volume = numpy.load(self.path / "signed.npy")
        self.assertLess(volume.min(), 0.0)
        for shown, expected in (("non_negative", numpy.maximum(volume, 0.0)), ("envelope", numpy.abs(volume))):
            config = self.write("shown.toml", f'{model}[tomography]\nshown = "{shown}"\n')
            self.run_job(f"{shown}.npy", config=config)
            numpy.testing.assert_array_equal(numpy.load(self.path / f"{shown}.npy"), expected)

    def test_two_speeds_of_sound_are_refused(self):
        config = self.write("speeds.toml", '[tomography]\nobject_velocity = 1600.0\nobject_radii = [2e-3]\n')
        self.assert_refused("[tomography] object_velocity: found 1600; expected no such key for `reconstruct`", config=config)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
