"""Sending over ZeroMQ: the messages themselves, and waiting for somebody who takes them."""
import socket
import struct
import threading
import unittest

from support import PATIENCE, VELOCITY, join, linear, need, run, scatterer_frame, serve

need("numpy", "zmq", "google.protobuf")
import numpy  # noqa: E402
import zmq  # noqa: E402

import echoform  # noqa: E402
from echoform import wire  # noqa: E402
from echoform._messages import messages  # noqa: E402


class Push(unittest.TestCase):
    def setUp(self):
        context = zmq.Context()
        self.addCleanup(context.term)
        self.puller = context.socket(zmq.PULL)
        self.addCleanup(self.puller.close)
        self.puller.linger = 0
        self.puller.rcvtimeo = int(1000 * PATIENCE)
        self.endpoint = f"127.0.0.1:{self.puller.bind_to_random_port('tcp://127.0.0.1')}"

    def read(self):
        """(type, header, payload) of the next message, which has one part and is whole."""
        frame = self.puller.recv(copy=False)
        self.assertFalse(frame.more)
        data = frame.bytes
        _, version, kind, header, payload, checksum = struct.unpack_from("<4sHHIQI", data)
        self.assertEqual((version, len(data)), (1, 24 + header + payload))
        self.assertEqual(wire.crc32c(data[:20] + data[24:24 + header]), checksum)
        return kind, data[24:24 + header], data[24 + header:]

    def test_every_frame_is_a_hello_and_its_shots(self):
        for matrix in ("full", "half"):
            acquisition = linear(5, 10, matrix=matrix)
            frame = numpy.random.default_rng(1).integers(-9, 9, acquisition.frame_shape).astype(numpy.int16)
            with echoform.PushFrameSender(acquisition, self.endpoint, token="t", timeout=PATIENCE) as sender:
                self.assertEqual(sender.send(frame, sequence=300, time_ns=7), 300)
                self.assertEqual(sender.send(frame, position=numpy.int32(-5)), 301)
            for sequence in (300, 301):
                kind, header, payload = self.read()
                hello = messages.Hello.FromString(header)
                self.assertEqual((kind, payload, hello.session, hello.token, hello.samples), (wire.HELLO, b"", sender.session, "t", 10))
                shots = [self.read() for _ in range(5)]
                self.assertEqual({kind for kind, _, _ in shots}, {wire.SHOT})
                self.assertEqual(b"".join(payload for _, _, payload in shots), frame.tobytes())
                for transmit, (_, header, _) in enumerate(shots):
                    shot = messages.Shot.FromString(header)
                    self.assertEqual((shot.sequence, shot.transmit, shot.session), (sequence, transmit, sender.session))
                    self.assertEqual(shot.acquisition_time == 7, sequence == 300)
                    self.assertEqual(shot.position if shot.HasField("position") else None, -5 if sequence == 301 else None)
            kind, header, _ = self.read()
            self.assertEqual((kind, messages.End.FromString(header).session), (wire.END, sender.session))

    def test_behind_the_last_number_comes_0(self):
        frame = numpy.zeros((2, 2, 4), numpy.int16)
        with echoform.PushFrameSender(linear(2, 4), self.endpoint, timeout=PATIENCE) as sender:
            self.assertEqual(sender.send(frame, sequence=2**64 - 1), 2**64 - 1)
            self.assertEqual(sender.send(frame), 0)

    def held_back(self):
        """An endpoint that takes a message or two, and a sender to it of far more than the system holds for a connection."""
        self.puller.rcvhwm = 1
        self.puller.setsockopt(zmq.RCVBUF, 4096)
        endpoint = f"127.0.0.1:{self.puller.bind_to_random_port('tcp://127.0.0.1')}"
        acquisition = linear(16, 20000)
        sender = echoform.PushFrameSender(acquisition, endpoint, timeout=PATIENCE)
        self.addCleanup(sender.abort)
        sender.send(numpy.zeros(acquisition.frame_shape, numpy.int16))
        return sender

    def test_closing_raises_where_not_everything_has_left(self):
        sender = self.held_back()
        with self.assertRaisesRegex(echoform.TimedOut, "nobody took all of it within 0.1 s"):
            sender.close(0.1)
        sender.close()

    def test_closing_waits_until_everything_has_left(self):
        sender = self.held_back()
        closing = threading.Thread(target=sender.close, args=(PATIENCE,))
        closing.start()
        kinds = [self.read()[0] for _ in range(18)]
        closing.join()
        self.assertEqual(kinds, [wire.HELLO] + 16 * [wire.SHOT] + [wire.END])

    def test_nobody_there(self):
        place = socket.socket()  # bound and not listening: connections are refused (an unbound PULL may take one more)
        self.addCleanup(place.close)
        place.bind(("127.0.0.1", 0))
        sender = echoform.PushFrameSender(linear(2, 4), f"127.0.0.1:{place.getsockname()[1]}", timeout=0.1)
        self.addCleanup(sender.abort)
        with self.assertRaisesRegex(echoform.TimedOut, "nobody took the frame"):
            sender.send(numpy.zeros((2, 2, 4), numpy.int16))
        with self.assertRaisesRegex(echoform.TimedOut, "nobody took"):
            sender.close(0.1)
        sender.close()
        with self.assertRaisesRegex(echoform.ConnectionFailed, "closed"):
            sender.send(numpy.zeros((2, 2, 4), numpy.int16))

    def test_wrong_arguments(self):
        with self.assertRaisesRegex(ValueError, "expected tcp://HOST:PORT"):
            echoform.PushFrameSender(linear(2, 4), "nowhere")
        with self.assertRaisesRegex(ValueError, "queued_frames: found 0"):
            echoform.PushFrameSender(linear(2, 4), self.endpoint, queued_frames=0)
        with echoform.PushFrameSender(linear(2, 4), self.endpoint) as sender:
            with self.assertRaisesRegex(ValueError, "sequence: found -1"):
                sender.send(numpy.zeros((2, 2, 4), numpy.int16), sequence=-1)


class Program(unittest.TestCase):
    def setUp(self):
        self.server = serve(self, input={"zeromq": "127.0.0.1:0", "token": "right"})

    def test_its_image_is_that_of_the_other_door(self):
        for events in ((), [echoform.plane_wave(angle, VELOCITY) for angle in (-0.2, 0.0, 0.2)], echoform.hadamard(8)):
            with self.subTest(events=len(events)):
                self.check_image(linear(events=events))

    def check_image(self, acquisition):
        frame = scatterer_frame(acquisition)
        with echoform.ImageSubscriber(self.server.images, timeout=PATIENCE) as images:
            with echoform.PushFrameSender(acquisition, self.server.address("zeromq"), token="right", timeout=PATIENCE) as sender:
                pushed = join(images, sender, frame)
                for _ in range(3):
                    sequence = sender.send(frame)
                    self.assertEqual(images.receive().sequence, sequence)
            with echoform.FrameSender(acquisition, self.server.frames, token="right") as sender:
                numpy.testing.assert_array_equal(join(images, sender, frame).pixels, pushed.pixels)

    def test_a_rejection_stands_in_the_telemetry(self):
        with echoform.TelemetrySubscriber(self.server.telemetry, timeout=PATIENCE) as telemetry:
            with echoform.PushFrameSender(linear(), self.server.address("zeromq"), token="wrong", timeout=PATIENCE) as sender:
                sender.send(scatterer_frame(linear()))
            report = next(report for report in telemetry if report.doors["zeromq"].rejected)
        self.assertRegex(report.doors["zeromq"].last_rejection, "Hello token: found a wrong one")
        self.assertEqual((report.doors["zeromq"].accepted, report.frames_received, report.doors["tcp"].rejected), (0, 0, 0))


if __name__ == "__main__":
    run()
