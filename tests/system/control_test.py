"""`echoform control` against a server that images: every image is by one set of settings, none is lost, what is refused changes
nothing."""
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

try:
    import zmq
    from image_pb2 import Image
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

PROGRAM = sys.argv[1]
PATIENCE = 60
CONFIG = """
[material]
longitudinal_velocity = 6320.0
[grid]
x = [-0.004, 0.004]
z = [0.002, 0.010]
pixels = [16, 16]
[imaging]
backend = "cpu"
threads = 1
[input]
listen = "127.0.0.1:0"
incomplete_timeout = 60
[server]
images = "127.0.0.1:0"
telemetry = "127.0.0.1:0"
control = "127.0.0.1:0"
web = "127.0.0.1:0"
"""


class Images:
    """Every image of the envelope, in order."""

    def __init__(self, endpoint):
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.SUB)
        self.socket.setsockopt(zmq.RCVHWM, 0)
        self.socket.setsockopt(zmq.RCVTIMEO, 1000 * PATIENCE)
        self.socket.setsockopt(zmq.SUBSCRIBE, b"\x0a\x08echoform")
        self.socket.connect(endpoint)
        self.seen = []

    def until_revision(self, revision):
        while not self.seen or self.seen[-1].settings_revision < revision:
            self.seen.append(Image.FromString(self.socket.recv()))
        return self.seen[-1]

    def close(self):
        self.socket.close(0)
        self.context.term()


class Control(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        config = self.path / "serve.toml"
        config.write_text(CONFIG)
        self.server = subprocess.Popen([PROGRAM, "serve", "--config", str(config)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.places = {}
        while "control" not in self.places:
            line = self.server.stdout.readline()
            self.places[line[:11].strip()] = line[12:].strip()
        for cleanup in (self.server.stderr.close, self.server.stdout.close, self.server.wait, self.server.kill):
            self.addCleanup(cleanup)

    def control(self, *words, code=0):
        result = subprocess.run([PROGRAM, "--log-level", "warning", "control", "--connect", self.places["control"], *words],
                                capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout if code == 0 else result.stderr

    def simulate(self):
        config = self.path / "simulator.toml"
        config.write_text("[simulator]\nelements = 8\nsamples = 300\ncycle_frames = 4\n")
        sender = subprocess.Popen([PROGRAM, "--log-level", "warning", "simulate", "--connect", self.places["frames in"].split("tcp://")[-1].split()[-1],
                                   "--config", str(config), "--rate", "100"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for cleanup in (sender.stderr.close, sender.wait, sender.kill):
            self.addCleanup(cleanup)
        return sender

    def test_changes_while_frames_run(self):
        settings = json.loads(self.control("get", "--json"))
        self.assertEqual((settings["revision"], settings["streaming"]), (1, False))
        self.assertEqual(settings["settings"]["grid.x"]["value"], "[-0.004, 0.004]")
        self.assertEqual(settings["settings"]["apodization.window"]["words"], ["none", "hann", "tukey"])

        images = Images(self.places["images out"])
        self.addCleanup(images.close)
        sender = self.simulate()
        first = images.until_revision(1)
        self.assertEqual((first.x.first, first.x.last, first.x.count, first.gain_db), (-0.004, 0.004, 16, 0))

        out = self.control("set", "grid.x=[-0.003, 0.001]", "grid.pixels=[20, 12]", "output.gain_db=6")
        self.assertRegex(out, r"(?m)^grid\.x +\[-0\.003, 0\.001\] m  \(changed\)$")
        self.assertRegex(out, r"(?m)^revision 2$")
        moved = images.until_revision(2)
        self.assertEqual((moved.x.first, moved.x.last, moved.x.count, moved.z.count, moved.gain_db), (-0.003, 0.001, 20, 12, 6))
        self.assertEqual(len(moved.pixels), 4 * 20 * 12)

        for change, reason in (("output.gain_db=999", "[output] gain_db: found 999; expected a number in dB, -200 to 200"),
                               ("input.slots=9", "[input] slots: found a change while the server runs"),
                               ("imaging.views=[\"TT\"]", "settings: [material] shear_velocity: found no value"),
                               ("grid.pixels=[65536, 65536]", "expected"),
                               ("nonsense", "control set: found \"nonsense\"; expected KEY=VALUE")):
            error = self.control("set", "output.dynamic_range_db=55", change, code=2)
            self.assertIn(reason, error)
            self.assertEqual(len(error.splitlines()), 1, error)
        self.assertIn("expected 1: they have changed meanwhile", self.control("set", "output.gain_db=1", "--expect-revision", "1", code=2))
        self.assertIn("action: found \"fly\"; expected one of get, set, reset", self.control("fly", code=2))
        self.assertEqual(self.control("get", "output.dynamic_range_db").splitlines()[0].split()[1], "40")
        web = re.search(r"http://[^/ ]+", self.places["viewer"])[0]
        with urllib.request.urlopen(web + "/metrics", timeout=PATIENCE) as page:
            self.assertIn("\nechoform_settings_revision 2\n", page.read().decode())

        self.assertRegex(self.control("set", "output.gain_db=-3", "apodization.window=hann", "--expect-revision", "2"), r"(?m)^revision 3$")
        images.until_revision(3)
        self.assertRegex(self.control("reset"), r"(?m)^revision 4$")
        last = images.until_revision(4)
        self.assertEqual((last.x.first, last.x.count, last.gain_db), (-0.004, 16, 0))

        # In order, none missing, each with the geometry of its settings, and no settings twice.
        geometry = {1: (16, 16), 2: (20, 12), 3: (20, 12), 4: (16, 16)}
        sequences = [image.sequence for image in images.seen]
        self.assertEqual(sequences, list(range(sequences[0], sequences[0] + len(sequences))))
        revisions = [image.settings_revision for image in images.seen]
        self.assertEqual(revisions, sorted(revisions))
        self.assertEqual(set(revisions), set(geometry))
        for image in images.seen:
            self.assertEqual((image.x.count, image.z.count), geometry[image.settings_revision])

        sender.send_signal(signal.SIGTERM)
        sender.wait(PATIENCE)
        self.server.send_signal(signal.SIGTERM)
        out, errors = self.server.communicate(timeout=PATIENCE)
        self.assertEqual(self.server.returncode, 0, errors)
        self.assertIn("drops none", out)

    def test_settings_without_a_stream_and_the_end(self):
        self.assertIn("revision 2, for the next stream", self.control("set", "output.gain_db=4"))
        self.assertRegex(self.control("get", "output.gain_db"), r"(?m)^output\.gain_db  4 dB  \(changed\)\n  Gain of the display; .*\.$")
        self.simulate()
        images = Images(self.places["images out"])
        self.addCleanup(images.close)
        self.assertEqual(images.until_revision(1).settings_revision, 2)
        begin = time.monotonic()
        self.server.send_signal(signal.SIGTERM)
        self.server.wait(PATIENCE)
        error = self.control("get", "--timeout", "0.5", code=1)
        self.assertIn("no reply from tcp://127.0.0.1:", error)
        self.assertIn("is a server there, and do --server-key and --key fit?", error)
        self.assertLess(time.monotonic() - begin, PATIENCE)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
