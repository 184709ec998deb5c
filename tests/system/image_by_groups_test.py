"""`image` of frames that [imaging] memory_limit does not hold: the same bits whatever the limit, the whole frame's image within
rounding, less memory than the limit, and nothing half-written when it is killed."""
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zlib

try:
    import h5py
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

PROGRAM = sys.argv[1]
SANITIZED = any(name in pathlib.Path(PROGRAM).read_bytes() for name in (b"__asan_init", b"__tsan_init"))
PART = "[material]\nlongitudinal_velocity = 6320.0\nshear_velocity = 3130.0\n[grid]\nx = [-0.006, 0.006]\nz = [0.004, 0.016]\n"
SMALL = "[simulator]\nelements = 40\npitch = 0.6e-3\nsamples = 400\nsample_rate = 40e6\ncycle_frames = 3\npoints = [[0.001, 0.009, 1.0]]\n"


def bytes_of(said):
    """Of a match of a figure and its unit's letter; and by how much it is rounded: of GB two decimals are said. Threads take memory
    too, and on a machine with many processors what is some 95 MB elsewhere is said as 0.10 GB."""
    unit = {"M": 1e6, "G": 1e9}[said[2]]
    return unit * float(said[1]), 0.005 * unit if said[2] == "G" else 0.05 * unit


class ImageByGroups(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def write(self, name, text):
        (self.path / name).write_text(text)
        return self.path / name

    def run_program(self, *arguments, code=0):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def recorded(self, simulator, frames=1, command="record", name="scan.mfmc"):
        """Frames of the simulated source."""
        file = self.path / name
        recorder = subprocess.Popen([PROGRAM, "--log-level", "warning", command, "--listen", "127.0.0.1:0", "--output", str(file)]
                                    + (["--frames", str(frames)] if command == "record" else []),
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for cleanup in (recorder.stdout.close, recorder.wait, recorder.kill):
            self.addCleanup(cleanup)
        place = re.search(r"127\.0\.0\.1:\d+", recorder.stdout.readline())[0]
        source = self.write("source.toml", PART + simulator)
        self.run_program("simulate", "--connect", place, "--config", source, "--rate", "max", "--frames", frames)
        if command != "record":
            recorder.send_signal(signal.SIGINT)
        output, _ = recorder.communicate(timeout=120)
        self.assertEqual(recorder.returncode, 0, output)
        return file

    def config(self, imaging="", pixels=(41, 45)):
        return self.write("image.toml", PART + f"pixels = [{pixels[0]}, {pixels[1]}]\n[imaging]\nbackend = \"cpu\"\n{imaging}")

    def imaged(self, file, *options, output="image.npy", imaging="", code=0):
        errors = self.run_program("image", file, "--config", self.config(imaging), "--output", self.path / output, *options, code=code)
        return errors if code else numpy.load(self.path / output)

    def distance(self, image, other):
        return numpy.linalg.norm((image - other).ravel()) / numpy.linalg.norm(other.ravel())

    def test_images_are_the_whole_frames(self):
        # Single precision in another order of some 800 to 1600 terms: below 2e-6 (tests/engine/group_imager_test.cpp).
        for kind, simulator, command in (("full", "", "record"), ("captured", "", "capture"), ("half", 'matrix = "half"\n', "record"),
                                         ("plane", 'transmit = "plane"\nevents = 20\nangles = [-20.0, 20.0]\n', "record"),
                                         ("sparse", "fire = [1, 6, 11, 16, 21, 26, 31]\nreceive_aperture = 20\n", "capture")):
            with self.subTest(kind):
                file = self.recorded(SMALL + simulator, command=command, name=kind + (".mfmc" if command == "record" else ".efcap"))
                whole = self.imaged(file, "--field", "analytic")
                groups = self.imaged(file, "--field", "analytic", "--by-groups")
                print(f"{kind}: relative L2 {self.distance(groups, whole):.1e}")
                self.assertLess(self.distance(groups, whole), 2e-6)
                numpy.testing.assert_allclose(self.imaged(file, "--by-groups"), numpy.abs(groups), rtol=1e-6)
                if kind == "full":
                    self.run_program("convert", file, self.path / "scan.mat")
                    other = self.imaged(self.path / "scan.mat", "--field", "analytic", "--by-groups")
                    self.assertLess(self.distance(other, groups), 2e-6)  # floats for counts
                file.unlink()

    def test_images_on_a_gpu_are_the_whole_frames(self):
        file = self.recorded(SMALL)
        command = [PROGRAM, "image", str(file), "--config", str(self.config("accuracy = 1e-4\n")), "--backend", "cuda", "--field", "analytic",
                   "--output", str(self.path / "image.npy")]
        tried = subprocess.run(command, capture_output=True, text=True, timeout=240)
        if tried.returncode == 1 and "backend cuda: " in tried.stderr and os.environ.get("ECHOFORM_REQUIRE_GPU") != "1":
            self.skipTest(tried.stderr.strip())
        self.assertEqual(tried.returncode, 0, tried.stderr)
        whole = numpy.load(self.path / "image.npy")
        images = []
        for options in (("--by-groups",), ("--by-groups", "--frame", "0")):
            said = self.run_program(*command[1:], *options)
            self.assertRegex(said, r"6 groups of A-scans, \d+ at a time on the GPU, [\d.]+ MB/s, at most [\d.]+ [MG]B of memory")
            images.append(numpy.load(self.path / "image.npy"))
        self.assertTrue(numpy.array_equal(*images))
        # Either within 1.5e-5 of double precision (docs/gpu.md).
        print(f"GPU: relative L2 {self.distance(images[0], whole):.1e}")
        self.assertLess(self.distance(images[0], whole), 3e-5)

    def test_surfaces_filters_and_views_go_by_groups_too(self):
        file = self.recorded(SMALL)
        imaging = ('views = ["LL", "TT"]\ndelay_law = "immersion"\n[couplant]\nvelocity = 1480.0\n[surface]\nkind = "plane"\n'
                   '[probe]\nstand_off = 0.003\ncentre_frequency = 5e6\nbandwidth = 3e6\n[apodization]\nwindow = "hann"\ndirectivity = true\n[filter]\nkind = "band"\n')
        for options in ((), ("--by-groups",)):
            self.run_program("image", file, "--config", self.config(imaging), "--field", "analytic", "--output",
                             self.path / f"image{len(options)}.npy", *options)
        for view in ("LL", "TT"):
            whole, groups = (numpy.load(self.path / f"image{k}.{view}.npy") for k in (0, 1))
            self.assertGreater(numpy.abs(whole).max(), 0)
            self.assertLess(self.distance(groups, whole), 2e-6)

    def test_frames_are_chosen_and_numbered(self):
        file = self.recorded(SMALL, frames=3)
        config = self.config()
        for options in ((), ("--by-groups",)):
            folder = self.path / f"many{len(options)}"
            folder.mkdir()
            self.run_program("image", file, "--config", config, "--output", folder / "a.npy", "--from", 1, *options)
            self.assertEqual(sorted(f.name for f in folder.iterdir()), ["a.1.npy", "a.2.npy"])
            for frame in (1, 2):
                alone = self.imaged(file, "--frame", frame, *options)
                self.assertTrue(numpy.array_equal(numpy.load(folder / f"a.{frame}.npy"), alone))
        for options, line in ((("--to", 3), "--to: found 3; expected 0 to 2"), (("--from", 2, "--to", 1), "--to: found 1; expected 2"),
                              (("--frame", 1, "--to", 1), "--frame: found --from or --to besides")):
            self.assertIn(line, self.imaged(file, *options, code=2))

    def test_every_output_is_made(self):
        file = self.recorded(SMALL)
        names = [f"image.{kind}" for kind in ("npy", "h5", "nrrd", "vti", "png")]
        outputs = [text for name in names for text in ("--output", self.path / name)]
        self.run_program("image", file, "--config", self.config(), "--by-groups", *outputs)
        with h5py.File(self.path / "image.h5") as h5:
            self.assertTrue(numpy.array_equal(h5["image"][...], numpy.load(self.path / "image.npy")))
        for name in names:
            self.assertGreater((self.path / name).stat().st_size, 1000)

    def imaged_within(self, file, limits, backend="cpu", figure=False):
        """Images within each of the limits, the last of which holds whole frames too: below it all the time, and the same bits. On a
        GPU what its driver takes is beside the limit. Returns what was observed at most, and how many groups at a time."""
        images = []
        found = []
        for limit in limits:
            options = ("--by-groups",) if limit == limits[-1] else ()
            config = self.config(f"memory_limit = {limit}\n", (64, 64))
            process = subprocess.Popen([PROGRAM, "image", str(file), "--config", str(config), "--output", str(self.path / "image.npy"),
                                        "--backend", backend, *options, *(("--output", str(self.path / "image.png")) if figure else ())], stderr=subprocess.PIPE, text=True)
            peak = 0
            status = pathlib.Path(f"/proc/{process.pid}/status")
            lines = []
            reader = threading.Thread(target=lambda: lines.extend(process.stderr))
            reader.start()
            while process.poll() is None:
                try:
                    peak = max(peak, *(1024 * int(kib) for kib in re.findall(r"^Vm(?:HWM|RSS):\s+(\d+) kB", status.read_text(), re.MULTILINE)), 0)
                except (OSError, TypeError):
                    pass
                time.sleep(0.002)
            reader.join()
            process.stderr.close()
            self.assertEqual(process.returncode, 0, "".join(lines))
            said = re.search(r"(\d+) groups of A-scans, (\d+) at a time.*", "".join(lines))
            most = re.search(r"groups of A-scans.*at most ([\d.]+) ([MG])B", "".join(lines))
            self.assertTrue(said and most, "".join(lines))
            stated, rounding = bytes_of(most)
            print(f"limit {1e-6 * limit:.0f} MB: {said[0]}; observed {1e-6 * peak:.1f} MB")
            self.assertEqual(int(said[1]), 36)
            self.assertLess(stated - rounding, limit)
            if backend == "cpu":
                self.assertNotIn("the GPU's driver", "".join(lines))
                self.assertLess(peak, limit)
            found.append((peak, int(said[2])))
            images.append((self.path / "image.npy").read_bytes())
        for image in images[1:]:
            self.assertEqual(images[0], image)
        return found

    @unittest.skipIf(SANITIZED, "a sanitizer keeps memory of its own")
    def test_memory_stays_below_the_limit_and_the_bits_the_same(self):
        # 134 MB of samples: whole, it takes some 0.35 GB.
        file = self.recorded("[simulator]\nelements = 128\npitch = 0.6e-3\nsamples = 2048\nencoding = \"float32\"\nsample_rate = 40e6\n"
                             "cycle_frames = 1\n")
        self.imaged_within(file, (9e7, 1.3e8, 8e8))
        # A figure takes some 10 MB more while it is written.
        self.imaged_within(file, (1.05e8, 8e8), figure=True)

    @unittest.skipIf(SANITIZED, "a sanitizer keeps memory of its own")
    def test_on_a_gpu_memory_stays_below_the_limit_and_the_bits_the_same(self):
        # 134 MB of samples, groups of 4.2 MB.
        file = self.recorded("[simulator]\nelements = 128\npitch = 0.6e-3\nsamples = 2048\nencoding = \"float32\"\nsample_rate = 40e6\n"
                             "cycle_frames = 1\n")
        tried = subprocess.run([PROGRAM, "image", str(file), "--config", str(self.config("memory_limit = 1.5e7\n", (64, 64))), "--output",
                                str(self.path / "image.npy"), "--backend", "cuda"], capture_output=True, text=True, timeout=240)
        if tried.returncode == 1 and "backend cuda: " in tried.stderr and os.environ.get("ECHOFORM_REQUIRE_GPU") != "1":
            self.skipTest(tried.stderr.strip())
        self.assertEqual(tried.returncode, 2, tried.stderr)
        needed = re.search(r"expected at least ([\d.]+) ([MG])B: [\d.]+ [MG]B that the program holds beside the GPU's driver", tried.stderr)
        self.assertTrue(needed, tried.stderr)
        # What the program took itself is the same within some MB from run to run; it is given 6, and then room
        # for 5 groups more.
        needed, rounding = bytes_of(needed)
        least = needed + rounding + 6e6
        found = self.imaged_within(file, (least, least + 21e6, 2e9), "cuda")
        print(f"at least {1e-6 * least:.0f} MB: {found}")
        (few, few_at_a_time), (more, more_at_a_time), _ = found
        self.assertLess(few_at_a_time, more_at_a_time)
        # Whatever the driver took, which no limit counts: the process grew by no more than the limit did. Resident pages of the driver
        # differ by some MB from run to run.
        self.assertLess(more - few, 21e6 + 10e6)

    @unittest.skipIf(SANITIZED, "a sanitizer keeps memory of its own")
    def test_mat_files_are_read_by_pieces_compressed_or_not(self):
        # 134 MB of doubles: whole, it takes some 0.3 GB.
        file = self.recorded("[simulator]\nelements = 128\npitch = 0.6e-3\nsamples = 1024\nsample_rate = 40e6\ncycle_frames = 1\n")
        mat = self.path / "scan.mat"
        self.run_program("convert", file, mat)
        file.unlink()
        self.imaged_within(mat, (6e7, 8e7, 6e8))
        plain = (self.path / "image.npy").read_bytes()
        data = mat.read_bytes()  # a header of 128 bytes, and one element
        packed = zlib.compress(data[128:], 1)
        mat.write_bytes(data[:128] + struct.pack("<II", 15, len(packed)) + packed)
        del data, packed
        self.imaged_within(mat, (8e7, 1e8, 6e8))
        self.assertEqual((self.path / "image.npy").read_bytes(), plain)

    def test_limits_that_hold_no_group_are_refused_with_what_is_needed(self):
        file = self.recorded(SMALL)
        line = self.imaged(file, imaging="memory_limit = 1e5\n", code=2)
        needs = re.search(r"which need ([\d.]+) MB, and ([\d.]+) MB by groups of A-scans, "
                          r"beside [\d.]+ [MG]B that the program takes; expected a plan that fits into 0.1 MB", line)
        self.assertTrue(needs, line)
        # Between both the plan is good, and the program itself is more.
        between = 0.5e6 * (float(needs[1]) + float(needs[2]))
        other = self.imaged(file, imaging=f"memory_limit = {between}\n", code=2)
        self.assertRegex(other, r"\[imaging\] memory_limit: found [\d.]+ MB; expected at least [\d.]+ [MG]B: [\d.]+ [MG]B that the program holds, "
                                r"and [\d.]+ MB for groups")
        for text in (line, other):
            self.assertEqual(len([text for text in text.splitlines() if text.startswith("echoform: ")]), 1)
        self.assertFalse((self.path / "image.npy").exists())

    @unittest.skipIf(SANITIZED, "a sanitizer keeps memory of its own")
    def test_the_limit_counts_what_unpacking_takes(self):
        # 13 MB, a chunk: HDF5 holds it twice while it unpacks it, and the reader once.
        file = self.recorded(SMALL.replace("samples = 400", 'samples = 2048\nencoding = "float32"'))
        with h5py.File(file, "r+") as opened:
            sequence = opened["SEQUENCES/S1"]
            samples = sequence["MFMC_DATA"][()]
            del sequence["MFMC_DATA"]
            sequence.create_dataset("MFMC_DATA", data=samples, chunks=samples.shape, compression="gzip", compression_opts=1, shuffle=True)
        line = self.imaged(file, "--by-groups", imaging="memory_limit = 3e7\n", code=2)
        needed, rounding = bytes_of(re.search(r"expected at least ([\d.]+) ([MG])B", line))
        limit = needed + rounding + 3e6
        said = self.run_program("image", file, "--config", self.config(f"memory_limit = {limit}\n"), "--by-groups", "--output", self.path / "image.npy")
        taken, rounding = bytes_of(re.search(r"at most ([\d.]+) ([MG])B of memory", said))
        print(f"limit {1e-6 * limit:.1f} MB, taken {1e-6 * taken:.1f} MB")
        self.assertLess(taken - rounding, limit)

    def test_codes_need_whole_frames(self):
        file = self.recorded(SMALL.replace("elements = 40", "elements = 32") + 'transmit = "hadamard"\n')
        self.assertRegex(self.imaged(file, imaging="memory_limit = 1e6\n", code=2),
                         r"need [\d.]+ [MG]B, beside [\d.]+ [MG]B that the program takes, since rows of a code are decoded from whole frames; expected a plan that fits into 1 MB")
        self.assertIn("rows of a code are decoded from whole frames", self.imaged(file, "--by-groups", code=2))

    def test_killed_at_any_moment_nothing_half_written_is_left(self):
        file = self.recorded(SMALL)
        config = self.config(pixels=(400, 400))
        command = [PROGRAM, "--log-level", "error", "image", str(file), "--config", str(config), "--by-groups"]
        names = [f"image.{kind}" for kind in ("npy", "h5", "nrrd", "vti")]
        for name in names:
            command += ["--output", str(self.path / "out" / name)]
        (self.path / "out").mkdir()
        begin = time.monotonic()
        subprocess.run(command, check=True, timeout=120)
        whole = time.monotonic() - begin
        expected = {name: (self.path / "out" / name).stat().st_size for name in names}
        chance = random.Random(7)
        for attempt in range(4 if SANITIZED else 24):
            for name in names:
                (self.path / "out" / name).unlink(missing_ok=True)
            process = subprocess.Popen(command)
            # The files are written at the end: half of the moments there.
            time.sleep(whole * (chance.uniform(0.0, 1.0) if attempt % 2 else chance.uniform(0.8, 1.05)))
            process.send_signal(signal.SIGINT if attempt % 3 else signal.SIGTERM)
            process.wait(timeout=120)
            # Before the program is under way, as any program.
            self.assertIn(process.returncode, (0, 1, -signal.SIGINT if attempt % 3 else -signal.SIGTERM))
            for left in (self.path / "out").iterdir():
                self.assertEqual(left.stat().st_size, expected.get(left.name), left.name)

    def test_signals_that_are_ignored_end_nothing(self):
        # As a shell starts what runs in the background of a script.
        file = self.recorded(SMALL)
        begun = [PROGRAM, "--log-level", "error", "image", str(file), "--config", str(self.config()), "--output", str(self.path / "image.npy")]
        asked = (signal.SIGINT, signal.SIGTERM)
        process = subprocess.Popen(begun, preexec_fn=lambda: [signal.signal(one, signal.SIG_IGN) for one in asked])
        while process.poll() is None:
            for one in asked:
                process.send_signal(one)
            time.sleep(0.002)
        self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
