"""What tests of `reconstruct` share: a recording of a ball, and the program."""
import pathlib
import subprocess
import tempfile
import time
import unittest

GRID = """[material]
longitudinal_velocity = 1500.0
[grid]
x = [-3e-3, 3e-3]
y = [-3e-3, 3e-3]
z = [-3e-3, 3e-3]
pixels = [16, 16, 16]
[imaging]
threads = 1
"""
PATIENCE = 120.0


class ReconstructTest(unittest.TestCase):
    program = recorder = ""
    elements, views = 16, 6

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.input = self.path / "ball.efcap"
        subprocess.run([self.recorder, self.input, str(self.elements), str(self.views)], check=True, timeout=PATIENCE)
        self.config = self.write("job.toml", "[reconstruction]\nmodel = \"spherical\"\npenalty = 1e-3\n")

    def write(self, name, text, grid=GRID):
        (self.path / name).write_text(grid + text)
        return self.path / name

    def command(self, output, *arguments, config=None):
        return [self.program, "reconstruct", str(self.input), "--config", str(config or self.config), "--output", str(self.path / output),
                *map(str, arguments)]

    def run_job(self, output, *arguments, config=None, before=(), code=0):
        done = subprocess.run([*before, *self.command(output, *arguments, config=config)], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def start(self, output, *arguments, config=None, before=()):
        process = subprocess.Popen([*before, *self.command(output, *arguments, config=config)], stderr=subprocess.PIPE, text=True)
        for cleanup in (process.stderr.close, process.wait, process.kill):
            self.addCleanup(cleanup)
        return process

    def wait_for_line(self, process, text):
        """Everything up to a line of the log that has this."""
        lines = []
        for line in process.stderr:
            lines.append(line)
            if text in line:
                return lines
        self.fail("".join(lines))

    def bytes_of(self, name):
        return (self.path / name).read_bytes()

    def files(self):
        return sorted(path.name for path in self.path.iterdir())
