"""Both programs of examples/vendor_source, in C and in Python: frames of the made-up SDK are imaged to the last one at the demo's rate,
with the reflector where it is, and a server that does not read costs frames, which are counted, and holds nobody up."""
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import unittest

try:
    import google.protobuf  # noqa: F401
    import numpy
    import zmq  # noqa: F401
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(0)

import echoform
from echoform import wire
from program_case import EXAMPLE, PROGRAM, ProgramCase

COMMANDS = {"C": [PROGRAM], "Python": [sys.executable, str(EXAMPLE / "vendor_source.py")]}
REFLECTOR = (0.003, 0.015)  # of the SDK
RATE = 25  # frames a second: what the demo is meant to hold everywhere
SHOT = 32 * 1024 * 2  # bytes of samples
# The demo's grid, coarser.
SETTINGS = {"material": {"longitudinal_velocity": 6320.0}, "grid": {"x": [-0.018, 0.018], "z": [0.003, 0.039], "pixels": [145, 145]},
            "imaging": {"backend": "cpu"}, "input": {"drop_policy": "block_sender", "token": "a secret of nobody"}}


class VendorSource(ProgramCase):
    def run_source(self, language, endpoint, *arguments):
        process = subprocess.Popen([*COMMANDS[language], "--connect", endpoint, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env={**os.environ, "ECHOFORM_TOKEN": SETTINGS["input"]["token"]})
        for cleanup in (process.stderr.close, process.stdout.close, process.wait, process.kill):
            self.addCleanup(cleanup)
        return process

    def counts(self, process, code=0):
        """What it says at its end: frames, sent, dropped, incomplete, given up."""
        output, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, errors)
        said = re.fullmatch(r"(\d+) frames: (\d+) sent, (\d+) dropped, (\d+) incomplete, (\d+) given up; \d+ fired late\n", output)
        self.assertTrue(said, output + errors)
        self.errors = errors
        return tuple(map(int, said.groups()))

    def test_every_frame_is_imaged_at_the_demos_rate(self):
        frames = 30
        for language in COMMANDS:
            with self.subTest(language), echoform.Server(SETTINGS) as server, echoform.ImageSubscriber(server.images, timeout=60) as images:
                # As many may wait as there are, so that a machine which is busy with something else for a second fails nothing.
                source = self.run_source(language, server.frames, "--rate", RATE, "--frames", frames, "--queue", frames)
                image = images.receive()
                while image.sequence != frames - 1:
                    image = images.receive()
                self.assertEqual(self.counts(source), (frames, frames, 0, 0, 0))
                last = "\n".join(server.stop())
                self.assertIn(f"frames received {frames} = published {frames} + dropped 0 + in flight 0", last)
                k, i = numpy.unravel_index(numpy.argmax(image.pixels), image.pixels.shape)
                # A wavelength is 1.3 mm, a pixel 0.25 mm.
                self.assertLess(numpy.hypot(image.x[i] - REFLECTOR[0], image.z[k] - REFLECTOR[1]), 0.3e-3)
                self.assertIsNotNone(image.acquisition_time)

    def exactly(self, peer, size):
        data = bytearray()
        while len(data) < size:
            part = peer.recv(size - len(data))
            self.assertTrue(part, "the source closed the connection")
            data += part
        return bytes(data)

    def message(self, peer):
        prefix = self.exactly(peer, 24)
        magic, version, kind, header, payload, checksum = struct.unpack("<4sHHIQI", prefix)
        self.assertEqual((magic, version), (b"EFRM", 1))
        text = self.exactly(peer, header)
        self.assertEqual(wire.crc32c(prefix[:20] + text), checksum)
        return kind, text, self.exactly(peer, payload)

    def accepted(self, listener):
        peer, _ = listener.accept()
        self.addCleanup(peer.close)
        peer.settimeout(120)
        kind, hello, _ = self.message(peer)
        self.assertEqual(kind, wire.HELLO)
        self.assertIn(b"a secret of nobody", hello)
        peer.sendall(wire.message(wire.ACCEPT, wire.number(1, 32 * SHOT) + wire.text(2, "a slow server")))
        return peer

    def listener(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        # What the system holds for a peer that does not read is not to hold all frames.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        listener.settimeout(120)
        return listener, "127.0.0.1:%d" % listener.getsockname()[1]

    def shots_to_the_end(self, peer):
        """The numbers of the frames that come, each with its shots in order."""
        sequences = []
        while True:
            kind, header, payload = self.message(peer)
            if kind == wire.END:
                return sequences
            self.assertEqual((kind, len(payload)), (wire.SHOT, SHOT))
            fields = dict(self.varints(header))
            if fields.get(2, 0) == 0:
                sequences.append(fields.get(1, 0))
                expected = 0
            self.assertEqual((fields.get(1, 0), fields.get(2, 0)), (sequences[-1], expected))
            self.assertGreater(fields[3], 10**18)  # ns since 1970
            expected += 1

    @staticmethod
    def varints(header):
        """(field, value) of a header of nothing else."""
        values, value, shift = [], 0, 0
        for byte in header:
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                values.append(value)
                value = shift = 0
        return zip((tag >> 3 for tag in values[0::2]), values[1::2])

    def test_a_server_that_does_not_read_holds_up_no_instrument(self):
        frames, queue = 40, 3
        for language in COMMANDS:
            with self.subTest(language):
                listener, endpoint = self.listener()
                source = self.run_source(language, endpoint, "--rate", 200, "--frames", frames, "--queue", queue)
                peer = self.accepted(listener)
                said = []
                # It fires to its last frame although nothing is read.
                while not said or "has made its last frame" not in said[-1]:
                    said.append(source.stderr.readline())
                    self.assertTrue(said[-1], said)
                sequences = self.shots_to_the_end(peer)
                peer.close()
                made, sent, dropped, incomplete, given_up = self.counts(source)
                self.assertEqual((made, incomplete, given_up), (frames, 0, 0))
                self.assertEqual(sent, len(sequences))
                self.assertEqual(sent + dropped, frames)
                self.assertGreater(dropped, frames // 2)
                self.assertEqual(sequences, sorted(set(sequences)))
                self.assertIn("frames dropped so far", "".join(said) + self.errors)

    def test_a_lost_connection_is_made_anew(self):
        frames = 60
        for language in COMMANDS:
            with self.subTest(language):
                listener, endpoint = self.listener()
                source = self.run_source(language, endpoint, "--rate", 40, "--frames", frames, "--queue", frames)
                first = self.accepted(listener)
                for _ in range(32 + 5):  # breaks off amid the second frame
                    self.message(first)
                first.close()
                second = self.accepted(listener)
                sequences = self.shots_to_the_end(second)
                second.close()
                made, sent, dropped, incomplete, given_up = self.counts(source)
                self.assertEqual((made, dropped, incomplete), (frames, 0, 0))
                # None, where the system had taken the whole frame.
                self.assertLessEqual(given_up, 1)
                self.assertEqual(sent + given_up, frames)
                # What was written to the connection that broke is gone.
                self.assertEqual(sequences, list(range(sequences[0], frames)))
                self.assertGreater(sequences[0], 1)

    def test_what_is_sent_of_a_frame_is_all_of_it(self):
        for language in COMMANDS:
            with self.subTest(language):
                listener, endpoint = self.listener()
                # Shots of the C program come far enough apart that it finds the connection gone with the next frame's first in hand.
                source = self.run_source(language, endpoint, "--rate", 2 if language == "C" else 10, "--frames", 3)
                first = self.accepted(listener)
                for _ in range(32):
                    self.message(first)
                first.close()
                second = self.accepted(listener)
                sequences = self.shots_to_the_end(second)
                second.close()
                self.assertEqual(self.counts(source), (3, 2, 0, 0, 1))
                self.assertEqual(sequences, [2])

    def test_ctrl_c_ends_it_with_its_counts(self):
        for language in COMMANDS:
            with self.subTest(language):
                listener, endpoint = self.listener()
                source = self.run_source(language, endpoint)
                peer = self.accepted(listener)
                for _ in range(32):
                    self.message(peer)
                source.send_signal(signal.SIGINT)
                made, sent, *_ = self.counts(source)
                peer.close()
                self.assertGreaterEqual(made, sent)

    def test_wrong_options_are_refused(self):
        for language in COMMANDS:
            for option, value in (("--rate", "0"), ("--frames", "-1"), ("--queue", "0")):
                with self.subTest(language, option=option):
                    _, errors = (source := self.run_source(language, "127.0.0.1:1", option, value)).communicate(timeout=120)
                    self.assertEqual(source.returncode, 2, errors)

    def test_what_is_refused_is_said(self):
        with echoform.Server({**SETTINGS, "input": {"token": "another"}}) as server:
            for language in COMMANDS:
                with self.subTest(language):
                    _, errors = (source := self.run_source(language, server.frames, "--frames", 1)).communicate(timeout=120)
                    self.assertEqual(source.returncode, 1)
                    self.assertIn("refused: Hello token: found a wrong one", errors)


if __name__ == "__main__":
    unittest.main(argv=["vendor_source_test.py"])
