"""A short soak: every fault at least once, every count as foretold, no frame lost at the good viewer; and that it fails when it must."""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request

PROGRAM = sys.argv[1]
PATIENCE = 240  # seconds; a hang, not a measurement
SLACK = ("--slack", "12")  # likewise: how short pauses are is measured by tools/soak-under-attack


def server_of(process):
    """The child that is the server: a sanitizer may have started one of its own, which finds names of functions."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            is_child = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) == process
            if is_child and b"serve" in (entry / "cmdline").read_bytes().split(b"\0"):
                return int(entry.name)
        except (OSError, ValueError):
            continue
    raise AssertionError(f"process {process} has no server")


class Soak(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def soak(self, *options):
        return subprocess.run([PROGRAM, "--log-level", "warning", "soak", "--json", str(self.folder / "soak.json"), *SLACK, *options],
                              capture_output=True, text=True, timeout=PATIENCE)

    def check_short_run(self, *options):
        result = self.soak("--minutes", "0", *options)
        said = result.stdout + result.stderr
        self.assertGreaterEqual(result.returncode, 0, f"the soak itself was ended by signal {-result.returncode}\n{said}")
        self.assertEqual(result.returncode, 0, said)
        self.assertRegex(result.stdout, r"closure: exact in \d+ readings of /metrics and \d+ telemetry messages; received ")
        self.assertEqual(result.stdout.splitlines()[-1], "passed")
        report = json.loads((self.folder / "soak.json").read_text())
        self.assertTrue(report["passed"])
        self.assertGreaterEqual(len(report["faults"]), 40)
        self.assertTrue(all(count >= 1 for count in report["faults"].values()), report["faults"])
        frames = report["frames"]
        self.assertEqual(frames["received"], frames["published"] + frames["dropped"] + frames["in_flight"])
        self.assertEqual(frames["in_flight"], 0)
        self.assertGreater(report["telemetry_messages"], 0)
        viewers = {viewer["name"]: viewer for viewer in report["viewers"]}
        self.assertGreater(viewers["web, good"]["images"], 0)
        return report

    def test_every_fault_and_every_count(self):
        report = self.check_short_run("--seed", "3")
        for name, count in report["counters"].items():
            self.assertEqual(count["found"], count["expected"], name)
        # Each of these faults is exactly one such count.
        faults, counters = report["faults"], report["counters"]
        self.assertEqual(counters['echoform_decode_errors_total{reason="bad_magic"}']["found"], faults["garbage_connection"])
        self.assertEqual(counters['echoform_decode_errors_total{reason="bad_checksum"}']["found"],
                         faults["corrupt_hello"] + faults["corrupt_shot"])
        self.assertEqual(counters['echoform_decode_errors_total{reason="truncated"}']["found"],
                         faults["truncated_hello"] + faults["truncated_message"])
        viewers = {viewer["name"]: viewer for viewer in report["viewers"]}
        good = viewers["ZeroMQ, good"]
        # It may have come after the first frames, and from then on it misses none.
        self.assertEqual(good["left_out"], 0)
        self.assertGreater(good["images"], 0)
        self.assertLessEqual(good["images"], report["frames"]["published"])
        self.assertEqual(viewers["web, good"]["connections"], 1)
        self.assertEqual(viewers["ZeroMQ, never reads"]["images"], 0)

    def test_another_drop_policy(self):
        config = self.folder / "soak.toml"
        config.write_text('[material]\nlongitudinal_velocity = 6320\n[grid]\nx = [-0.01, 0.01]\nz = [0.003, 0.03]\npixels = [64, 64]\n'
                          '[input]\nlisten = "127.0.0.1:0"\ndrop_policy = "drop_oldest"\nslots = 2\nhello_timeout = 5\nstall_timeout = 5\n'
                          'incomplete_timeout = 20\ntoken = "a secret"\nio_threads = 2\n[server]\nname = "rig"\nimages = "127.0.0.1:0"\n'
                          'telemetry = "127.0.0.1:0"\ncontrol = "127.0.0.1:0"\nweb = "127.0.0.1:0"\n[simulator]\nelements = 12\nsamples = 512\n'
                          'dead_elements = [3]\n')
        self.check_short_run("--seed", "11", "--config", str(config), "--backend", "cpu")

    def start(self, *options):
        """A soak of ten minutes that is under way: images have come, long before its first line. Its place for frames, and what it
        says, which is read meanwhile."""
        process = subprocess.Popen([PROGRAM, "soak", *SLACK, "--minutes", "10", *options], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        for cleanup in (process.stderr.close, process.stdout.close, process.wait, process.kill):
            self.addCleanup(cleanup)
        place = next(found for line in process.stderr
                     if (found := re.search(r"server \d+: frames ([\d.]+):(\d+),.* web ([\d.]+:\d+)$", line.strip())))
        errors = []
        reader = threading.Thread(target=lambda: errors.extend(process.stderr))
        reader.start()
        self.addCleanup(reader.join)
        published = 0
        while published < 25:
            with urllib.request.urlopen(f"http://{place[3]}/metrics", timeout=PATIENCE) as page:
                published = int(re.search(r"^echoform_frames_published_total (\d+)", page.read().decode(), re.MULTILINE)[1])
        return process, (place[1], int(place[2])), reader, errors

    def test_a_server_that_dies_fails_the_run(self):
        process, _, reader, errors = self.start()
        os.kill(server_of(process.pid), signal.SIGKILL)
        output = process.stdout.read()
        code = process.wait(PATIENCE)
        reader.join()
        self.assertEqual(code, 1, "".join(errors))
        self.assertRegex(errors[-1], r"^echoform: soak: the server ended: signal 9")
        self.assertIn("failed: ", output)

    def test_a_violation_while_the_sender_reconnects_ends_the_run_in_order(self):
        process, place, reader, errors = self.start("--fault", "sender_reconnects", "--rate", "5")
        socket.create_connection(place).close()  # a count that no fault foretold
        output = process.stdout.read()
        code = process.wait(PATIENCE)
        reader.join()
        self.assertEqual(code, 1, output + "".join(errors))
        self.assertRegex(output.splitlines()[-1], r'^failed: echoform_connections_total\{outcome="rejected"\}: found 1; expected at most 0')

    def test_an_interrupted_run_ends_in_order(self):
        process, _, reader, errors = self.start()
        process.send_signal(signal.SIGINT)
        output = process.stdout.read()
        code = process.wait(PATIENCE)
        reader.join()
        self.assertEqual(code, 0, output + "".join(errors))
        self.assertEqual(output.splitlines()[-1], "passed")

    def test_wrong_input(self):
        config = self.folder / "small.toml"
        config.write_text("[input]\nmax_connections = 4\n")
        result = self.soak("--config", str(config))
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, re.escape("[input] max_connections: found 4; expected at least 16"))
        self.assertEqual(self.soak("--minutes", "-1").returncode, 2)
        self.assertEqual(self.soak("--config", str(self.folder / "absent.toml")).returncode, 2)
        self.assertFalse((self.folder / "soak.json").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
