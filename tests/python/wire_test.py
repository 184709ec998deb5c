"""The acquisition protocol's bytes: against WIRE.md's own, against the protobuf library, and against plain bit arithmetic."""
import dataclasses
import math
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


class Positions(unittest.TestCase):
    def test_every_element_fires_at_each(self):
        moved = dataclasses.replace(example(), positions=[(0.0, 0.0, 0.0), (1e-3, 0.0, 0.0), (2e-3, 0.0, 0.0)])
        self.assertEqual((moved.shots, moved.frame_shape), (12, (12, 4, 6)))
        self.assertEqual([moved.firings(shot)[0].tolist() for shot in (3, 4)], [[3], [0]])
        self.assertEqual(moved.position(7).origin, (1e-3, 0.0, 0.0))
        self.assertEqual(moved.receivers(11).tolist(), [0, 1, 2, 3])

    def test_what_cannot_be_is_one_line(self):
        for positions, message in (
                ([(0.0, 0.0)], "position 0: origin: found (0.0, 0.0); expected three finite numbers"),
                ([(0.0, 0.0, 0.0), (float("nan"), 0.0, 0.0)], "position 1: origin: found (nan, 0.0, 0.0); expected three finite numbers"),
                ([echoform.Pose((0.0, 0.0, 0.0), y=(0.0, -1.0, 0.0))],
                 "position 0: found the probe upside down; expected emission into the part (+z)"),
                (257 * [(0.0, 0.0, 0.0)], "positions: found 257; expected at most 256")):
            with self.subTest(message), self.assertRaises(ValueError) as caught:
                dataclasses.replace(example(), positions=positions)
            self.assertEqual(str(caught.exception), message)
        with self.assertRaisesRegex(ValueError, "directions: found .*; expected unit vectors at a right angle"):
            echoform.Pose((0.0, 0.0, 0.0), x=(2.0, 0.0, 0.0))
        with self.assertRaisesRegex(ValueError, "events: found 4104; expected at most 4096, of all positions"):
            dataclasses.replace(example(), probe=echoform.Probe.linear(27, 1e-3), positions=152 * [(0.0, 0.0, 0.0)])


class PassiveEvents(unittest.TestCase):
    def test_detectors_face_anywhere_at_any_position(self):
        probe = echoform.Probe((0.0, 0.0), z=(0.04, -0.04), normals=[(0, 0, -1), (0, 0, 1)])
        turned = echoform.Acquisition(probe, 6, 50e6, events=[echoform.Passive(), echoform.Passive(8e-7)],
                                      positions=[(0.0, 0.0, 0.0), echoform.Pose((0.0, 0.0, 0.0), y=(0.0, -1.0, 0.0))])
        self.assertEqual((turned.shots, turned.frame_shape), (4, (4, 2, 6)))

    def test_what_cannot_be_is_one_line(self):
        for events, message in (
                ((echoform.Passive(750.0),), "event 0: wavelength: found 750.0 m; expected 0 (not known) to 1 m (nanometres need 1e-9)"),
                ((echoform.Passive(float("nan")),), "event 0: wavelength: found nan m; expected 0 (not known) to 1 m (nanometres need 1e-9)"),
                ((echoform.Passive(8e-7, -1.0),), "event 0: pulse_energy: found -1.0 J; expected 0 (not known) to 1000 J"),
                ((echoform.Passive(receivers=(4,)),), "event 0: found receiver 4; expected 0 to 3"),
                ((3, echoform.Passive()), "event 1: found a passive event beside others; expected passive events alone, or none")):
            with self.subTest(message), self.assertRaises(ValueError) as caught:
                dataclasses.replace(example(), events=events)
            self.assertEqual(str(caught.exception), message)


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
        slowness = 2.7475977478944673e-05
        waves = dataclasses.replace(example(), events=(
            echoform.PlaneWave(slowness), echoform.PlaneWave(-slowness, delay=1e-6, elements=(1, 2, 3), receivers=(0, 1)),
            echoform.PointWave(0.0, -0.02, 6320.0), echoform.Law((1, 2), (0.0, 2.5e-8), (1.0, 0.5))))
        hello = wire.hello_header(waves, session=0x1122334455667788, sender="example 1.0")
        self.assertEqual(wire.message(wire.HELLO, hello), dump("waves_hello"))
        self.assertEqual((waves.shots, waves.frame_shape, waves.frame_bytes), (4, (4 + 2 + 4 + 4, 6), 14 * 9))
        codes = dataclasses.replace(example(), events=echoform.hadamard(4))
        hello = wire.hello_header(codes, session=0x1122334455667788, sender="example 1.0")
        self.assertEqual(wire.message(wire.HELLO, hello), dump("codes_hello"))
        moved = dataclasses.replace(example(), events=[echoform.PlaneWave(slowness)], positions=[
            (0.0, 0.0, 0.0), echoform.Pose((0.002, 0.0, -0.001), x=(0.8, 0.0, 0.6))])
        hello = wire.hello_header(moved, session=0x1122334455667788, sender="example 1.0")
        self.assertEqual(wire.message(wire.HELLO, hello), dump("positions_hello"))
        self.assertEqual((moved.shots, moved.frame_shape, moved.frame_bytes), (2, (2, 4, 6), 2 * 4 * 9))
        centres, normals = moved.position(1).place(moved.probe)
        numpy.testing.assert_allclose(centres[3], (2.6e-3, 0.0, -0.55e-3), atol=1e-15)  # as the document says
        numpy.testing.assert_allclose(normals[3], (-0.6, 0.0, 0.8), atol=1e-15)
        probe = echoform.Probe((0.04, -0.04, 0.0, 0.0), z=(0.0, 0.0, 0.04, -0.04), normals=[(-1, 0, 0), (1, 0, 0), (0, 0, -1), (0, 0, 1)],
                               element_width=1e-3, centre_frequency=5e6, bandwidth=3e6)
        light = dataclasses.replace(example(), probe=probe, events=(echoform.Passive(750e-9), echoform.Passive(850e-9, 0.012, (3, 0))))
        hello = wire.hello_header(light, session=0x1122334455667788, sender="example 1.0")
        self.assertEqual(wire.message(wire.HELLO, hello), dump("passive_hello"))
        self.assertEqual((light.shots, light.frame_shape, light.frame_bytes), (2, (6, 6), 6 * 9))
        self.assertEqual((light.firings(0)[0].size, light.receivers(1).tolist()), (0, [3, 0]))
        samples = 100 * (6 * numpy.arange(4)[:, None] + numpy.arange(6)) - 1000
        payload = example().encode(samples.astype(numpy.int16)).tobytes()
        header = wire.shot_header(300, 2, 1700000000123456789)
        self.assertEqual(wire.message(wire.SHOT, header, len(payload)) + payload, dump("shot"))
        header = wire.shot_header(300, 2, 1700000000123456789, position=-1200)
        self.assertEqual(wire.message(wire.SHOT, header, len(payload)) + payload, dump("position_shot"))
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

    def test_events_are_what_the_protobuf_library_reads(self):
        try:
            from echoform._messages import messages
        except ImportError as error:
            self.skipTest(str(error))
        events = (echoform.Element(2, receivers=(3, 1)), 0, echoform.PlaneWave(0.0, -1e-5, 0.0), echoform.PlaneWave(1e-5, elements=(4,)),
                  echoform.PointWave(1e-3, 0.03, 5900.0, y=2e-3, delay=-1e-7, elements=(1, 0), receivers=(4,)), echoform.Law((3,)))
        acquisition = linear(5, 16, events=events)
        found = messages.Hello.FromString(wire.hello_header(acquisition, session=1)).events
        self.assertEqual([event.WhichOneof("form") for event in found], ["element", "element", "plane_wave", "plane_wave", "point_wave", "law"])
        self.assertEqual([list(event.receivers) for event in found], [[3, 1], [], [], [], [4], []])
        self.assertEqual((found[0].element, found[1].element), (2, 0))
        wave = found[2].plane_wave
        self.assertEqual((wave.slowness_x, wave.slowness_y, wave.HasField("delay"), wave.delay, list(wave.elements)), (0.0, -1e-5, True, 0.0, []))
        self.assertEqual((found[3].plane_wave.HasField("delay"), list(found[3].plane_wave.elements)), (False, [4]))
        wave = found[4].point_wave
        self.assertEqual((wave.x, wave.y, wave.z, wave.velocity, wave.delay, list(wave.elements)), (1e-3, 2e-3, 0.03, 5900.0, -1e-7, [1, 0]))
        self.assertEqual((list(found[5].law.elements), list(found[5].law.delays), list(found[5].law.weights)), ([3], [], []))
        signs = (1, 0, -1, -1, 0, 0, 0, 0, 1, -1)
        acquisition = linear(10, 16, events=(echoform.Code(signs), echoform.Code((0,) * 9 + (1,))))
        found = messages.Hello.FromString(wire.hello_header(acquisition, session=1)).events
        self.assertEqual([(event.code.positive, event.code.negative) for event in found], [(b"\x01\x01", b"\x0c\x02"), (b"\0\x02", b"")])

    def test_a_hello_that_no_server_reads_says_how_many_events_fit(self):
        law = echoform.Law(tuple(range(256)), (1e-6,) * 256)
        acquisition = linear(256, 2, events=(law,) * 2000)
        with self.assertRaisesRegex(ValueError, "events: found 2[0-9]{6} bytes .* at most 1048576 in all: [0-9]+ events like these") as caught:
            wire.hello_header(acquisition, session=1)
        fit = int(re.search(r"(\d+) events like", str(caught.exception))[1])
        fitting = wire.hello_header(dataclasses.replace(acquisition, events=(law,) * fit), session=1)
        self.assertLessEqual(len(fitting), 1 << 20)
        with self.assertRaisesRegex(ValueError, "events like these"):
            wire.hello_header(dataclasses.replace(acquisition, events=(law,) * (fit + 1)), session=1)
        with self.assertRaisesRegex(ValueError, "Hello: found .* a shorter name or token"):
            wire.hello_header(linear(), session=1, token="t" * (1 << 20))

    def test_headers_of_a_frame_are_those_of_its_shots(self):
        for session in (0, 1 << 63):
            with self.subTest(session=session):
                self.check_headers(session)

    def check_headers(self, session):
        sizes = [100 + i for i in range(300)]  # transmits of one and of two bytes
        headers = ShotHeaders(sizes, session)
        # Lengths of the numbers change between these, and come back; positions come and go.
        for sequence, time, position in ((0, 0, None), (127, 1, 0), (128, 1700000000123456789, -1), (129, 1700000000123456790, 63), (3, 5, -65),
                                         (2**64 - 1, 2**63 - 1, 2**63 - 1), (4, 0, 1 - 2**63), (16384, 1700000000123456789, None)):
            found = headers.of_frame(sequence, time, position)
            for transmit, size in enumerate(sizes):
                # The same as one by one, but that fields of value 0 are written too.
                header = (b"\x08" + wire.varint(sequence) + b"\x10" + wire.varint(transmit) + (b"\x18" + wire.varint(time) if time else b"")
                          + (b"\x20" + wire.varint(session) if session else b"")
                          + (b"" if position is None else b"\x28" + wire.signed(position)))
                self.assertEqual(bytes(found[transmit]), wire.message(wire.SHOT, header, size), (sequence, transmit))

    def test_positions_are_what_the_protobuf_library_reads(self):
        try:
            from echoform._messages import messages
        except ImportError as error:
            self.skipTest(str(error))
        for position in (None, 0, 1, -1, 63, -64, 64, 1234567890123, 2**63 - 1, 1 - 2**63):
            header = wire.shot_header(300, 2, 7, 9, position)
            shot = messages.Shot.FromString(header)
            self.assertEqual((shot.sequence, shot.transmit, shot.session), (300, 2, 9))
            self.assertEqual(shot.position if shot.HasField("position") else None, position)
            self.assertEqual(shot.SerializeToString(), header)

    def test_answers(self):
        header = b"\x08\x80\x01\x12\x08Echoform\x7a\x00"
        self.assertEqual(wire.parse_accept(header), (128, "Echoform"))
        self.assertEqual(wire.parse_reject(b"\x0a\x05a\x1b[2J"), ("a?[2J", False))  # a terminal is sent no escape sequences
        self.assertEqual(wire.parse_reject(b""), ("no reason was given", False))
        self.assertEqual(wire.parse_reject(wire.text(1, "busy") + wire.number(2, 1)), ("busy", True))
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

    def test_plane_waves_of_a_curved_array_state_their_slowness_along_z(self):
        turns = numpy.linspace(-0.5, 0.5, 5)
        probe = echoform.Probe(x=0.05 * numpy.sin(turns), z=0.05 * (numpy.cos(turns) - 1.0), normals=numpy.stack(
            [numpy.sin(turns), 0.0 * turns, numpy.cos(turns)], axis=1))
        with self.assertRaisesRegex(ValueError, "event 0: slowness_z: found none of an array that is .* mm off flat"):
            echoform.Acquisition(probe, 16, 1e6, events=(echoform.plane_wave(0.1, 1540.0),))
        acquisition = echoform.Acquisition(probe, 16, 1e6, events=(echoform.plane_wave(0.1, 1540.0, curved=True),))
        passes = (probe.x * numpy.sin(0.1) + probe.z * numpy.cos(0.1)) / 1540.0
        numpy.testing.assert_allclose(acquisition.firings(0)[1], passes - passes.min(), rtol=0, atol=1e-15)
        # Field 5, a double, behind slowness_x.
        self.assertAlmostEqual(acquisition.events[0].slowness_z, numpy.cos(0.1) / 1540.0, delta=1e-18)
        self.assertIn(b"\x29" + struct.pack("<d", acquisition.events[0].slowness_z), wire.hello_header(acquisition, session=1))

    def test_descriptions_are_checked(self):
        for wrong, line in ((dict(x=[]), "found 0 elements"), (dict(x=[[0.0]]), "shape"), (dict(x=[0, float("nan")]), "not finite"),
                            (dict(x=[0, 1], z=[0]), "probe z: found shape"), (dict(x=[0, 1], normals=[(0, 0, 1)]), "probe normals"),
                            (dict(x=[0, 1], dead_elements=[2]), "dead_elements")):
            with self.assertRaisesRegex(ValueError, line):
                echoform.Probe(**wrong)
        probe = echoform.Probe.linear(4, 1e-3)
        numpy.testing.assert_allclose(probe.x, [-1.5e-3, -0.5e-3, 0.5e-3, 1.5e-3])
        for wrong, line in ((dict(events=(0, 4)), "event 1: found element 4; expected 0 to 3"), (dict(events=(1, 1)), "each once"),
                            (dict(events=(echoform.Element(1), 1)), "each once"), (dict(events=(-1,)), "event 0: found element -1"),
                            (dict(events=(echoform.PlaneWave(0.17),)), "event 0: slowness: found"),
                            (dict(events=(echoform.PlaneWave(0.0, float("nan")),)), "not finite"),
                            (dict(events=(echoform.PlaneWave(0.0, slowness_z=-1e-4),)), "event 0: slowness_z: found -0.0001 s/m"),
                            (dict(events=(echoform.PlaneWave(0.0, delay=1.0),)), "delay: found 1.0 s"),
                            (dict(events=(echoform.PlaneWave(0.0, elements=(1, 1)),)), "none twice"),
                            (dict(events=(echoform.PlaneWave(0.0, receivers=(4,)),)), "found receiver 4"),
                            (dict(events=(echoform.PointWave(0.0, -0.01, 0.0),)), "velocity: found 0.0"),
                            (dict(events=(echoform.Law(()),)), "law of no elements"),
                            (dict(events=(echoform.Law((1, 2), (0.0,)),)), "delays: found 1; expected none or one for each of 2"),
                            (dict(events=(echoform.Law((1,), (), (0.0,)),)), "weights: found 0"),
                            (dict(events=(echoform.Code((1, 1)),)), "signs: found 2; expected one for each of 4"),
                            (dict(events=(echoform.Code((0, 0, 0, 0)),)), "nobody who fires"),
                            (dict(events=(echoform.Code((0, 2, 0, 0)),)), "expected 1, -1 and 0"), (dict(events=(1,), matrix="half"), "events: found them with matrix 'half'"),
                            (dict(matrix="whole"), "matrix: found 'whole'"), (dict(encoding="int8"), "encoding: found 'int8'")):
            with self.assertRaisesRegex(ValueError, line):
                echoform.Acquisition(probe, 16, 1e6, **wrong)
        with self.assertRaisesRegex(ValueError, "degrees need math.radians"):
            echoform.plane_wave(10.0, 6320.0)
        with self.assertRaisesRegex(ValueError, "elements: found 12; expected a power of two"):
            echoform.hadamard(12)
        with self.assertRaisesRegex(ValueError, "samples: found 1;"):
            echoform.Acquisition(probe, 1, 1e6)
        with self.assertRaisesRegex(ValueError, "sample_rate: found 0"):
            echoform.Acquisition(probe, 16, 0)


class Events(unittest.TestCase):
    def test_a_plane_wave_passes_elements_one_after_the_other(self):
        acquisition = linear(4, 16, events=(echoform.plane_wave(math.radians(10), 6320.0), echoform.plane_wave(math.radians(-10), 6320.0, delay=0.0)))
        pitch = 0.6e-3 * math.sin(math.radians(10)) / 6320.0
        elements, delays, weights = acquisition.firings(0)
        numpy.testing.assert_array_equal(elements, [0, 1, 2, 3])
        numpy.testing.assert_allclose(delays, pitch * numpy.arange(4), atol=1e-18)
        numpy.testing.assert_array_equal(weights, 1.0)
        numpy.testing.assert_allclose(acquisition.firings(1)[1], pitch * (1.5 - numpy.arange(4)), atol=1e-18)

    def test_a_point_wave_is_as_if_it_came_from_its_source_or_arrives_at_its_focus_at_once(self):
        source, focus = echoform.PointWave(1e-3, -0.01, 1480.0), echoform.PointWave(1e-3, 0.01, 1480.0, elements=(3, 0, 2))
        acquisition = linear(4, 16, events=(source, focus))
        x = acquisition.probe.x
        legs = numpy.hypot(x - 1e-3, 0.01) / 1480.0
        numpy.testing.assert_allclose(acquisition.firings(0)[1], legs - legs.min(), atol=1e-18)
        elements, delays, _ = acquisition.firings(1)
        numpy.testing.assert_array_equal(elements, [3, 0, 2])
        arrivals = delays + legs[elements]
        numpy.testing.assert_allclose(arrivals, arrivals[0], rtol=1e-12)
        self.assertEqual(delays.min(), 0.0)

    def test_the_frame_goes_with_a_tilted_probe(self):
        tilt = math.radians(15)
        level = echoform.Probe.linear(4, 1e-3)
        tilted = echoform.Probe(x=math.cos(tilt) * level.x + 5e-3, z=math.sin(tilt) * level.x - 0.02,
                                normals=numpy.tile((-math.sin(tilt), 0.0, math.cos(tilt)), (4, 1)))
        numpy.testing.assert_allclose(tilted.in_frame(tilted.centres), level.centres, atol=1e-17)
        wave = echoform.plane_wave(0.2, 1480.0)
        numpy.testing.assert_allclose(wave.firings(tilted)[1], wave.firings(level)[1], atol=1e-17)

    def test_hadamard_rows_are_orthogonal(self):
        signs = numpy.array([code.signs for code in echoform.hadamard(8)])
        numpy.testing.assert_array_equal(signs @ signs.T, 8 * numpy.eye(8))
        self.assertEqual(signs[5].tolist(), [(-1) ** bin(5 & j).count("1") for j in range(8)])

    def test_simulated_frames_are_sums_of_single_firings(self):
        single = linear(4, 128)
        matrix = echoform.point_scatterers(single, [(1e-3, 5e-3)], 6320.0)
        codes = linear(4, 128, events=echoform.hadamard(4))
        signs = numpy.array([code.signs for code in codes.events])
        numpy.testing.assert_allclose(echoform.point_scatterers(codes, [(1e-3, 5e-3)], 6320.0), numpy.tensordot(signs, matrix, 1), atol=1e-12)
        # A delay of two samples, and receivers of their own. Delays are 32-bit floats: 6e-8 of 50 ns is 1e-7 of a radian at 5 MHz.
        law = linear(4, 128, events=(echoform.Law((3, 1), (2 / 40e6, 0.0), (0.5, 1.0), receivers=(2, 0)), echoform.Element(3)))
        frame = echoform.point_scatterers(law, [(1e-3, 5e-3)], 6320.0)
        self.assertEqual(frame.shape, (2 + 4, 128))
        for row, receiver in enumerate((2, 0)):
            numpy.testing.assert_allclose(frame[row, 2:], matrix[1, receiver, 2:] + 0.5 * matrix[3, receiver, :-2], atol=1e-7)
        numpy.testing.assert_allclose(frame[2:], matrix[3], atol=1e-12)


if __name__ == "__main__":
    run()
