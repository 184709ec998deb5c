"""Real recordings: `image` agrees as a complex image with the independent reference and shows what is known to be there;
`replay` over TCP into `serve` gives subscribers the same image."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import numpy

PROGRAM, PYTHON = sys.argv[1], sys.argv[2]
SOURCE = pathlib.Path(os.environ["ECHOFORM_SOURCE_DIR"])
DATA = pathlib.Path(os.environ.get("ECHOFORM_DATA_DIR", SOURCE / "../shared/data"))

# Grids of 0.25 mm. Peaks: name, place (x or None, z) and level in dB against the strongest, with the accuracy they are known to.
RECORDINGS = {
    "contact_notch_aluminium.mat": {
        "velocity": 6320.0, "x": (-0.020, 0.020, 161), "z": (0.010, 0.045, 141),
        "backwall": 40.75e-3, "notch": (6.75e-3, 19.75e-3), "notch_db": -5.3,
    },
    "contact_notch_aluminium_300.mat": {
        "velocity": 6300.0, "x": (-0.020, 0.020, 161), "z": (0.010, 0.045, 141),
        "backwall": 41.25e-3, "notch": (-2.0e-3, 20.0e-3), "notch_db": -2.4,
    },
}
PLACE = 0.5e-3
LEVEL = 0.5


def config_of(recording, extra=""):
    r = RECORDINGS[recording]
    return (f"[material]\nlongitudinal_velocity = {r['velocity']}\n[grid]\nx = [{r['x'][0]}, {r['x'][1]}]\nz = [{r['z'][0]}, {r['z'][1]}]\n"
            f"pixels = [{r['x'][2]}, {r['z'][2]}]\n[output]\ndynamic_range_db = 40\n{extra}")


def run(*arguments, **options):
    return subprocess.run([str(a) for a in arguments], capture_output=True, text=True, timeout=240, **options)


class Recordings(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def image(self, recording, *outputs, field="envelope", crop="live", kind="none"):
        config = self.path / "config.toml"
        config.write_text(config_of(recording, f'[imaging]\ncrop = "{crop}"\n[filter]\nkind = "{kind}"\n'))
        arguments = [PROGRAM, "--log-level", "warning", "image", DATA / recording, "--config", config, "--field", field]
        for output in outputs:
            arguments += ["--output", self.path / output]
        result = run(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_complex_image_agrees_with_the_reference(self):
        for recording, r in RECORDINGS.items():
            with self.subTest(recording):
                self.image(recording, "image.npy", field="analytic")
                image = numpy.load(self.path / "image.npy")
                self.assertEqual(image.dtype, numpy.complex64)
                result = run(PYTHON, SOURCE / "tests/reference/tfm_reference.py", DATA / recording, "--velocity", r["velocity"],
                             "--x", *r["x"], "--z", *r["z"], "--compare", self.path / "image.npy", "--tolerance", "1e-4")
                print(recording, result.stdout.strip().splitlines()[-1])
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_image_shows_backwall_and_notch(self):
        for recording, r in RECORDINGS.items():
            with self.subTest(recording):
                self.image(recording, "image.npy", "image.png")
                envelope = numpy.load(self.path / "image.npy")
                self.assertEqual(envelope.dtype, numpy.float32)
                self.assertEqual((self.path / "image.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
                x, z = numpy.linspace(*r["x"]), numpy.linspace(*r["z"])
                level = 20 * numpy.log10(envelope / envelope.max())
                iz, _ = numpy.unravel_index(numpy.argmax(envelope), envelope.shape)
                self.assertAlmostEqual(z[iz], r["backwall"], delta=PLACE)
                # The notch's tip: the strongest echo within 3 mm of it.
                near = numpy.hypot(x[None, :] - r["notch"][0], z[:, None] - r["notch"][1]) < 3e-3
                iz, ix = numpy.unravel_index(numpy.argmax(numpy.where(near, level, -numpy.inf)), level.shape)
                print(f"{recording}: notch at x {1e3 * x[ix]:.2f} mm, z {1e3 * z[iz]:.2f} mm, {level[iz, ix]:.2f} dB")
                self.assertAlmostEqual(x[ix], r["notch"][0], delta=PLACE)
                self.assertAlmostEqual(z[iz], r["notch"][1], delta=PLACE)
                self.assertAlmostEqual(level[iz, ix], r["notch_db"], delta=LEVEL)

    def test_filters_lower_the_floor_and_move_no_echo(self):
        for recording, r in RECORDINGS.items():
            x, z = numpy.linspace(*r["x"]), numpy.linspace(*r["z"])
            from_notch = numpy.hypot(x[None, :] - r["notch"][0], z[:, None] - r["notch"][1])
            away = (from_notch > 5e-3) & (numpy.abs(z[:, None] - r["backwall"]) > 3e-3)
            figures = {}
            for kind in ("none", "mean", "auto"):
                self.image(recording, "image.npy", kind=kind)
                envelope = numpy.load(self.path / "image.npy")
                level = 20 * numpy.log10(envelope / envelope.max())
                wall, _ = numpy.unravel_index(numpy.argmax(envelope), envelope.shape)
                tip = numpy.unravel_index(numpy.argmax(numpy.where(from_notch < 3e-3, level, -numpy.inf)), level.shape)
                figures[kind] = {"floor": float(numpy.median(level[away])), "wall": int(wall), "tip": tip, "notch": float(level[tip])}
                print(f"{recording}, filter {kind}: floor {figures[kind]['floor']:.1f} dB, notch {figures[kind]['notch']:.2f} dB")
            with self.subTest(recording):
                # The contract's floor: -31 and -49 dB without, -58 and lower by default.
                self.assertLess(figures["auto"]["floor"], -58.0)
                self.assertLess(figures["auto"]["floor"], figures["none"]["floor"] - 10.0)
                self.assertAlmostEqual(figures["auto"]["notch"], figures["none"]["notch"], delta=1.0)
                # Within a pixel of 0.25 mm. A flat wall is equally strong along x.
                self.assertLessEqual(abs(figures["auto"]["wall"] - figures["none"]["wall"]), 1)
                self.assertLessEqual(max(abs(a - b) for a, b in zip(figures["auto"]["tip"], figures["none"]["tip"])), 1)

    def test_replay_into_serve_gives_subscribers_the_same_image(self):
        # A live run crops to the gate; then the recording is cropped too. "never" crops neither.
        for recording, live, file in ((r, *crops) for r in RECORDINGS for crops in (("never", "never"), ("live", "always"))):
            with self.subTest(recording, crop=live):
                self.image(recording, "file.npy", crop=file, kind="auto")
                self.replayed(recording, connections=2, crop=live)
                expected = numpy.load(self.path / "file.npy").astype(float)
                for subscriber in ("view.npy", "python.npy"):
                    image = numpy.load(self.path / subscriber)
                    error = numpy.linalg.norm(image - expected) / numpy.linalg.norm(expected)
                    print(f"{recording} {subscriber}, crop {live}: relative L2 {error:.1e}")
                    self.assertLess(error, 1e-5)

    def replayed(self, recording, connections, crop):
        config = self.path / "serve.toml"
        config.write_text(config_of(recording, f'[imaging]\ncrop = "{crop}"\n[input]\nlisten = "127.0.0.1:0"\n[server]\nimages = "127.0.0.1:0"\n'
                                               'telemetry = "127.0.0.1:0"\nweb = "127.0.0.1:0"\ncontrol = "127.0.0.1:0"\n'))
        server = subprocess.Popen([PROGRAM, "serve", "--config", str(config)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        ports = {}
        for line in server.stdout:
            found = re.match(r"(frames in|images out)\s+tcp\W+(127\.0\.0\.1:\d+)$", line.strip())
            if found:
                ports[found[1]] = found[2]
            if len(ports) == 2:
                break
        self.assertEqual(len(ports), 2, "the server says where it listens")
        view = subprocess.Popen([PROGRAM, "view", "--connect", "tcp://" + ports["images out"], "--frames", "2", "--timeout", "60",
                                 "--snapshot", str(self.path / "view.npy")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        python = subprocess.Popen([PYTHON, str(SOURCE / "examples/python_subscriber.py"), "--connect", "tcp://" + ports["images out"],
                                   "--stream", "echoform", "--frames", "2", "--timeout", "60", "--save", str(self.path / "python.npy")],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        # Subscribers join whenever they do; the recording goes round until both have what they want.
        replay = subprocess.Popen([PROGRAM, "replay", str(DATA / recording), "--connect", ports["frames in"], "--rate", "20", "--loop",
                                   "--connections", str(connections)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            for subscriber in (view, python):
                output, _ = subscriber.communicate(timeout=120)
                self.assertEqual(subscriber.returncode, 0, output)
        finally:
            replay.send_signal(signal.SIGINT)
            output, _ = replay.communicate(timeout=60)
        self.assertEqual(replay.returncode, 0, output)
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(timeout=60), 0)


if __name__ == "__main__":
    missing = [name for name in RECORDINGS if not (DATA / name).exists()]
    if missing:
        print(f"SKIPPED: no recordings in {DATA} (ECHOFORM_DATA_DIR)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
