"""A signal ends a command that makes something with code 1 and one line, and nothing half-written stays behind."""
import array
import fcntl
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
import unittest

sys.dont_write_bytecode = True
from program_case import PROGRAM, ProgramCase  # noqa: E402

PATIENCE = 120  # seconds, on a busy machine
SIMULATED = """[material]
longitudinal_velocity = 6320
[grid]
x = [-0.006, 0.006]
z = [0.004, 0.016]
pixels = [1500, 1500]
[imaging]
backend = "cpu"
threads = 1
[simulator]
elements = 32
samples = 1024
sample_rate = 40e6
cycle_frames = 2
points = [[0.001, 0.009, 1.0]]
"""


class Interrupted(ProgramCase):
    def setUp(self):
        super().setUp()
        self.out = self.path / "out"
        self.out.mkdir()
        self.config = self.path / "scan.toml"
        self.config.write_text(SIMULATED)

    def recorded(self, frames, name="scan.efcap"):
        """A file of so many frames of 2 MiB."""
        file = self.path / name
        recorder = self.start("record", "--listen", "127.0.0.1:0", "--config", self.config, "--output", file, "--frames", frames)
        place = re.search(r"127\.0\.0\.1:\d+", recorder.stdout.readline())[0]
        self.run_program(0, "simulate", "--connect", place, "--config", self.config, "--rate", "max", "--frames", frames)
        output, errors = recorder.communicate(timeout=PATIENCE)
        self.assertEqual(recorder.returncode, 0, output + errors)
        return file

    def begin(self, *arguments, **options):
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], stderr=subprocess.PIPE, text=True, **{"stdout": subprocess.DEVNULL, **options})
        for cleanup in (process.stderr.close, process.wait, process.kill):
            self.addCleanup(cleanup)
        return process

    def await_that(self, process, ready):
        """Until `ready`, or the process has ended; whether it was first. The process stands still then, until it is signalled."""
        end = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < end:
            if ready():
                process.send_signal(signal.SIGSTOP)
                while process.poll() is None and "State:\tT" not in pathlib.Path(f"/proc/{process.pid}/status").read_text():
                    pass
                if process.poll() is None and ready():
                    return True
                process.send_signal(signal.SIGCONT)
        return False

    def writes(self, process):
        """Whether it has a file open in `out`: under a name of its own or none, until it is in its place."""
        try:
            descriptors = os.listdir(f"/proc/{process.pid}/fd")
        except OSError:  # it has ended
            return False
        for descriptor in descriptors:
            try:
                if os.readlink(f"/proc/{process.pid}/fd/{descriptor}").startswith(f"{self.out}/"):
                    return True
            except OSError:  # closed meanwhile
                pass
        return False

    def assert_ends(self, process, number):
        process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        errors = process.communicate(timeout=PATIENCE)[1]
        self.assertEqual(process.returncode, 1, errors)
        faults = [line for line in errors.splitlines() if line.startswith("echoform: ")]
        self.assertEqual(faults, [f"echoform: ended by {number.name} before it was done"], errors)
        self.assertEqual(list(self.out.iterdir()), [])

    def test_convert_leaves_nothing(self):
        file = self.recorded(40, "scan.mfmc")  # which knows a velocity, as .uff wants
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            for extension in ("mfmc", "onde", "efcap", "uff"):
                with self.subTest(number=number.name, extension=extension):
                    # Where it has come to its end meanwhile, once more.
                    for _ in range(20):
                        output = self.out / f"scan.{extension}"
                        process = self.begin("convert", file, output)
                        if self.await_that(process, lambda: self.writes(process) and not output.exists()):
                            break
                        process.wait(PATIENCE)
                        output.unlink()
                    self.assert_ends(process, number)

    def test_image_leaves_nothing(self):
        file = self.recorded(1)
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number=number.name):
                process = self.begin("image", file, "--config", self.config, "--output", self.out / "image.npy", "--output", self.out / "image.nrrd")
                self.assertIn("scan.efcap", process.stderr.readline())  # it has been read
                self.assert_ends(process, number)

    def test_image_leaves_nothing_while_it_writes(self):
        file = self.recorded(1)
        found = 0
        for _ in range(40):
            process = self.begin("image", file, "--config", self.config, "--output", self.out / "image.nrrd", "--output", self.out / "image.vti")
            if self.await_that(process, lambda: self.writes(process)):
                process.send_signal(signal.SIGTERM)
                process.send_signal(signal.SIGCONT)
                process.communicate(timeout=PATIENCE)
                self.assertIn(process.returncode, (0, 1))
                self.assertEqual(list(self.out.glob(".*")), [])
                found += process.returncode
            for file_of_it in self.out.iterdir():
                file_of_it.unlink()
            if found >= 3:
                break
        self.assertGreaterEqual(found, 1, "it was never met while it wrote")

    def test_plan_and_bench_end(self):
        process = self.begin("plan", "--config", self.config, "--json", self.out / "plan.json")
        self.assertTrue(process.stderr.readline())  # what it says before it measures
        self.assert_ends(process, signal.SIGTERM)

        process = self.begin("bench", "tfm", "--backend", "cpu", "--json", self.out / "bench.json")
        self.assertIn("making data", process.stderr.readline())
        self.assert_ends(process, signal.SIGTERM)

    def test_bench_removes_its_folder(self):
        process = self.begin("bench", "record", "--backend", "cpu", "--folder", self.out)
        self.assertTrue(self.await_that(process, lambda: any(files for _, _, files in os.walk(self.out))))
        self.assert_ends(process, signal.SIGTERM)

    def recording(self):
        """A recorder that has a frame in its file, and a sender that goes on."""
        file = self.out / "scan.mfmc"
        recorder = self.start("record", "--listen", "127.0.0.1:0", "--config", self.config, "--output", file)
        place = re.search(r"127\.0\.0\.1:\d+", recorder.stdout.readline())[0]
        self.begin("simulate", "--connect", place, "--config", self.config, "--rate", 100)
        end = time.monotonic() + PATIENCE
        while not (file.exists() and file.stat().st_size > 3 << 20):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        return recorder, file

    def assert_closed(self, recorder, file):
        output, errors = recorder.communicate(timeout=PATIENCE)
        self.assertEqual(recorder.returncode, 0, errors)
        self.assertRegex(output, r"wrote \d+ frames")
        self.assertIs(self.inspect(file)["unfinished"], False)

    def signals_taken(self, process):
        """Whether none of the signals that it was sent waits any more."""
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        return all(int(re.search(rf"^{kind}:\t(\w+)$", status, re.MULTILINE)[1], 16) == 0 for kind in ("ShdPnd", "SigPnd"))

    def test_signals_that_come_together_are_one(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.subTest(second=number.name):
                recorder, file = self.recording()
                recorder.send_signal(signal.SIGTERM)
                while recorder.poll() is None and not self.signals_taken(recorder):
                    pass
                recorder.send_signal(number)
                self.assert_closed(recorder, file)
                file.unlink()

    def test_under_timeout_of_coreutils_files_are_closed(self):
        # Which signals the process and then its group, of which the process is.
        file = self.out / "scan.mfmc"
        recorder = subprocess.Popen(["timeout", "--preserve-status", "600", PROGRAM, "record", "--listen", "127.0.0.1:0", "--config", self.config,
                                     "--output", file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for cleanup in (recorder.stderr.close, recorder.stdout.close, recorder.wait, recorder.kill):
            self.addCleanup(cleanup)
        place = re.search(r"127\.0\.0\.1:\d+", recorder.stdout.readline())[0]
        self.begin("simulate", "--connect", place, "--config", self.config, "--rate", 100)
        end = time.monotonic() + PATIENCE
        while not (file.exists() and file.stat().st_size > 3 << 20):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        recorder.send_signal(signal.SIGTERM)  # it hands on what it is sent as it does its own
        self.assert_closed(recorder, file)

    def test_output_that_nobody_reads_does_not_hold_it(self):
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        fcntl.fcntl(writing, 1031, 4096)  # F_SETPIPE_SZ: less than it has to say
        process = self.begin("info", "--config-keys", stdout=writing)
        os.close(writing)
        waiting = array.array("i", [0])
        while waiting[0] < 4096:
            fcntl.ioctl(reading, termios.FIONREAD, waiting)
            self.assertIsNone(process.poll())
        self.assert_ends(process, signal.SIGTERM)

    def test_control_ends_while_it_waits_for_a_server(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            process = self.begin("control", "get", "--connect", f"tcp://127.0.0.1:{silent.getsockname()[1]}", "--timeout", 600)
            silent.settimeout(PATIENCE)
            with silent.accept()[0]:
                self.assert_ends(process, signal.SIGTERM)

    def test_a_limit_on_the_size_of_files_is_a_fault_that_leaves_nothing(self):
        file = self.recorded(4)
        limited = f"ulimit -f 1024; exec '{PROGRAM}' convert '{file}' '{self.out}/scan.onde'"
        result = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(list(self.out.iterdir()), [])

    def test_messages_name_the_file_that_was_asked_for(self):
        recording = self.recorded(4)
        for arguments in (("convert", recording, self.out / "scan.mfmc"), ("convert", recording, self.out / "scan.onde"),
                          ("convert", recording, self.out / "scan.efcap"),
                          *(("image", recording, "--config", self.config, "--output", self.out / f"image.{ending}")
                            for ending in ("npy", "nrrd", "vti", "h5", "dcm"))):
            with self.subTest(arguments[-1].name):
                command = " ".join(f"'{word}'" for word in (PROGRAM, *arguments))
                result = subprocess.run(["bash", "-c", f"ulimit -f 16; exec {command}"], capture_output=True, text=True, timeout=PATIENCE)
                self.assertEqual(result.returncode, 1, result.stderr)
                fault = next(line for line in result.stderr.splitlines() if line.startswith("echoform: "))
                self.assertIn(f"{arguments[-1]}: ", fault)
                self.assertNotRegex(fault, r"\.part|/proc/|/\.scan|/\.image")

    def test_what_a_killed_process_left_goes_at_the_next_start(self):
        recording = self.recorded(1)
        left = self.out / ".other.mfmc.0123456789abcdef.part"
        written = self.out / ".slow.npy.fedcba9876543210.part"
        others = [self.out / name for name in (".other.mfmc.0123456789abcdeg.part", "other.mfmc.0123456789abcdef.part", ".other.part", "x.part")]
        for file in (left, written, *others):
            file.write_text("half")
        os.symlink(self.config, self.out / ".link.mfmc.0123456789abcdef.part")
        with open(written, "r+") as held:  # as whoever writes it does
            fcntl.fcntl(held, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
            self.run_program(0, "convert", recording, self.out / "scan.onde")
            self.assertFalse(left.exists())
            self.assertTrue(written.exists())
        self.run_program(0, "convert", recording, self.out / "more.onde")  # nobody writes it any more
        self.assertFalse(written.exists())
        for file in others:
            self.assertTrue(file.exists(), file)
        self.assertTrue(self.config.exists())

    def test_of_a_process_that_is_killed_nothing_stays(self):
        file = self.recorded(40, "scan.mfmc")
        for extension in ("onde", "efcap"):
            with self.subTest(extension):
                for _ in range(20):
                    output = self.out / f"scan.{extension}"
                    process = self.begin("convert", file, output)
                    if self.await_that(process, lambda: self.writes(process) and not output.exists()):
                        break
                    process.wait(PATIENCE)
                    output.unlink()
                process.kill()
                process.wait(PATIENCE)
                self.run_program(0, "convert", file, output)
                self.assertEqual(list(self.out.iterdir()), [output])
                output.unlink()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
