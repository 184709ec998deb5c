"""`reconstruct` of several wavelengths: a volume of each, what spectral unmixing makes of them, and that all of it goes on with the
same bits after it was killed or interrupted between and within wavelengths."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

from reconstruct_job import GRID, PATIENCE, ReconstructTest

ReconstructTest.program, MPIRUN = sys.argv[1:3]
# Balls of blood of saturations 0.9 and 0.4. Three pulses of unlike energies, 128 detectors.
SATURATIONS = {(-1.4, 0.0, 0.2): 0.9, (1.4, 0.2, -0.2): 0.4}
SOURCE = """[imaging]
method = "tomography"
[material]
longitudinal_velocity = 1500.0
[detectors]
kind = "sphere"
rows = 8
count = 16
radius = 15e-3
[simulator]
samples = 260
sample_rate = 20e6
encoding = "float32"
quantised = false
full_scale = 1.0
noise_rms = 1e-5
blur = 0.8e-3
cycle_frames = 1
wavelengths = [850e-9, 750e-9, 800e-9]
pulse_energies = [2e-3, 1e-3, 1.5e-3]
balls = [[-1.4e-3, 0.0, 0.2e-3, 1.0e-3, 1.0], [1.4e-3, 0.2e-3, -0.2e-3, 1.0e-3, 1.0]]
ball_saturations = [0.9, 0.4]
"""
SOLVER = '[reconstruction]\nmodel = "spherical"\npenalty = 1e-4\niterations = 10\n'
# Total variation never says that nothing is left to be improved.
ENDLESS = '[reconstruction]\nmodel = "spherical"\nsolver = "total_variation"\npenalty = 1e-3\n'
UNMIXING = '[unmixing]\ncomponents = ["HbO2", "Hb"]\n'
NAMES = ("750nm", "800nm", "850nm")
UNMIXED = ("HbO2", "Hb", "saturation")


class ReconstructWavelengths(ReconstructTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.recorded = pathlib.Path(folder.name) / "blood.efcap"
        source = pathlib.Path(folder.name) / "source.toml"
        source.write_text(SOURCE)
        recorder = subprocess.Popen([cls.program, "--log-level", "warning", "record", "--listen", "127.0.0.1:0", "--output", str(cls.recorded),
                                     "--frames", "1"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for cleanup in (recorder.stdout.close, recorder.wait, recorder.kill):
            cls.addClassCleanup(cleanup)
        place = re.search(r"127\.0\.0\.1:\d+", recorder.stdout.readline())[0]
        subprocess.run([cls.program, "--log-level", "warning", "simulate", "--connect", place, "--config", str(source), "--frames", "1"],
                       check=True, timeout=PATIENCE)
        output, _ = recorder.communicate(timeout=PATIENCE)
        if recorder.returncode != 0:
            raise AssertionError(output)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.input = self.recorded
        self.config = self.write("job.toml", SOLVER + UNMIXING)

    def volume(self, name):
        return numpy.load(self.path / name)

    def test_each_wavelength_and_what_is_unmixed_have_files_of_their_own(self):
        said = self.run_job("blood.npy", "--output", self.path / "blood.png", "--output", self.path / "blood.h5")
        names = NAMES + UNMIXED
        self.assertEqual(self.files(), sorted(["job.toml"] + [f"blood.{name}.{ending}" for name in names for ending in ("npy", "png", "h5")]))
        for name in NAMES:
            self.assertEqual(len(re.findall(rf"{name}: iteration \d+: residual ", said)), 10)
            self.assertIn(f"{name}: 10 iterations: all iterations done", said)
        self.assertLess(said.index("850nm: 10 iterations"), said.index("wrote "), "nothing is written before all are done")
        # One wavelength alone is the same volume.
        one = self.write("one.toml", SOLVER + "wavelength = 800e-9\n")
        self.run_job("one.npy", config=one)
        self.assertEqual(self.bytes_of("one.npy"), self.bytes_of("blood.800nm.npy"))
        # And so are those of a list, in its order.
        listed = self.write("list.toml", SOLVER + "wavelengths = [850e-9, 750e-9]\n")
        said = self.run_job("list.npy", config=listed)
        self.assertEqual(re.findall(r"wrote \S*/(\S+)", said), ["list.850nm.npy", "list.750nm.npy"])
        self.assertEqual(self.bytes_of("list.850nm.npy"), self.bytes_of("blood.850nm.npy"))

        centres = numpy.linspace(-3.0, 3.0, 16)
        z, y, x = numpy.meshgrid(centres, centres, centres, indexing="ij")
        saturation, oxygenated, deoxygenated = (self.volume(f"blood.{name}.npy") for name in ("saturation", "HbO2", "Hb"))
        self.assertEqual(saturation.shape, (16, 16, 16))
        for (x0, y0, z0), truth in SATURATIONS.items():
            ball = (x - x0) ** 2 + (y - y0) ** 2 + (z - z0) ** 2 < 0.7 ** 2
            found = oxygenated[ball].sum() / (oxygenated[ball] + deoxygenated[ball]).sum()
            print(f"saturation {truth}: {found:.4f}, by voxel {saturation[ball].min():.4f} to {saturation[ball].max():.4f}")
            # What is wrong with a volume is so at all wavelengths alike, but for what of the other ball is found here: 1 % of it.
            self.assertAlmostEqual(found, truth, delta=2e-3)
            self.assertTrue((abs(saturation[ball] - truth) < 0.02).all())
            # Volumes are energy times absorption, 0.9 * 1058 + 0.1 * 691 of the first ball at 850 nm: S. Prahl's table.
            at = {850: 2e-3 * (truth * 1058 + (1 - truth) * 691), 750: 1e-3 * (truth * 518 + (1 - truth) * 1405)}
            strong, weak = (self.volume(f"blood.{name}.npy")[ball].sum() for name in ("850nm", "750nm"))
            self.assertAlmostEqual(strong / weak * at[750] / at[850], 1.0, delta=0.01)
        far = (abs(x) > 2.9) & (abs(z) > 2.9)
        self.assertTrue(numpy.isnan(saturation[far]).all(), "nothing is there")

    def test_killed_within_and_between_wavelengths_it_goes_on_with_the_same_bits(self):
        # There is much to be done behind the last of these lines, so that it is killed in time.
        self.run_job("whole.npy", "--iterations", 20)
        options = ("--iterations", 20, "--checkpoint", self.path / "job.state", "--every", 1, "--resume")
        for line in ("750nm: iteration 3:", "750nm: 20 iterations", "800nm: iteration 4:"):
            process = self.start("resumed.npy", *options)
            self.wait_for_line(process, line)
            process.kill()
            process.wait()
            self.assertEqual([name for name in self.files() if name.startswith("resumed")], [])
        said = self.run_job("resumed.npy", *options)
        self.assertRegex(said, r"job\.750nm\.state: goes on after 20 iterations")
        self.assertRegex(said, r"job\.800nm\.state: goes on after \d+ iterations")
        for name in NAMES + UNMIXED:
            self.assertEqual(self.bytes_of(f"resumed.{name}.npy"), self.bytes_of(f"whole.{name}.npy"), name)

    def test_an_interrupt_leaves_checkpoints_and_no_output(self):
        process = self.start("blood.npy", "--iterations", 100000, "--checkpoint", self.path / "state", "--every", 100000,
                             config=self.write("endless.toml", ENDLESS + UNMIXING))
        self.wait_for_line(process, "750nm: iteration 3:")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 1, said)
        self.assertRegex(said, r"(?m)^echoform: interrupted after \d+ iterations at 750nm; --resume goes on from \S*/state\.750nm$")
        self.assertEqual(self.files(), ["endless.toml", "job.toml", "state.750nm"])

    def test_iterates_are_seen_under_the_name_of_their_wavelength(self):
        try:
            import google.protobuf  # noqa: F401
            import zmq  # noqa: F401
        except ImportError as error:
            self.skipTest(str(error))
        import echoform
        config = self.write("preview.toml", ENDLESS + '[server]\nname = "mouse"\nimages = "127.0.0.1:0"\nweb = "127.0.0.1:0"\n')
        process = self.start("blood.npy", "--iterations", 1000000, "--preview", config=config)
        line = self.wait_for_line(process, "preview: Run: echoform view --connect tcp://")[-1]
        with echoform.ImageSubscriber(re.search(r"tcp://(\S+)", line)[1], stream="mouse", timeout=60, latest_only=True) as images:
            image = next(iter(images))
        self.assertRegex(image.view, rf"^750nm, iteration {image.sequence}, residual ")

    def two_processes(self):
        status = subprocess.run([self.program, "info"], capture_output=True, text=True, timeout=60).stdout
        if re.search(r"^  MPI +not in this build", status, re.MULTILINE) or not pathlib.Path(MPIRUN).is_file():
            self.skipTest("no MPI, or no mpirun")
        return [MPIRUN, "--oversubscribe", *(["--allow-run-as-root"] if os.getuid() == 0 else []), "-n", "2"]

    def test_processes_share_out_its_image(self):
        together = self.two_processes()
        config = self.write("image.toml", '[tomography]\nalgorithm = "ubp"\n', grid=GRID.replace("[imaging]\n", '[imaging]\nmethod = "tomography"\n'))
        for output, before in (("alone.npy", []), ("shared.npy", together)):
            done = subprocess.run([*before, self.program, "image", str(self.input), "--config", str(config), "--output", str(self.path / output)],
                                  capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("no pixel is above 0", done.stderr)
        shared, alone = self.volume("shared.npy"), self.volume("alone.npy")
        self.assertLess(numpy.linalg.norm(shared - alone), 1e-4 * numpy.linalg.norm(alone))

    def test_processes_share_it_out(self):
        together = self.two_processes()
        self.run_job("alone.npy", "--iterations", 4)
        self.run_job("shared.npy", "--iterations", 4, before=together)
        for name in NAMES + ("HbO2", "Hb"):
            shared, alone = self.volume(f"shared.{name}.npy"), self.volume(f"alone.{name}.npy")
            # Float data of each process, added up in another order, and then differences of the wavelengths' volumes.
            self.assertLess(numpy.linalg.norm(shared - alone), 1e-4 * numpy.linalg.norm(alone), name)
        self.assertIn("shared.saturation.npy", self.files())

    def refused(self, line, text="", *arguments):
        config = self.write("refused.toml", SOLVER + text)
        before = self.files()
        said = self.run_job("refused.npy", *arguments, config=config, code=2)
        faults = [text for text in said.splitlines() if text.startswith("echoform: ")]
        self.assertEqual(len(faults), 1, said)
        self.assertIn(line, faults[0])
        self.assertEqual(self.files(), before)

    def test_bad_input_is_one_line(self):
        self.refused("[reconstruction] wavelengths: found 700 nm; expected one of the wavelengths of the data: 750, 800, 850 nm", "wavelengths = [700e-9]\n")
        self.refused("[reconstruction] wavelengths: found 750 nm twice", "wavelengths = [750e-9, 750e-9]\n")
        self.refused("[reconstruction] wavelengths: found a list, and wavelength", "wavelength = 750e-9\nwavelengths = [750e-9]\n")
        self.refused("[unmixing] components: found some, and the volume of one wavelength", "wavelength = 750e-9\n" + UNMIXING)
        self.refused("[unmixing] components: found \"melanin\"", '[unmixing]\ncomponents = ["melanin"]\n')
        self.refused("found 3 of images at 2 wavelengths", 'wavelengths = [750e-9, 800e-9]\n[unmixing]\ncomponents = ["a", "b", "c"]\nspectra = "none.csv"\n')
        self.refused("found " + str(self.path / "refused.750nm.npy") + ", which is an --output too", "", "--checkpoint", self.path / "refused.npy")
        (self.path / "there.800nm").write_text("a file of somebody")
        self.refused("there.800nm: found a file that is there", "", "--checkpoint", self.path / "there")
        self.refused("there.800nm: found no checkpoint", "", "--checkpoint", self.path / "there", "--resume", "--iterations", 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
