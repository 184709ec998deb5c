"""The acquisition protocol's bytes: against WIRE.md's own, against the protobuf library, and against plain bit arithmetic."""
import dataclasses
import random
import re
import struct
import unittest

from support import SOURCE, linear, need, run

need("numpy")
import numpy  # noqa: E402

import echoform  # noqa: E402
from echoform import wire  # noqa: E402
from echoform._shot_headers import ShotHeaders  # noqa: E402


def dump(name):
    """Bytes that WIRE.md shows."""
    text = (SOURCE / "proto/WIRE.md").read_text()
    block = re.search(rf"<!-- dump: {name} -->\n```\n(.*?)```", text, re.DOTALL)[1]
    return bytes.fromhex("".join(line[6:] for line in block.splitlines()))


def example():
    """WIRE.md's: four elements, six samples, packed 12 bit."""
    probe = echoform.Probe.linear(4, 0.5e-3, element_width=0.45e-3, centre_frequency=5e6, bandwidth=3e6)
    return echoform.Acquisition(probe, 6, 50e6, start_time=1e-6, encoding="packed12")


class Messages(unittest.TestCase):
    def test_checksum(self):
        self.assertEqual(wire.crc32c(b"123456789"), 0xE3069283)

    def test_hello_shot_and_end_are_those_of_the_document(self):
        hello = wire.hello_header(example(), session=0x1122334455667788, sender="example 1.0")
        self.assertEqual(wire.message(wire.HELLO, hello), dump("hello"))
        sparse = dataclasses.replace(example(), events=(3, 0))
        hello = wire.hello_header(sparse, session=0x1122334455667788, sender="example 1.0")
        self.assertEqual(wire.message(wire.HELLO, hello), dump("events_hello"))
        self.assertEqual((sparse.shots, sparse.frame_shape, sparse.frame_bytes), (2, (2, 4, 6), 2 * 4 * 9))
        samples = 100 * (6 * numpy.arange(4)[:, None] + numpy.arange(6)) - 1000
        payload = example().encode(samples.astype(numpy.int16)).tobytes()
        header = wire.shot_header(300, 2, 1700000000123456789)
        self.assertEqual(wire.message(wire.SHOT, header, len(payload)) + payload, dump("shot"))
        self.assertEqual(wire.message(wire.END), dump("end"))
        header = wire.shot_header(300, 2, 1700000000123456789, 0x1122334455667788)
        self.assertEqual(wire.message(wire.SHOT, header, len(payload)) + payload, dump("zeromq_shot"))

    def test_hello_is_what_the_protobuf_library_reads(self):
        try:
            from echoform._messages import messages
        except ImportError as error:
            self.skipTest(str(error))
        probe = echoform.Probe(x=[-1e-3, 0, 1e-3], y=[1e-4, 0, 2e-4], z=[-1e-3, 0, -2e-3],
                               normals=[(0, 0, 1), (0.6, 0, 0.8), (0, 0.6, 0.8)], element_length=1e-2, dead_elements=(2, 0))
        acquisition = echoform.Acquisition(probe, 300, 1e8, start_time=-1e-6, time_offset=2e-7, matrix="half", encoding="float32")
        hello = messages.Hello.FromString(wire.hello_header(acquisition, session=1 << 63, connection_index=3, connection_count=4,
                                                            sender="\u00e9", token="secret"))
        self.assertEqual((hello.session, hello.connection_index, hello.connection_count, hello.sender, hello.token),
                         (1 << 63, 3, 4, "\u00e9", "secret"))
        self.assertEqual((hello.matrix, hello.encoding, hello.samples, hello.sample_rate, hello.start_time, hello.time_offset),
                         (2, 3, 300, 1e8, -1e-6, 2e-7))
        self.assertEqual(list(hello.probe.x), [-1e-3, 0, 1e-3])
        self.assertEqual(list(hello.probe.y), [1e-4, 0, 2e-4])
        self.assertEqual(list(hello.probe.z), [-1e-3, 0, -2e-3])
        self.assertEqual(list(hello.probe.normal_x), [0, 0.6, 0])
        self.assertEqual(list(hello.probe.normal_z), [1, 0.8, 0.8])
        self.assertEqual(list(hello.probe.dead_elements), [0, 2])
        self.assertEqual((hello.probe.element_length, hello.probe.bandwidth), (1e-2, 0))

    def test_headers_of_a_frame_are_those_of_its_shots(self):
        for session in (0, 1 << 63):
            with self.subTest(session=session):
                self.check_headers(session)

    def check_headers(self, session):
        sizes = [100 + i for i in range(300)]  # transmits of one and of two bytes
        headers = ShotHeaders(sizes, session)
        # Lengths of both numbers change between these, and come back.
        for sequence, time in ((0, 0), (127, 1), (128, 1700000000123456789), (129, 1700000000123456790), (3, 5), (2**64 - 1, 2**63 - 1),
                               (16384, 1700000000123456789)):
            found = headers.of_frame(sequence, time)
            for transmit, size in enumerate(sizes):
                # The same as one by one, but that fields of value 0 are written too.
                header = (b"\x08" + wire.varint(sequence) + b"\x10" + wire.varint(transmit) + (b"\x18" + wire.varint(time) if time else b"")
                          + (b"\x20" + wire.varint(session) if session else b""))
                self.assertEqual(bytes(found[transmit]), wire.message(wire.SHOT, header, size), (sequence, transmit))

    def test_answers(self):
        header = b"\x08\x80\x01\x12\x08Echoform\x7a\x00"
        self.assertEqual(wire.parse_accept(header), (128, "Echoform"))
        self.assertEqual(wire.parse_reject(b"\x0a\x05a\x1b[2J"), "a?[2J")  # a terminal is sent no escape sequences
        self.assertEqual(wire.parse_reject(b""), "no reason was given")
        prefix = wire.message(wire.ACCEPT, header)[:24]
        self.assertEqual(wire.parse_answer_prefix(prefix), (wire.ACCEPT, len(header)))
        wire.check_answer(prefix, header)
        with self.assertRaisesRegex(ValueError, "checksum"):
            wire.check_answer(prefix, header[:-1] + b"\x01")
        for wrong in (b"HTTP/1.1 400 Bad Request", wire.message(wire.SHOT)[:24], struct.pack("<4sHHIQI", b"EFRM", 1, 2, 4097, 0, 0),
                      struct.pack("<4sHHIQI", b"EFRM", 1, 2, 0, 1, 0), struct.pack("<4sHHIQI", b"EFRM", 2, 2, 0, 0, 0)):
            with self.assertRaisesRegex(ValueError, "not an Echoform server"):
                wire.parse_answer_prefix(wrong)

    def test_no_bytes_of_a_server_do_more_than_a_value_error(self):
        chance = random.Random(1)
        for _ in range(20000):
            data = chance.randbytes(chance.randrange(24))
            try:
                wire.parse_accept(data)
                wire.parse_reject(data)
            except ValueError:
                pass


class Samples(unittest.TestCase):
    def test_packed_12_bit_is_two_samples_in_three_bytes(self):
        for count in (2, 3, 8, 11):
            samples = numpy.random.default_rng(count).integers(-2048, 2048, (3, 2, count)).astype(numpy.int16)
            samples[0, 0, :2] = (-2048, 2047)
            packed = echoform.pack12(samples)
            self.assertEqual(packed.shape, (3, 2, (3 * count + 1) // 2))
            for a_scan, row in zip(samples.reshape(-1, count), packed.reshape(6, -1)):
                bits = sum((int(sample) & 0xFFF) << 12 * n for n, sample in enumerate(a_scan))
                self.assertEqual(row.tobytes(), bits.to_bytes(len(row), "little"))
            numpy.testing.assert_array_equal(echoform.unpack12(packed, count), samples)
        for beyond in (-2049, 2048):
            with self.assertRaisesRegex(ValueError, "12 bits hold -2048 to 2047"):
                echoform.pack12(numpy.array([0, beyond], numpy.int16))

    def test_encoding_copies_nothing_that_is_as_it_is_sent(self):
        for encoding, kind in (("int16", "<i2"), ("float32", "<f4")):
            acquisition = linear(3, 16, encoding=encoding)
            frame = numpy.arange(3 * 3 * 16).reshape(3, 3, 16).astype(kind)
            payload = acquisition.payload(frame)
            self.assertTrue(numpy.shares_memory(numpy.asarray(payload), frame))
            self.assertEqual(payload.tobytes(), frame.tobytes())
            self.assertEqual(payload.nbytes, acquisition.frame_bytes)
        packed = echoform.pack12(numpy.zeros((3, 3, 15), numpy.int16))
        self.assertTrue(numpy.shares_memory(numpy.asarray(linear(3, 15, encoding="packed12").payload(packed)), packed))

    def test_encoding_brings_other_arrays_into_order(self):
        acquisition = linear(3, 16)
        frame = numpy.arange(-72, 72).reshape(3, 3, 16).astype(numpy.int16)
        for same in (frame.astype(">i2"), numpy.asfortranarray(frame), frame.astype(numpy.int8)):
            self.assertEqual(acquisition.payload(same).tobytes(), frame.tobytes())
        self.assertEqual(linear(3, 16, encoding="float32").payload(frame / 2).tobytes(), (frame / 2).astype("<f4").tobytes())

    def test_encoding_cuts_nothing_off(self):
        with self.assertRaisesRegex(ValueError, r"found float64; expected int16"):
            linear(3, 16).payload(numpy.zeros((3, 3, 16)))
        with self.assertRaisesRegex(ValueError, "found int32; expected int16"):
            linear(3, 16).payload(numpy.zeros((3, 3, 16), numpy.int32))
        with self.assertRaisesRegex(ValueError, "found complex128; expected real numbers"):
            linear(3, 16, encoding="float32").payload(numpy.zeros((3, 3, 16), complex))
        with self.assertRaisesRegex(ValueError, r"found shape \(3, 16\); expected \(3, 3, 16\)"):
            linear(3, 16).payload(numpy.zeros((3, 16), numpy.int16))
        with self.assertRaisesRegex(ValueError, r"expected \(6, 16\); half_matrix\(\) makes it"):
            linear(3, 16, matrix="half").payload(numpy.zeros((3, 3, 16), numpy.int16))

    def test_half_matrices(self):
        frame = numpy.random.default_rng(1).integers(-9, 9, (3, 3, 5)).astype(numpy.int16)
        pairs = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
        numpy.testing.assert_array_equal(echoform.half_matrix(frame), [frame[i, j] for i, j in pairs])
        summed = [frame[i, j] + (frame[j, i] if i != j else 0) for i, j in pairs]
        numpy.testing.assert_array_equal(echoform.half_summed(frame), summed)
        numpy.testing.assert_array_equal(echoform.half_summed(frame / 2), numpy.array(summed) / 2)
        self.assertEqual(echoform.half_summed(numpy.full((2, 2, 2), 32767, numpy.int16)).max(), 65534)
        full = echoform.full_matrix(echoform.half_matrix(frame))
        for i, j in pairs:
            numpy.testing.assert_array_equal(full[i, j], frame[i, j])
            numpy.testing.assert_array_equal(full[j, i], frame[i, j])
        with self.assertRaisesRegex(ValueError, "found 5 pairs"):
            echoform.full_matrix(frame.reshape(9, 5)[:5])

    def test_descriptions_are_checked(self):
        for wrong, line in ((dict(x=[]), "found 0 elements"), (dict(x=[[0.0]]), "shape"), (dict(x=[0, float("nan")]), "not finite"),
                            (dict(x=[0, 1], z=[0]), "probe z: found shape"), (dict(x=[0, 1], normals=[(0, 0, 1)]), "probe normals"),
                            (dict(x=[0, 1], dead_elements=[2]), "dead_elements")):
            with self.assertRaisesRegex(ValueError, line):
                echoform.Probe(**wrong)
        probe = echoform.Probe.linear(4, 1e-3)
        numpy.testing.assert_allclose(probe.x, [-1.5e-3, -0.5e-3, 0.5e-3, 1.5e-3])
        for wrong, line in ((dict(events=(0, 4)), r"events: found \[0, 4\]; expected elements from 0 to"),
                            (dict(events=(1, 1)), "each once"), (dict(events=(1,), matrix="half"), "events: found them with matrix 'half'"),
                            (dict(matrix="whole"), "matrix: found 'whole'"), (dict(encoding="int8"), "encoding: found 'int8'")):
            with self.assertRaisesRegex(ValueError, line):
                echoform.Acquisition(probe, 16, 1e6, **wrong)
        with self.assertRaisesRegex(ValueError, "samples: found 1;"):
            echoform.Acquisition(probe, 1, 1e6)
        with self.assertRaisesRegex(ValueError, "sample_rate: found 0"):
            echoform.Acquisition(probe, 16, 0)


if __name__ == "__main__":
    run()
