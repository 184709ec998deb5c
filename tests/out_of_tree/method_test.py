"""The program of examples/method: every command takes its method, and its image is, bit for bit, the greater of the two views', which are
those of the total focusing method: of scans, of positions within a frame, by groups of A-scans, of volumes, filtered, and as it is shown."""
import json
import os
import re
import shutil
import subprocess
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


def echoes(moved=0.0):
    """[tx, rx, sample]: of two scatterers, one by longitudinal waves alone, one by shear waves alone; of a probe that was moved along x."""
    elements = (numpy.arange(ELEMENTS) - 0.5 * (ELEMENTS - 1)) * PITCH + moved
    frame = numpy.zeros((ELEMENTS, ELEMENTS, SAMPLES))
    for mode, x, z in (("L", -0.005, 0.012), ("T", 0.004, 0.018)):
        way = numpy.hypot(x - elements, z) / VELOCITIES[mode]
        t = numpy.arange(SAMPLES) / RATE - (way[:, None, None] + way[None, :, None])
        frame += numpy.exp(-0.5 * (t / 0.2e-6) ** 2) * numpy.cos(2 * numpy.pi * FREQUENCY * t)
    return frame.astype(numpy.float32)


def greater(images, weight):
    return numpy.maximum(images[VIEWS[0]], numpy.float32(weight) * images[VIEWS[1]])


# Small frames of both modes for what follows from the views: scans, positions, groups, volumes, filters.
PART = CONFIG.read_text().partition("[grid]")[0]
GRID = "[grid]\nx = [-0.012, 0.012]\nz = [0.004, 0.028]\npixels = [33, 33]\n"
METHOD = f'[imaging]\nmethod = "maximum"\n[maximum]\nviews = {json.dumps(VIEWS)}\nweight = 0.5\n'
SOURCE = """[simulator]
elements = 12
samples = 1024
noise_rms = 0.0
modes = ["L", "T"]
points = [[-0.005, 0.012, 0.002], [0.004, 0.018, 0.002]]
"""
SCAN = '[scan]\npath = "line"\nencoder_step = 1e-3\ncoverage = 6e-3\n'


class Method(ProgramCase):
    def send(self, address):
        with echoform.FrameSender(ACQUISITION, address) as sender:
            sender.send(echoes())

    def images(self, recording, name="image", config=CONFIG, *options):
        """By view, of a recording."""
        self.run_program("image", recording, "--config", config, "--output", self.path / f"{name}.npy", *options)
        return {view: numpy.load(self.path / f"{name}.{view}.npy") for view in ("maximum", *VIEWS)}

    def simulated(self, text, frames=1):
        """The file with frames of the simulated source of a configuration."""
        config = self.path / "source.toml"
        config.write_text(text)
        file = self.path / "simulated.mfmc"
        recorder = self.start("record", "--listen", "127.0.0.1:0", "--output", file, "--frames", frames)
        place = re.search(r"127\.0\.0\.1:\d+$", recorder.stdout.readline().strip())[0]
        self.run_program("simulate", "--connect", place, "--config", config, "--rate", "max", "--frames", frames)
        _, errors = recorder.communicate(timeout=120)
        self.assertEqual(recorder.returncode, 0, errors)
        return file

    def of_both(self, recording, text, *options):
        """Images by view of a configuration with METHOD, which are the greater of those that the total focusing method makes of the same,
        each of them somewhere."""
        (self.path / "both.toml").write_text(text)
        (self.path / "tfm.toml").write_text(text.replace(METHOD, f'[imaging]\nbackend = "cpu"\nviews = {json.dumps(VIEWS)}\n'))
        self.run_program("image", recording, "--config", self.path / "both.toml", "--output", self.path / "both.npy", *options)
        self.run_program("image", recording, "--config", self.path / "tfm.toml", "--output", self.path / "tfm.npy", *options)
        images = {view: numpy.load(self.path / f"both.{view}.npy") for view in ("maximum", *VIEWS)}
        of_tfm = {view: numpy.load(self.path / f"tfm.{view}.npy") for view in VIEWS}
        for view in VIEWS:
            self.assertEqual(images[view].tobytes(), of_tfm[view].tobytes(), view)
        self.assertEqual(images["maximum"].tobytes(), greater(of_tfm, 0.5).tobytes())
        for view, weight in zip(VIEWS, (1.0, 0.5)):
            self.assertGreater((images["maximum"] == numpy.float32(weight) * of_tfm[view]).sum(), 50, view)
        return images

    def test_of_a_scan(self):
        recording = self.simulated(PART + GRID + METHOD + SCAN + SOURCE + "encoder_first = -5\nencoder_last = 5\nencoder_step = 1\n", 11)
        kinds = {}
        for kind in ("maximum", "coherent"):
            with self.subTest(kind):
                images = kinds[kind] = self.of_both(recording, PART + GRID + METHOD + SCAN + f'composition = "{kind}"\n')
                # From -5 to 5 mm with 6 mm to either side: of columns 0.75 mm apart from -12 mm on those from 11 mm on are left out.
                x = numpy.linspace(-12, 12, 33)
                self.assertEqual(numpy.isnan(images["maximum"]).all(axis=0).tolist(), (abs(x) > 11).tolist())
                self.assertEqual(numpy.isnan(images["maximum"]).any(axis=0).tolist(), (abs(x) > 11).tolist())
        # Coherent images are those of one long aperture; they are the lesser, since a mean is.
        self.assertTrue((kinds["coherent"]["LL"] <= kinds["maximum"]["LL"] * 1.00001)[:, 2:-2].all())
        self.assertFalse(numpy.array_equal(kinds["coherent"]["maximum"], kinds["maximum"]["maximum"], equal_nan=True))
        # What the scan's image is made of, one position after the other, by hand.
        most = None
        for frame in range(11):
            text = PART + GRID + METHOD + f"[probe]\nx = {frame - 5}e-3\n"
            (self.path / "placed.toml").write_text(text)
            image = self.images(recording, "placed", self.path / "placed.toml", "--frame", frame)["maximum"]
            image[:, abs(numpy.linspace(-12, 12, 33) - (frame - 5)) > 6 + 1e-9] = numpy.nan
            most = image if most is None else numpy.fmax(most, image)
        numpy.testing.assert_allclose(kinds["maximum"]["maximum"], most, rtol=1e-4, atol=1e-6 * numpy.nanmax(most))

    def test_of_positions_within_a_frame(self):
        positions = "[acquisition]\nposition_count = 3\nposition_step = 2.5e-3\n[probe]\nx = -0.0025\n"
        recording = self.simulated(PART + GRID + METHOD + positions + SOURCE)
        images = self.of_both(recording, PART + GRID + METHOD + positions)
        grouped = self.of_both(recording, PART + GRID + METHOD + positions, "--by-groups")
        self.assertLess(self.distance(grouped["maximum"], images["maximum"]), 2e-6)
        # One aperture of three: not the image of one position.
        alone = self.images(recording, "alone", self.path / "both.toml", "--positions", "1")
        self.assertGreater(self.distance(alone["maximum"], images["maximum"]), 0.1)

    def distance(self, image, other):
        return numpy.linalg.norm((image - other).ravel()) / numpy.linalg.norm(other.ravel())

    def test_by_groups(self):
        recording = self.simulated(PART + GRID + METHOD + SOURCE.replace("elements = 12", "elements = 48").replace("1024", "2048"))
        text = PART + GRID + METHOD
        whole = self.of_both(recording, text)
        groups = self.of_both(recording, text, "--by-groups")
        # Single precision in another order: tests/system/image_by_groups_test.py.
        self.assertLess(self.distance(groups["maximum"], whole["maximum"]), 2e-6)
        self.assertFalse(numpy.array_equal(groups["maximum"], whole["maximum"]), "it went by groups")
        # Where the memory does not hold whole frames it goes by groups by itself, to the same bits.
        limited = text.replace("[maximum]", "memory_limit = {}\n[maximum]")
        (self.path / "limit.toml").write_text(limited.format("1e5"))
        line = self.run_program("image", recording, "--config", self.path / "limit.toml", "--output", self.path / "limit.npy", code=2)
        # A sanitized program takes more beside the images: GB.
        size = r"([\d.]+) ([MG])B"
        needs = re.search(f"which need {size}, and {size} by groups of A-scans, beside {size} that the program takes", line)
        self.assertTrue(needs, line)
        sizes = needs.groups()
        by_frame, by_groups, besides = (float(number) * {"M": 1e6, "G": 1e9}[unit] for number, unit in zip(sizes[::2], sizes[1::2]))
        self.assertGreater(by_frame, by_groups + 2e7)
        (self.path / "limit.toml").write_text(limited.format(besides + 0.5 * (by_frame + by_groups)))
        self.assertEqual(self.images(recording, "limit", self.path / "limit.toml")["maximum"].tobytes(), groups["maximum"].tobytes())

    def test_of_a_volume(self):
        volume = GRID.replace("z =", "y = [-0.003, 0.003]\nz =").replace("[33, 33]", "[33, 5, 17]")
        recording = self.simulated(PART + volume + METHOD + SOURCE)
        images = self.of_both(recording, PART + volume + METHOD)
        self.assertEqual(images["maximum"].shape, (17, 5, 33))
        flat = self.of_both(recording, PART + GRID.replace("[33, 33]", "[33, 17]") + METHOD)
        # Its middle is the image without y.
        numpy.testing.assert_allclose(images["maximum"][:, 2], flat["maximum"], rtol=1e-4, atol=1e-6 * flat["maximum"].max())
        self.assertFalse(numpy.array_equal(images["maximum"][:, 0], images["maximum"][:, 2]))

    def test_processes_share_out_the_planes_of_a_volume(self):
        mpirun = shutil.which("mpirun")
        if mpirun is None or "not in this build" in re.search(r"^  MPI +(.*)$", self.run_program("info"), re.MULTILINE)[1]:
            self.skipTest("no MPI in this build, or no mpirun")
        volume = GRID.replace("z =", "y = [-0.003, 0.003]\nz =").replace("[33, 33]", "[33, 3, 17]")
        recording = self.simulated(PART + volume + METHOD + SOURCE)
        alone = self.of_both(recording, PART + volume + METHOD)

        def shared(text):
            (self.path / "shared.toml").write_text(text)
            # Of a machine with few processors, and of containers, where tests run as root.
            return subprocess.run([mpirun, "--oversubscribe", *(["--allow-run-as-root"] if os.getuid() == 0 else []), "-n", "2", PROGRAM, "image",
                                   recording, "--config", self.path / "shared.toml", "--output", self.path / "shared.npy"],
                                  capture_output=True, text=True, timeout=120)
        done = shared(PART + volume + METHOD)
        self.assertEqual(done.returncode, 0, done.stderr)
        images = {view: numpy.load(self.path / f"shared.{view}.npy") for view in ("maximum", *VIEWS)}
        self.assertEqual(images["maximum"].tobytes(), greater(images, 0.5).tobytes())
        # Pixels of other places are computed together: single precision.
        self.assertLess(self.distance(images["maximum"], alone["maximum"]), 2e-6)
        # What the views cannot, it cannot.
        done = shared(PART + volume + METHOD.replace("[maximum]", 'adaptive = "coherence_factor"\n[maximum]'))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn('several processes, and [imaging] adaptive = "coherence_factor"; expected one process', done.stderr)

    def test_filtered(self):
        recording = self.simulated(PART + GRID + METHOD + SOURCE)
        band = '[filter]\nkind = "band"\nband = [3.5e6, 4.5e6]\n'
        images = {text: self.of_both(recording, PART + GRID + METHOD + text)["maximum"] for text in ("", band)}
        # Of pulses of 5 MHz what lies below them is left.
        self.assertLess(images[band].max(), 0.7 * images[""].max())
        self.assertGreater(images[band].max(), 0.0)

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

    @unittest.skipUnless(live, "no pyzmq or protobuf")
    def test_display_images_are_the_greater_of_two(self):
        # Levels of one fixed scale grow with the envelope, and the nearest pixel's is taken: the greater envelope's level is the greater.
        display = {"x": [-0.010, 0.013], "z": [0.006, 0.026], "pixels": [50, 60], "interpolation": "nearest"}
        settings = {section: SETTINGS[section] for section in ("material", "imaging")}
        settings |= {"grid": SETTINGS["grid"] | {"pixels": [41, 37]}, "maximum": {"views": VIEWS, "weight": 1.0}, "display": display,
                     "output": {"reference": "fixed", "reference_value": 0.05}}
        with echoform.Server(settings, program=PROGRAM) as server, echoform.Control(server.control) as control, \
                echoform.FrameSender(ACQUISITION, server.frames) as sender:
            subscribers = {view: echoform.ImageSubscriber(server.images, f"echoform/{view}.display", timeout=0.2) for view in ("maximum", *VIEWS)}
            for subscriber in subscribers.values():
                self.addCleanup(subscriber.close)
            dark = []
            for revision, range_db in ((1, 40.0), (2, 20.0)):
                if range_db != 40.0:
                    revision = control.set({"output.dynamic_range_db": range_db})
                levels = {view: image.pixels for view, image in self.images_now(subscribers, sender, revision).items()}
                self.assertEqual(levels["maximum"].shape, (60, 50))
                self.assertTrue((levels["maximum"] == numpy.maximum(levels[VIEWS[0]], levels[VIEWS[1]])).all())
                self.assertFalse((levels["maximum"] == levels[VIEWS[0]]).all() or (levels["maximum"] == levels[VIEWS[1]]).all())
                # Beyond [grid], at x above 12 mm, is no level.
                self.assertTrue((levels["maximum"][:, numpy.linspace(-10, 13, 50) > 12.31] == 0).all())
                dark.append((levels["maximum"] <= 1).sum())
            self.assertGreater(dark[1], 1.2 * dark[0], "half the range shows less")

    @unittest.skipUnless(live, "no pyzmq or protobuf")
    def test_a_live_scan_takes_the_weight_as_it_goes(self):
        settings = {section: SETTINGS[section] for section in ("material", "imaging", "maximum")}
        settings |= {"grid": SETTINGS["grid"] | {"pixels": [33, 33]}, "scan": {"path": "line", "encoder_step": 1e-3, "coverage": 6e-3},
                     "probe": {"element_length": 0.01}}  # replaces what the data state: see setups()
        for composition in ("maximum", "coherent"):
            settings["scan"]["composition"] = composition
            with self.subTest(composition), echoform.Server(settings, program=PROGRAM) as server, \
                    echoform.Control(server.control) as control, echoform.FrameSender(ACQUISITION, server.frames) as sender:
                subscribers = {view: echoform.ImageSubscriber(server.images, f"echoform/{view}", timeout=0.2) for view in ("maximum", *VIEWS)}
                for subscriber in subscribers.values():
                    self.addCleanup(subscriber.close)
                for position in (-2, 0, 2):
                    frame = echoes(1e-3 * position)
                    # Those of a cell that has contributed change nothing.
                    before = self.images_now(subscribers, sender, 1, frame, position)
                    self.assertEqual(before["maximum"].pixels.tobytes(), self.expected(before, 0.5))
                self.assertTrue(numpy.isfinite(before["maximum"].pixels[:, 6:-6]).all())
                setups = self.setups(server)
                revision = control.set({"maximum.weight": 8.0})
                after = self.images_now(subscribers, sender, revision, frame, 2)
                self.assertEqual(after["maximum"].pixels.tobytes(), self.expected(after, 8.0))
                self.assertEqual(self.setups(server), setups, "nothing was resolved anew")
                for view in VIEWS:  # the scan goes on from where it was
                    self.assertEqual(after[view].pixels.tobytes(), before[view].pixels.tobytes())

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

    def images_now(self, subscribers, sender, revision, frame=None, position=None):
        """Sends until an image by these settings has come of each view: a publisher does not say when a subscription has reached it."""
        frame, found = echoes() if frame is None else frame, {}
        for _ in range(300):
            sender.send(frame, position=position)
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
