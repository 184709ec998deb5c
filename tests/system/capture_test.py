"""`capture` keeps what senders send, byte by byte; `replay` sends it again, `inspect` explains it, `convert` makes recordings of it."""
import json
import math
import pathlib
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import h5py
    import numpy
    import echoform
    from acquisition_tap import Tap
    from echoform import wire
    from mfmc_fields import check_fields
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

PROGRAM = sys.argv[1]


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 & -(crc & 1))
    return crc ^ 0xFFFFFFFF


def records(path):
    """By proto/CAPTURE.md alone: (type, connection, time, payload) of every whole record."""
    data = path.read_bytes()
    magic, version, size, _, _, checksum = struct.unpack_from("<8sIIQII", data)
    assert (magic, version, size, checksum) == (b"EFCAPTUR", 1, 32, crc32c(data[:28]))
    at, found = size, []
    while at + 32 <= len(data):
        magic, kind, _, connection, length, when, _, header_crc = struct.unpack_from("<4sHHIIQII", data, at)
        assert magic == b"EFCR" and header_crc == crc32c(data[at:at + 28])
        if at + 32 + length > len(data):
            break
        found.append((kind, connection, when, data[at + 32:at + 32 + length]))
        at += 32 + length
    return found


def sent_by(found, connection=0):
    return b"".join(payload for kind, number, _, payload in found if kind == 2 and number == connection)


class Capture(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        self.file = self.path / "c.efcap"

    def start(self, *arguments, **more):
        process = subprocess.Popen([PROGRAM, "--log-level", "warning", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, **more)
        for cleanup in (process.stderr.close, process.stdout.close, process.wait, process.kill):
            self.addCleanup(cleanup)
        return process

    def capture(self, *options, file=None, **more):
        process = self.start("capture", "--listen", "127.0.0.1:0", "--output", file or self.file, *options, **more)
        return process, int(process.stdout.readline().rsplit(":", 1)[1])

    def tap(self, port):
        tap = Tap(port)
        tap.start()
        self.addCleanup(tap.close)
        return tap

    def simulate(self, port, *options, matrix="full", encoding="int16"):
        config = self.path / "simulator.toml"
        config.write_text(f'[simulator]\nelements = 8\nsamples = 301\nmatrix = "{matrix}"\nencoding = "{encoding}"\n')
        return self.start("simulate", "--connect", f"127.0.0.1:{port}", "--config", config, *options)

    def finish(self, process, code=0):
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, errors)
        return output, errors

    def run_program(self, code, *arguments):
        result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def inspect(self, file, code=0):
        return json.loads(re.search(r"^{.*^}", self.run_program(code, "inspect", file, "--json"), re.DOTALL | re.MULTILINE)[0])

    def wait_for_bytes(self, count):
        deadline = time.monotonic() + 60
        while self.file.stat().st_size < count:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.002)

    def capture_frames(self, frames, **simulated):
        process, port = self.capture()
        tap = self.tap(port)
        sender = self.simulate(tap.port, "--frames", frames, "--rate", "max", **simulated)
        self.assertEqual(sender.wait(timeout=60), 0)
        output, _ = self.finish(process)
        self.assertIn(f"captured {len(tap.stream)} bytes of 1 connections", output)
        return tap

    def test_every_byte_is_there_and_frames_become_recordings(self):
        tap = self.capture_frames(4, matrix="half", encoding="packed12")
        found = records(self.file)
        self.assertEqual(sent_by(found), bytes(tap.stream))
        self.assertEqual([kind for kind, *_ in found if kind != 2], [1, 3, 4, 5])
        self.assertEqual([when for *_, when, _ in found], sorted(when for *_, when, _ in found))
        facts = self.inspect(self.file)
        self.assertEqual((facts["frames"], facts["violations"], facts["unfinished"]), (4, [], False))
        self.assertEqual((facts["connections"][0]["ending"], facts["acquisitions"][0]["incomplete"]), ("end", 0))
        # To MFMC and back, to MATLAB and back: the same samples.
        mfmc = self.path / "c.mfmc"
        self.run_program(0, "convert", self.file, mfmc)
        hello, sent = tap.sent()
        with h5py.File(mfmc, "r") as opened:
            data = check_fields(self, opened, hello, 4, velocities=(0.0, 0.0))
            for frame, expected in enumerate(sent):
                self.assertTrue((data[frame] == expected).all())
        again = self.path / "again.efcap"
        self.run_program(0, "convert", mfmc, again)
        twice = self.path / "twice.mfmc"
        self.run_program(0, "convert", again, twice)
        with h5py.File(twice, "r") as opened:
            self.assertEqual(opened["SEQUENCES/S1/MFMC_DATA"].dtype, numpy.int16)
            self.assertTrue((opened["SEQUENCES/S1/MFMC_DATA"][...] == numpy.array(sent)).all())
            self.assertEqual(opened["SEQUENCES/S1"].attrs["ECHOFORM_SAMPLE_SCALE"][0], hello.sample_scale)
        self.assertIn("1, which is all that such a file holds", self.run_program(2, "convert", self.file, self.path / "c.mat"))
        self.assertIn("0 to 3", self.run_program(2, "convert", self.file, self.path / "c.mat", "--frame", 4))
        self.run_program(0, "convert", self.file, self.path / "c.mat", "--frame", 2)
        self.run_program(0, "convert", self.path / "c.mat", self.path / "mat.mfmc")
        with h5py.File(self.path / "mat.mfmc", "r") as opened:
            found = opened["SEQUENCES/S1/MFMC_DATA"][0]
            self.assertTrue((found == (sent[2] * hello.sample_scale).astype(numpy.float32)).all())
        self.run_program(0, "convert", self.file, self.path / "part.mfmc", "--first", 1, "--frames", 2)
        with h5py.File(self.path / "part.mfmc", "r") as opened:
            self.assertTrue((opened["SEQUENCES/S1/MFMC_DATA"][...] == numpy.array(sent[1:3])).all())

    def test_replay_sends_the_same_bytes_again(self):
        process, port = self.capture()
        sender = self.simulate(port, "--frames", 6, "--rate", 50, "--connections", 3)
        self.assertEqual(sender.wait(timeout=60), 0)
        self.finish(process)
        before = records(self.file)
        copy = self.path / "copy.efcap"
        process, port = self.capture(file=copy)
        output = self.run_program(0, "replay", self.file, "--connect", f"127.0.0.1:{port}")
        self.assertIn("on 3 connections", output)
        self.finish(process)
        after = records(copy)
        # Hellos come in any order.
        streams = sorted(sent_by(before, number) for number in range(3))
        self.assertEqual(sorted(sent_by(after, number) for number in range(3)), streams)
        elapsed = float(re.search(r"in (\d+\.\d+) s,", output)[1])
        self.assertGreaterEqual(elapsed + 0.001, 1e-9 * (before[-1][2] - before[0][2]), "nothing before its time")
        self.assertEqual(self.inspect(copy)["frames"], 6)
        # Its frames at a rate, as stored.
        third = self.path / "third.efcap"
        process, port = self.capture(file=third)
        self.run_program(0, "replay", self.file, "--connect", f"127.0.0.1:{port}", "--rate", "max", "--encoding", "stored")
        self.finish(process)
        for name in ("copy", "third"):
            self.run_program(0, "convert", self.path / f"{name}.efcap", self.path / f"{name}.mfmc")
        with h5py.File(self.path / "copy.mfmc", "r") as one, h5py.File(self.path / "third.mfmc", "r") as other:
            self.assertTrue((one["SEQUENCES/S1/MFMC_DATA"][...] == other["SEQUENCES/S1/MFMC_DATA"][...]).all())
        self.assertIn("--loop", self.run_program(2, "replay", self.file, "--loop"))

    def test_events_of_every_form_are_kept_and_sent_again(self):
        probe = echoform.Probe.linear(4, 0.6e-3, centre_frequency=5e6)
        waves = (echoform.Element(3, receivers=(1, 0)), echoform.plane_wave(math.radians(-10), 6320.0), echoform.plane_wave(0.0, 6320.0, delay=1e-6),
                 echoform.PointWave(1e-3, -0.02, 1480.0, receivers=(2,)), echoform.PointWave(0.0, 0.03, 6320.0, elements=(1, 2)),
                 echoform.Law((0, 2), (0.0, 2.5e-8), (1.0, 0.5)))
        detectors = echoform.Probe((0.04, -0.04, 0.0, 0.0), z=(0.0, 0.0, 0.04, -0.04), normals=[(-1, 0, 0), (1, 0, 0), (0, 0, -1), (0, 0, 1)])
        light = (echoform.Passive(750e-9), echoform.Passive(850e-9, 0.012, receivers=(3, 1)))
        for name, probe, events in (("waves", probe, waves), ("codes", probe, echoform.hadamard(4)), ("light", detectors, light)):
            with self.subTest(name):
                self.file = self.path / f"{name}.efcap"
                acquisition = echoform.Acquisition(probe, 20, 4e7, events=events)
                frames = numpy.random.default_rng(1).integers(-999, 999, (3, *acquisition.frame_shape)).astype(numpy.int16)
                process, port = self.capture()
                with echoform.FrameSender(acquisition, f"127.0.0.1:{port}") as sender:
                    for frame in frames:
                        sender.send(frame)
                self.finish(process)
                self.check_events(self.inspect(self.file), acquisition, frames)
                self.check_replays(acquisition, frames)

    def check_events(self, found, acquisition, frames):
        self.assertEqual((found["matrix"], found["a_scans"], found["frames"], found["violations"]),
                         ("events", frames[0].size // 20, 3, []))
        text = self.run_program(0, "inspect", self.file)
        if len(acquisition.events) == 4:
            self.assertEqual(found["events"][1], {"code": {"signs": [1, -1, 1, -1]}})
            self.assertRegex(text, "events +4: 4 rows of a code\n")
            return
        if len(acquisition.events) == 2:
            self.assertEqual(found["events"], [{"passive": {"wavelength": 750e-9}},
                                               {"passive": {"wavelength": 850e-9, "pulse_energy": 0.012}, "receivers": [3, 1]}])
            self.assertRegex(text, "events +2: passive events of light of 750, 850 nm; recorded by 2 to 4 elements each\n")
            for name in ("light.mfmc", "light.mat"):
                line = self.run_program(2, "convert", self.file, self.path / name, "--frame", 0)
                self.assertIn(f"{name}: found passive events; expected events that transmit", line)
                self.assertFalse((self.path / name).exists())
            return
        slowness = math.sin(math.radians(-10)) / 6320.0
        self.assertEqual(found["events"], [
            {"element": 3, "receivers": [1, 0]}, {"plane_wave": {"slowness_x": slowness, "slowness_y": 0.0}},
            {"plane_wave": {"slowness_x": 0.0, "slowness_y": 0.0, "delay": 1e-6}},
            {"point_wave": {"x": 1e-3, "y": 0.0, "z": -0.02, "velocity": 1480.0}, "receivers": [2]},
            {"point_wave": {"x": 0.0, "y": 0.0, "z": 0.03, "velocity": 6320.0, "elements": [1, 2]}},
            {"law": {"elements": [0, 2], "delays": [0.0, float(numpy.float32(2.5e-8))], "weights": [1.0, 0.5]}}])
        self.assertRegex(text, r"events +6: element 3; plane waves of slowness -0\.02748, 0 us/mm; waves from \(1, 0, -20\) mm, focused at "
                               r"\(0, 0, 30\) mm; law of 2 elements; recorded by 1 to 4 elements each")

    def check_replays(self, acquisition, frames):
        """Over TCP as it came, and its frames over ZeroMQ."""
        copy = self.file.with_suffix(".again.efcap")
        process, port = self.capture(file=copy)
        self.run_program(0, "replay", self.file, "--connect", f"127.0.0.1:{port}")
        self.finish(process)
        self.assertEqual(sent_by(records(copy)), sent_by(records(self.file)))
        try:
            import zmq
        except ImportError as error:
            self.skipTest(str(error))
        with zmq.Context() as context, context.socket(zmq.PULL) as pull:
            port = pull.bind_to_random_port("tcp://127.0.0.1")
            replay = self.start("replay", self.file, "--zeromq", f"127.0.0.1:{port}", "--rate", "max", "--encoding", "stored")
            received, hellos = [], []
            while True:
                self.assertTrue(pull.poll(60000, zmq.POLLIN), "nothing came")
                data = b"".join(pull.recv_multipart())
                kind, header, payload = struct.unpack_from("<HIQ", data, 6)
                if kind == wire.END:
                    break
                {wire.HELLO: hellos, wire.SHOT: received}[kind].append(data[24 + header:] if payload else data[24:])
            self.assertEqual(replay.wait(60), 0)
        self.assertEqual(b"".join(received), frames.tobytes())
        self.assertEqual(len(hellos), len(frames))
        self.assertEqual([bytes(value) for field, value in wire.fields(hellos[0]) if field == 14], acquisition.encoded_events)

    def test_stands_between_a_sender_and_a_server(self):
        server = self.start("record", "--listen", "127.0.0.1:0", "--output", self.path / "r.mfmc", "--frames", 5)
        behind = int(server.stdout.readline().rsplit(":", 1)[1])
        process, port = self.capture("--connect", f"127.0.0.1:{behind}")
        sender = self.simulate(port, "--frames", 5, "--rate", "max")
        self.assertEqual(sender.wait(timeout=60), 0)
        # It ends by itself; a signal beside would be the second, which ends a program at once.
        _, errors = server.communicate(timeout=120)
        self.assertEqual(server.returncode, 0, errors)
        self.finish(process)
        found = records(self.file)
        self.assertTrue(any(kind == 3 for kind, *_ in found), "the server's answers")
        self.run_program(0, "convert", self.file, self.path / "c.mfmc")
        with h5py.File(self.path / "c.mfmc", "r") as one, h5py.File(self.path / "r.mfmc", "r") as other:
            self.assertTrue((one["SEQUENCES/S1/MFMC_DATA"][...] == other["SEQUENCES/S1/MFMC_DATA"][...]).all())

    def test_nonsense_is_captured_rejected_and_explained(self):
        process, port = self.capture()
        with socket.create_connection(("127.0.0.1", port)) as sender:
            sender.sendall(b"GET / HTTP/1.0\r\n\r\n" + bytes(30))
            answer = b""
            while data := sender.recv(4096):
                answer += data
        self.assertIn(b"message magic", answer)
        self.finish(process)
        self.assertEqual(sent_by(records(self.file))[:3], b"GET")
        facts = self.inspect(self.file, code=2)
        self.assertRegex(facts["violations"][0], "connection 0 .*message magic")

    def test_fault_kill_leaves_a_readable_file(self):
        process, port = self.capture()
        tap = self.tap(port)
        self.simulate(tap.port, "--frames", 100000, "--rate", "max")
        self.wait_for_bytes(3_000_000)
        process.kill()
        process.wait()
        sent = sent_by(records(self.file))
        self.assertGreater(len(sent), 2_000_000)
        tap.close()
        self.assertEqual(sent, bytes(tap.stream[:len(sent)]))
        facts = self.inspect(self.file)
        self.assertEqual((facts["unfinished"], facts["violations"]), (True, []))
        self.assertGreater(facts["frames"], 10)

    def test_fault_full_disk_leaves_a_readable_file(self):
        limit = 2 << 20  # stands in for the disk
        process, port = self.capture(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.simulate(port, "--frames", 100000, "--rate", "max")
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, errors)
        self.assertIn("File too large; what came before is in the file", errors)
        self.assertGreater(self.inspect(self.file)["frames"], 10)

    def test_ends_with_its_bytes_and_never_overwrites(self):
        process, port = self.capture("--bytes", 1_000_000)
        self.simulate(port, "--frames", 100000, "--rate", "max")
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors)
        size = self.file.stat().st_size
        self.assertTrue(1_000_000 <= size < 2_000_000, size)
        self.assertIn("there already", self.run_program(2, "capture", "--listen", "127.0.0.1:0", "--output", self.file))
        self.assertEqual(self.file.stat().st_size, size)
        self.assertIn(".efcap", self.run_program(2, "capture", "--output", self.path / "x.bin"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
