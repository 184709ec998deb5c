"""`record` writes what senders send: the file is read by h5py alone, field by field, and compared with what went over the wire;
kills, full disks and signals leave the finished frames.

A second argument names the faults to run, tests that begin with test_NAME; without one the tests are run that are no faults."""
import json
import pathlib
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

try:
    import h5py
    import numpy
    from google.protobuf.message import DecodeError  # noqa: F401
    import acquisition_pb2
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

PROGRAM = sys.argv[1]


class Tap(threading.Thread):
    """Stands between a sender and the recorder, hands bytes on, and keeps what the sender said."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.stream = bytearray()

    def run(self):
        try:
            sender, _ = self.listener.accept()
        except OSError:
            return  # nobody came
        with sender, socket.create_connection(("127.0.0.1", self.target)) as recorder:
            back = threading.Thread(target=self.pump, args=(recorder, sender), daemon=True)
            back.start()
            self.pump(sender, recorder, self.stream)
            back.join()

    def close(self):
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
        self.join(timeout=60)

    @staticmethod
    def pump(source, sink, keep=None):
        try:
            while data := source.recv(1 << 16):
                if keep is not None:
                    keep += data
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:  # the other direction shall end too
            for end in (source, sink):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def sent(self):
        """The Hello, and all whole frames as [frames, A-scans, samples] in the order in which they were sent."""
        data, at, hello, frames = bytes(self.stream), 0, None, {}
        while at + 24 <= len(data):
            _, _, kind, header, payload, _ = struct.unpack_from("<IHHIQI", data, at)
            begin, end = at + 24 + header, at + 24 + header + payload
            if end > len(data):
                break
            if kind == 1:
                hello = acquisition_pb2.Hello.FromString(data[at + 24:begin])
            elif kind == 4:
                shot = acquisition_pb2.Shot.FromString(data[at + 24:begin])
                frames.setdefault(shot.sequence, {})[shot.transmit] = data[begin:end]
            at = end
        elements = len(hello.probe.x)
        whole = [b"".join(shots[i] for i in range(elements)) for shots in frames.values() if len(shots) == elements]
        return hello, [decoded(hello, frame) for frame in whole]


def decoded(hello, frame):
    if hello.encoding == acquisition_pb2.FLOAT32:
        return numpy.frombuffer(frame, "<f4").reshape(-1, hello.samples)
    if hello.encoding == acquisition_pb2.INT16:
        return numpy.frombuffer(frame, "<i2").reshape(-1, hello.samples)
    rows = numpy.frombuffer(frame, numpy.uint8).reshape(-1, (3 * hello.samples + 1) // 2)
    bits = numpy.unpackbits(rows, axis=1, bitorder="little")[:, :12 * hello.samples].reshape(len(rows), hello.samples, 12)
    counts = bits @ (1 << numpy.arange(12, dtype=numpy.int32))
    return (counts - 4096 * (counts >= 2048)).astype(numpy.int16)


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

    def simulate(self, *options, matrix="full", encoding="int16", elements=8):
        config = self.path / "simulator.toml"
        config.write_text(f'[simulator]\nelements = {elements}\nsamples = 301\nmatrix = "{matrix}"\nencoding = "{encoding}"\n')
        sender = subprocess.Popen([PROGRAM, "--log-level", "warning", "simulate", "--connect", f"127.0.0.1:{self.tap.port}",
                                   "--config", str(config), "--rate", "max", *map(str, options)],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for cleanup in (sender.stderr.close, sender.wait, sender.kill):
            self.addCleanup(cleanup)
        return sender

    def check_fields(self, file, hello, frames):
        """Every field of facts/formats.md 1.3 that a recording has: class, shape, value."""
        elements, samples = len(hello.probe.x), hello.samples
        full = hello.matrix == acquisition_pb2.FULL
        pairs = [(i, j) for i in range(elements) for j in range(0 if full else i, elements)]
        self.assertEqual((file.attrs["TYPE"], file.attrs["VERSION"]), ("MFMC", "2.0.0"))
        groups = []
        file.visititems(lambda name, item: groups.append(item) if isinstance(item, h5py.Group) else None)
        sequences = [group for group in groups if group.attrs.get("TYPE") == "SEQUENCE"]
        self.assertEqual(len(sequences), 1)
        sequence = sequences[0]

        def expect(group, name, kind, shape):
            item = group.attrs[name] if name in group.attrs else group[name]
            self.assertEqual(item.dtype.kind, kind, name)
            self.assertEqual(item.shape, shape, name)
            return item[...]

        data = sequence["MFMC_DATA"]
        self.assertEqual(data.dtype, numpy.float32 if hello.encoding == acquisition_pb2.FLOAT32 else numpy.int16)
        self.assertEqual(data.shape, (frames, len(pairs), samples))
        self.assertEqual(data.chunks, (1, len(pairs), samples))
        self.assertIsNone(data.maxshape[0])
        placement = sequence["PROBE_PLACEMENT_INDEX"]
        self.assertIsNone(placement.maxshape[0])
        self.assertTrue((placement[:frames] == 1).all())
        self.assertEqual((placement.dtype.kind, placement.shape[1:]), ("i", (len(pairs),)))
        self.assertEqual(expect(sequence, "PROBE_POSITION", "f", (1, 1, 3)).tolist(), [[[0, 0, 0]]])
        self.assertEqual(expect(sequence, "PROBE_X_DIRECTION", "f", (1, 1, 3)).tolist(), [[[1, 0, 0]]])
        self.assertEqual(expect(sequence, "PROBE_Y_DIRECTION", "f", (1, 1, 3)).tolist(), [[[0, 1, 0]]])
        self.assertAlmostEqual(expect(sequence, "TIME_STEP", "f", (1,))[0] * hello.sample_rate, 1.0, 12)
        self.assertEqual(expect(sequence, "START_TIME", "f", (1,))[0], hello.start_time - hello.time_offset)
        self.assertEqual(expect(sequence, "SPECIMEN_VELOCITY", "f", (2,)).tolist(), [3130.0, 6320.0])  # shear first
        self.assertRegex(sequence.attrs["DATE_AND_TIME"], r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$")
        scale = 1.0 if hello.encoding == acquisition_pb2.FLOAT32 else hello.sample_scale
        self.assertEqual(sequence.attrs.get("ECHOFORM_SAMPLE_SCALE", [1.0])[0], scale)

        probe = file[expect(sequence, "PROBE_LIST", "O", (1,))[0]]
        self.assertEqual(probe.attrs["TYPE"], "PROBE")
        position = expect(probe, "ELEMENT_POSITION", "f", (elements, 3))
        self.assertEqual(position[:, 0].tolist(), list(hello.probe.x))
        major, minor = (expect(probe, name, "f", (elements, 3)) for name in ("ELEMENT_MAJOR", "ELEMENT_MINOR"))
        normal = numpy.cross(major, minor)
        self.assertTrue((normal / numpy.linalg.norm(normal, axis=1)[:, None] == [0, 0, 1]).all(), "emission")
        self.assertGreaterEqual(numpy.linalg.norm(major), numpy.linalg.norm(minor))
        widths = 2 * numpy.maximum(abs(major[:, 0]), abs(minor[:, 0]))
        self.assertTrue(numpy.allclose(widths, hello.probe.element_width, rtol=1e-12))
        self.assertEqual(expect(probe, "ELEMENT_SHAPE", "i", (elements,)).tolist(), [1] * elements)
        self.assertEqual(expect(probe, "CENTRE_FREQUENCY", "f", (1,))[0], hello.probe.centre_frequency)
        self.assertEqual(expect(probe, "BANDWIDTH", "f", (1,))[0], hello.probe.bandwidth)

        transmit, receive = (expect(sequence, name, "O", (len(pairs),)) for name in ("TRANSMIT_LAW", "RECEIVE_LAW"))
        element_of = {}
        for reference in set(transmit) | set(receive):
            law = file[reference]
            self.assertEqual(law.attrs["TYPE"], "LAW")
            self.assertEqual(file[expect(law, "PROBE", "O", (1,))[0]], probe)
            element_of[law.name] = expect(law, "ELEMENT", "i", (1,))[0]
        self.assertEqual([(element_of[file[t].name] - 1, element_of[file[r].name] - 1) for t, r in zip(transmit, receive)], pairs)
        return data

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
            data = self.check_fields(file, hello, frames)
            for frame, expected in enumerate(sent):
                self.assertTrue((data[frame] == expected).all(), f"frame {frame}")
        self.assertEqual(self.inspect(0) | {"frames": frames, "elements": 8, "samples": 301, "violations": [], "unfinished": False,
                                           "longitudinal_velocity": 6320.0, "shear_velocity": 3130.0}, self.inspect(0))
        self.assertEqual([entry.suffix for entry in self.path.iterdir() if entry.suffix != ".toml"], [".mfmc"])

    def test_full_matrix_equals_what_was_sent(self):
        self.check_recording(100, matrix="full")

    def test_half_matrix_equals_what_was_sent(self):
        self.check_recording(100, matrix="half")

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

    def test_inspect_and_convert(self):
        recorder = self.record("--frames", 3)
        self.simulate("--frames", 3, matrix="half")
        recorder.communicate(timeout=60)
        copy = self.path / "copy.mfmc"
        result = subprocess.run([PROGRAM, "convert", str(self.file), str(copy)], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        with h5py.File(self.file, "r") as before, h5py.File(copy, "r") as after:
            scale = before["SEQUENCES/S1"].attrs["ECHOFORM_SAMPLE_SCALE"][0]
            expected = before["SEQUENCES/S1/MFMC_DATA"][...] * numpy.float32(scale)
            self.assertTrue((after["SEQUENCES/S1/MFMC_DATA"][...] == expected).all())
        result = subprocess.run([PROGRAM, "convert", str(self.file), str(copy)], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 2, "files are not overwritten")
        self.file = copy
        self.assertEqual(self.inspect(0)["encoding"], "float32")
        with h5py.File(copy, "r+") as file:
            del file["SEQUENCES/S1"].attrs["TIME_STEP"]
            file["LAWS/L2/ELEMENT"][0] = 9
            file["PROBES/P1/DEAD_ELEMENT"] = numpy.zeros(2, int)
        violations = self.inspect(2)["violations"]
        self.assertEqual(violations, [f"{copy}: /SEQUENCES/S1: found no TIME_STEP; expected the mandatory TIME_STEP",
                                      f"{copy}: /PROBES/P1/DEAD_ELEMENT: found shape 2; expected shape 8",
                                      f"{copy}: /LAWS/L2/ELEMENT: found 9 as value 1; expected whole numbers from 1 to 8"])

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
