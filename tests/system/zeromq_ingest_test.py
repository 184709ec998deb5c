"""Frames over ZeroMQ into `serve` and `record`, from `simulate --zeromq`; one sender at a time over both doors; figures by door."""
import json
import re
import signal
import subprocess
import sys
import time
import unittest
import urllib.request

from program_case import PROGRAM, ProgramCase

DOORS = '[input]\nlisten = "127.0.0.1:0"\nzeromq = "127.0.0.1:0"\n'
SERVE = '[material]\nlongitudinal_velocity = 6320.0\nshear_velocity = 3130.0\n[grid]\nx = [-2e-3, 2e-3]\nz = [2e-3, 4e-3]\npixels = [8, 8]\n' \
        '[imaging]\nbackend = "cpu"\nthreads = 1\n[server]\nimages = "127.0.0.1:0"\ntelemetry = "127.0.0.1:0"\ncontrol = "127.0.0.1:0"\nweb = "127.0.0.1:0"\n'


class ZeromqIngest(ProgramCase):
    def config(self, text):
        file = self.path / "config.toml"
        file.write_text(text)
        return file

    def serve(self):
        server = self.start("serve", "--config", self.config(SERVE + DOORS))
        places = {}
        while "telemetry" not in places:
            line = server.stdout.readline()
            self.assertTrue(line, "the server ended")
            places[line[:11].strip()] = line[12:].strip()
        self.assertTrue(places["ZeroMQ in"].startswith("zeromq 127.0.0.1:"), places)
        self.web = re.search(r"http://[^/ ]+", places["viewer"])[0]
        return server, places["ZeroMQ in"].split()[1], places["frames in"].split()[1]

    def simulate(self, *options):
        simulator = self.path / "simulator.toml"
        simulator.write_text("[simulator]\nelements = 8\nsamples = 301\n")
        return self.start("simulate", "--config", simulator, *options)

    def metrics(self):
        with urllib.request.urlopen(self.web + "/metrics", timeout=60) as page:
            text = page.read().decode()
        return {name: float(value) for name, value in re.findall(r"^echoform_(\S+) (\S+)$", text, re.MULTILINE)}

    def wait_for(self, condition):
        deadline = time.monotonic() + 120
        while not condition(found := self.metrics()):
            self.assertLess(time.monotonic(), deadline, found)
        return found

    def finish(self, process):
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, errors)
        return output

    def test_serve_images_what_is_pushed(self):
        server, zeromq, _ = self.serve()
        sender = self.simulate("--zeromq", zeromq, "--rate", "max", "--frames", "50")
        output, errors = sender.communicate(timeout=120)
        self.assertEqual(sender.returncode, 0, errors)
        self.assertRegex(output, "sent 50 frames")
        found = self.wait_for(lambda m: m["frames_published_total"] == 50)
        self.assertEqual(found['door_senders_total{door="zeromq",outcome="accepted"}'], 1)
        self.assertEqual(found['door_senders_total{door="tcp",outcome="accepted"}'], 0)
        self.assertEqual(found['door_shots_total{door="zeromq",outcome="taken"}'], 400)
        self.assertEqual(found['door_shots_total{door="zeromq",outcome="discarded"}'], 0)
        self.assertEqual(found['door_decode_errors_total{door="zeromq"}'], 0)
        self.assertEqual(found['connections_total{outcome="accepted"}'], 1)
        output = self.finish(server)
        self.assertIn("drops none", output)
        self.assertIn("frames received 50 = published 50 + dropped 0 + in flight 0", output)

    def test_one_sender_at_a_time_over_both_doors(self):
        server, zeromq, tcp = self.serve()
        first = self.simulate("--zeromq", zeromq, "--rate", "50")
        self.wait_for(lambda m: m["frames_published_total"] >= 5)
        second = self.simulate("--connect", tcp, "--rate", "50", "--frames", "1000000")
        found = self.wait_for(lambda m: m['door_senders_total{door="tcp",outcome="rejected"}'] >= 1)
        second.kill()
        before = found["frames_published_total"]
        found = self.wait_for(lambda m: m["frames_published_total"] >= before + 5)
        self.assertEqual(found['door_senders_total{door="zeromq",outcome="accepted"}'], 1)
        self.assertEqual(found['door_shots_total{door="zeromq",outcome="discarded"}'], 0)
        self.assertEqual(found["sequence_gaps_total"], 0)
        self.finish(first)
        self.finish(server)

    def test_record_takes_what_is_pushed(self):
        file = self.path / "pushed.mfmc"
        recorder = self.start("record", "--output", file, "--frames", "10", "--config", self.config(DOORS))
        places = {}
        while "recording" not in places:
            line = recorder.stdout.readline()
            self.assertTrue(line, "the recorder ended")
            places[line[:11].strip()] = line[12:].strip()
        sender = self.simulate("--zeromq", places["ZeroMQ in"].split()[1], "--rate", "max", "--frames", "10")
        output, errors = recorder.communicate(timeout=120)
        self.assertEqual(recorder.returncode, 0, errors)
        self.assertIn("wrote 10 frames", output)
        self.assertEqual(sender.wait(timeout=60), 0)
        result = subprocess.run([PROGRAM, "inspect", str(file), "--json"], capture_output=True, text=True, timeout=60)
        self.assertEqual(json.loads(result.stdout)["frames"], 10, result.stdout)

    def fails(self, code, text, *arguments):
        process = self.start(*arguments)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, code, errors)
        self.assertIn(text, errors)

    def test_wrong_places_are_named(self):
        self.fails(2, '--zeromq: found "nowhere"; expected HOST:PORT', "simulate", "--zeromq", "nowhere")
        self.fails(2, "--connections: found 2 with --zeromq; expected 1", "simulate", "--zeromq", "127.0.0.1:1", "--connections", "2")
        self.fails(2, '[input] zeromq: found "scanner:17172"; expected ADDRESS:PORT', "serve", "--config",
                   self.config(SERVE + '[input]\nzeromq = "scanner:17172"\n'))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
