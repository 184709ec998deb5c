"""A sender that is refused learns the setting and the file that it is about, and not where the server's files are."""
import pathlib
import re
import signal
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from program_case import PROGRAM, ProgramCase  # noqa: E402

PATIENCE = 60
SERVER = """[material]
longitudinal_velocity = 6320
[grid]
x = [-0.004, 0.004]
z = [0.002, 0.010]
pixels = [16, 16]
[imaging]
backend = "cpu"
{imaging}
[input]
listen = "127.0.0.1:0"
[server]
images = "127.0.0.1:0"
telemetry = "127.0.0.1:0"
web = "127.0.0.1:0"
control = "127.0.0.1:0"
"""


class HiddenPaths(ProgramCase):
    def setUp(self):
        super().setUp()
        self.folder = self.path / "behind closed doors" / "site"
        self.folder.mkdir(parents=True)

    def refused(self, imaging, before=lambda: None, extra="", config=None):
        """(what the sender reads, what the server logs)"""
        file = self.folder / "server.toml"
        file.write_text(SERVER.format(imaging=imaging) + extra)
        server = self.start("serve", "--config", config or file)
        place = re.search(r"127\.0\.0\.1:\d+", server.stdout.readline())[0]
        before()
        source = self.path / "source.toml"
        source.write_text("[simulator]\nelements = 4\nsamples = 301\n")
        sent = subprocess.run([PROGRAM, "--log-level", "error", "simulate", "--connect", place, "--config", str(source), "--frames", "1"],
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(sent.returncode, 2, sent.stderr)
        server.send_signal(signal.SIGTERM)
        logged = server.communicate(timeout=PATIENCE)[1]
        self.assertEqual(server.returncode, 0, logged)
        self.assertNotIn("/", re.sub(r"127\.0\.0\.1:\d+", "", sent.stderr), sent.stderr)
        self.assertNotIn("closed doors", sent.stderr)
        return sent.stderr, logged

    def test_of_the_configuration(self):
        said, logged = self.refused("events = [99]")
        self.assertIn("server.toml: [imaging] events: found", said)
        self.assertIn(f"{self.folder}/server.toml: [imaging] events: found", logged)

    def test_of_a_file_that_it_names(self):
        part = self.folder / "parts" / "part.csv"
        part.parent.mkdir()
        part.write_text("-0.02, 0.02\n0.02, 0.02\n")
        extra = "[couplant]\nvelocity = 1480\n[surface]\nkind = \"profile\"\nfile = \"parts/part.csv\"\n"
        said, logged = self.refused("delay_law = \"immersion\"", part.unlink, extra)
        self.assertIn("part.csv", said)
        self.assertIn(str(part), logged)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
