"""Whatever a publisher sends: an image, or one more malformed message, and never anything else."""
import gc
import random
import struct
import threading
import unittest

from support import PATIENCE, need, run

need("numpy", "zmq", "google.protobuf")
import numpy  # noqa: E402
import zmq  # noqa: E402

import echoform  # noqa: E402
from echoform import wire  # noqa: E402
from echoform._messages import messages  # noqa: E402


def sound(**more):
    """An Image message, [z, x] = [3, 4] of float32 0 .. 11; `more` replaces fields."""
    fields = dict(stream="s", sequence=5, view="LL", x=messages.Axis(first=-1e-3, last=2e-3, count=4),
                  z=messages.Axis(first=1e-3, last=3e-3, count=3), encoding=1, reference=2.0,
                  pixels=numpy.arange(12, dtype="<f4").tobytes())
    fields.update(more)
    return messages.Image(**{name: value for name, value in fields.items() if value is not None})


def axis(first, last, count):
    return messages.Axis(first=first, last=last, count=count)


NAN = float("nan")
PIXELS = b"\xa2\x06\x30"  # the field, of 48 bytes
HUGE = 0xFFFFFFFF
MALFORMED = {
    "empty": b"",
    "text": b"GET / HTTP/1.1\r\n\r\n",
    "zeros": bytes(1000),
    "cut": sound().SerializeToString()[:-1],
    "cut in the head": sound().SerializeToString()[:20],
    "more than the pixels": sound().SerializeToString() + b"\0",
    "pixels too few": sound(pixels=bytes(44)).SerializeToString(),
    "no pixels": sound(pixels=None).SerializeToString(),
    "no stream": sound(stream=None).SerializeToString(),
    "no encoding": sound(encoding=None).SerializeToString(),
    "unknown encoding": sound(encoding=77).SerializeToString(),
    "bytes of the other encoding": sound(encoding=2).SerializeToString(),
    "no axis": sound(x=None).SerializeToString(),
    "an axis without pixels": sound(z=axis(0, 1, 0), pixels=b"").SerializeToString(),
    "an axis backwards": sound(x=axis(1, -1, 4)).SerializeToString(),
    "an axis of one place": sound(x=axis(1, 1, 4)).SerializeToString(),
    "an axis of NaN": sound(x=axis(NAN, 1, 4)).SerializeToString(),
    "an axis without end": sound(x=axis(0, float("inf"), 4)).SerializeToString(),
    "more pixels than memory": sound(x=axis(0, 1, HUGE), z=axis(0, 1, HUGE), y=axis(0, 1, HUGE)).SerializeToString(),
    "no UTF-8": sound().SerializeToString().replace(b"\x0a\x01s", b"\x0a\x01\xff"),
    "a long head": sound(view="x" * 70000).SerializeToString(),
    "many stages": sound(stages=[messages.StageDuration()] * 40000).SerializeToString(),
    # 2^32 + 4 columns and encoding 2^32 + 1, which are 4 and 1 in 32 bits.
    "a count of more than 32 bits": sound().SerializeToString().replace(PIXELS, b"\x3a\x06\x18" + wire.varint(2**32 + 4) + PIXELS),
    "an encoding of more than 32 bits": sound().SerializeToString().replace(PIXELS, b"\x50" + wire.varint(2**32 + 1) + PIXELS),
    "groups": b"\x0a\x01s" + b"\x0b" * 500,
}


class Hostile(unittest.TestCase):
    def publisher(self):
        """An XPUB socket, which tells when somebody has subscribed."""
        context = zmq.Context()
        self.addCleanup(context.term)
        socket = context.socket(zmq.XPUB)
        socket.linger = 0
        socket.sndhwm = 0
        socket.rcvtimeo = int(1000 * PATIENCE)
        self.addCleanup(socket.close)
        port = socket.bind_to_random_port("tcp://127.0.0.1")
        return socket, f"tcp://127.0.0.1:{port}"

    def test_malformed_messages_are_skipped_counted_and_explained(self):
        publisher, endpoint = self.publisher()
        with echoform.ImageSubscriber(endpoint, "", timeout=PATIENCE) as images:
            self.assertEqual(publisher.recv()[:1], b"\x01")
            for name, message in MALFORMED.items():
                with self.subTest(name):
                    before = images.statistics
                    publisher.send(message)
                    publisher.send(sound().SerializeToString())
                    image = images.receive()
                    numpy.testing.assert_array_equal(image.pixels, numpy.arange(12).reshape(3, 4))
                    self.assertEqual(images.statistics.malformed, before.malformed + 1)
                    self.assertTrue(images.last_fault)
            publisher.send_multipart([sound().SerializeToString(), b""])
            publisher.send(sound(sequence=6).SerializeToString())
            self.assertEqual(images.receive().sequence, 6)
            self.assertEqual(images.last_fault, "more than one part")

    def test_messages_of_several_parts_do_not_end_who_wants_the_newest_alone(self):
        publisher, endpoint = self.publisher()
        with echoform.ImageSubscriber(endpoint, "", timeout=PATIENCE, latest_only=True) as images:
            publisher.recv()
            # Their parts take a while to come: somebody reads the first before the last is there.
            publisher.send_multipart(201 * [bytes(60000)])
            publisher.send_multipart([sound(sequence=1).SerializeToString()] + 200 * [bytes(60000)])
            publisher.send(sound(sequence=2).SerializeToString())
            self.assertEqual(images.receive().sequence, 2)
            self.assertEqual((images.statistics.malformed, images.statistics.messages), (2, 3))
            self.assertEqual(images.last_fault, "more than one part")
            with self.assertRaises(echoform.TimedOut):
                images.receive(0.0)
        publisher, endpoint = self.publisher()
        with echoform.TelemetrySubscriber(endpoint, timeout=PATIENCE, latest_only=True) as telemetry:
            publisher.recv()
            report = messages.Telemetry(stream="s", frames_received=7).SerializeToString()
            publisher.send_multipart([report] + 200 * [bytes(60000)])
            publisher.send(report)
            self.assertEqual(telemetry.receive().frames_received, 7)
            self.assertEqual(telemetry.malformed, 1)

    def test_who_wants_the_newest_alone_gets_it(self):
        publisher, endpoint = self.publisher()
        with echoform.ImageSubscriber(endpoint, "", timeout=PATIENCE, latest_only=True) as images:
            publisher.recv()
            for sequence in range(1, 201):
                publisher.send(sound(sequence=sequence).SerializeToString())
            before = 0
            while before < 200:
                image = images.receive()
                self.assertGreater(image.sequence, before)
                before = image.sequence
            self.assertEqual(images.statistics.malformed, 0)

    def test_a_subscriber_that_nobody_closes_leaves_no_thread(self):
        _, endpoint = self.publisher()
        before = threading.active_count()
        images = echoform.ImageSubscriber(endpoint, "", latest_only=True)
        self.assertEqual(threading.active_count(), before + 1)
        del images
        gc.collect()
        self.assertEqual(threading.active_count(), before)

    def test_a_flood_of_nonsense_does_not_hold_the_reader(self):
        publisher, endpoint = self.publisher()
        with echoform.ImageSubscriber(endpoint, "", timeout=0.2) as images:
            publisher.recv()
            with self.assertRaises(echoform.TimedOut):
                while True:  # each receive() ends, whatever still comes
                    for _ in range(100):
                        publisher.send(b"nonsense")
                    images.receive()
            self.assertGreater(images.statistics.malformed, 0)

    def test_what_is_too_long_is_not_taken(self):
        publisher, endpoint = self.publisher()
        with echoform.ImageSubscriber(endpoint, "", timeout=PATIENCE, maximum_bytes=1000) as images:
            publisher.recv()
            publisher.send(sound(view="x" * 1000).SerializeToString())
            self.assertEqual(publisher.recv()[:1], b"\x00")  # it is not subscribed to any more
            publisher.send(sound().SerializeToString())
            with self.assertRaises(echoform.TimedOut):
                images.receive(0.1)

    def test_changed_bytes_give_an_image_or_are_malformed(self):
        chance = random.Random(7)
        whole = sound(stages=[messages.StageDuration(stage="beamform", nanoseconds=1000)],
                      drops=[messages.DropCount(reason="full", frames=3)],
                      outlines=[messages.Outline(name="surface", x=[0, 1e-3], z=[0, 2e-3])], acquisition_time=1 << 60).SerializeToString()
        for _ in range(20000):
            data = bytearray(whole)
            for _ in range(chance.randrange(1, 4)):
                data[chance.randrange(len(data) - 48)] = chance.randrange(256)
            if chance.random() < 0.3:
                del data[chance.randrange(len(data)):]
            try:
                image = echoform.Image(bytes(data))
            except echoform.MalformedMessage:
                continue
            # Whatever it says of itself is there to be read.
            repr(image), image.stages, image.drops, image.acquisition_time, image.publish_time, image.latency, image.outlines
            if image.pixels.size < 1000:
                self.assertEqual(image.pixels.shape[-1], len(image.x))
                image.extent
                image.decibels()

    def test_pixels_are_found_though_the_head_looks_like_them(self):
        # A view's name that holds the tag of the pixels, and a length that reaches just to the message's end.
        pixels = numpy.arange(12, dtype="<f4").tobytes()
        tail = sound(view=None, stream=None).SerializeToString()
        for length in range(1, 40):
            name = b"\xa2\x06".decode("latin-1") + chr(length) + "x" * 60
            image = echoform.Image(sound(view=name).SerializeToString())
            self.assertEqual((image.view, image.pixels.tobytes()), (name, pixels))
        head = wire.text(1, "s") + wire.number(2, 5)
        rest = tail[tail.index(b"\x3a"):]  # from the axes on
        # Field 5, fixed: eight bytes that read as "pixels of N bytes, to the end of the message".
        inner = b"\xa2\x06" + wire.varint(len(rest) + 5)
        disguised = head + b"\xf9\x06" + inner + bytes(8 - len(inner)) + rest
        self.assertEqual(struct.unpack_from("<Q", disguised, len(head) + 2)[0] & 0xFFFF, 0x06A2)
        image = echoform.Image(disguised)
        self.assertEqual((image.sequence, image.pixels.tobytes()), (5, pixels))


class Sound(unittest.TestCase):
    def test_volumes_are_z_y_x(self):
        values = numpy.arange(24, dtype="<f4")
        image = echoform.Image(sound(y=axis(-5e-4, 5e-4, 2), pixels=values.tobytes()).SerializeToString())
        numpy.testing.assert_array_equal(image.pixels, values.reshape(3, 2, 4))
        numpy.testing.assert_array_equal(image.y, [-5e-4, 5e-4])

    def test_one_pixel_is_an_image(self):
        image = echoform.Image(sound(x=axis(1e-3, 1e-3, 1), z=axis(2e-3, 2e-3, 1), pixels=b"\0\0\x80\x3f").SerializeToString())
        self.assertEqual((image.pixels.tolist(), image.x.tolist(), image.z.tolist()), ([[1.0]], [1e-3], [2e-3]))
        self.assertEqual(image.extent, (0.5, 1.5, 2.5, 1.5))

    def test_decibels_without_a_reference_are_those_below_the_peak(self):
        values = echoform.Image(sound(reference=None).SerializeToString()).decibels()
        self.assertEqual(values.max(), 0)
        self.assertEqual(values[0, 0], -numpy.inf)
        self.assertTrue(numpy.isneginf(echoform.Image(sound(reference=None, pixels=bytes(48)).SerializeToString()).decibels()).all())


if __name__ == "__main__":
    run()
