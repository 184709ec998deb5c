"""CURVE: subscribers with the right keys get what is published, others get nothing."""
import pathlib
import tempfile
import unittest

from support import PATIENCE, need, run

need("numpy", "zmq", "google.protobuf")
import zmq  # noqa: E402
import zmq.auth  # noqa: E402

if not zmq.has("curve"):
    print("SKIPPED: this libzmq has no CURVE")
    raise SystemExit(77)

import echoform  # noqa: E402
from echoform._messages import messages  # noqa: E402


class Keys(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # Files as ZeroMQ has them, which `echoform keygen` writes too; only their endings differ.
        self.server, self.client = ([pathlib.Path(file) for file in zmq.auth.create_certificates(self.folder, name)]
                                    for name in ("server", "client"))
        context = zmq.Context()
        self.addCleanup(context.term)
        self.publisher = context.socket(zmq.XPUB)
        self.addCleanup(self.publisher.close)
        self.publisher.linger = 0
        self.publisher.rcvtimeo = int(1000 * PATIENCE)
        self.publisher.curve_server = True
        self.publisher.curve_publickey, self.publisher.curve_secretkey = zmq.auth.load_certificate(self.server[1])
        self.endpoint = f"127.0.0.1:{self.publisher.bind_to_random_port('tcp://127.0.0.1')}"

    def test_the_right_key_receives(self):
        for client in (self.client[1], None):  # one's own, or one of the moment
            with echoform.TelemetrySubscriber(self.endpoint, timeout=PATIENCE, server_key=self.server[0], client_key=client) as telemetry:
                self.assertEqual(self.publisher.recv(), b"\x01")
                self.publisher.send(messages.Telemetry(stream="s", frames_received=3).SerializeToString())
                self.assertEqual(telemetry.receive().frames_received, 3)
            self.assertEqual(self.publisher.recv(), b"\x00")

    def test_a_wrong_key_or_none_gets_nothing(self):
        with echoform.TelemetrySubscriber(self.endpoint, timeout=0.3, server_key=self.client[0]) as wrong, \
                echoform.TelemetrySubscriber(self.endpoint, timeout=0.3) as none, \
                echoform.TelemetrySubscriber(self.endpoint, timeout=PATIENCE, server_key=self.server[0]) as right:
            self.assertEqual(self.publisher.recv(), b"\x01")
            self.publisher.send(messages.Telemetry(stream="s").SerializeToString())
            right.receive()
            for other in (wrong, none):
                with self.assertRaises(echoform.TimedOut):
                    other.receive()

    def test_files_that_hold_no_key(self):
        nothing = self.folder / "nothing"
        nothing.write_text("")
        for keys, line in ((dict(server_key="/nowhere"), "server_key: .*nowhere"), (dict(server_key=nothing), "server_key: .*nothing"),
                           (dict(server_key=self.server[0], client_key=self.client[0]), "holds no secret key; expected PREFIX.secret"),
                           (dict(client_key=self.client[1]), "found it without server_key")):
            with self.subTest(line), self.assertRaisesRegex(ValueError, line):
                echoform.ImageSubscriber(self.endpoint, **keys)


if __name__ == "__main__":
    run()
