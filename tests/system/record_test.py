"""`record` writes what senders send: the file is read by h5py alone, field by field, and compared with what went over the wire;
kills, full disks and signals leave the finished frames.

A second argument names the faults to run, tests that begin with test_NAME; without one the tests are run that are no faults."""
import json
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import h5py
    import numpy
    from google.protobuf.message import DecodeError  # noqa: F401
    from acquisition_tap import Tap
    from mfmc_fields import check_fields
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

PROGRAM = sys.argv[1]


class Record(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        self.file = self.path / "r.mfmc"

    def record(self, *options, **more):
        recorder = subprocess.Popen([PROGRAM, "--log-level", "warning", "record", "--listen", "127.0.0.1:0", "--output", str(self.file),
                                     *map(str, options)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
        self.tap = Tap(int(re.search(r":(\d+)$", recorder.stdout.readline().strip())[1]))
        self.tap.start()
        # Cleanups run last first: recorder and sender are gone when the tap is closed.
        for cleanup in (self.tap.close, recorder.stderr.close, recorder.stdout.close, recorder.wait, recorder.kill):
            self.addCleanup(cleanup)
        return recorder

    def simulate(self, *options, matrix="full", encoding="int16", elements=8, fire=()):
        config = self.path / "simulator.toml"
        config.write_text(f'[simulator]\nelements = {elements}\nsamples = 301\nmatrix = "{matrix}"\nencoding = "{encoding}"\n'
                          f'fire = {list(fire)}\n')
        sender = subprocess.Popen([PROGRAM, "--log-level", "warning", "simulate", "--connect", f"127.0.0.1:{self.tap.port}",
                                   "--config", str(config), "--rate", "max", *map(str, options)],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for cleanup in (sender.stderr.close, sender.wait, sender.kill):
            self.addCleanup(cleanup)
        return sender

    def check_recording(self, frames, **simulated):
        material = self.path / "record.toml"
        material.write_text("[material]\nlongitudinal_velocity = 6320.0\nshear_velocity = 3130.0\n")
        recorder = self.record("--frames", frames, "--config", material)
        sender = self.simulate("--frames", frames, **simulated)
        output, errors = recorder.communicate(timeout=120)
        self.assertEqual(recorder.returncode, 0, errors)
        self.assertEqual(sender.wait(timeout=60), 0)
        self.assertRegex(output, rf"wrote {frames} frames, \d+ bytes of samples; drops none, sequence gaps 0")
        self.assertIn(f"frames received {frames} = published {frames} + dropped 0 + in flight 0", output)
        hello, sent = self.tap.sent()
        self.assertEqual(len(sent), frames)
        with h5py.File(self.file, "r") as file:
            data = check_fields(self, file, hello, frames)
            for frame, expected in enumerate(sent):
                self.assertTrue((data[frame] == expected).all(), f"frame {frame}")
        self.assertEqual(self.inspect(0) | {"frames": frames, "elements": 8, "samples": 301, "violations": [], "unfinished": False,
                                           "longitudinal_velocity": 6320.0, "shear_velocity": 3130.0}, self.inspect(0))
        self.assertEqual([entry.suffix for entry in self.path.iterdir() if entry.suffix != ".toml"], [".mfmc"])

    def test_full_matrix_equals_what_was_sent(self):
        self.check_recording(100, matrix="full")

    def test_half_matrix_equals_what_was_sent(self):
        self.check_recording(100, matrix="half")

    def test_sparse_firings_equal_what_was_sent(self):
        self.check_recording(10, fire=(6, 0, 3))
        found = self.inspect(0)
        self.assertEqual((found["matrix"], found["a_scans"]), ("events", 24))
        self.assertEqual(found["events"], [{"element": 6}, {"element": 0}, {"element": 3}])
        copy = self.path / "copy.efcap"
        subprocess.run([PROGRAM, "convert", str(self.file), str(copy)], check=True, capture_output=True, timeout=60)
        text = subprocess.run([PROGRAM, "inspect", str(copy)], check=True, capture_output=True, text=True, timeout=60).stdout
        self.assertRegex(text, r"matrix +events, 24 A-scans")
        self.assertRegex(text, r"events +3: elements 6, 0, 3")

    def test_a_sender_that_has_more_frames_is_told_and_ends_well(self):
        for connections in (1, 3):
            with self.subTest(connections=connections):
                self.file.unlink(missing_ok=True)
                recorder = subprocess.Popen([PROGRAM, "--log-level", "warning", "record", "--listen", "127.0.0.1:0", "--output", str(self.file),
                                             "--frames", "5"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                for cleanup in (recorder.stderr.close, recorder.stdout.close, recorder.wait, recorder.kill):
                    self.addCleanup(cleanup)
                place = re.search(r"127\.0\.0\.1:\d+$", recorder.stdout.readline().strip())[0]
                sender = subprocess.run([PROGRAM, "simulate", "--connect", place, "--rate", "200", "--connections", str(connections)],
                                        capture_output=True, text=True, timeout=120)
                self.assertEqual(sender.returncode, 0, sender.stderr)
                self.assertIn(f"{place} ended the connection: the recording has its 5 frames", sender.stderr)
                self.assertRegex(sender.stdout, r"sent \d+ frames, ")
                output, errors = recorder.communicate(timeout=60)
                self.assertEqual(recorder.returncode, 0, errors)
                self.assertIn("wrote 5 frames", output)

    def test_packed_samples_are_unpacked(self):
        self.check_recording(10, matrix="half", encoding="packed12")

    def test_float_samples_stay_what_they_are(self):
        self.check_recording(10, encoding="float32")

    def expect_frames_of_unfinished(self, least):
        with h5py.File(self.file, "r", swmr=True) as file:
            data = file["SEQUENCES/S1/MFMC_DATA"]
            self.assertGreaterEqual(len(data), least)
            _, sent = self.tap.sent()
            for frame in range(len(data)):
                self.assertTrue((data[frame] == sent[frame]).all(), f"frame {frame}")
            return len(data)

    def wait_for_bytes(self, count):
        deadline = time.monotonic() + 60
        while not self.file.exists() or self.file.stat().st_size < count:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.002)

    def test_fault_kill_leaves_the_finished_frames(self):
        frame_bytes = 16 * 4096  # samples, placements and nodes of both indices, in pages
        for frames in (1, 50, 300):
            with self.subTest(frames=frames):
                self.file.unlink(missing_ok=True)
                recorder = self.record()
                sender = self.simulate("--frames", 100000)
                self.wait_for_bytes(1_000_000 + frames * frame_bytes)
                recorder.kill()
                recorder.wait()
                sender.kill()
                sender.wait()
                # The metadata of the file is below 1 MB, what else is in it are whole frames and the one at work.
                self.expect_frames_of_unfinished(frames)
                self.assertIn("not closed by its writer", self.inspect(0)["description"])
                image = subprocess.run([PROGRAM, "image", str(self.file), "--output", str(self.path / "r.npy"), "--frame", "0", "--config",
                                        str(self.config_of_image())], capture_output=True, text=True, timeout=60)
                self.assertEqual(image.returncode, 0, image.stderr)

    def inspect(self, code):
        result = subprocess.run([PROGRAM, "inspect", str(self.file), "--json"], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return json.loads(result.stdout)

    def config_of_image(self):
        config = self.path / "image.toml"
        config.write_text("[material]\nlongitudinal_velocity = 6320.0\n[grid]\nx = [-2e-3, 2e-3]\nz = [2e-3, 4e-3]\npixels = [8, 8]\n")
        return config

    def test_a_growing_file_can_be_read(self):
        recorder = self.record()
        self.simulate("--frames", 100000)
        self.wait_for_bytes(1_500_000)
        self.expect_frames_of_unfinished(1)
        recorder.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(timeout=60), 0)

    def test_fault_termination_in_mid_stream_closes_the_file(self):
        recorder = self.record()
        self.simulate("--frames", 100000)
        self.wait_for_bytes(1_500_000)
        recorder.send_signal(signal.SIGTERM)
        output, errors = recorder.communicate(timeout=60)
        self.assertEqual(recorder.returncode, 0, errors)
        written = int(re.search(r"wrote (\d+) frames", output)[1])
        received, published, dropped = map(int, re.search(r"received (\d+) = published (\d+) \+ dropped (\d+) \+ in flight 0",
                                                          output).groups())
        self.assertEqual((published, received), (written, published + dropped))
        _, sent = self.tap.sent()
        with h5py.File(self.file, "r") as file:
            data = file["SEQUENCES/S1/MFMC_DATA"]
            self.assertEqual(len(data), written)
            for frame in range(written):
                self.assertTrue((data[frame] == sent[frame]).all())

    def test_fault_full_disk_leaves_the_finished_frames(self):
        limit = 4 << 20  # stands in for the disk
        recorder = self.record(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.simulate("--frames", 100000)
        output, errors = recorder.communicate(timeout=60)
        self.assertEqual(recorder.returncode, 1, errors)
        written = int(re.search(r"wrote (\d+) frames", output)[1])
        faults = [line for line in errors.splitlines() if line.startswith("echoform: ")]
        self.assertEqual(faults, [f"echoform: {self.file}: frame {written} cannot be written: File too large; "
                                  f"the {written} before it are in the file"])
        _, sent = self.tap.sent()
        with h5py.File(self.file, "r") as file:
            data = file["SEQUENCES/S1/MFMC_DATA"]
            self.assertEqual(len(data), written)
            self.assertGreater(written, 10)
            self.assertTrue((data[written - 1] == sent[written - 1]).all())

    def test_disk_that_is_nearly_full_leaves_nothing(self):
        for limit in range(4 << 10, 65 << 10, 12 << 10):
            with self.subTest(limit):
                recorder = self.record(preexec_fn=lambda most=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
                self.simulate("--frames", 20)
                _, errors = recorder.communicate(timeout=60)
                self.assertEqual(recorder.returncode, 1, errors)
                self.assertRegex(errors, rf"(?s)\A[^\n]*echoform: {self.file}: [^\n]*cannot be written: File too large[^\n]*\n\Z")
                self.assertEqual([entry.name for entry in self.path.iterdir() if entry.suffix != ".toml"], [])

    def test_convert_to_a_disk_that_is_nearly_full_leaves_nothing(self):
        material = self.path / "record.toml"
        material.write_text("[material]\nlongitudinal_velocity = 6320.0\n")
        for passive in (False, True):
            recorder = self.record("--frames", 2, "--config", material) if not passive else None
            if recorder:
                self.simulate("--frames", 2)
                recorder.communicate(timeout=60)
            source = self.file
            if passive:
                source = self.path / "light.hdf5"
                with h5py.File(source, "w") as file:
                    file["binary_time_series_data"] = numpy.arange(8 * 400, dtype="f4").reshape(8, 400, 1, 1)
                    file["meta_data/ad_sampling_rate"] = 4e7
                    for k in range(8):
                        file[f"meta_data_device/detectors/{k:010}/detector_position"] = numpy.array([k * 1e-3, 0, 0])
                        file[f"meta_data_device/detectors/{k:010}/detector_orientation"] = numpy.array([0.0, 0, 1])
            for extension in (".hdf5",) if passive else (".mfmc", ".efcap", ".mat", ".onde", ".uff"):
                for limit in range(4 << 10, 65 << 10, 20 << 10):
                    with self.subTest(extension=extension, limit=limit):
                        copy = self.path / f"copy{extension}"
                        frame = ["--frame", "0"] if extension == ".mat" else []
                        result = subprocess.run([PROGRAM, "convert", str(source), str(copy), *frame], capture_output=True, text=True, timeout=60,
                                                preexec_fn=lambda most=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
                        if result.returncode == 0 and extension == ".hdf5":
                            copy.unlink()
                            continue  # it is small
                        self.assertEqual(result.returncode, 1, result.stderr)
                        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                        self.assertIn(f"echoform: {copy}", result.stderr)
                        self.assertEqual({entry.name for entry in self.path.iterdir() if entry.suffix != ".toml"} - {"r.mfmc", "light.hdf5"}, set())

    def test_inspect_and_convert(self):
        recorder = self.record("--frames", 3)
        self.simulate("--frames", 3, matrix="half")
        recorder.communicate(timeout=60)
        copy = self.path / "copy.mfmc"
        result = subprocess.run([PROGRAM, "convert", str(self.file), str(copy)], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        with h5py.File(self.file, "r") as before, h5py.File(copy, "r") as after:
            self.assertTrue((after["SEQUENCES/S1/MFMC_DATA"][...] == before["SEQUENCES/S1/MFMC_DATA"][...]).all())
            scales = [file["SEQUENCES/S1"].attrs["ECHOFORM_SAMPLE_SCALE"][0] for file in (before, after)]
            self.assertEqual(scales[0], scales[1])
        result = subprocess.run([PROGRAM, "convert", str(self.file), str(copy)], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 2, "files are not overwritten")
        self.file = copy
        self.assertEqual(self.inspect(0)["encoding"], "int16")
        with h5py.File(copy, "r+") as file:
            del file["SEQUENCES/S1"].attrs["TIME_STEP"]
            file["LAWS/L2/ELEMENT"][0] = 9
            file["PROBES/P1/DEAD_ELEMENT"] = numpy.zeros(2, int)
        violations = self.inspect(2)["violations"]
        self.assertEqual(violations, [f"{copy}: /SEQUENCES/S1: found no TIME_STEP; expected the mandatory TIME_STEP",
                                      f"{copy}: /PROBES/P1/DEAD_ELEMENT: found shape 2; expected shape 8",
                                      f"{copy}: /LAWS/L2/ELEMENT: found 9 as value 1; expected whole numbers from 1 to 8"])

    def test_the_extension_chooses_the_format(self):
        config = self.path / "sound.toml"
        config.write_text('[detectors]\nkind = "ring"\nradius = 20e-3\ncount = 8\n[imaging]\nmethod = "tomography"\n'
                          '[material]\nlongitudinal_velocity = 1500.0\n[simulator]\nballs = [[0.0, 0.0, 0.0, 1e-3, 1.0]]\nsamples = 700\n')
        for ending, frames, kept in ((".efcap", 3, 3), (".hdf5", 3, 3), (".mat", 3, 1)):
            with self.subTest(ending):
                self.file = self.path / f"r{ending}"
                recorder = self.record(*(("--frames", frames) if ending != ".mat" else ()))
                if ending == ".mat":
                    self.simulate("--frames", 1)  # and ends by itself: the file holds no more
                else:
                    sender = subprocess.Popen([PROGRAM, "--log-level", "warning", "simulate", "--connect", f"127.0.0.1:{self.tap.port}",
                                               "--config", str(config), "--rate", "max", "--frames", str(frames)],
                                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                    for cleanup in (sender.stderr.close, sender.wait, sender.kill):
                        self.addCleanup(cleanup)
                    _, errors = sender.communicate(timeout=60)
                    self.assertEqual(sender.returncode, 0, errors)
                output, errors = recorder.communicate(timeout=120)
                self.assertEqual(recorder.returncode, 0, errors)
                self.assertIn(f"wrote {kept} frames", output)
                self.assertEqual(self.inspect(0)["frames"], kept)

    def test_what_the_format_cannot_say_is_refused(self):
        recorder = self.record()
        sender = self.simulate("--frames", 1, matrix="half_summed")
        _, errors = sender.communicate(timeout=60)
        self.assertEqual(sender.returncode, 2, errors)
        self.assertIn("half_summed", errors)
        recorder.send_signal(signal.SIGINT)
        _, errors = recorder.communicate(timeout=60)
        self.assertEqual(recorder.returncode, 1)
        self.assertIn("no frame came", errors)
        self.assertFalse(self.file.exists())

    def test_recordings_are_not_overwritten(self):
        self.file.write_text("precious")
        result = subprocess.run([PROGRAM, "record", "--listen", "127.0.0.1:0", "--output", str(self.file)], capture_output=True, text=True,
                                timeout=60)
        self.assertEqual(result.returncode, 2)
        self.assertIn("there already", result.stderr)
        self.assertEqual(self.file.read_text(), "precious")


if __name__ == "__main__":
    WANTED = "test_" + sys.argv[2] if len(sys.argv) > 2 else None
    NAMES = [name for name in unittest.defaultTestLoader.getTestCaseNames(Record)
             if (name.startswith(WANTED) if WANTED else not name.startswith("test_fault_"))]
    assert NAMES
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(map(Record, NAMES))).wasSuccessful())
