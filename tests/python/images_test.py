"""Live images in Python, from the program: their values, axes, counters; joining, leaving and falling behind."""
import datetime
import os
import signal
import threading
import types
import unittest

from support import PATIENCE, SOURCE, VELOCITY, join, linear, need, run, scatterer_frame, serve

need("numpy", "zmq", "google.protobuf")
import numpy  # noqa: E402
import sys  # noqa: E402

sys.path.insert(0, str(SOURCE / "tests/reference"))
import tfm_reference  # noqa: E402

import echoform  # noqa: E402
from echoform._messages import messages  # noqa: E402


def reference(frame, acquisition, image):
    """The same image by the independent double-precision delay-and-sum of tests/reference."""
    n = acquisition.elements
    transmit, receive = (index.ravel() for index in numpy.indices((n, n)))
    elements = numpy.column_stack([acquisition.probe.x, numpy.zeros((n, 2))])
    plain = tfm_reference.Frame(frame.reshape(n * n, -1).astype(float) * acquisition.sample_scale, transmit, receive, numpy.ones(n * n),
                                elements, acquisition.sample_rate, acquisition.start_time, VELOCITY)
    return numpy.abs(tfm_reference.total_focus(plain, image.x, image.z, VELOCITY, time_offset=acquisition.time_offset))


class Flow(unittest.TestCase):
    """What images of flow say of themselves; of lines and ranges, where they lie."""

    def image(self, values, z, lines, **more):
        values = numpy.asarray(values, "<f4")
        return echoform.Image(messages.Image(
            stream="echoform/velocity", encoding="ENVELOPE_FLOAT32", pixels=values.tobytes(), z=z, lines=lines,
            x=dict(first=0.01, last=0.03, count=values.shape[1], name="range"), **more).SerializeToString())

    def test_velocities_say_how_far_they_go(self):
        lines = dict(apex_x=0.0, apex_z=0.0, radius=0.0)
        z = dict(first=-0.5, last=0.5, count=2, name="angle", unit="rad")
        image = self.image([[0.1, -0.3, 0.2]] * 2, z, lines, pixel_name="velocity", pixel_unit="m/s", pixel_limit=0.308)
        self.assertEqual((image.quantity, image.limit), (("velocity", "m/s"), 0.308))
        power = self.image([[1.0, 0.1, 0.01]] * 2, z, lines, pixel_name="power", pixel_scale="PIXEL_SCALE_POWER_DECIBELS")
        self.assertIsNone(power.limit)
        numpy.testing.assert_allclose(power.decibels()[0], [0, -10, -20], atol=1e-5)

    def test_lines_of_a_sector_are_where_they_lie(self):
        angles = numpy.linspace(-0.5, 0.5, 5)
        image = self.image(numpy.zeros((5, 3)), dict(first=-0.5, last=0.5, count=5, name="angle", unit="rad"),
                           dict(apex_x=0.002, apex_z=-0.04, radius=0.05))
        x, z = image.positions
        for line, angle in enumerate(angles):
            for k, range_ in enumerate((0.01, 0.02, 0.03)):
                numpy.testing.assert_allclose((x[line, k], z[line, k]),
                                              (0.002 + (0.05 + range_) * numpy.sin(angle), -0.04 + (0.05 + range_) * numpy.cos(angle)))

    def test_parallel_lines_are_where_they_lie(self):
        image = self.image(numpy.zeros((3, 2)), dict(first=-0.01, last=0.01, count=3), dict(apex_z=0.001, angle=0.3))
        x, z = image.positions
        numpy.testing.assert_allclose(x[1], [0.01 * numpy.sin(0.3), 0.03 * numpy.sin(0.3)])
        numpy.testing.assert_allclose(z[2], [0.001 + 0.01 * numpy.cos(0.3), 0.001 + 0.03 * numpy.cos(0.3)])

    def test_other_axes_have_no_place(self):
        message = messages.Image(stream="s", encoding="ENVELOPE_FLOAT32", pixels=bytes(8), x=dict(last=1.0, count=2, unit="s"), z=dict(count=1))
        with self.assertRaisesRegex(ValueError, "without a place"):
            echoform.Image(message.SerializeToString()).positions


class Scales(unittest.TestCase):
    """How pixels are meant to be shown, and what levels of display images stand for."""

    def display(self, levels, scale, reference, **more):
        levels = numpy.asarray([levels], numpy.uint8)
        return echoform.Image(messages.Image(
            stream="s", encoding="DISPLAY_UINT8", pixels=levels.tobytes(), x=dict(first=0.0, last=1e-3, count=levels.size), z=dict(count=1),
            pixel_scale=scale, reference=reference, dynamic_range_db=40, **more).SerializeToString())

    def test_levels_of_numbers(self):
        image = self.display([0, 1, 64, 128, 255], "PIXEL_SCALE_SYMMETRIC", 0.254, pixel_name="velocity", pixel_unit="m/s")
        self.assertEqual((image.scale, image.masked, image.quantity), ("symmetric", False, ("velocity", "m/s")))
        numpy.testing.assert_allclose(image.values()[0], [numpy.nan, -0.254, -0.128, 0.0, 0.254], atol=1e-7)
        with self.assertRaisesRegex(ValueError, "velocity is shown as numbers, not in decibels"):
            image.decibels()
        image = self.display([0, 1, 128, 255], "PIXEL_SCALE_FROM_ZERO", 1.0, pixels_masked=True)
        self.assertEqual((image.scale, image.masked), ("from_zero", True))
        numpy.testing.assert_allclose(image.values()[0], [numpy.nan, 0.0, 0.5, 1.0], atol=1e-7)

    def test_levels_of_decibels(self):
        for scale, decade in (("PIXEL_SCALE_DECIBELS", 20), ("PIXEL_SCALE_POWER_DECIBELS", 10)):
            image = self.display([0, 51, 255], scale, 3.0)
            numpy.testing.assert_allclose(image.decibels()[0], [-40, -32, 0], atol=1e-5)
            numpy.testing.assert_allclose(image.values()[0], 10.0 ** (numpy.array([-40, -32, 0]) / decade), rtol=1e-5)

    def test_levels_of_decibels_without_a_value(self):
        image = self.display([0, 1, 51, 255], "PIXEL_SCALE_DECIBELS", 3.0, pixels_masked=True)
        expected = [numpy.nan, -40 * 254 / 255, -32, 0]
        numpy.testing.assert_allclose(image.decibels()[0], expected, atol=1e-5)
        numpy.testing.assert_allclose(image.values()[0], 10.0 ** (numpy.array(expected) / 20), rtol=1e-5)

    def test_an_unknown_scale_is_no_image(self):
        with self.assertRaisesRegex(echoform.MalformedMessage, "unknown pixel scale 9"):
            self.display([1, 2], 9, 1.0)


class AnatomicalPlaces(unittest.TestCase):
    """R = -x, A = y, S = -z, in mm."""

    def image(self, **more):
        return echoform.Image(messages.Image(stream="s", encoding="ENVELOPE_FLOAT32", **more).SerializeToString())

    def check(self, image, index, metres):
        x, y, z = metres
        numpy.testing.assert_allclose(image.ras_of_pixels @ [*index, 1], [-1e3 * x, 1e3 * y, -1e3 * z, 1], atol=1e-12)

    def test_of_a_plane(self):
        image = self.image(pixels=bytes(4 * 12), x=dict(first=-2e-3, last=2e-3, count=3), z=dict(first=0.01, last=0.02, count=4), plane_y=5e-3)
        self.check(image, (0, 0, 0), (-2e-3, 5e-3, 0.01))
        self.check(image, (2, 0, 3), (2e-3, 5e-3, 0.02))
        self.assertGreater(numpy.linalg.det(image.ras_of_pixels), 0, "right-handed")

    def test_of_a_volume(self):
        image = self.image(pixels=bytes(4 * 24), x=dict(first=-2e-3, last=2e-3, count=3), z=dict(first=0.01, last=0.02, count=4),
                           y=dict(first=-1e-3, last=1e-3, count=2))
        self.check(image, (0, 1, 2), (-2e-3, 1e-3, 0.01 + 2 * 0.01 / 3))

    def test_of_a_plane_across_the_array(self):
        image = self.image(pixels=bytes(4 * 12), x=dict(first=-2e-3, last=2e-3, count=3, name="y"), z=dict(first=0.01, last=0.02, count=4))
        self.check(image, (2, 0, 1), (0.0, 2e-3, 0.01 + 0.01 / 3))
        self.assertGreater(numpy.linalg.det(image.ras_of_pixels), 0)

    def test_lines_have_none(self):
        image = self.image(pixels=bytes(4 * 2), x=dict(first=0.0, last=1e-3, count=2, name="range"), z=dict(count=1), lines=dict(radius=0.01))
        with self.assertRaisesRegex(ValueError, "not at places in space"):
            image.ras_of_pixels


class Values(unittest.TestCase):
    def setUp(self):
        self.server = serve(self)

    def image(self, frame, acquisition, stream="echoform"):
        with echoform.ImageSubscriber(self.server.images, stream, timeout=PATIENCE) as images:
            with echoform.FrameSender(acquisition, self.server.frames) as sender:
                return join(images, sender, frame)

    def test_a_point_is_where_it_is_with_the_amplitude_of_its_echo(self):
        # On a pixel: x from -6 to 6 mm in 48 steps, z from 4 to 16 mm in 40.
        place = -0.006 + 0.25e-3 * 30, 0.004 + 0.3e-3 * 20
        acquisition = linear(32, 512)
        image = self.image(scatterer_frame(acquisition, *place), acquisition)
        z, x = numpy.unravel_index(image.pixels.argmax(), image.pixels.shape)
        numpy.testing.assert_allclose((image.x[x], image.z[z]), place, atol=1e-12)
        # All echoes are in phase there. Sampled at 8 per period, linear interpolation takes at most 1 - cos(pi / 8) = 7.6 % off.
        self.assertTrue(924 <= image.pixels.max() <= 1001, image.pixels.max())

    def test_an_image_is_that_of_the_plain_sum_in_double_precision(self):
        chance = numpy.random.default_rng(4)
        for case, more in (("noise", {}), ("late, offset and scaled", dict(start_time=1e-6, time_offset=2e-7, sample_scale=0.125))):
            with self.subTest(case):
                acquisition = linear(8, 256, **more)
                frame = scatterer_frame(acquisition, 0.001, 0.009) + chance.normal(0, 50, acquisition.frame_shape).astype(numpy.int16)
                image = self.image(frame, acquisition)
                # Single precision, on the CPU: rounding of delays of 1e2 samples (1e-5 of a sample, whose phase is pi / 4) and of sums.
                self.assertLess(tfm_reference.relative_l2(image.pixels, reference(frame, acquisition, image)), 1e-5)

    def test_axes_are_those_of_the_grid(self):
        acquisition = linear()
        image = self.image(scatterer_frame(acquisition), acquisition)
        self.assertEqual((image.pixels.shape, image.pixels.dtype), ((41, 49), numpy.float32))
        numpy.testing.assert_array_equal(image.x, numpy.linspace(-0.006, 0.006, 49))
        numpy.testing.assert_array_equal(image.z, numpy.linspace(0.004, 0.016, 41))
        self.assertIsNone(image.y)
        numpy.testing.assert_allclose(image.extent, (-6.125, 6.125, 16.15, 3.85))
        self.assertEqual(image.axes, {"x": ("x", "m"), "z": ("z", "m")})
        self.assertEqual(image.quantity, ("amplitude", ""))
        self.assertFalse(image.pixels.flags.writeable)
        self.assertIs(numpy.asarray(image), image.pixels)
        self.assertEqual(numpy.asarray(image, numpy.float64).dtype, numpy.float64)

    def test_a_volume_of_a_matrix_array_shows_a_point_and_a_plane_of_it_lives_again(self):
        # Voxels of 0.5 mm: x and y from -3 to 3 mm in 12 steps, z from 6 to 12 mm in 12.
        place = 0.001, -0.0015, 0.009
        probe = echoform.Probe.matrix(5, 4, 0.7e-3, 0.8e-3, centre_frequency=5e6, bandwidth=3e6)
        numpy.testing.assert_allclose(probe.centres[[0, 1, 5, 19]], [(-0.0014, -0.0012, 0), (-0.0007, -0.0012, 0), (-0.0014, -0.0004, 0),
                                                                     (0.0014, 0.0012, 0)], atol=1e-15)
        acquisition = echoform.Acquisition(probe, 256, 40e6)
        frame = numpy.rint(echoform.point_scatterers(acquisition, [place], VELOCITY, amplitude=1000.0)).astype(numpy.int16)
        with echoform.Control(self.server.control) as control:
            control.set({"grid.x": [-0.003, 0.003], "grid.y": [-0.003, 0.003], "grid.z": [0.006, 0.012], "grid.pixels": [13, 13, 13]})
            volume = self.image(frame, acquisition)
            self.assertEqual(volume.pixels.shape, (13, 13, 13))
            numpy.testing.assert_array_equal(volume.y, numpy.linspace(-0.003, 0.003, 13))
            z, y, x = numpy.unravel_index(volume.pixels.argmax(), volume.pixels.shape)
            numpy.testing.assert_allclose((volume.x[x], volume.y[y], volume.z[z]), place, atol=1e-12)
            self.assertTrue(924 <= volume.pixels.max() <= 1001, volume.pixels.max())
            with self.assertRaisesRegex(echoform.Rejected, r"\[grid\] y: found \[-0.003, 0.003\]; expected equal ends for one pixel"):
                control.set({"grid.pixels": [13, 13]})
            control.set({"grid.y": place[1], "grid.pixels": [13, 13]})
            plane = self.image(frame, acquisition)
        self.assertIsNone(plane.y)
        # Delays are held to 2^-18 of a sample, from another middle.
        self.assertLess(tfm_reference.relative_l2(plane.pixels, volume.pixels[:, y, :]), 1e-5)

    def test_an_image_tells_of_its_frame(self):
        acquisition = linear()
        frame = scatterer_frame(acquisition)
        before = datetime.datetime.now(datetime.timezone.utc)
        with echoform.ImageSubscriber(self.server.images, timeout=PATIENCE) as images:
            with echoform.FrameSender(acquisition, self.server.frames, connections=2) as sender:
                last = join(images, sender, frame)
                sender.send(frame, sequence=last.sequence + 1, time_ns=1_700_000_000_123_456_789)
                image = images.receive()
                sender.send(frame, time_ns=0)
                unstated = images.receive()
                placed = []
                for position in (-41, 0, None, 2**62):
                    sender.send(frame, position=position)
                    placed.append(images.receive())
                # Shots that a moving probe fired: the frame's is that of the lowest transmit which states one.
                for transmit in reversed(range(acquisition.shots)):
                    sender.send_shot(frame[transmit], transmit, sequence=placed[-1].sequence + 1, position=100 + transmit if transmit else None)
                placed.append(images.receive())
                for wrong in (2**63, -2**63):
                    with self.assertRaisesRegex(ValueError, r"position: found -?\d+; expected -2\^63 \+ 1 to 2\^63 - 1, or None"):
                        sender.send(frame, position=wrong)
                with self.assertRaises(TypeError):
                    sender.send(frame, position=1.5)
        self.assertEqual((image.stream, image.view, image.sequence, image.published),
                         ("echoform", "LL", last.sequence + 1, last.published + 1))
        self.assertEqual(image.acquisition_time_ns, 1_700_000_000_123_456_789)
        self.assertEqual(image.acquisition_time, datetime.datetime(2023, 11, 14, 22, 13, 20, 123456, datetime.timezone.utc))
        self.assertIsNone(unstated.acquisition_time)
        self.assertEqual([image.position for image in placed], [-41, 0, None, 2**62, 101])
        self.assertIn("position -41", repr(placed[0]))
        numpy.testing.assert_array_equal(placed[0].pixels, image.pixels)
        self.assertLess(abs((image.publish_time - before).total_seconds()), 600)
        self.assertTrue(0 < image.latency < PATIENCE)
        self.assertIn("beamform", image.stages)
        self.assertTrue(all(0 <= seconds < PATIENCE for seconds in image.stages.values()))
        self.assertEqual((image.drops, image.clipped_samples, image.invalid_samples), ({}, 0, 0))
        self.assertEqual((image.dynamic_range_db, image.gain_db), (40, 0))
        self.assertEqual(list(image.outlines), ["probe"])
        numpy.testing.assert_allclose(image.outlines["probe"], [(x, 0) for x in acquisition.probe.x], atol=1e-8)

    def test_decibels(self):
        acquisition = linear()
        image = self.image(scatterer_frame(acquisition), acquisition)
        values = image.pixels.astype(float)
        for decibels, zero in ((image.decibels(), image.reference), (image.decibels(reference=2.0), 2.0)):
            self.assertEqual((decibels.shape, decibels.dtype), (values.shape, numpy.float32))
            with numpy.errstate(divide="ignore"):
                numpy.testing.assert_allclose(decibels, 20 * numpy.log10(values / zero), atol=1e-4)
        self.assertGreater(image.reference, 0)

    def test_the_display_stream_is_the_envelope_in_decibels(self):
        acquisition = linear()
        frame = scatterer_frame(acquisition)
        with echoform.ImageSubscriber(self.server.images, timeout=PATIENCE) as envelopes, \
                echoform.ImageSubscriber(self.server.images, "echoform.display", timeout=PATIENCE) as displays, \
                echoform.FrameSender(acquisition, self.server.frames) as sender:
            join(envelopes, sender, frame)
            display = join(displays, sender, frame)
            envelope = envelopes.receive()
            while envelope.sequence < display.sequence:
                envelope = envelopes.receive()
        self.assertEqual((display.pixels.dtype, display.stream), (numpy.uint8, "echoform.display"))
        expected = numpy.clip(envelope.decibels(), -40, 0)
        # One grey level is 40 / 255 dB.
        numpy.testing.assert_allclose(display.decibels(), expected, atol=40 / 255)

    def test_every_view_is_a_stream(self):
        server = serve(self, material={"shear_velocity": 3130.0}, imaging={"views": ["LL", "TT"]})
        acquisition = linear()
        with echoform.ImageSubscriber(server.images, "", timeout=PATIENCE) as images:
            with echoform.FrameSender(acquisition, server.frames) as sender:
                frame = scatterer_frame(acquisition)
                first = join(images, sender, frame)
                while images.receive().stream != "echoform/TT.display":  # the last of a frame
                    pass
                sender.send(frame)
                streams = [images.receive() for _ in range(4)]
        self.assertEqual([image.stream for image in streams], ["echoform/LL", "echoform/LL.display", "echoform/TT", "echoform/TT.display"])
        self.assertEqual({image.sequence for image in streams}, {streams[0].sequence})
        self.assertGreaterEqual(streams[0].sequence, first.sequence)
        self.assertEqual([image.view for image in streams], ["LL", "LL", "TT", "TT"])


class Numbering(unittest.TestCase):
    def count(self, *sequences):
        """(gaps, restarts) of images that come in this order."""
        with echoform.ImageSubscriber("127.0.0.1:9") as images:
            for sequence in sequences:
                images._count(types.SimpleNamespace(sequence=sequence, scan_places=None), 1)
            return images.statistics.gaps, images.statistics.restarts

    def test_the_same_image_again_is_none_more_a_second(self):
        with echoform.ImageSubscriber("127.0.0.1:9") as images:
            for sequence, places in enumerate((3, 3, 3, 4, 4, 0)):
                images._count(types.SimpleNamespace(sequence=sequence, scan_places=places), 1)
            seen = images.statistics
        self.assertEqual((seen.sequences, seen.unchanged), (6, 3))
        self.assertAlmostEqual(seen.images_per_second * seen.seconds, 2.0)

    def test_what_is_passed_over_and_what_begins_anew(self):
        self.assertEqual(self.count(5, 6, 6, 9), (2, 0))
        self.assertEqual(self.count(7, 7 + 65536), (65535, 0))
        self.assertEqual(self.count(7, 8 + 65536), (0, 1))  # far ahead is another numbering
        self.assertEqual(self.count(11, 10), (0, 1))
        self.assertEqual(self.count(2**64 - 2, 2**64 - 1, 0, 2), (1, 0))  # behind the last number comes 0


class Streams(unittest.TestCase):
    def setUp(self):
        self.server = serve(self)
        self.acquisition = linear()
        self.frame = scatterer_frame(self.acquisition)

    def test_gaps_are_counted(self):
        with echoform.ImageSubscriber(self.server.images, timeout=PATIENCE) as images:
            with echoform.FrameSender(self.acquisition, self.server.frames) as sender:
                last = join(images, sender, self.frame).sequence
                before = images.statistics
                for sequence in (last + 1, last + 4, last + 5):
                    sender.send(self.frame, sequence=sequence)
                    self.assertEqual(images.receive().sequence, sequence)
                seen = images.statistics
                self.assertEqual((seen.gaps - before.gaps, seen.sequences - before.sequences, seen.restarts), (2, 3, 0))
                sender.send(self.frame, sequence=0 if last > 300 else last + 5 + 70000)  # either begins the numbering anew
                images.receive()
            with echoform.FrameSender(self.acquisition, self.server.frames) as sender:
                sender.send(self.frame, sequence=1)
                images.receive()
            self.assertGreaterEqual(images.statistics.restarts, 1)
            self.assertEqual(images.statistics.malformed, 0)

    def test_who_comes_late_gets_what_comes_then(self):
        with echoform.ImageSubscriber(self.server.images, timeout=PATIENCE) as early, \
                echoform.FrameSender(self.acquisition, self.server.frames) as sender:
            first = join(early, sender, self.frame)
            with echoform.ImageSubscriber(self.server.images, timeout=PATIENCE) as late:
                image = join(late, sender, self.frame)
                self.assertGreater(image.sequence, first.sequence)
                self.assertEqual((late.statistics.gaps, late.statistics.restarts), (0, 0))
            # Leaving takes nothing from the others.
            sender.send(self.frame)
            while early.receive().sequence < sender.frames_sent - 1:
                pass
            self.assertEqual(early.gaps, 0)

    def test_a_subscriber_that_is_left_unread_has_no_heartbeat_to_time_out(self):
        # libzmq 4.3.4 would end this program then.
        with echoform.ImageSubscriber("127.0.0.1:1") as images, echoform.TelemetrySubscriber("127.0.0.1:1") as telemetry:
            for subscriber in (images, telemetry):
                socket = subscriber._socket._socket
                self.assertEqual((socket.heartbeat_ivl, socket.tcp_keepalive), (0, 1))

    def test_a_subscriber_may_come_before_the_server_and_outlives_it(self):
        with echoform.ImageSubscriber(self.server.images, timeout=PATIENCE) as images:
            with echoform.FrameSender(self.acquisition, self.server.frames) as sender:
                join(images, sender, self.frame)
                sender.send(self.frame, sequence=1000)
                self.assertEqual(images.receive().sequence, 1000)
                self.server.kill()
                with self.assertRaisesRegex(echoform.TimedOut, "no image of stream echoform within 0.1 s"):
                    images.receive(0.1)
                with self.assertRaises(echoform.ConnectionFailed):
                    for _ in range(1000):
                        sender.send(self.frame)
            again = serve(self, server={"images": self.server.images.removeprefix("tcp://")})
            with echoform.FrameSender(self.acquisition, again.frames) as sender:
                image = join(images, sender, self.frame)
            self.assertLess(image.sequence, 1000)
            self.assertEqual(images.statistics.restarts, 1)

    def test_a_slow_reader_of_the_latest_gets_the_latest(self):
        with echoform.ImageSubscriber(self.server.images, timeout=PATIENCE) as every, \
                echoform.ImageSubscriber(self.server.images, latest_only=True, timeout=PATIENCE) as latest, \
                echoform.FrameSender(self.acquisition, self.server.frames) as sender:
            join(every, sender, self.frame)
            first = join(latest, sender, self.frame).sequence
            while every.receive().sequence < first:
                pass
            before = latest.statistics
            for _ in range(200):  # one reads each of them, the other none
                sent = sender.send(self.frame)
                self.assertEqual(every.receive().sequence, sent)
            while latest.receive().sequence < sent:
                pass
            self.assertEqual(every.gaps, 0)
            seen = latest.statistics
            self.assertEqual(seen.gaps - before.gaps + seen.images - before.images, sent - first)
            # What came is the newest, and the little that was on its way.
            self.assertLess(seen.images - before.images, 20)

    def test_time_outs(self):
        with echoform.ImageSubscriber(self.server.images, "nobody", timeout=0.01) as images:
            with self.assertRaises(TimeoutError):
                images.receive()
            with self.assertRaises(echoform.TimedOut):
                next(iter(images))
            with self.assertRaises(echoform.TimedOut):
                images.receive(0)
        with self.assertRaisesRegex(ValueError, "expected tcp://HOST:PORT"):
            echoform.ImageSubscriber("nowhere")
        with self.assertRaisesRegex(ValueError, "name of 128 bytes"):
            echoform.ImageSubscriber(stream="x" * 128)

    def test_an_interruption_ends_the_wait(self):
        with echoform.ImageSubscriber(self.server.images, "nobody") as images:
            timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                images.receive(None)
            timer.join()


if __name__ == "__main__":
    run()
