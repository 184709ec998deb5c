"""What a peer has put into its messages cannot steer the terminal that shows it, nor make one line look like two."""
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
from program_case import PROGRAM, ProgramCase, beginnings_of_steps, run_on_terminal  # noqa: E402

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

    def publish(self, publisher, viewer, streams):
        """Frames of these streams, until the viewer has ended."""
        pixels = {1: numpy.zeros(12, "<f4").tobytes(), 2: bytes(12)}
        end = time.monotonic() + PATIENCE
        sequence = 0
        while viewer.poll() is None and time.monotonic() < end:
            for stream in streams:
                encoding = 2 if stream.endswith(".display") else 1
                axes = dict(x=messages.Axis(first=0, last=1e-3, count=4), z=messages.Axis(first=0, last=1e-3, count=3))
                publisher.send(messages.Image(stream=stream, sequence=sequence, encoding=encoding, pixels=pixels[encoding], **axes).SerializeToString())
            sequence += 1
            publisher.poll(20)
        self.assertIsNotNone(viewer.poll(), "it goes on")
        return viewer.communicate()

    def view(self, endpoint, *options):
        return self.start("view", "--connect", endpoint, *options, log_level="info")

    def test_view_takes_the_only_stream_whatever_its_name(self):
        publisher, endpoint = self.socket(zmq.XPUB)
        viewer = self.view(endpoint, "--frames", 3, "--json", "--timeout", 20)
        output, errors = self.publish(publisher, viewer, ["probe", "probe.display"])
        self.assertEqual(viewer.returncode, 0, errors)
        self.assertEqual(json.loads(output)["images"], 3)
        self.assertIn("subscribed to probe at", errors)

    def test_view_lists_several_streams(self):
        publisher, endpoint = self.socket(zmq.XPUB)
        viewer = self.view(endpoint, "--frames", 3, "--timeout", 20)
        output, errors = self.publish(publisher, viewer, ["s/LL", "s/LL.display", "s/TT", "s/TT.display"])
        self.assertEqual(viewer.returncode, 2, errors)
        self.assertIn(f"echoform: --stream: found none, and 2 streams at {endpoint}; expected one of s/LL, s/TT\n", errors)

    def test_view_of_a_stream_that_is_not_there_says_which_are(self):
        publisher, endpoint = self.socket(zmq.XPUB)
        viewer = self.view(endpoint, "--stream", "s", "--timeout", 4)
        errors = self.publish(publisher, viewer, ["s/LL", "s/TT"])[1]
        self.assertEqual(viewer.returncode, 1, errors)  # it waited for as long as it was told to
        self.assertIn(f'no stream "s" at {endpoint}, which has s/LL, s/TT', errors)

    def test_view_says_within_3_s_that_nobody_answers(self):
        with socket.create_server(("127.0.0.1", 0)) as place:
            port = place.getsockname()[1]
        viewer = self.view(f"tcp://127.0.0.1:{port}", "--timeout", 3)
        errors = viewer.communicate(timeout=PATIENCE)[1]
        self.assertEqual(viewer.returncode, 1, errors)
        self.assertIn(f"nobody answers at tcp://127.0.0.1:{port}", errors)

    def test_view_says_that_no_server_of_images_answers(self):
        with socket.create_server(("127.0.0.1", 0)) as place:
            viewer = self.view(f"tcp://127.0.0.1:{place.getsockname()[1]}", "--timeout", 3)
            errors = viewer.communicate(timeout=PATIENCE)[1]
        self.assertIn("takes the connection, but does not answer as an Echoform server", errors)

    def test_view_says_that_it_is_connected_and_waits(self):
        _, endpoint = self.socket(zmq.XPUB)
        errors = self.view(endpoint, "--timeout", 3).communicate(timeout=PATIENCE)[1]
        self.assertIn(f"connected to {endpoint}: no image has come yet", errors)

    def test_what_the_demo_says_to_run_leads_to_its_views(self):
        config = self.path / "views.toml"
        config.write_text('[material]\nlongitudinal_velocity = 6320\nshear_velocity = 3130\n[grid]\nx = [-0.005, 0.005]\nz = [0.005, 0.02]\n'
                          'pixels = [24, 24]\n[imaging]\nviews = ["LL", "TT"]\nbackend = "cpu"\n[input]\nlisten = "127.0.0.1:0"\n[server]\n'
                          'images = "127.0.0.1:0"\ntelemetry = "127.0.0.1:0"\ncontrol = ""\nweb = "127.0.0.1:0"\n'
                          '[simulator]\nelements = 8\nsamples = 600\ncycle_frames = 2\n')
        demo = self.start("demo", "--config", config, "--rate", 20)
        said = next(line for line in demo.stdout if line.startswith("Run: echoform "))
        self.assertIn("expected one of echoform/LL, echoform/TT", self.run_program(2, *said.split()[2:], "--timeout", 30))
        self.run_program(0, *said.split()[2:], "--stream", "echoform/TT", "--frames", 2, "--timeout", 30)
        demo.send_signal(signal.SIGTERM)
        self.assertEqual(demo.wait(PATIENCE), 0)

    def recorded(self, name, config, code=0):
        recorder = self.start("record", "--listen", "127.0.0.1:0", "--output", self.path / name, "--frames", 1, "--config", config)
        place = re.search(r"127\.0\.0\.1:\d+", recorder.stdout.readline())[0]
        self.run_program(0, "simulate", "--connect", place, "--config", config, "--frames", 1)
        self.assertEqual(recorder.wait(PATIENCE), code)
        return self.path / name

    def test_the_recording_that_is_read_is_not_overwritten(self):
        config = self.path / "waves.toml"
        config.write_text('[material]\nlongitudinal_velocity = 1540\n[grid]\nx = [-0.002, 0.002]\nz = [0.004, 0.01]\npixels = [16, 16]\n'
                          '[imaging]\nbackend = "cpu"\n[simulator]\nelements = 8\nsamples = 400\ncycle_frames = 1\n')
        recording = self.recorded("mine.uff", config)
        link = self.path / "link.uff"
        link.symlink_to(recording)
        before = recording.read_bytes()
        for output in (recording, link):
            said = self.run_program(2, "image", recording, "--config", config, "--output", output)
            self.assertIn(f"--output: found {output}, the file that is read; expected another one", said)
            self.assertEqual(recording.read_bytes(), before)
        said = self.run_program(2, "plan", "--recording", recording, "--config", config, "--json", config)
        self.assertIn(f"--json: found {config}, the file that is read", said)
        self.run_program(0, "image", recording, "--config", config, "--output", self.path / "image.uff")

    def test_what_a_file_has_to_state_is_asked_for_before_frames_come(self):
        said = self.run_program(2, "record", "--listen", "127.0.0.1:0", "--output", self.path / "scan.uff")
        self.assertIn("scan.uff: found no velocity of longitudinal waves", said)

    def test_a_key_of_the_same_section_is_the_nearest(self):
        config = self.path / "velocity.toml"
        config.write_text("[material]\nvelocity = 6320\n")
        self.assertIn("the nearest is longitudinal_velocity in [material]", self.run_program(2, "plan", "--config", config))

    def test_a_black_image_is_said_with_its_likely_reason(self):
        config = self.path / "black.toml"
        text = ('[material]\nlongitudinal_velocity = 6320\n[grid]\nx = [-0.005, 0.005]\nz = [0.005, 0.015]\npixels = [24, 24]\n[imaging]\n'
                'backend = "cpu"\n[input]\nlisten = "127.0.0.1:0"\n[server]\nimages = "127.0.0.1:0"\ntelemetry = "127.0.0.1:0"\ncontrol = ""\n'
                'web = "127.0.0.1:0"\n[simulator]\nnoise_rms = 0.0\nelements = 8\nsamples = 300\ncycle_frames = 1\n')
        for points, black in (("[[0.0, 0.08, 1.0]]", True), ("[[0.0, 0.01, 1.0]]", False)):
            with self.subTest(points):
                config.write_text(f"{text}points = {points}\n")
                demo = subprocess.run([PROGRAM, "--log-level", "warning", "demo", "--config", config, "--seconds", "1"], capture_output=True, text=True,
                                      timeout=PATIENCE)
                self.assertEqual(demo.returncode, 0, demo.stderr)
                said = [line for line in demo.stderr.splitlines() if "the first image is black" in line]
                self.assertEqual(len(said), 1 if black else 0, demo.stderr)
                if black:
                    self.assertIn(f"{config}: view LL: the first image is black: frames hold no echo from where [grid] lies", said[0])

    def test_the_bar_is_not_half_full_when_the_work_begins(self):
        config = self.path / "image.toml"
        config.write_text('[material]\nlongitudinal_velocity = 6320\n[grid]\nx = [-0.006, 0.006]\nz = [0.004, 0.016]\npixels = [100, 100]\n'
                          '[imaging]\nbackend = "cpu"\n[simulator]\nelements = 16\nsamples = 600\ncycle_frames = 1\n')
        recorder = self.start("record", "--listen", "127.0.0.1:0", "--output", self.path / "scan.efcap", "--frames", 1)
        place = re.search(r"127\.0\.0\.1:\d+", recorder.stdout.readline())[0]
        self.run_program(0, "simulate", "--connect", place, "--config", config, "--frames", 1)
        self.assertEqual(recorder.wait(PATIENCE), 0)
        code, said = run_on_terminal([PROGRAM, "image", self.path / "scan.efcap", "--config", config, "--output", self.path / "image.npy"])
        self.assertEqual(code, 0, said)
        begun = beginnings_of_steps(said)
        self.assertLess(begun["imaging"], 0.25, said)
        self.assertGreater(begun["writing"], 0.75, said)

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
