"""A sender's token comes from a file or the environment, and never stands among the arguments, which every user may read."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]
PATIENCE = 60


class Token(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.simulator = self.write("simulator.toml", "[simulator]\nelements = 4\nsamples = 301\n")

    def write(self, name, text, mode=0o600):
        file = self.path / name
        file.write_text(text)
        file.chmod(mode)
        return file

    def server(self, output):
        """`record`, which asks for the token."""
        config = self.write("record.toml", '[input]\nlisten = "127.0.0.1:0"\ntoken = "sesame"\n')
        server = subprocess.Popen([PROGRAM, "record", "--config", config, "--output", output, "--frames", "1"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        for cleanup in (server.stdout.close, server.wait, server.kill):
            self.addCleanup(cleanup)
        self.place = re.search(r"\S+:\d+$", server.stdout.readline().strip())[0]
        return server

    def simulate(self, *arguments, environment=None):
        variables = {name: value for name, value in os.environ.items() if name != "ECHOFORM_TOKEN"} | (environment or {})
        return subprocess.run([PROGRAM, "simulate", "--connect", self.place, "--config", self.simulator, "--frames", "1", *arguments],
                              capture_output=True, text=True, timeout=PATIENCE, env=variables)

    def test_file_and_environment(self):
        right, wrong = self.write("right", "sesame\n"), self.write("wrong", "barley\n")
        for number, (code, arguments, environment) in enumerate((
                (0, ["--token-file", right], {}), (0, [], {"ECHOFORM_TOKEN": "sesame"}),
                (0, ["--token-file", right], {"ECHOFORM_TOKEN": "barley"}), (2, [], {}), (2, ["--token-file", wrong], {}))):
            with self.subTest(arguments=arguments, environment=environment):
                server = self.server(self.path / f"{number}.mfmc")
                sent = self.simulate(*arguments, environment=environment)
                self.assertEqual(sent.returncode, code, sent.stderr)
                if code == 0:
                    self.assertEqual(server.wait(PATIENCE), 0)
                else:
                    self.assertIn("token", sent.stderr)
                    server.send_signal(signal.SIGTERM)

    def test_replay_takes_the_same(self):
        self.assertEqual(subprocess.run([PROGRAM, "replay", "--help"], capture_output=True, text=True, timeout=PATIENCE).stdout.count("--token"),
                         1)

    def test_not_among_the_arguments(self):
        for command in (["simulate"], ["replay", "a.mfmc"]):
            result = subprocess.run([PROGRAM, *command, "--token", "sesame"], capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual((result.returncode, result.stderr),
                             (2, "echoform: --token: found a secret among the arguments, which every user of this machine may read; "
                                 "expected --token-file FILE, or the environment variable ECHOFORM_TOKEN\n"))

    def test_files_that_others_may_read_or_that_hold_none(self):
        self.place = "127.0.0.1:1"
        for file, found in ((self.write("open", "sesame", 0o644), "permissions 644"), (self.write("empty", "\n"), "an empty line"),
                            (self.path / "absent", "no such file")):
            result = self.simulate("--token-file", file)
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stderr, f"^echoform: --token-file: {file}: found {found}.*; expected .*\n$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
