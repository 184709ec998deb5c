"""[imaging] memory_limit is what the program holds at most, itself and all: whole frames, groups, volumes, tomography and reconstruction
either stay below it or are refused with code 2 and what they need."""
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

SANITIZED = any(name in pathlib.Path(PROGRAM).read_bytes() for name in (b"__asan_init", b"__tsan_init"))
PART = "[material]\nlongitudinal_velocity = 6320.0\nshear_velocity = 3130.0\n"
# A process of little memory that starts the program: what one held before it became the program is in its most too.
LAUNCHER = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
_, status, usage = os.wait4(child, 0)
print(1024 * usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@unittest.skipIf(SANITIZED, "a sanitizer keeps memory of its own")
class MemoryLimit(ProgramCase):
    def write(self, name, text):
        (self.path / name).write_text(text)
        return self.path / name

    def recorded(self, simulator, name):
        file = self.path / name
        recorder = self.start("record", "--listen", "127.0.0.1:0", "--output", file, "--frames", 1)
        place = re.search(r"127\.0\.0\.1:\d+", recorder.stdout.readline())[0]
        source = self.write("source.toml", PART + simulator)
        self.run_program(0, "simulate", "--connect", place, "--config", source, "--rate", "max", "--frames", 1)
        self.assertEqual(recorder.wait(120), 0)
        return file

    def run_measured(self, *arguments):
        """Exit code, what was said, and the most that was resident, in bytes, as the system counted it when the process ended."""
        result = subprocess.run([sys.executable, "-S", "-c", LAUNCHER, PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=240)
        return result.returncode, result.stderr, int(result.stdout)

    def hold_to_limits(self, what, limits, config, *arguments):
        """At each limit the run is refused or stays below it. Returns what was said at each, with the code."""
        outcomes = []
        for limit in limits:
            file = self.write("limited.toml", config.replace("[imaging]\n", f"[imaging]\nmemory_limit = {limit}\n"))
            code, said, most = self.run_measured(*arguments, "--config", file)
            print(f"{what}, limit {1e-6 * limit:.0f} MB: code {code}, at most {1e-6 * most:.1f} MB")
            self.assertIn(code, (0, 2), said)
            if code == 0:
                self.assertLess(most, limit, what)
            else:
                self.assertIn("memory_limit", said)
            outcomes.append((code, said))
        return outcomes

    def test_whole_frames_and_groups(self):
        # 64 x 64 A-scans of 4096 samples, 33.6 MB of int16; rows and signals of them some 120 MB more.
        file = self.recorded('[simulator]\nelements = 64\npitch = 0.6e-3\nsamples = 4096\nsample_rate = 50e6\ncycle_frames = 1\n', "full.mfmc")
        config = PART + '[grid]\nx = [-0.01, 0.01]\nz = [0.005, 0.04]\npixels = [128, 128]\n[imaging]\nbackend = "cpu"\n'
        limits = [9e7, 1.2e8, 1.5e8, 1.7e8, 1.8e8, 1.9e8, 2.0e8, 2.1e8, 2.3e8, 2.6e8, 3.2e8]
        found = self.hold_to_limits("frames", limits, config, "image", file, "--output", self.path / "image.npy")
        self.assertTrue(all(code == 0 for code, _ in found), "what does not fit whole goes by groups")
        grouped = ["groups of A-scans" in said for _, said in found]
        self.assertTrue(grouped[0])
        self.assertFalse(grouped[-1])
        self.assertEqual(grouped, sorted(grouped, reverse=True), "whole from some limit on")
        # And with figures.
        self.hold_to_limits("figures", limits[::2], config, "image", file, "--output", self.path / "image.png")

    def test_frames_in_an_order_of_their_own(self):
        # A reader that puts A-scans into another order holds the frame twice.
        file = self.recorded('[simulator]\nelements = 64\npitch = 0.6e-3\nsamples = 2048\nsample_rate = 50e6\ncycle_frames = 1\n', "turned.mfmc")
        with h5py.File(file, "r+") as opened:
            sequence = opened["SEQUENCES/S1"]
            for name in ("TRANSMIT_LAW", "RECEIVE_LAW"):
                sequence[name][...] = sequence[name][()][::-1]
            sequence["MFMC_DATA"][...] = sequence["MFMC_DATA"][()][:, ::-1]
        config = PART + '[grid]\nx = [-0.01, 0.01]\nz = [0.005, 0.02]\npixels = [96, 96]\n[imaging]\nbackend = "cpu"\n'
        self.hold_to_limits("turned", [1.1e8, 1.3e8, 1.4e8, 1.5e8, 1.6e8, 1.8e8], config, "image", file, "--output", self.path / "image.npy")

    def test_volumes(self):
        file = self.recorded('[simulator]\nelements = 8\nrows = 8\npitch = 0.8e-3\nrow_pitch = 0.8e-3\nsamples = 1024\nsample_rate = 40e6\ncycle_frames = 1\n', "volume.mfmc")
        config = PART + '[grid]\nx = [-0.01, 0.01]\ny = [-0.01, 0.01]\nz = [0.005, 0.02]\npixels = [64, 64, 32]\n[imaging]\nbackend = "cpu"\n'
        for name in ("volume.nrrd", "volume.png"):
            self.hold_to_limits(name, [1.0e8, 1.5e8, 1.8e8, 2.0e8, 2.2e8, 2.5e8, 3e8], config, "image", file, "--output", self.path / name)

    def passive(self, detectors=160, samples=1500):
        """Noise heard by detectors on a sphere of 40 mm, as IPASC has it."""
        k = numpy.arange(detectors)
        height, turn = (2 * k + 1) / detectors - 1, 2.39996323 * k
        flat = numpy.sqrt(1 - height ** 2)
        places = 0.04 * numpy.stack([flat * numpy.cos(turn), flat * numpy.sin(turn), height], axis=1)
        file = self.path / "passive.hdf5"
        with h5py.File(file, "w") as opened:
            data = numpy.random.default_rng(3).normal(size=(detectors, samples, 1, 1)).astype(numpy.float32)
            opened["binary_time_series_data"] = data
            about = opened.create_group("meta_data")
            for name, value in dict(uuid="1-2-3", encoding="UTF-8", compression="raw", data_type="float32", dimensionality="time and space",
                                    sizes=numpy.array(data.shape), ad_sampling_rate=20e6, acquisition_wavelengths=numpy.array([750e-9]),
                                    speed_of_sound=1500.0).items():
                about[name] = value
            device = opened.create_group("meta_data_device")
            for name, value in dict(unique_identifier="x", num_detectors=detectors, field_of_view=numpy.zeros(6)).items():
                device[f"general/{name}"] = value
            for one, place in enumerate(places):
                group = device.create_group(f"detectors/{one:010}")
                group["detector_position"], group["detector_orientation"] = place, -place / 0.04
                group["detector_geometry_type"], group["detector_geometry"] = "CUBOID", numpy.array([1e-3, 1e-3, 0.0])
        return file

    def test_tomography(self):
        file = self.passive()
        config = ('[material]\nlongitudinal_velocity = 1500.0\n[grid]\nx = [-0.01, 0.01]\ny = [-0.01, 0.01]\nz = [-0.01, 0.01]\n'
                  'pixels = [96, 96, 96]\n[imaging]\nmethod = "tomography"\nbackend = "cpu"\n')
        found = self.hold_to_limits("tomography", [2e7, 3e7, 3.5e7, 4e7, 4.5e7, 5e7, 6e7, 8e7, 1.2e8], config, "image", file, "--output", self.path / "p0.nrrd")
        self.assertEqual(found[-1][0], 0)

    def test_reconstruction(self):
        # A model's time goes with the detectors, and what is held mostly with the grid.
        file = self.passive(detectors=40)
        config = ('[material]\nlongitudinal_velocity = 1500.0\n[grid]\nx = [-0.01, 0.01]\ny = [-0.01, 0.01]\nz = [-0.01, 0.01]\n'
                  'pixels = [{0}, {0}, {0}]\n[imaging]\nbackend = "cpu"\n[reconstruction]\nmodel = "{1}"\nsolver = "{2}"\niterations = 1\n')
        # The interpolated model takes longer by far.
        for model, solver, pixels, limits in (("spherical", "lsqr", 80, [3e7, 4e7, 5e7, 5.5e7, 6e7, 6.5e7, 7e7, 9e7, 4e8]),
                                              ("interpolated", "fista", 16, [4e7, 5e7, 5.5e7, 6e7, 8e7])):
            found = self.hold_to_limits(f"{model}, {solver}", limits, config.format(pixels, model, solver), "reconstruct", file,
                                        "--output", self.path / "p0.nrrd")
            self.assertEqual(found[0][0], 2)
            self.assertEqual(found[-1][0], 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
