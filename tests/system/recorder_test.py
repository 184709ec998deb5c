"""`serve` images and records at once: files are read by h5py alone, field by field, and compared with what went over the wire;
kills and full disks leave the finished frames, and the imaging goes on."""
import json
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

try:
    import h5py
    from acquisition_tap import Tap
    from mfmc_fields import check_fields
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

PROGRAM = sys.argv[1]
GRID = "[material]\nlongitudinal_velocity = 6320.0\nshear_velocity = 3130.0\n[grid]\nx = [-2e-3, 2e-3]\nz = [2e-3, 4e-3]\npixels = [8, 8]\n"
DOORS = '[imaging]\nbackend = "cpu"\nthreads = 1\n[server]\nimages = "127.0.0.1:0"\ntelemetry = "127.0.0.1:0"\nweb = "127.0.0.1:0"\ncontrol = "127.0.0.1:0"\n' \
        '[input]\nlisten = "127.0.0.1:0"\n'


class Recorder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def serve(self, recorder="", **more):
        config = self.path / "serve.toml"
        if "min_free_bytes" not in recorder:
            recorder = "min_free_bytes = 0\n" + recorder
        config.write_text(f'{GRID}{DOORS}[recorder]\nfolder = "{self.path}"\nfile = "r.mfmc"\n{recorder}\n')
        server = subprocess.Popen([PROGRAM, "--log-level", "info", "serve", "--config", str(config)], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, **more)
        lines = [server.stdout.readline().strip() for _ in range(5)]
        places = {line[:11].strip(): line[12:] for line in lines}
        self.assertEqual(places["recorder"].removesuffix(" (when asked to)"), str(self.path / "r.mfmc"))
        self.port = int(places["frames in"].rsplit(":", 1)[1])
        self.web = re.search(r"http://[^/ ]+", places["viewer"])[0]
        self.control_place = server.stdout.readline().split()[-1]
        for cleanup in (server.stderr.close, server.stdout.close, server.wait, server.kill):
            self.addCleanup(cleanup)
        return server

    def simulate(self, *options, matrix="full", encoding="int16", elements=8):
        tap = Tap(self.port)
        tap.start()
        config = self.path / "simulator.toml"
        config.write_text(f'[simulator]\nelements = {elements}\nsamples = 301\nmatrix = "{matrix}"\nencoding = "{encoding}"\n')
        sender = subprocess.Popen([PROGRAM, "--log-level", "warning", "simulate", "--connect", f"127.0.0.1:{tap.port}", "--config",
                                   str(config), "--rate", "max", *map(str, options)], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
        for cleanup in (tap.close, sender.stderr.close, sender.wait, sender.kill):
            self.addCleanup(cleanup)
        return sender, tap

    def finish(self, server):
        server.send_signal(signal.SIGTERM)
        output, errors = server.communicate(timeout=120)
        self.assertEqual(server.returncode, 0, errors)
        return output, errors

    def metrics(self):
        with urllib.request.urlopen(self.web + "/metrics", timeout=60) as page:
            text = page.read().decode()
        return {name: float(value) for name, value in re.findall(r"^(echoform_\S+) (\S+)$", text, re.MULTILINE)}

    def wait_for_metrics(self, condition):
        deadline = time.monotonic() + 60
        while not condition(metrics := self.metrics()):
            self.assertLess(time.monotonic(), deadline, metrics)
        return metrics

    def inspect(self, file):
        result = subprocess.run([PROGRAM, "inspect", str(file), "--json"], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return json.loads(result.stdout)

    def check(self, file, tap, frames):
        hello, sent = tap.sent()
        self.assertEqual(len(sent), frames)
        with h5py.File(file, "r") as opened:
            data = check_fields(self, opened, hello, frames)
            for frame, expected in enumerate(sent):
                self.assertTrue((data[frame] == expected).all(), f"frame {frame}")
        found = self.inspect(file)
        self.assertEqual((found["frames"], found["violations"], found["unfinished"]), (frames, [], False))

    def check_recording(self, frames, **simulated):
        server = self.serve('when_behind = "wait"\nflush_interval = 0.01')
        sender, tap = self.simulate("--frames", frames, **simulated)
        self.assertEqual(sender.wait(timeout=60), 0)
        metrics = self.wait_for_metrics(lambda now: now["echoform_frames_recorded_total"] == frames)
        self.assertEqual(metrics["echoform_recording"], 1)
        output, _ = self.finish(server)
        self.assertIn(f"recorded {frames} frames, not recorded 0", output)
        self.assertIn(f"frames received {frames} = published {frames} + dropped 0 + in flight 0", output)
        self.check(self.path / "r.mfmc", tap, frames)

    def test_full_matrix_equals_what_was_sent(self):
        self.check_recording(100, matrix="full")

    def test_half_matrix_equals_what_was_sent(self):
        self.check_recording(100, matrix="half")

    def test_packed_and_float_samples(self):
        self.check_recording(10, matrix="half", encoding="packed12")
        (self.path / "r.mfmc").unlink()
        self.check_recording(10, encoding="float32")

    def test_another_acquisition_begins_another_file(self):
        server = self.serve('when_behind = "wait"')
        taps = []
        for elements in (8, 8, 6):
            sender, tap = self.simulate("--frames", 5, elements=elements)
            self.assertEqual(sender.wait(timeout=60), 0)
            taps.append(tap)
        output, _ = self.finish(server)
        self.assertIn("recorded 15 frames, not recorded 0", output)
        self.assertEqual(self.inspect(self.path / "r.mfmc")["frames"], 10)
        self.check(self.path / "r-2.mfmc", taps[2], 5)

    def test_frames_are_counted_whatever_the_disk_does(self):
        server = self.serve("waiting_frames = 1\nframes_per_file = 20\nkeep_files = 2")
        sender, _ = self.simulate("--frames", 300)
        self.assertEqual(sender.wait(timeout=60), 0)
        behind = 'echoform_frames_not_recorded_total{reason="disk_behind"}'
        self.wait_for_metrics(lambda now: now["echoform_frames_recorded_total"] + now[behind] == 300)
        output, errors = self.finish(server)
        self.assertIn("frames received 300 = published 300 + dropped 0 + in flight 0", output)
        self.assertLessEqual(len(list(self.path.glob("*.mfmc"))), 2)
        self.assertIn("recording to", errors)

    def test_fault_kill_leaves_the_finished_frames(self):
        for frames in (1, 100):
            with self.subTest(frames=frames):
                file = self.path / "r.mfmc"
                file.unlink(missing_ok=True)
                server = self.serve('when_behind = "wait"')
                _, tap = self.simulate("--frames", 100000)
                self.wait_for_metrics(lambda now, least=frames: now["echoform_frames_recorded_total"] >= least)
                server.kill()
                server.wait()
                with h5py.File(file, "r", swmr=True) as opened:
                    data = opened["SEQUENCES/S1/MFMC_DATA"]
                    self.assertGreaterEqual(len(data), frames)
                    _, sent = tap.sent()
                    for frame in range(len(data)):
                        self.assertTrue((data[frame] == sent[frame]).all(), f"frame {frame}")
                self.assertTrue(self.inspect(file)["unfinished"])

    def test_fault_full_disk_ends_the_recording_alone(self):
        limit = 4 << 20  # stands in for the disk
        server = self.serve('when_behind = "wait"', preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        sender, tap = self.simulate("--frames", 400)
        failed = 'echoform_frames_not_recorded_total{reason="failed"}'
        metrics = self.wait_for_metrics(lambda now: now["echoform_frames_published_total"] == 400 and now[failed] > 0)
        self.assertEqual(sender.wait(timeout=60), 0)
        written = int(metrics["echoform_frames_recorded_total"])
        self.assertEqual(written + metrics[failed], 400)
        self.assertEqual(metrics["echoform_recording"], 0)
        output, errors = self.finish(server)
        self.assertIn(f"recorded {written} frames, not recorded {400 - written} (failed {400 - written})", output)
        self.assertEqual(len(re.findall("recording ends: .*File too large", errors)), 1, errors)
        _, sent = tap.sent()
        with h5py.File(self.path / "r.mfmc", "r") as opened:
            data = opened["SEQUENCES/S1/MFMC_DATA"]
            self.assertEqual(len(data), written)
            self.assertGreater(written, 10)
            self.assertTrue((data[written - 1] == sent[written - 1]).all())

    def test_fault_disk_that_is_nearly_full_when_the_recording_begins(self):
        for limit in range(4 << 10, 65 << 10, 20 << 10):
            with self.subTest(limit):
                server = self.serve('when_behind = "wait"', preexec_fn=lambda most=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
                sender, _ = self.simulate("--frames", 50)
                self.wait_for_metrics(lambda now: now["echoform_frames_published_total"] == 50)
                self.assertEqual(sender.wait(timeout=60), 0)
                output, errors = self.finish(server)
                self.assertIn("recorded 0 frames, not recorded 50 (failed 50)", output)
                self.assertEqual(len(re.findall("recording", errors)), 1, errors)
                self.assertEqual(len(re.findall("recording ends: .*r.mfmc: .*File too large", errors)), 1, errors)
                self.assertEqual([file.name for file in self.path.iterdir() if file.suffix != ".toml"], [])

    def control(self, *arguments):
        return subprocess.run([PROGRAM, "control", "--connect", self.control_place, *arguments], capture_output=True, text=True, timeout=60)

    def test_a_recording_that_cannot_be_is_refused_when_it_is_asked_for(self):
        server = self.serve("at_start = false\nmin_free_bytes = 1000000000000000\n")
        full = self.control("start_recording")
        self.assertEqual(full.returncode, 1, full.stdout)
        self.assertIn("shall stay free", full.stderr)
        long_name = self.control("start_recording", 250 * "r" + ".mfmc")
        self.assertEqual(long_name.returncode, 2, long_name.stdout)
        self.assertIn("a file name of 262 bytes; expected at most 223", long_name.stderr)
        self.assertEqual(self.metrics()["echoform_recording"], 0)
        self.finish(server)
        self.assertEqual([file.name for file in self.path.iterdir()], ["serve.toml"])

    def test_start_recording_answers_with_the_name_of_its_file(self):
        server = self.serve("at_start = false\n")
        self.assertIn("nothing was being recorded\n", self.control("stop_recording").stdout)
        self.assertEqual(self.control("start_recording", "empty.mfmc").returncode, 0)
        self.assertIn("no frame came: there is no file\n", self.control("stop_recording").stdout)
        (self.path / "r.mfmc").touch()
        for asked, expected in ((), r"r-2\.mfmc"), (("weld.mfmc",), r"weld\.mfmc"), (("{name}-{time}.mfmc",), r"echoform-\d{8}T\d{6}Z\.mfmc"):
            with self.subTest(expected):
                before = {file.name for file in self.path.iterdir()}
                started = self.control("start_recording", *asked)
                self.assertEqual(started.returncode, 0, started.stderr)
                name = re.search(rf"^recording to ({expected})$", started.stdout, re.MULTILINE)[1]
                recorded = self.metrics()["echoform_frames_recorded_total"]
                sender, _ = self.simulate("--frames", 3)
                self.assertEqual(sender.wait(timeout=60), 0)
                self.wait_for_metrics(lambda now: now["echoform_frames_recorded_total"] == recorded + 3)
                stopped = self.control("stop_recording")
                self.assertEqual(stopped.returncode, 0, stopped.stderr)
                self.assertIn(f"3 frames recorded, the last in {name}\n", stopped.stdout)
                self.assertEqual({file.name for file in self.path.iterdir()} - before - {"simulator.toml"}, {name})
        self.finish(server)

    def test_what_the_configuration_lacks_is_said(self):
        config = self.path / "serve.toml"
        config.write_text(f"{GRID}{DOORS}")
        server = subprocess.Popen([PROGRAM, "--log-level", "warning", "serve", "--config", str(config)], stdout=subprocess.PIPE, text=True)
        for cleanup in (server.stdout.close, server.wait, server.kill):
            self.addCleanup(cleanup)
        self.control_place = next(line for line in server.stdout if line.startswith("control")).split()[-1]
        for action, lacks in (("start_recording", "a server without a recorder; expected [recorder] folder in its configuration"),
                              ("stop_recording", "a server without a recorder; expected [recorder] folder in its configuration"),
                              ("clear_scan", "a server that makes no scan; expected [scan] path in its configuration")):
            with self.subTest(action):
                refused = self.control(action)
                self.assertEqual(refused.returncode, 2, refused.stdout)
                self.assertIn(f"echoform: {action}: found {lacks}\n", refused.stderr)
        server.send_signal(signal.SIGTERM)

    def test_a_name_that_is_too_long_is_said_at_once(self):
        long_name = 250 * "r" + ".mfmc"
        config = self.path / "serve.toml"
        config.write_text(f'{GRID}{DOORS}[recorder]\nfolder = "{self.path}"\nfile = "{long_name}"\n')
        result = subprocess.run([PROGRAM, "serve", "--config", str(config)], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 2)
        self.assertIn("[recorder] file: ", result.stderr)
        self.assertIn("a file name of 262 bytes; expected at most 223", result.stderr)

    def test_a_folder_that_is_not_there_is_said_at_once(self):
        config = self.path / "serve.toml"
        config.write_text(f'{GRID}{DOORS}[recorder]\nfolder = "{self.path}/absent"\n')
        result = subprocess.run([PROGRAM, "serve", "--config", str(config)], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 2)
        self.assertIn(f"{config}: [recorder] folder: ", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
