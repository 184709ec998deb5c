"""Telemetry in Python: closure and counters of a known run, and messages that are none."""
import datetime
import unittest

from support import PATIENCE, linear, need, run, scatterer_frame, serve

need("numpy", "zmq", "google.protobuf")
import zmq  # noqa: E402

import echoform  # noqa: E402
from echoform._messages import messages  # noqa: E402


class Telemetry(unittest.TestCase):
    def test_counts_are_exact_and_close(self):
        server = serve(self)
        acquisition = linear()
        frame = scatterer_frame(acquisition)
        with echoform.TelemetrySubscriber(server.telemetry, timeout=PATIENCE) as telemetry:
            first = telemetry.receive()
            self.assertEqual((first.stream, first.frames_received, first.acquisition), ("echoform", 0, ""))
            with echoform.FrameSender(acquisition, server.frames) as sender:
                for sequence in (0, 1, 2, 5, 6):  # two are missing
                    sender.send(frame, sequence=sequence)
                for transmit in range(3):  # a frame that stays incomplete
                    sender.send_shot(frame[transmit], transmit, sequence=7)
            reports = []
            for report in telemetry:
                reports.append(report)
                self.assertTrue(report.closed, report)
                if report.frames_received == 6 and report.frames_in_flight == 0:
                    break
        last = reports[-1]
        self.assertEqual((last.frames_published, last.frames_dropped, last.drops["incomplete"], last.sequence_gaps), (5, 1, 1, 2))
        self.assertEqual(last.bytes_received, 5 * acquisition.frame_bytes + 3 * 8 * acquisition.a_scan_bytes)
        self.assertIn("8 elements, full matrix, 256 samples at 40 MHz, int16", last.acquisition)
        self.assertTrue(last.backend.startswith("cpu"), last.backend)
        self.assertEqual((last.slots, last.slots_free), (4, 4))
        latencies = [report.distributions["frame_latency"] for report in reports]
        self.assertEqual(sum(latency.count for latency in latencies), 5)
        for latency in latencies:
            if latency.count:
                self.assertTrue(0 < latency.p50 <= latency.p99 < PATIENCE)
                self.assertTrue(0 < latency.mean <= latency.maximum < PATIENCE)
        self.assertIn("stage_beamform", last.distributions)
        self.assertGreater(last.time, first.time)
        self.assertLess(abs(datetime.datetime.now(datetime.timezone.utc) - last.time), datetime.timedelta(minutes=10))

    def test_messages_that_are_none_are_skipped_and_counted(self):
        with zmq.Context() as context, context.socket(zmq.XPUB) as publisher:
            publisher.linger = 0
            publisher.rcvtimeo = int(1000 * PATIENCE)
            port = publisher.bind_to_random_port("tcp://127.0.0.1")
            with echoform.TelemetrySubscriber(f"127.0.0.1:{port}", timeout=PATIENCE) as telemetry:
                publisher.recv()
                for wrong in (b"", b"nonsense", b"\x0a\x01\xff", messages.Telemetry(frames_received=1).SerializeToString()):
                    publisher.send(wrong)
                publisher.send_multipart([messages.Telemetry(stream="s").SerializeToString(), b""])
                drops = [messages.Drop(reason="ring_full", frames=2)]
                publisher.send(messages.Telemetry(stream="s", frames_received=9, frames_published=6, drops=drops).SerializeToString())
                report = telemetry.receive()
                self.assertEqual(telemetry.malformed, 5)
                self.assertEqual((report.frames_received, report.drops, report.closed), (9, {"ring_full": 2}, False))
                with self.assertRaisesRegex(echoform.TimedOut, "no telemetry within 0.01 s"):
                    telemetry.receive(0.01)


if __name__ == "__main__":
    run()
