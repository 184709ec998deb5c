"""A test case with a folder of its own that runs the program."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]


class ProgramCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def start(self, *arguments):
        process = subprocess.Popen([PROGRAM, "--log-level", "warning", *map(str, arguments)], stdout=subprocess.PIPE,
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
