"""Sending: against the program, and against servers that answer as they should not."""
import contextlib
import signal
import socket
import struct
import threading
import unittest

from support import PATIENCE, join, linear, need, run, scatterer_frame, serve

need("numpy", "zmq", "google.protobuf")
import numpy  # noqa: E402

import echoform  # noqa: E402
from echoform import wire  # noqa: E402


class FakeServer(threading.Thread):
    """Takes a connection for each conversation, one after the other, reads messages, and does what it is told. `messages` are (type,
    header, payload)."""

    def __init__(self, *conversations):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.conversations = conversations
        self.messages = []
        self.start()

    def run(self):
        for conversation in self.conversations:
            peer, _ = self.listener.accept()
            with peer, contextlib.suppress(ConnectionError):
                self.peer = peer
                conversation(self)

    def read(self):
        """The next message, or None at the end."""
        prefix = self._exactly(24)
        if not prefix:
            return None
        _, _, kind, header, payload, checksum = struct.unpack("<4sHHIQI", prefix)
        self.messages.append((kind, self._exactly(header), self._exactly(payload)))
        assert wire.crc32c(prefix[:20] + self.messages[-1][1]) == checksum
        return self.messages[-1]

    def answer(self, kind, header):
        self.peer.sendall(wire.message(kind, header))

    def _exactly(self, size):
        data = b""
        while len(data) < size and (part := self.peer.recv(size - len(data))):
            data += part
        return data

    def stop(self):
        self.join(PATIENCE)
        self.listener.close()
        assert not self.is_alive()


class Conversation(unittest.TestCase):
    def serve(self, *conversations):
        server = FakeServer(*conversations)
        self.addCleanup(server.stop)
        return server

    def test_sends_hello_shots_and_end(self):
        acquisition = linear(4, 10, matrix="half")

        def conversation(server):
            server.read()
            server.answer(wire.ACCEPT, wire.number(1, acquisition.frame_bytes) + wire.text(2, "fake"))
            while server.read():
                pass

        server = self.serve(conversation)
        frame = numpy.arange(100).reshape(10, 10).astype(numpy.int16)
        with echoform.FrameSender(acquisition, server.endpoint, name="test") as sender:
            self.assertEqual(sender.server, "fake")
            self.assertEqual(sender.send(frame, sequence=7, time_ns=5), 7)
            self.assertEqual(sender.send(frame), 8)
            for transmit in (3, 0, 2, 1):
                first = [0, 4, 7, 9][transmit]
                sender.send_shot(frame[first:first + 4 - transmit], transmit, sequence=9, time_ns=0)
            self.assertEqual(sender.frames_sent, 2)
            self.assertEqual(sender.send(frame, sequence=2**64 - 1), 2**64 - 1)
            self.assertEqual(sender.send(frame), 0)  # comes behind the last number
        server.stop()
        kinds = [kind for kind, _, _ in server.messages]
        self.assertEqual(kinds, [wire.HELLO] + 20 * [wire.SHOT] + [wire.END])
        headers = [dict(wire.fields(header)) for _, header, _ in server.messages[1:13]]
        self.assertEqual([header[1] for header in headers], 4 * [7] + 4 * [8] + 4 * [9])
        self.assertEqual([header.get(2, 0) for header in headers], [0, 1, 2, 3, 0, 1, 2, 3, 3, 0, 2, 1])
        self.assertEqual({header[3] for header in headers[:4]}, {5})
        self.assertEqual({header.get(3, 0) for header in headers[8:]}, {0})
        self.assertEqual(b"".join(payload for _, _, payload in server.messages[1:5]), frame.tobytes())
        self.assertEqual(server.messages[9][2], frame[9:].tobytes())

    def test_asks_again_where_the_server_is_busy(self):
        acquisition = linear(2, 4)

        def busy(server):
            server.read()
            server.answer(wire.REJECT, wire.text(1, "another sender is active") + wire.number(2, 1))

        def free(server):
            server.read()
            server.answer(wire.ACCEPT, wire.number(1, acquisition.frame_bytes))
            while server.read():
                pass

        server = self.serve(busy, busy, free)
        with echoform.FrameSender(acquisition, server.endpoint, busy_timeout=PATIENCE):
            pass
        server.stop()
        kinds, headers = zip(*((kind, header) for kind, header, _ in server.messages))
        self.assertEqual(kinds, (wire.HELLO, wire.HELLO, wire.HELLO, wire.END))
        self.assertEqual(len(set(headers[:3])), 1)
        server = self.serve(busy)
        with self.assertRaisesRegex(echoform.Rejected, "another sender is active") as refused:
            echoform.FrameSender(acquisition, server.endpoint, busy_timeout=0.0)
        self.assertTrue(refused.exception.retry)

    def test_a_frame_of_more_shots_than_the_system_takes_at_once(self):
        acquisition = linear(700, 2, matrix="half")

        def conversation(server):
            server.read()
            server.answer(wire.ACCEPT, wire.number(1, acquisition.frame_bytes))
            while server.read():
                pass

        server = self.serve(conversation)
        frame = numpy.random.default_rng(1).integers(-9, 9, acquisition.frame_shape).astype(numpy.int16)
        with echoform.FrameSender(acquisition, server.endpoint) as sender:
            sender.send(frame)
        server.stop()
        self.assertEqual(b"".join(payload for _, _, payload in server.messages[1:-1]), frame.tobytes())

    def test_an_interrupted_write_goes_on_where_it_was(self):
        acquisition = linear(64, 4096)
        interrupted = threading.Event()

        def conversation(server):
            server.read()
            server.answer(wire.ACCEPT, wire.number(1, acquisition.frame_bytes))
            interrupted.wait(PATIENCE)  # the sender's window is full: it waits in its write
            while server.read():
                pass

        server = self.serve(conversation)
        frame = numpy.random.default_rng(1).integers(-999, 999, acquisition.frame_shape).astype(numpy.int16)
        previous = signal.signal(signal.SIGALRM, lambda *_: interrupted.set())
        self.addCleanup(signal.signal, signal.SIGALRM, previous)
        # The frame (33 MB) is more than the system buffers, so the write lasts until the signal lets the server read.
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with echoform.FrameSender(acquisition, server.endpoint) as sender:
            sender.send(frame)
        server.stop()
        self.assertEqual(b"".join(payload for _, _, payload in server.messages[1:-1]), frame.tobytes())

    def test_a_reject_of_the_hello_is_an_exception_with_the_reason(self):
        server = self.serve(lambda server: (server.read(), server.answer(wire.REJECT, wire.text(1, "probe: found \x1b[31mnone"))))
        with self.assertRaises(echoform.Rejected) as caught:
            echoform.FrameSender(linear(), server.endpoint)
        self.assertEqual(caught.exception.reason, "probe: found ?[31mnone")

    def test_a_reject_between_frames(self):
        acquisition = linear(2, 8)
        told = threading.Event()

        def conversation(server):
            server.read()
            server.answer(wire.ACCEPT, wire.number(1, acquisition.frame_bytes))
            server.read(), server.read()
            server.answer(wire.REJECT, wire.text(1, "time-out"))
            told.set()
            while server.read():
                pass

        server = self.serve(conversation)
        sender = echoform.FrameSender(acquisition, server.endpoint)
        self.addCleanup(sender.abort)
        frame = numpy.zeros((2, 2, 8), numpy.int16)
        sender.send(frame)
        self.assertTrue(told.wait(PATIENCE))
        with self.assertRaisesRegex(echoform.Rejected, "^time-out$"):
            for _ in range(1000):  # until the answer has come through
                sender.send(frame)

    def test_a_reject_instead_of_the_close(self):
        acquisition = linear(2, 8)

        def conversation(server):
            server.read()
            server.answer(wire.ACCEPT, wire.number(1, acquisition.frame_bytes))
            while server.read():
                pass
            server.answer(wire.REJECT, wire.text(1, "stopped"))

        server = self.serve(conversation)
        sender = echoform.FrameSender(acquisition, server.endpoint)
        sender.send(numpy.zeros((2, 2, 8), numpy.int16))
        with self.assertRaisesRegex(echoform.Rejected, "^stopped$"):
            sender.close()
        with self.assertRaisesRegex(echoform.ConnectionFailed, "closed"):
            sender.send(numpy.zeros((2, 2, 8), numpy.int16))

    def test_servers_that_are_none(self):
        wrong = {
            "not an Echoform server": lambda server: server.peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
            "closed the connection": lambda server: server.read(),
            "expects frames of 3 bytes": lambda server: (server.read(), server.answer(wire.ACCEPT, wire.number(1, 3))),
            "behind the message": lambda server: (server.read(), server.answer(wire.ACCEPT, b"\x0a\x7f")),
            "checksum": lambda server: (server.read(), server.peer.sendall(wire.message(wire.ACCEPT, b"\x08\x01")[:-1] + b"\x02")),
        }
        for line, conversation in wrong.items():
            with self.subTest(line), self.assertRaisesRegex(echoform.ConnectionFailed, line):
                echoform.FrameSender(linear(), self.serve(conversation).endpoint)
        silent = self.serve(lambda server: (server.read(), server.read()))
        with self.assertRaisesRegex(echoform.TimedOut, "did not answer within 0.2 s"):
            echoform.FrameSender(linear(), silent.endpoint, accept_timeout=0.2)
        with socket.socket() as nobody:  # bound and not listening: connections are refused
            nobody.bind(("127.0.0.1", 0))
            with self.assertRaisesRegex(echoform.ConnectionFailed, "no server answers"):
                echoform.FrameSender(linear(), "127.0.0.1:%d" % nobody.getsockname()[1])
        for endpoint in ("localhost", "127.0.0.1:", ":17171", "127.0.0.1:99999"):
            with self.assertRaisesRegex(ValueError, "expected HOST:PORT"):
                echoform.FrameSender(linear(), endpoint)
        with self.assertRaisesRegex(ValueError, "connections: found 9"):
            echoform.FrameSender(linear(), connections=9)


class Imaged(unittest.TestCase):
    """Through the program: what is sent in any way gives the image that it should."""

    def image(self, frame, acquisition, **options):
        server = serve(self)
        with echoform.ImageSubscriber(server.images, timeout=PATIENCE) as images:
            with echoform.FrameSender(acquisition, server.frames, **options) as sender:
                return join(images, sender, frame)

    def test_every_matrix_and_encoding_gives_the_same_image(self):
        frame = scatterer_frame(linear(), 0.001, 0.009)
        expected = self.image(frame, linear()).pixels
        half, summed = echoform.half_matrix(frame), echoform.half_summed(frame)
        # Sums in another order, in single precision.
        for case, matrix, encoding, connections, sent in (("half", "half", "int16", 2, half),
                                                          ("summed", "half_summed", "float32", 1, summed),
                                                          ("packed", "full", "packed12", 3, frame),
                                                          ("packed before", "half", "packed12", 8, echoform.pack12(half))):
            with self.subTest(case):
                found = self.image(sent, linear(matrix=matrix, encoding=encoding), connections=connections).pixels
                numpy.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * expected.max())

    def test_a_wrong_token_is_refused_with_the_servers_reason(self):
        server = serve(self, input={"token": "right"})
        with self.assertRaisesRegex(echoform.Rejected, "^Hello token: found a wrong one"):
            echoform.FrameSender(linear(), server.frames, token="wrong")
        with echoform.FrameSender(linear(), server.frames, token="right") as sender:
            sender.send(scatterer_frame(linear()))
        self.assertIn("frames received 1 = published 1 + dropped 0 + in flight 0", server.stop())

    def test_refusals_of_the_program(self):
        server = serve(self)
        with echoform.FrameSender(linear(), server.frames):
            with self.assertRaisesRegex(echoform.Rejected, "another sender is active"):
                echoform.FrameSender(linear(), server.frames, busy_timeout=0.0)
        with self.assertRaisesRegex(echoform.Rejected, "elements"):
            echoform.FrameSender(linear(300, 4), server.frames)
        detectors = echoform.Probe((0.04, -0.04), normals=[(-1, 0, 0), (1, 0, 0)])
        with self.assertRaisesRegex(echoform.Rejected, "found passive events in which nobody transmits; expected events that transmit"):
            echoform.FrameSender(echoform.Acquisition(detectors, 64, 4e7, events=[echoform.Passive(750e-9)]), server.frames)
        with echoform.FrameSender(linear(), server.frames):  # which goes on
            pass

    def test_an_abandoned_frame_is_dropped_by_the_server(self):
        server = serve(self)
        frame = scatterer_frame(linear())
        with self.assertRaisesRegex(RuntimeError, "^ours$"), echoform.FrameSender(linear(), server.frames) as sender:
            sender.send(frame)
            sender.send_shot(frame[0], 0, sequence=1)
            raise RuntimeError("ours")
        with echoform.TelemetrySubscriber(server.telemetry, timeout=PATIENCE) as telemetry:
            report = next(report for report in telemetry if report.frames_received == 2 and report.frames_in_flight == 0)
        self.assertEqual((report.frames_published, report.drops["incomplete"]), (1, 1))

    def test_a_server_that_dies_is_an_exception(self):
        for connections in (1, 3):
            server = serve(self)
            frame = scatterer_frame(linear(16, 1024))
            sender = echoform.FrameSender(linear(16, 1024), server.frames, connections=connections)
            self.addCleanup(sender.abort)
            sender.send(frame)
            server.kill()
            with self.assertRaisesRegex(echoform.ConnectionFailed, "closed"):
                for _ in range(1000):
                    sender.send(frame)


if __name__ == "__main__":
    run()
