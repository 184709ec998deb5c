"""A sender of plane waves written from proto/WIRE.md alone, with sockets and arithmetic, against the program: the point that its
A-scans hold is where the image has it."""
import math
import socket
import struct
import unittest

from support import PATIENCE, need, run, serve

need("numpy", "zmq", "google.protobuf")
import numpy  # noqa: E402

import echoform  # noqa: E402  (for the server and its images; nothing that is sent is made by it)

ELEMENTS, PITCH, VELOCITY = 16, 0.6e-3, 6320.0
SAMPLES, RATE, FREQUENCY = 512, 40e6, 5e6
X = [(i - (ELEMENTS - 1) / 2) * PITCH for i in range(ELEMENTS)]
POINT = (0.001, 0.010)  # x, z: pixel [40, 50] of the images


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def varint(value):
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def integer(field, value):
    return varint(8 * field) + varint(value)


def double(field, value):
    return varint(8 * field + 1) + struct.pack("<d", value)


def part(field, data):
    return varint(8 * field + 2) + varint(len(data)) + data


def message(kind, header, payload=b""):
    prefix = b"EFRM" + struct.pack("<HHIQ", 1, kind, len(header), len(payload))
    return prefix + struct.pack("<I", crc32c(prefix + header)) + header + payload


class PlainSender(unittest.TestCase):
    def send(self, endpoint, events, frame, start_time, sequences):
        """`events` are (bytes of a TransmitEvent), `frame` float [event, receiver, sample]."""
        probe = part(1, struct.pack(f"<{ELEMENTS}d", *X)) + double(7, 0.5e-3) + double(9, FREQUENCY)
        hello = (integer(1, 77) + integer(3, 1) + part(4, b"plain") + part(6, probe) + integer(7, 4) + integer(8, 1)
                 + integer(9, SAMPLES) + double(10, RATE) + double(11, start_time) + b"".join(part(14, event) for event in events))
        host, port = endpoint.rsplit(":", 1)
        with socket.create_connection((host, int(port)), PATIENCE) as peer, peer.makefile("rb") as answers:
            peer.sendall(message(1, hello))
            prefix = answers.read(24)
            header = answers.read(struct.unpack_from("<I", prefix, 8)[0])
            self.assertEqual(struct.unpack_from("<H", prefix, 6)[0], 2, header)  # an Accept
            for sequence in sequences():
                for place, a_scans in enumerate(frame):
                    payload = numpy.rint(a_scans).astype("<i2").tobytes()
                    peer.sendall(message(4, integer(1, sequence) + integer(2, place), payload))
            peer.sendall(message(5, b""))
            peer.shutdown(socket.SHUT_WR)
            self.assertEqual(answers.read(), b"")

    def image_of(self, events, frame, start_time):
        """The image of frames of `events` that are sent until one has come."""
        server = serve(self, grid={"x": [-0.004, 0.004], "z": [0.006, 0.014], "pixels": [81, 81]})
        images = echoform.ImageSubscriber(server.images, timeout=0.2)
        self.addCleanup(images.close)
        found = []

        def sequences():
            for sequence in range(1, int(PATIENCE / 0.2)):
                yield sequence
                try:
                    found.append(images.receive())
                    return
                except echoform.TimedOut:  # the subscription has not reached the server yet
                    continue

        self.send(server.frames, events, frame, start_time, sequences)
        self.assertTrue(found, "no image came")
        return found[0]

    def check(self, firings, arrivals, events, start_time=0.0):
        """`firings[event][element]` is when the element fires, after the event's t = 0, by the makers of the instrument alone: the
        A-scans are sums over elements, each of which sends and hears straight rays. `arrivals[event]` is when by WIRE.md the wave
        reaches the point."""
        x = numpy.array(X)
        leg = numpy.hypot(x - POINT[0], POINT[1]) / VELOCITY
        times = start_time + numpy.arange(SAMPLES) / RATE
        frame = numpy.zeros((len(events), ELEMENTS, SAMPLES))
        for event, delays in enumerate(firings):
            for element, delay in enumerate(delays):
                u = times - delay - leg[element] - leg[:, None]
                frame[event] += 500 * numpy.exp(-0.5 * (u * FREQUENCY / 0.4) ** 2) * numpy.cos(2 * math.pi * FREQUENCY * u)
        image = self.image_of(events, frame, start_time)
        row, column = numpy.unravel_index(image.pixels.argmax(), image.pixels.shape)
        quarter = VELOCITY / FREQUENCY / 4
        self.assertLess(abs(image.z[row] - POINT[1]), quarter)
        self.assertLess(abs(image.x[column] - POINT[0]), quarter)
        # The pixel that lies on the point is the mean of the analytic signals at the times that the document says, interpolated linearly
        # between samples. 1e-4 is what images are held to; samples that both have rounded are no part of it.
        samples = numpy.rint(frame)
        spectrum = numpy.fft.fft(samples)
        spectrum[..., 1:SAMPLES // 2] *= 2
        spectrum[..., SAMPLES // 2 + 1:] = 0
        analytic = numpy.fft.ifft(spectrum)
        u = (numpy.array(arrivals)[:, None] + leg - start_time) * RATE
        n = numpy.floor(u).astype(int)
        before, after = (numpy.take_along_axis(analytic, (n + step)[..., None], -1)[..., 0] for step in (0, 1))
        expected = abs(numpy.mean(before * (1 - u + n) + after * (u - n)))
        self.assertAlmostEqual(image.pixels[40, 50] / expected, 1.0, delta=1e-4)

    def test_plane_waves_whose_earliest_element_fires_at_0(self):
        firings, arrivals, events = [], [], []
        for degrees in range(-16, 17, 4):
            slowness = math.sin(math.radians(degrees)) / VELOCITY
            first = min(slowness * x for x in X)
            firings.append([slowness * x - first for x in X])
            arrivals.append(-first + slowness * POINT[0] + math.sqrt(VELOCITY**-2 - slowness**2) * POINT[1])
            events.append(part(2, double(1, slowness)))
        self.check(firings, arrivals, events)

    def test_plane_waves_timed_at_the_middle_of_the_array(self):
        firings, arrivals, events = [], [], []
        for degrees in range(-16, 17, 4):
            slowness = math.sin(math.radians(degrees)) / VELOCITY
            firings.append([2e-6 + slowness * x for x in X])
            arrivals.append(2e-6 + slowness * POINT[0] + math.cos(math.radians(degrees)) / VELOCITY * POINT[1])
            events.append(part(2, double(1, slowness) + double(3, 2e-6)))
        self.check(firings, arrivals, events, start_time=1e-6)

    def test_virtual_sources(self):
        firings, arrivals, events = [], [], []
        for source in (-0.003, 0.0, 0.003):
            legs = [math.hypot(x - source, 0.008) / VELOCITY for x in X]
            firings.append([leg - min(legs) for leg in legs])
            # As if the wave had left the source so much earlier that it passes the nearest element at 0.
            arrivals.append(math.hypot(POINT[0] - source, POINT[1] + 0.008) / VELOCITY - min(legs))
            events.append(part(3, double(1, source) + double(3, -0.008) + double(4, VELOCITY)))
        self.check(firings, arrivals, events)


if __name__ == "__main__":
    run()
