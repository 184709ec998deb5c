"""A test case with a folder of its own that runs the program."""
import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]


def run_on_terminal(command):
    """Its code, and what it writes to standard error where that is a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    said = b""
    try:
        while more := os.read(ours, 65536):
            said += more
    except OSError:  # nobody writes there any more
        pass
    os.close(ours)
    return process.wait(), said.decode()


def beginnings_of_steps(said):
    """How full, from 0 to 1, the bar is when each step begins."""
    begun = {}
    for bar, step in re.findall(r"\[(#*\.*)\] ([a-z ]+)", said):
        begun.setdefault(step, bar.count("#") / len(bar))
    return begun


class ProgramCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def start(self, *arguments, log_level="warning"):
        process = subprocess.Popen([PROGRAM, "--log-level", log_level, *map(str, arguments)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        for cleanup in (process.stderr.close, process.stdout.close, process.wait, process.kill):
            self.addCleanup(cleanup)
        return process

    def run_program(self, code, *arguments):
        """What it says, on either stream."""
        result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def inspect(self, file):
        return json.loads(re.search(r"^{.*^}", self.run_program(0, "inspect", file, "--json"), re.DOTALL | re.MULTILINE)[0])
