"""The program of examples/method: every command takes its method, and its image is, bit for bit, the greater of the two views'."""
import json
import re
import tomllib
import unittest
import urllib.request

import numpy

import echoform
from program_case import EXAMPLE, PROGRAM, ProgramCase

try:
    import google.protobuf  # noqa: F401
    import zmq  # noqa: F401
    live = True
except ImportError:
    live = False

CONFIG = EXAMPLE / "maximum.toml"
SETTINGS = tomllib.loads(CONFIG.read_text())
VELOCITIES = {"L": SETTINGS["material"]["longitudinal_velocity"], "T": SETTINGS["material"]["shear_velocity"]}
VIEWS = SETTINGS["maximum"]["views"]
SHAPE = tuple(reversed(SETTINGS["grid"]["pixels"]))
FREQUENCY, RATE, SAMPLES, ELEMENTS, PITCH = 5e6, 50e6, 1024, 24, 0.6e-3
ACQUISITION = echoform.Acquisition(echoform.Probe.linear(ELEMENTS, PITCH, element_width=0.5e-3, centre_frequency=FREQUENCY, bandwidth=3e6),
                                   SAMPLES, RATE, matrix="full", encoding="float32")


def echoes():
    """[tx, rx, sample]: of two scatterers, one by longitudinal waves alone, one by shear waves alone."""
    elements = (numpy.arange(ELEMENTS) - 0.5 * (ELEMENTS - 1)) * PITCH
    frame = numpy.zeros((ELEMENTS, ELEMENTS, SAMPLES))
    for mode, x, z in (("L", -0.005, 0.012), ("T", 0.004, 0.018)):
        way = numpy.hypot(x - elements, z) / VELOCITIES[mode]
        t = numpy.arange(SAMPLES) / RATE - (way[:, None, None] + way[None, :, None])
        frame += numpy.exp(-0.5 * (t / 0.2e-6) ** 2) * numpy.cos(2 * numpy.pi * FREQUENCY * t)
    return frame.astype(numpy.float32)


def greater(images, weight):
    return numpy.maximum(images[VIEWS[0]], numpy.float32(weight) * images[VIEWS[1]])


class Method(ProgramCase):
    def send(self, address):
        with echoform.FrameSender(ACQUISITION, address) as sender:
            sender.send(echoes())

    def images(self, recording, name="image", config=CONFIG):
        """By view, of a recording."""
        self.run_program("image", recording, "--config", config, "--output", self.path / f"{name}.npy")
        return {view: numpy.load(self.path / f"{name}.{view}.npy") for view in ("maximum", *VIEWS)}

    def config(self, replace, text, name="other.toml"):
        stated = CONFIG.read_text()
        self.assertIn(replace, stated)
        (self.path / name).write_text(stated.replace(replace, text))
        return self.path / name

    def test_its_image_is_the_greater_of_two(self):
        recording = self.recorded(self.send)
        images = self.images(recording)
        self.assertEqual(images["maximum"].shape, SHAPE)
        self.assertEqual(images["maximum"].tobytes(), greater(images, SETTINGS["maximum"]["weight"]).tobytes())
        for view in VIEWS:
            self.assertTrue((images["maximum"] == images[view] * numpy.float32(1.0 if view == VIEWS[0] else 0.5)).any(), view)
        # Those of the two views are the total focusing method's own.
        (self.path / "tfm.toml").write_text(re.sub(r'(?s)method = "maximum".*?\n\[simulator\]', f"views = {json.dumps(VIEWS)}\n\n[simulator]",
                                                   CONFIG.read_text()))
        self.run_program("image", recording, "--backend", "cpu", "--config", self.path / "tfm.toml", "--output", self.path / "tfm.npy")
        for view in VIEWS:
            self.assertEqual(numpy.load(self.path / f"tfm.{view}.npy").tobytes(), images[view].tobytes())

    def test_commands_know_it(self):
        self.assertRegex(self.run_program("info"), r"methods +tfm: [^\n]+\n +beams: [^\n]+\n +tomography: [^\n]+\n +maximum: of the envelopes of two views")
        keys = self.run_program("info", "--config-keys")
        self.assertIn("[maximum]", keys)
        self.assertRegex(keys, r"`weight`.*0 to 1000")
        report = self.path / "plan.json"
        self.assertIn("2 views", self.run_program("plan", "--config", CONFIG, "--json", report))
        self.assertGreater(json.loads(report.read_text())["images_per_second"], 0.0)
        # The image that it adds is reckoned: 4 bytes a pixel and slot of the envelope, one of what is shown.
        memory = self.plan_memory(CONFIG)
        views = self.config('method = "maximum"', f"views = {json.dumps(VIEWS)}")
        slots = json.loads(report.read_text())["memory"]["frames_in_flight"]
        self.assertEqual(memory - self.plan_memory(views), 5 * slots * SHAPE[0] * SHAPE[1])

    def plan_memory(self, config):
        report = self.path / "memory.json"
        self.run_program("plan", "--config", config, "--backend", "cpu", "--no-measure", "--json", report)
        return json.loads(report.read_text())["memory"]["bytes"]

    def test_a_demo_shows_it(self):
        doors = "".join(f'{key} = "127.0.0.1:0"\n' for key in ("images", "telemetry", "control", "web"))
        config = self.path / "demo.toml"
        config.write_text(CONFIG.read_text() + f'\n[input]\nlisten = "127.0.0.1:0"\n[server]\n{doors}')
        snapshot = self.path / "demo.npy"
        output = self.run_program("demo", "--config", config, "--seconds", "1", "--snapshot", snapshot)
        received, published, dropped, in_flight = map(int, re.search(
            r"frames received (\d+) = published (\d+) \+ dropped (\d+) \+ in flight (\d+)", output).groups())
        self.assertEqual(received, published + dropped + in_flight)
        self.assertGreater(published, 0)
        image = numpy.load(snapshot)
        self.assertEqual(image.shape, SHAPE)
        self.assertGreater(image.max(), 0.0)

    @unittest.skipUnless(live, "no pyzmq or protobuf")
    def test_a_server_shows_it_live_and_the_weight_is_a_retune(self):
        folder = self.path / "recorded"
        folder.mkdir()
        settings = {section: SETTINGS[section] for section in ("material", "grid", "imaging", "maximum")}
        settings["output"] = {"running_fraction": 1e-6}
        settings["probe"] = {"element_length": 0.01}  # replaces what the data state: see setups()
        settings["recorder"] = {"folder": str(folder), "min_free_bytes": 0, "file": "live.mfmc"}
        with echoform.Server(settings, program=PROGRAM) as server, echoform.Control(server.control) as control, \
                echoform.FrameSender(ACQUISITION, server.frames) as sender:
            subscribers = {view: echoform.ImageSubscriber(server.images, f"echoform/{view}", timeout=0.2) for view in ("maximum", *VIEWS)}
            for subscriber in subscribers.values():
                self.addCleanup(subscriber.close)
            first = self.images_now(subscribers, sender, 1)
            self.assertEqual(first["maximum"].pixels.tobytes(), self.expected(first, SETTINGS["maximum"]["weight"]))
            self.assertIn("maximum", first["maximum"].stages)
            # Whether there is a GPU or not: [imaging] backend is "auto".
            reason = "images are formed on the CPU; not on a GPU: the stage maximum of the method maximum is for the CPU alone"
            self.assertEqual(sum(reason in line for line in list(server._errors)), 1)

            self.assertEqual(control.settings("maximum.weight")["maximum.weight"].effect, "display")
            setups = self.setups(server)
            revision = control.set({"maximum.weight": 8.0})
            louder = self.images_now(subscribers, sender, revision)
            self.assertEqual(louder["maximum"].pixels.tobytes(), self.expected(louder, 8.0))
            self.assertGreater(louder["maximum"].reference, 4.0 * first["maximum"].reference)
            revision = control.set({"maximum.weight": 0.5})
            softer = self.images_now(subscribers, sender, revision)
            self.assertEqual(softer["maximum"].pixels.tobytes(), first["maximum"].pixels.tobytes())
            # What is 0 dB runs on from what was louder: it falls by a millionth of the way with each frame.
            self.assertGreater(softer["maximum"].reference, 0.99 * louder["maximum"].reference)
            self.assertEqual(self.setups(server), setups, "nothing was resolved anew")

            with self.assertRaisesRegex(echoform.EchoformError, r"\[maximum\] weight: found -1; expected a number, 0 to 1000"):
                control.set({"maximum.weight": -1})
            with self.assertRaisesRegex(echoform.EchoformError, r"\[maximum\] views: found \"XY\"; expected LL"):
                control.set({"maximum.views": ["LL", "XY"]})

            revision = control.set({"maximum.views": list(reversed(VIEWS)), "grid.pixels": [33, 33]})
            turned = self.images_now(subscribers, sender, revision)
            self.assertEqual(turned["maximum"].pixels.shape, (33, 33))
            self.assertEqual(self.setups(server), setups + 1)
            # To another method and back, while frames run.
            revision = control.set({"imaging.method": "tfm", "imaging.views": VIEWS})
            self.images_now({view: subscribers[view] for view in VIEWS}, sender, revision)
            # Its views are those of [maximum]: others would be passed over.
            with self.assertRaisesRegex(echoform.EchoformError, r'\[imaging\] views: found \["LL", "TT"\] with \[imaging\] method = "maximum"'):
                control.set({"imaging.method": "maximum"})
            revision = control.set({"imaging.method": "maximum", "imaging.views": ["LL"]})
            self.images_now(subscribers, sender, revision)
            self.page(server)
        recorded = self.images(folder / "live.mfmc", "again")
        plain = self.images(self.recorded(self.send))
        self.assertEqual(recorded["maximum"].tobytes(), plain["maximum"].tobytes())

    def expected(self, images, weight):
        return greater({view: images[view].pixels for view in VIEWS}, weight).tobytes()

    def page(self, server):
        """What the page asks: streams and settings."""
        with urllib.request.urlopen(server.web + "streams.json", timeout=60) as answer:
            streams = json.load(answer)["streams"]
        self.assertEqual({stream["view"] for stream in streams}, {"maximum", *VIEWS})
        request = urllib.request.Request(server.web + "control", json.dumps({"action": "get", "keys": ["maximum.weight", "grid.x"]}).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            reply = json.load(answer)
        self.assertEqual([setting["key"] for setting in reply["settings"]], ["maximum.weight", "grid.x"])

    def setups(self, server):
        """How often a setup was resolved: each says in a line of the log what replaces the data's."""
        return sum("element_length" in line and "replaces" in line for line in list(server._errors))

    def images_now(self, subscribers, sender, revision):
        """Sends until an image by these settings has come of each view: a publisher does not say when a subscription has reached it."""
        frame, found = echoes(), {}
        for _ in range(300):
            sender.send(frame)
            for view, subscriber in subscribers.items():
                while True:
                    try:
                        image = subscriber.receive()
                    except echoform.TimedOut:
                        break
                    if image.settings_revision == revision:
                        found[view] = image
                        break
            if len(found) == len(subscribers):
                return found
        self.fail(f"no image by revision {revision}: {found}")

    def test_bad_values_get_one_line_and_code_2(self):
        plan = ("plan", "--no-measure")
        self.assertIn("[maximum] weight: found -1; expected a number, 0 to 1000", self.bad_line(*plan, replace="weight = 0.5", text="weight = -1"))
        views = f"views = {json.dumps(VIEWS)}"
        self.assertIn("expected a list of texts, 2 of them", self.bad_line(*plan, replace=views, text='views = ["LL"]'))
        self.assertIn('[maximum] views: found "XY"; expected LL, LT, TL or TT', self.bad_line(*plan, replace=views, text='views = ["LL", "XY"]'))
        self.assertIn('[maximum] views: found "LL" twice', self.bad_line(*plan, replace=views, text='views = ["LL", "L-L"]'))
        self.assertIn("expected one of tfm, beams, tomography, maximum", self.bad_line(*plan, replace='"maximum"', text='"maximal"'))
        self.assertIn("the nearest is [maximum]", self.bad_line(*plan, replace="[maximum]", text="[maximun]"))
        self.assertIn("memory_limit", self.bad_line(*plan, replace="[maximum]", text="memory_limit = 1e5\n[maximum]"))
        line = self.bad_line("image", "none.mfmc", "--output", "none.npy", replace="[maximum]", text='backend = "cuda"\n[maximum]')
        self.assertIn('[imaging] backend: found "cuda"; expected "cpu" or "auto" when the program starts: the stage maximum of the method maximum is for the CPU alone', line)
        recording = self.recorded(self.send)
        line = self.run_program("image", recording, "--config", CONFIG, "--field", "analytic", "--output", self.path / "a.npy", code=2)
        self.assertIn('--field: found "analytic"; expected envelope: the view maximum has no complex image', line)


if __name__ == "__main__":
    unittest.main(argv=["method_test.py"])
