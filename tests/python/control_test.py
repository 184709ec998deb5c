"""Live control in Python: against the program, and against servers that answer as they should not."""
import threading
import unittest

from support import PATIENCE, join, linear, need, run, scatterer_frame, serve

need("numpy", "zmq", "google.protobuf")
import numpy  # noqa: E402
import zmq  # noqa: E402

import echoform  # noqa: E402
from echoform._messages import messages  # noqa: E402
from echoform.control import text_of, value_of  # noqa: E402


class FakeServer(threading.Thread):
    """Answers requests with what `answers` gives for them: bytes, or None for no answer at all."""

    def __init__(self, *answers):
        super().__init__(daemon=True)
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.ROUTER)
        self.socket.linger = 0
        self.endpoint = f"127.0.0.1:{self.socket.bind_to_random_port('tcp://127.0.0.1')}"
        self.answers = answers
        self.requests = []
        self.start()

    def run(self):
        for answer in self.answers:
            who, empty, request = self.socket.recv_multipart()
            self.requests.append(messages.ControlRequest.FromString(request))
            if answer is not None:
                self.socket.send_multipart([who, empty, answer])

    def stop(self):
        self.join(PATIENCE)
        self.context.destroy()


def reply(**fields):
    return messages.ControlReply(**fields).SerializeToString()


class Protocol(unittest.TestCase):
    def serve(self, *answers):
        server = FakeServer(*answers)
        self.addCleanup(server.stop)
        control = echoform.Control(server.endpoint, timeout=PATIENCE)
        self.addCleanup(control.close)
        return server, control

    def test_values_are_those_of_python(self):
        for text, value in (("6320", 6320), ("[-0.01, 0.01]", [-0.01, 0.01]), ("true", True), ("hann", "hann"),
                            ('["LL", "TT"]', ["LL", "TT"])):
            self.assertEqual((value_of(text), text_of(value)), (value, text))
        self.assertEqual((value_of(""), text_of(None), value_of('"hann"'), text_of((1, 2))), (None, "", "hann", "[1, 2]"))
        self.assertEqual([text_of(value) for value in (numpy.float64(0.5), numpy.array([1, 2]), numpy.linspace(0, 1, 2))],
                         ["0.5", "[1, 2]", "[0.0, 1.0]"])

    def test_requests_and_replies(self):
        settings = [messages.Setting(key="grid.x", value="[-0.01, 0.01]", unit="m", type="two numbers", low=-10, high=10,
                                     effect="imaging"),
                    messages.Setting(key="grid.z", in_use="[0, 0.05]"),
                    messages.Setting(key="apodization.window", value="none", words=["none", "hann"])]
        server, control = self.serve(reply(outcome=1, revision=3, streaming=True, server="Echoform 0.1", settings=settings),
                                     reply(outcome=1, revision=3, settings=settings[1:2]), reply(outcome=1, revision=4),
                                     reply(outcome=1, revision=5), reply(outcome=1, revision=6))
        found = control.settings()
        self.assertEqual((control.revision, control.streaming, control.server), (3, True, "Echoform 0.1"))
        self.assertEqual(list(found), ["grid.x", "grid.z", "apodization.window"])
        x = found["grid.x"]
        self.assertEqual((x.value, x.unit, x.low, x.high, x.effect), ([-0.01, 0.01], "m", -10, 10, "imaging"))
        self.assertEqual((found["grid.z"].value, found["grid.z"].low, found["apodization.window"].words), (None, None, ("none", "hann")))
        self.assertEqual(control["grid.z"], [0, 0.05])  # nothing is set, this is in use
        changes = {"grid.x": numpy.array([-0.5, 0.5]), "grid.z": None, "apodization.window": "hann"}
        self.assertEqual(control.set(changes, expected_revision=3), 4)
        control["output.gain_db"] = 6
        self.assertEqual(control.reset("grid.x"), 6)
        get, one, change, item, reset = server.requests
        self.assertEqual([request.action for request in server.requests], ["get", "get", "set", "set", "reset"])
        self.assertEqual((list(get.keys), list(one.keys), list(reset.keys)), ([], ["grid.z"], ["grid.x"]))
        self.assertEqual([(c.key, c.value) for c in change.changes],
                         [("grid.x", "[-0.5, 0.5]"), ("grid.z", ""), ("apodization.window", "hann")])
        self.assertEqual((change.expected_revision, item.expected_revision, item.changes[0].value), (3, 0, "6"))

    def test_refusals(self):
        server, control = self.serve(reply(outcome=2, reason="grid.x: found \x1b1"), reply(outcome=3, reason="revision 9"),
                                     reply(outcome=4, reason="no memory"), reply(outcome=99), b"\x0a", reply(outcome=1, revision=1))
        for error, line in ((echoform.Rejected, "^grid.x: found \\?1$"), (echoform.Conflict, "^revision 9$"),
                            (echoform.EchoformError, "^no memory$"), (echoform.EchoformError, "^outcome 99 without a reason$"),
                            (echoform.MalformedMessage, "not a ControlReply")):
            with self.assertRaisesRegex(error, line):
                control.reset()
        self.assertEqual(control.reset(), 1)  # none of them left it unusable

    def test_a_server_that_does_not_answer(self):
        server, control = self.serve(None, reply(outcome=1, revision=7))
        control.timeout = 0.2
        with self.assertRaisesRegex(echoform.TimedOut, "did not answer within 0.2 s"):
            control.reset()
        control.timeout = PATIENCE
        self.assertEqual(control.reset(), 7)


class Live(unittest.TestCase):
    def setUp(self):
        self.server = serve(self)
        self.control = echoform.Control(self.server.control, timeout=PATIENCE)
        self.addCleanup(self.control.close)

    def test_a_change_of_the_grid_is_seen_in_the_next_images(self):
        acquisition = linear()
        frame = scatterer_frame(acquisition)
        with echoform.ImageSubscriber(self.server.images, timeout=PATIENCE) as images, \
                echoform.FrameSender(acquisition, self.server.frames) as sender:
            before = join(images, sender, frame)
            self.assertEqual(before.pixels.shape, (41, 49))
            self.assertEqual(self.control["grid.pixels"], [49, 41])
            revision = self.control.set({"grid.pixels": [30, 20], "grid.x": [-0.004, 0.004]})
            self.assertTrue(self.control.streaming)
            after = self.until(images, sender, frame, revision)
            self.assertEqual(after.pixels.shape, (20, 30))
            numpy.testing.assert_array_equal(after.x, numpy.linspace(-0.004, 0.004, 30))
            self.assertEqual(images.gaps, 0)
            again = self.until(images, sender, frame, self.control.reset())
            numpy.testing.assert_array_equal(again.pixels, before.pixels)

    def until(self, images, sender, frame, revision):
        """The first image by these settings."""
        while True:
            sender.send(frame)
            image = images.receive()
            if image.settings_revision >= revision:
                return image

    def test_what_is_wrong_is_refused_whole(self):
        revision = self.control.reset()
        for changes, line in (({"grid.pixels": [0, 1]}, "grid.*pixels|pixels.*grid"), ({"output.gain_db": 3, "grid.nothing": 1}, "nothing"),
                              ({"output.gain_db": "much"}, "gain_db")):
            with self.subTest(line), self.assertRaisesRegex(echoform.Rejected, line):
                self.control.set(changes)
        self.assertEqual((self.control["output.gain_db"], self.control.revision), (0, revision))
        self.control["output.gain_db"] = 3
        with self.assertRaises(echoform.Conflict):
            self.control.set({"output.gain_db": 4}, expected_revision=revision)
        self.assertEqual(self.control["output.gain_db"], 3)


if __name__ == "__main__":
    run()
