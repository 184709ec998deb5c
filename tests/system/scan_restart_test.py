"""A scan of 200 positions whose server is stopped, and killed, in the middle: it goes on from its file, and what it comes to are the bits of one
that was never interrupted; a scan of anything else is refused by name."""
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import h5py
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

PROGRAM = sys.argv[1]
CELLS = 200
CONFIG = """
[material]
longitudinal_velocity = {velocity}
[grid]
x = [-0.004, 0.104]
z = [0.006, 0.014]
pixels = [217, 33]
[scan]
path = "line"
encoder_step = 0.5e-3
coverage = 4e-3
composition = "{composition}"
file = "{file}"
save_every = {save_every}
resume = "{resume}"
[imaging]
backend = "cpu"
threads = 1
[input]
listen = "127.0.0.1:0"
[server]
images = "127.0.0.1:0"
telemetry = "127.0.0.1:0"
control = "127.0.0.1:0"
web = "127.0.0.1:0"
[simulator]
elements = 8
pitch = 0.6e-3
samples = 256
points = [[0.020, 0.010, 1.0], [0.080, 0.010, 1.0]]
encoder_first = 0
encoder_last = 199
encoder_step = 1
encoder_pause = 5
"""
PATIENCE = 120


class ScanRestart(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def config(self, file, composition="maximum", save_every=1e4, resume="same", velocity=6320.0, elements=8):
        path = self.path / "scan.toml"
        text = CONFIG.format(file=self.path / file, composition=composition, save_every=save_every, resume=resume, velocity=velocity)
        path.write_text(text.replace("elements = 8", f"elements = {elements}"))
        return path

    def serve(self, config):
        server = subprocess.Popen([PROGRAM, "--log-level", "warning", "serve", "--config", config], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for cleanup in (server.stderr.close, server.stdout.close, server.wait, server.kill):
            self.addCleanup(cleanup)
        places = {}
        while "control" not in places:
            line = server.stdout.readline()
            self.assertTrue(line, server.stderr.read() if server.poll() is not None else "the server ended")
            places[line[:11].strip()] = line[12:].strip()
        return server, {name: re.search(r"([\d.]+:\d+)$", place.split()[-1])[1] for name, place in places.items() if re.search(r"[\d.]+:\d+$", place)}

    def send(self, places, frames):
        door = next(place for name, place in places.items() if name.startswith("frames in"))
        return subprocess.run([PROGRAM, "--log-level", "warning", "simulate", "--connect", door, "--config", self.path / "scan.toml", "--rate", "max",
                               "--frames", str(frames)], capture_output=True, text=True, timeout=PATIENCE)

    def stop(self, server):
        server.send_signal(signal.SIGTERM)
        out, error = server.communicate(timeout=PATIENCE)
        self.assertEqual(server.returncode, 0, error)
        return out

    def run_once(self, config, frames):
        server, places = self.serve(config)
        done = self.send(places, frames)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.stop(server)

    def contents(self, file):
        with h5py.File(self.path / file) as scan:
            self.assertEqual(scan.attrs["TYPE"], b"ECHOFORM_SCAN")
            return {name: scan[name][()] for name in scan if name not in ("counts", "settings")}

    def assert_same_bits(self, one, other):
        self.assertEqual(sorted(one), sorted(other))
        for name in one:
            self.assertEqual(one[name].tobytes(), other[name].tobytes(), name)

    def test_goes_on_where_it_was_stopped(self):
        for composition in ("maximum", "coherent"):
            with self.subTest(composition):
                self.run_once(self.config(f"whole.{composition}.h5", composition), CELLS)
                whole = self.contents(f"whole.{composition}.h5")
                self.assertEqual(len(whole["cells"]), CELLS)
                config = self.config(f"parts.{composition}.h5", composition)
                self.run_once(config, 83)
                self.assertEqual(len(self.contents(f"parts.{composition}.h5")["cells"]), 83)
                out = self.run_once(config, CELLS)
                self.assertIn("200 cells, 83 frames repeated", out)
                self.assert_same_bits(whole, self.contents(f"parts.{composition}.h5"))

    def test_goes_on_after_it_was_killed(self):
        self.run_once(self.config("whole.h5", "coherent"), CELLS)
        config = self.config("killed.h5", "coherent", save_every=0.02)
        file = self.path / "killed.h5"
        for kill in range(6):
            server, places = self.serve(config)
            if kill < 5:
                sender = subprocess.Popen([PROGRAM, "--log-level", "off", "simulate", "--connect", next(p for n, p in places.items() if n.startswith("frames in")),
                                           "--config", config, "--rate", "200", "--frames", str(CELLS)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                written = file.stat().st_mtime_ns if file.exists() else 0
                limit = time.monotonic() + PATIENCE
                while not file.exists() or file.stat().st_mtime_ns == written:  # until it was written once more, by this server
                    self.assertLess(time.monotonic(), limit)
                    time.sleep(0.001 * (kill + 1))
                server.kill()
                server.communicate(timeout=PATIENCE)
                sender.communicate(timeout=PATIENCE)
                self.contents("killed.h5")  # the old or the new one, whole
            else:
                self.assertEqual(self.send(places, CELLS).returncode, 0)
                self.stop(server)
        self.assert_same_bits(self.contents("whole.h5"), self.contents("killed.h5"))

    def test_is_cleared_in_the_file(self):
        config = self.config("scan.h5")
        server, places = self.serve(config)
        self.assertEqual(self.send(places, 20).returncode, 0)
        door = "tcp://" + next(place for name, place in places.items() if name.startswith("control"))
        limit = time.monotonic() + PATIENCE
        while "scan_cells 20" not in subprocess.run([PROGRAM, "control", "status", "--connect", door], capture_output=True, text=True).stdout:
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.05)
        cleared = subprocess.run([PROGRAM, "control", "clear_scan", "--connect", door], capture_output=True, text=True)
        self.assertEqual(cleared.returncode, 0, cleared.stderr)
        self.assertIn("cleared 20 cells\n", cleared.stdout)
        found = self.contents("scan.h5")  # at once
        self.assertEqual(len(found["cells"]), 0)
        self.assertTrue(numpy.isnan(found["envelope.0"]).all())
        self.stop(server)

    def test_rates_of_the_demo_count_new_positions_alone(self):
        config = self.config("scan.h5")
        config.write_text(config.read_text().replace("encoder_last = 199", "encoder_last = 19").replace("encoder_pause = 5", "encoder_pause = 400"))
        demo = subprocess.run([PROGRAM, "demo", "--config", config, "--rate", "100", "--seconds", "4"], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(demo.returncode, 0, demo.stderr)
        cells, repeated = map(int, re.search(r"scan: (\d+) cells, (\d+) frames repeated", demo.stdout).groups())
        self.assertLessEqual(cells, 20)
        self.assertGreater(repeated, 0)
        self.assertRegex(demo.stdout.splitlines()[-1], r"^sustained \d+\.\d new positions/s$")
        rates = re.findall(r"([\d.]+) new positions/s of ([\d.]+) frames/s", demo.stderr)
        self.assertTrue(rates)
        for positions, frames in rates:
            self.assertLessEqual(float(positions), float(frames))
        self.assertNotIn("images/s", demo.stdout + demo.stderr)

    def test_another_scan_is_refused(self):
        self.run_once(self.config("scan.h5"), 5)
        before = (self.path / "scan.h5").read_bytes()
        served = subprocess.run([PROGRAM, "serve", "--config", self.config("scan.h5", velocity=6300.0)], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(served.returncode, 2, served.stderr)
        self.assertIn("scan.h5: a scan that is made of something else: found [material] longitudinal_velocity = 6320; expected [material] "
                      "longitudinal_velocity = 6300 ([scan] resume", served.stderr)
        # Of the sender's part it can be said when one comes.
        server, places = self.serve(self.config("scan.h5", elements=9))
        refused = self.send(places, 5)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("found 8 elements", refused.stderr)
        self.stop(server)
        self.assertEqual((self.path / "scan.h5").read_bytes(), before)
        self.run_once(self.config("scan.h5", velocity=6300.0, resume="never"), 3)
        self.assertEqual(len(self.contents("scan.h5")["cells"]), 3)
        (self.path / "scan.h5").write_bytes(b"no scan")
        served = subprocess.run([PROGRAM, "serve", "--config", self.config("scan.h5")], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(served.returncode, 2, served.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
