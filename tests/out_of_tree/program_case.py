"""A program made of Echoform's library and an example, as the tests of both examples run it."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy

PROGRAM, EXAMPLE = sys.argv[1], pathlib.Path(sys.argv[2])


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

    def run_program(self, *arguments, code=0):
        """Standard output; of a run that fails the line on standard error."""
        process = self.start(*arguments)
        output, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, errors)
        if code == 0:
            return output
        self.assertEqual(errors.count("\n"), 1, errors)
        return errors

    def recorded(self, send):
        """The file with one frame that send(address) sends to the program's `record`."""
        file = self.path / "frame.mfmc"
        recorder = self.start("record", "--listen", "127.0.0.1:0", "--output", file, "--frames", 1)
        send("127.0.0.1:" + re.search(r":(\d+)$", recorder.stdout.readline().strip())[1])
        _, errors = recorder.communicate(timeout=120)
        self.assertEqual(recorder.returncode, 0, errors)
        return file

    def strongest(self, image, x, z, place, within):
        """Where the image is strongest within a distance of a place, and its value there."""
        gx, gz = numpy.meshgrid(x, z)
        near = numpy.hypot(gx - place[0], gz - place[1]) <= within
        iz, ix = numpy.unravel_index(numpy.argmax(numpy.where(near, image, -1.0)), image.shape)
        return x[ix], z[iz], image[iz, ix]

    def bad_line(self, *arguments, replace, text):
        """What the program says of the example's configuration with one text replaced."""
        stated = next(EXAMPLE.glob("*.toml")).read_text()
        self.assertIn(replace, stated)
        config = self.path / "bad.toml"
        config.write_text(stated.replace(replace, text))
        return self.run_program(*arguments, "--config", config, code=2)
