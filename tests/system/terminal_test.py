"""What a peer has put into its messages cannot steer the terminal that shows it, nor make one line look like two."""
import json
import re
import signal
import subprocess
import sys
import threading
import unittest

sys.dont_write_bytecode = True
from program_case import PROGRAM, ProgramCase  # noqa: E402

try:
    import numpy
    import zmq
    from echoform._messages import messages
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

PATIENCE = 60
EVIL = "a\033[2J\rb\nrevision 99\u009b31m\u202e\x7f"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


class Terminal(ProgramCase):
    def socket(self, kind):
        context = zmq.Context()
        self.addCleanup(context.term)
        socket = context.socket(kind)
        socket.linger = 0
        socket.rcvtimeo = 1000 * PATIENCE
        self.addCleanup(socket.close)
        return socket, f"tcp://127.0.0.1:{socket.bind_to_random_port('tcp://127.0.0.1')}"

    def assert_harmless(self, result):
        self.assertIsNone(CONTROL.search(result.stdout.replace("\n", "")), repr(result.stdout))
        self.assertIsNone(CONTROL.search(result.stderr.replace("\n", "")), repr(result.stderr))

    def asked(self, reply, *arguments):
        socket, endpoint = self.socket(zmq.REP)

        def answer():
            socket.recv()
            socket.send(reply.SerializeToString())

        thread = threading.Thread(target=answer)
        thread.start()
        result = subprocess.run([PROGRAM, "control", *arguments, "--connect", endpoint], capture_output=True, timeout=PATIENCE)
        thread.join()
        result.stdout, result.stderr = result.stdout.decode(), result.stderr.decode()
        self.assert_harmless(result)
        return result

    def reply(self, **more):
        setting = dict(key=EVIL, value=EVIL, in_use=EVIL, file_value="", type=EVIL, unit=EVIL, range=EVIL, default_value=EVIL, help=EVIL, effect=EVIL)
        return messages.ControlReply(outcome=1, revision=3, server=EVIL, settings=[setting], sinks=[EVIL], warnings=[EVIL], **more)

    def test_control_shows_settings_of_any_server(self):
        result = self.asked(self.reply(), "get", "output.gain_db")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([line for line in result.stdout.splitlines() if line.startswith("revision")], ["revision 3, for the next stream"])

    def test_control_as_json(self):
        result = self.asked(self.reply(), "get", "--json")
        self.assertEqual(json.loads(result.stdout)["server"], EVIL)

    def test_control_shows_the_reason_of_any_server(self):
        result = self.asked(messages.ControlReply(outcome=2, reason=EVIL), "set", "output.gain_db=1")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(len([line for line in result.stderr.splitlines() if line.startswith("echoform: ")]), 1)

    def viewed(self, *options):
        publisher, endpoint = self.socket(zmq.XPUB)
        viewer = subprocess.Popen([PROGRAM, "view", "--connect", endpoint, "--stream", "", "--frames", "3", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for cleanup in (viewer.stderr.close, viewer.stdout.close, viewer.wait, viewer.kill):
            self.addCleanup(cleanup)
        publisher.recv()
        pixels = numpy.zeros(12, "<f4").tobytes()
        for sequence in range(3):
            image = messages.Image(stream=EVIL, sequence=sequence, view=EVIL, x=messages.Axis(first=0, last=1e-3, count=4),
                                   z=messages.Axis(first=0, last=1e-3, count=3), encoding=1, pixels=pixels,
                                   stages=[messages.StageDuration(stage=EVIL, nanoseconds=1000)], drops=[messages.DropCount(reason=EVIL, frames=3)])
            publisher.send(image.SerializeToString())
        output, errors = viewer.communicate(timeout=PATIENCE)
        self.assertEqual(viewer.returncode, 0, errors)
        result = subprocess.CompletedProcess([], 0, output.decode(), errors.decode())
        self.assert_harmless(result)
        return result.stdout

    def test_view_shows_names_of_any_publisher(self):
        output = self.viewed()
        self.assertIn("stage a?[2J?b?revision 99", output)
        self.assertEqual([line for line in output.splitlines() if line.startswith("revision")], [])

    def test_view_as_json(self):
        self.assertIn(EVIL, json.loads(self.viewed("--json"))["stages"])

    def test_view_of_the_newest_survives_messages_of_several_parts(self):
        publisher, endpoint = self.socket(zmq.XPUB)
        publisher.sndhwm = 0
        viewer = subprocess.Popen([PROGRAM, "view", "--connect", endpoint, "--stream", "", "--latest", "--json"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        for cleanup in (viewer.stderr.close, viewer.stdout.close, viewer.wait, viewer.kill):
            self.addCleanup(cleanup)
        publisher.recv()
        # Their parts take a while to come: somebody reads the first before the last is there.
        for _ in range(3):
            publisher.send_multipart([b"first"] + 200 * [bytes(60000)])
        image = messages.Image(stream="s", sequence=7, view="LL", x=messages.Axis(first=0, last=1e-3, count=4),
                               z=messages.Axis(first=0, last=1e-3, count=3), encoding=1, pixels=bytes(48))
        publisher.send(image.SerializeToString())
        said = ""
        for line in viewer.stderr:
            said += line
            if re.search(r"^1 images.* sequence 7", line):
                break
        viewer.send_signal(signal.SIGTERM)
        output, errors = viewer.communicate(timeout=PATIENCE)
        self.assertEqual(viewer.returncode, 0, said + errors)
        summary = json.loads(output)
        self.assertEqual((summary["malformed"], summary["images"]), (3, 1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
