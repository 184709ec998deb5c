"""An encoder's counts from the source to the last reader: through captures, MFMC, conversions, replays, images and telemetry."""
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
    import numpy
    import echoform
    from acquisition_tap import Tap  # noqa: F401
    from echoform import wire
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

PROGRAM = sys.argv[1]
PATIENCE = 60.0
# Forth, two frames more at the end, and back.
COUNTS = [-10, 0, 10, 15, 15, 15, 5, -5, -10, -10, -10, 0]
SIMULATOR = """[simulator]
elements = 4
samples = 64
encoder_first = -10
encoder_last = 15
encoder_step = 10
encoder_pause = 2
"""


class Positions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.config = self.path / "simulator.toml"
        self.config.write_text(SIMULATOR)

    def start(self, *arguments):
        process = subprocess.Popen([PROGRAM, "--log-level", "warning", *map(str, arguments)], stdout=subprocess.PIPE, text=True)
        for cleanup in (process.stdout.close, process.wait, process.kill):
            self.addCleanup(cleanup)
        return process

    def run_program(self, *arguments):
        result = subprocess.run([PROGRAM, "--log-level", "warning", *map(str, arguments)], capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def listening(self, *arguments):
        """A process that receives frames, and where."""
        process = self.start(*arguments)
        return process, re.search(r"127\.0\.0\.1:\d+", process.stdout.readline())[0]

    def record(self, name, frames, *sender):
        recorder, endpoint = self.listening("record", "--listen", "127.0.0.1:0", "--output", self.path / name, "--frames", frames)
        self.run_program(*sender, "--connect", endpoint, "--rate", "max", "--frames", frames)
        self.assertEqual(recorder.wait(PATIENCE), 0)
        return self.path / name

    def inspect(self, file):
        self.assertIn("all rules of MFMC 2.0 kept" if file.suffix == ".mfmc" else "its bytes keep the protocol", self.run_program("inspect", file))
        return json.loads(self.run_program("inspect", file, "--json"))

    def counts_of_mfmc(self, file):
        with h5py.File(file, "r") as opened:
            counts = opened["SEQUENCES/S1/ECHOFORM_ENCODER_COUNT"]
            self.assertEqual((counts.dtype, counts.maxshape), (numpy.int64, (None, None)))
            return counts[()].tolist()

    def counts_of_capture(self, file):
        """What each shot states, by the documents alone: records of CAPTURE.md, then messages of WIRE.md."""
        data, at, sent = file.read_bytes(), 32, b""
        while at < len(data):
            kind, length = int.from_bytes(data[at + 4:at + 6], "little"), int.from_bytes(data[at + 12:at + 16], "little")
            sent += data[at + 32:at + 32 + length] if kind == 2 else b""
            at += 32 + length
        stated, at = {}, 0
        while at < len(sent):
            kind, header, payload = (int.from_bytes(sent[at + a:at + b], "little") for a, b in ((6, 8), (8, 12), (12, 20)))
            if kind == wire.SHOT:
                found = dict(wire.fields(sent[at + 24:at + 24 + header]))
                zigzag = found.get(5)
                stated.setdefault(found.get(1, 0), []).append(None if zigzag is None else zigzag >> 1 if zigzag % 2 == 0 else -(zigzag + 1 >> 1))
            at += 24 + header + payload
        return [stated[sequence] for sequence in sorted(stated)]

    def test_files_keep_them_through_record_convert_and_replay(self):
        frames = len(COUNTS)
        first = self.record("first.mfmc", frames, "simulate", "--config", self.config)
        expected = {"frames": frames, "first": -10, "last": 0, "distinct": 6}
        self.assertEqual(self.counts_of_mfmc(first), [[count] for count in COUNTS])
        self.assertEqual(self.inspect(first)["positions"], expected)
        self.assertRegex(self.run_program("inspect", first), r"positions +encoder from -10 to 0, 6 distinct\n")
        capture, again = self.path / "c.efcap", self.path / "again.mfmc"
        self.run_program("convert", first, capture)
        self.assertEqual(self.counts_of_capture(capture), [[count] * 4 for count in COUNTS])
        self.assertEqual(self.inspect(capture)["positions"], expected)
        self.run_program("convert", capture, again, "--first", "2", "--frames", "5")
        self.assertEqual(self.counts_of_mfmc(again), [[count] for count in COUNTS[2:7]])
        # Round and round, as the recording has them.
        replayed = self.record("replayed.mfmc", 7, "replay", again)
        self.assertEqual(self.counts_of_mfmc(replayed), [[count] for count in COUNTS[2:7] + COUNTS[2:4]])
        with h5py.File(first) as one, h5py.File(again) as other:
            numpy.testing.assert_array_equal(one["SEQUENCES/S1/MFMC_DATA"][2:7], other["SEQUENCES/S1/MFMC_DATA"])

    def test_captured_bytes_have_them(self):
        file = self.path / "c.efcap"
        process, endpoint = self.listening("capture", "--listen", "127.0.0.1:0", "--output", file)
        self.run_program("simulate", "--config", self.config, "--connect", endpoint, "--rate", "max", "--frames", 5)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assertEqual(self.counts_of_capture(file), [[count] * 4 for count in COUNTS[:5]])
        self.assertEqual(self.inspect(file)["positions"], {"frames": 5, "first": -10, "last": 15, "distinct": 4})

    def test_without_an_encoder_nothing_is_said(self):
        self.config.write_text("[simulator]\nelements = 4\nsamples = 64\n")
        file = self.record("plain.mfmc", 3, "simulate", "--config", self.config)
        self.assertEqual(self.counts_of_mfmc(file), [])
        self.assertNotIn("positions", self.inspect(file))
        self.assertNotIn("positions", self.run_program("inspect", file))
        capture = self.path / "plain.efcap"
        self.run_program("convert", file, capture)
        self.assertEqual(self.counts_of_capture(capture), [[None] * 4] * 3)

    def test_images_and_telemetry_have_those_of_their_frames(self):
        server = echoform.Server({"material": {"longitudinal_velocity": 6320.0}, "imaging": {"backend": "cpu", "threads": 1},
                                  "grid": {"x": [-0.005, 0.005], "z": [0.004, 0.012], "pixels": [16, 16]},
                                  "server": {"telemetry_interval": 0.1}}, program=PROGRAM)
        self.addCleanup(server.__exit__, None, None, None)
        sender = self.start("simulate", "--config", self.config, "--connect", server.frames, "--rate", "50")
        viewer = self.start("view", "--connect", server.images, "--frames", "3", "--json")
        self.assertIn(json.loads(viewer.communicate(timeout=PATIENCE)[0])["position"], COUNTS)
        period = COUNTS[:10]
        with echoform.ImageSubscriber(server.images, timeout=PATIENCE) as images:
            for _ in range(25):
                image = images.receive()
                self.assertEqual(image.position, period[image.sequence % 10])
        with echoform.TelemetrySubscriber(server.telemetry, timeout=PATIENCE) as telemetry:
            self.assertIn(telemetry.receive().position, COUNTS)
        sender.send_signal(signal.SIGINT)
        self.assertEqual(sender.wait(PATIENCE), 0)
        with echoform.ImageSubscriber(server.images, timeout=PATIENCE) as images:
            probe = echoform.Probe.linear(4, 0.6e-3, centre_frequency=5e6)
            frame = numpy.zeros((4, 4, 64), numpy.int16)
            with echoform.FrameSender(echoform.Acquisition(probe, 64, 40e6), server.frames) as other:
                image = None
                for _ in range(int(10 * PATIENCE)):
                    other.send(frame)
                    try:
                        image = images.receive(0.1)
                    except echoform.TimedOut:
                        continue
                    if image.position is None:
                        break  # before it may come what the sender before had sent last
                self.assertTrue(image)
                self.assertIsNone(image.position)
            with echoform.TelemetrySubscriber(server.telemetry, timeout=PATIENCE) as telemetry:
                # The first may have been written before that image.
                self.assertTrue(any(telemetry.receive().position is None for _ in range(100)))


if __name__ == "__main__":
    unittest.main(module="__main__", argv=sys.argv[:1], verbosity=2)
