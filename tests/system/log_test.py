"""The program and those who read what it says: a server lives on, and ends when it is told to, whatever becomes of standard error and
standard output; short commands have said everything when they end; and signals end a run in order at any time."""
import fcntl
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

sys.path.insert(0, os.path.join(os.environ["ECHOFORM_SOURCE_DIR"], "python"))
try:
    import numpy
    import echoform
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

PROGRAM = sys.argv[1]
PATIENCE = 60  # seconds, for what would otherwise never come
ACQUISITION = echoform.Acquisition(echoform.Probe.linear(8, 0.6e-3, element_width=0.5e-3, centre_frequency=5e6, bandwidth=3e6), 128, 50e6,
                                   encoding="int16")
FRAME = numpy.random.default_rng(1).integers(-1000, 1000, (8, 8, 128), dtype=numpy.int16)
CLOSURE = r"frames received (\d+) = published (\d+) \+ dropped 0 \+ in flight 0\n$"


class Pipe:
    """Of the least size that there is."""

    def __init__(self, test):
        self.reader, self.writer = os.pipe()
        fcntl.fcntl(self.writer, 1031, 4096)  # F_SETPIPE_SZ
        test.addCleanup(self.close)

    def close(self):
        self.close_reader()
        self.close_writer()

    def close_reader(self):
        if self.reader >= 0:
            os.close(self.reader)
        self.reader = -1

    def close_writer(self):
        if self.writer >= 0:
            os.close(self.writer)
        self.writer = -1

    def fill(self):
        """Leaves no room. Whether writing waits is the open pipe's, and the program's too: so it is opened once more."""
        own = os.open(f"/proc/self/fd/{self.writer}", os.O_WRONLY | os.O_NONBLOCK)
        for size in (4096, 64, 1):
            try:
                while True:
                    os.write(own, b"." * size)
            except BlockingIOError:
                pass
        os.close(own)

    def read_rest(self):
        self.close_writer()
        with os.fdopen(self.reader, errors="replace") as text:
            self.reader = -1
            return text.read()


class Log(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.config = self.path / "serve.toml"
        self.config.write_text('[material]\nlongitudinal_velocity = 5900.0\n[grid]\nx = [-2e-3, 2e-3]\nz = [1e-3, 4e-3]\npixels = [32, 32]\n'
                               '[imaging]\nbackend = "cpu"\nthreads = 1\n[input]\nlisten = "127.0.0.1:0"\n[server]\n'
                               'images = "127.0.0.1:0"\ntelemetry = "127.0.0.1:0"\nweb = "127.0.0.1:0"\ncontrol = "127.0.0.1:0"\n')

    def start(self, *arguments, **more):
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], **more)
        for pipe in (process.stdout, process.stderr):
            if pipe:
                self.addCleanup(pipe.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def serve(self, stderr, level="info", **more):
        server = self.start("--log-level", level, "serve", "--config", self.config, stdout=subprocess.PIPE, stderr=stderr, text=True, **more)
        places = self.places = {}
        while "control" not in places:
            line = server.stdout.readline()
            self.assertTrue(line, f"the server did not start: {server.poll()}")
            places[line[:11].strip()] = line[12:].strip()
        self.frames = places["frames in"].removeprefix("tcp ")
        self.images = places["images out"]
        self.control = places["control"]
        self.web = re.search(r"http://[^/ ]+", places["viewer"])[0]
        return server

    def metric(self, name):
        with urllib.request.urlopen(self.web + "/metrics", timeout=PATIENCE) as page:
            text = page.read().decode()
        found = re.search(rf"^echoform_{re.escape(name)} (\S+)$", text, re.MULTILINE)
        return float(found[1]) if found else None

    def wait_for(self, name, least):
        while (self.metric(name) or 0) < least:
            pass

    def watch_images(self, count, meanwhile=lambda: None):
        """A good sender and a good viewer: every image of `count` frames comes, whatever goes on `meanwhile`."""
        with echoform.ImageSubscriber(self.images, timeout=PATIENCE) as viewer, echoform.FrameSender(ACQUISITION, self.frames) as sender:
            while True:  # until the subscription has arrived
                sender.send(FRAME)
                try:
                    first = viewer.receive(timeout=0.05).sequence
                    break
                except echoform.TimedOut:
                    pass
            last = first
            for k in range(count):
                if k == count // 2:
                    meanwhile()
                last = sender.send(FRAME)
                while viewer.receive().sequence != last:
                    pass
            self.assertEqual(viewer.gaps, 0)
            return last + 1

    def end(self, server, number=signal.SIGTERM):
        server.send_signal(number)
        output, _ = server.communicate(timeout=PATIENCE)
        self.assertEqual(server.returncode, 0)
        return output

    def check_lives_on(self, server):
        frames = self.watch_images(10)
        self.wait_for("log_lines_dropped_total", 2)
        frames += self.watch_images(10)
        received, published = map(int, re.search(CLOSURE, self.end(server)).groups())
        self.assertEqual((received, published), (frames, frames))

    def test_serve_lives_on_where_the_disk_of_its_log_is_full(self):
        with open("/dev/full", "w") as full:
            self.check_lives_on(self.serve(full))

    def test_serve_lives_on_where_the_reader_of_its_log_has_gone(self):
        pipe = Pipe(self)
        server = self.serve(pipe.writer)
        pipe.close_reader()
        self.check_lives_on(server)

    def test_serve_lives_on_where_a_limit_of_files_ends_its_log(self):
        import resource
        with open(self.path / "log", "w") as log:
            self.check_lives_on(self.serve(log, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))))

    def log_more_than_waits(self):
        """Lines until some had to be left out."""
        with echoform.Control(self.control, timeout=PATIENCE) as control:
            while not self.metric("log_lines_dropped_total"):
                for _ in range(200):
                    with self.assertRaises(echoform.Rejected):
                        control.set({"grid.x": "nonsense"})

    def test_nobody_reads_and_no_image_is_missing(self):
        pipe = Pipe(self)
        server = self.serve(pipe.writer, level="debug")

        def stop_reading():
            pipe.fill()
            self.log_more_than_waits()

        frames = self.watch_images(20, stop_reading)
        self.wait_for("frames_published_total", frames)  # a viewer can have an image before it is counted
        self.assertEqual(self.metric("frames_published_total"), frames)
        self.assertEqual(self.metric("sequence_gaps_total"), 0)
        # Nobody ever reads, and it ends.
        self.assertRegex(self.end(server), CLOSURE)

    def test_who_reads_again_is_told_how_many_lines_are_missing(self):
        pipe = Pipe(self)
        server = self.serve(pipe.writer, level="debug")
        pipe.fill()
        self.log_more_than_waits()
        dropped = self.metric("log_lines_dropped_total")
        with echoform.TelemetrySubscriber(self.places["telemetry"], timeout=PATIENCE) as telemetry:
            self.assertGreaterEqual(telemetry.receive().log_lines_dropped, dropped)
        pipe.close_writer()
        text = []
        found = threading.Event()

        def read():
            with os.fdopen(pipe.reader, errors="replace") as lines:
                pipe.reader = -1
                for line in lines:
                    text.append(line)
                    if "were left out" in line:
                        found.set()

        reader = threading.Thread(target=read)
        reader.start()
        self.assertTrue(found.wait(PATIENCE))
        told = [int(number) for number in re.findall(r" warning (\d+) lines of the log were left out here", "".join(text))]
        self.assertEqual(sum(told), self.metric("log_lines_dropped_total"))
        self.end(server)
        reader.join()

    def test_standard_output_that_nobody_reads_does_not_hold_the_end(self):
        pipe = Pipe(self)
        server = self.start("serve", "--config", self.config, stdout=pipe.writer, stderr=subprocess.PIPE, text=True)
        with os.fdopen(os.dup(pipe.reader)) as lines:
            while "control" not in lines.readline():
                pass
        pipe.fill()
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(PATIENCE), 0)

    def choose_web_place(self):
        """For a server that says its places to nobody."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            place = "%s:%d" % free.getsockname()
        self.config.write_text(self.config.read_text().replace('web = "127.0.0.1:0"', f'web = "{place}"'))
        self.web = "http://" + place

    def wait_until_it_serves(self, server):
        while True:
            self.assertIsNone(server.poll())
            try:
                return self.metric("frames_received_total")
            except OSError:
                pass

    def test_log_and_output_in_one_pipe_that_nobody_reads(self):
        self.choose_web_place()
        pipe = Pipe(self)
        pipe.fill()
        server = self.start("serve", "--config", self.config, stdout=pipe.writer, stderr=pipe.writer)
        self.wait_until_it_serves(server)
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(PATIENCE), 0)

    def test_closed_standard_files_are_no_door(self):
        self.choose_web_place()
        server = self.start("serve", "--config", self.config, preexec_fn=lambda: os.closerange(0, 3))
        self.wait_until_it_serves(server)
        self.assertEqual([os.readlink(f"/proc/{server.pid}/fd/{number}") for number in range(3)], 3 * ["/dev/null"])
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(PATIENCE), 0)

    def test_viewers_are_those_of_both_doors(self):
        server = self.serve(subprocess.PIPE)
        with echoform.ImageSubscriber(self.images, timeout=PATIENCE), echoform.FrameSender(ACQUISITION, self.frames) as sender:
            self.wait_for('subscribers{door="images"}', 1)
            self.assertEqual(self.metric('subscribers{door="web"}'), 0)
            with echoform.TelemetrySubscriber(self.places["telemetry"], timeout=PATIENCE) as telemetry:
                self.assertEqual(telemetry.receive().subscribers, 1)
            lines = iter(server.stderr.readline, "")
            sender.send(FRAME)
            self.assertRegex(next(line for line in lines if " images/s, " in line), "viewers 1$")
        reader = threading.Thread(target=server.stderr.read)
        reader.start()
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(PATIENCE), 0)
        reader.join()

    def test_hangup_ends_in_order(self):
        server = self.serve(subprocess.DEVNULL)
        self.watch_images(3)
        self.assertRegex(self.end(server, signal.SIGHUP), CLOSURE)

    def test_hangup_is_ignored_under_nohup(self):
        server = self.serve(subprocess.DEVNULL, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        server.send_signal(signal.SIGHUP)
        self.watch_images(3)  # while it images, the hangup has been there
        self.assertRegex(self.end(server), CLOSURE)

    def test_a_signal_that_is_there_from_the_start(self):
        before = list(self.path.iterdir())
        for command in (["serve"], ["simulate"], ["demo"], ["record", "--output", self.path / "r.mfmc"],
                        ["capture", "--output", self.path / "c.efcap"]):
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                def come_first(number=number):
                    signal.pthread_sigmask(signal.SIG_BLOCK, [number])  # it waits until the program takes it
                    os.kill(os.getpid(), number)

                with self.subTest(command=command[0], signal=number):
                    process = self.start(*command, "--config", self.config, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                         preexec_fn=come_first)
                    self.assertEqual(process.wait(PATIENCE), 0)
                    self.assertEqual(list(self.path.iterdir()), before)

    def test_a_signal_before_the_command_has_begun(self):
        # It synthesises for some time after it has said so.
        self.config.write_text("[simulator]\nelements = 48\nsamples = 4096\n")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(signal=number):
                demo = self.start("demo", "--config", self.config, "--backend", "cpu", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True)
                while "synthesising" not in (line := demo.stderr.readline()):
                    self.assertTrue(line, "the demo did not start")
                demo.send_signal(number)
                demo.communicate(timeout=PATIENCE)
                self.assertEqual(demo.returncode, 0)

    def test_a_second_signal_ends_it_at_once(self):
        server = self.serve(subprocess.DEVNULL)
        server.send_signal(signal.SIGSTOP)
        for number in (signal.SIGTERM, signal.SIGHUP):
            server.send_signal(number)
        server.send_signal(signal.SIGCONT)
        self.assertIn(server.wait(PATIENCE), (0, 128 + signal.SIGTERM, 128 + signal.SIGHUP))

    def test_short_commands_say_everything(self):
        frames = self.path / "frames.mfmc"
        recorder = self.start("record", "--output", frames, "--listen", "127.0.0.1:0", "--frames", 1, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
        place = recorder.stdout.readline().split()[-1]
        with echoform.FrameSender(ACQUISITION, place) as sender:
            sender.send(FRAME)
        self.assertEqual(recorder.wait(PATIENCE), 0)
        arguments = ["image", frames, "--config", self.config, "--output", self.path / "a.npy"]
        whole = self.start(*arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        _, expected = whole.communicate(timeout=PATIENCE)
        self.assertEqual(whole.returncode, 0, expected)
        expected = re.sub("^[0-9:.]+", "", expected, flags=re.MULTILINE)
        self.assertIn("wrote", expected)
        # Nobody reads at first: it waits, and nothing is lost.
        pipe = Pipe(self)
        pipe.fill()
        slow = self.start(*arguments, stdout=subprocess.DEVNULL, stderr=pipe.writer)
        text = pipe.read_rest().lstrip(".")
        self.assertEqual(slow.wait(PATIENCE), 0)
        self.assertEqual(re.sub("^[0-9:.]+", "", text, flags=re.MULTILINE), expected)

    def test_exit_codes_do_not_depend_on_the_log(self):
        with open("/dev/full", "w") as full:
            for code, *arguments in ((2, "image", self.path / "absent.mfmc", "--output", self.path / "a.npy"), (2, "serve", "--bogus"),
                                     (2, "serve", "--config", self.path / "absent.toml"),
                                     (1, "simulate", "--connect", "127.0.0.1:1", "--config", self.small())):
                with self.subTest(arguments=arguments[0]):
                    process = self.start(*arguments, stdout=subprocess.DEVNULL, stderr=full)
                    self.assertEqual(process.wait(PATIENCE), code)

    def small(self):
        file = self.path / "simulator.toml"
        file.write_text("[simulator]\nelements = 8\nsamples = 301\n")
        return file


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
