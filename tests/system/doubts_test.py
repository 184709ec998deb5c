"""Units that were mistaken are said by every command that reads a configuration or a recording, also where it then refuses."""
import json
import re
import socket
import subprocess
import sys
import unittest

from program_case import PROGRAM, ProgramCase

RECORDER = sys.argv[2]
SLOW_RATE = "[acquisition] sample_rate = 40 Hz: MHz, for 4e+07 Hz?"
SLOW_SOUND = "[material] longitudinal_velocity = 5.9 m/s: slower than sound in air; km/s or mm/us, for 5900 m/s?"
DATA_SOUND = "data: longitudinal velocity = 1.5 m/s: slower than sound in air; km/s or mm/us, for 1500 m/s?"
VOLUME = """[grid]
x = [-3e-3, 3e-3]
y = [-3e-3, 3e-3]
z = [-3e-3, 3e-3]
pixels = [16, 16, 16]
[imaging]
threads = 1
"""


class Doubts(ProgramCase):
    def setUp(self):
        super().setUp()
        self.ball = self.path / "ball.efcap"
        subprocess.run([RECORDER, self.ball, "8", "4"], check=True, timeout=120)

    def write(self, text):
        path = self.path / "doubtful.toml"
        path.write_text(text)
        return path

    def assert_said_once(self, line, said):
        self.assertEqual(said.count(line), 1, said)

    def test_reconstruct_doubts_its_settings(self):
        config = self.write(VOLUME + "[material]\nlongitudinal_velocity = 1500.0\n[acquisition]\nsample_rate = 40\n"
                                     "[reconstruction]\nmodel = \"spherical\"\nhighest_frequency = 1.5\n")
        said = self.run_program(0, "reconstruct", self.ball, "--config", config, "--output", self.path / "ball.npy", "--iterations", 1)
        self.assert_said_once(SLOW_RATE, said)
        self.assert_said_once("[reconstruction] highest_frequency = 1.5 Hz: MHz, for 1.5e+06 Hz?", said)

    def test_reconstruct_doubts_settings_that_it_refuses(self):
        config = self.write(VOLUME + "[material]\nlongitudinal_velocity = 5.9\n")
        said = self.run_program(2, "reconstruct", self.ball, "--config", config, "--output", self.path / "ball.npy")
        self.assert_said_once(SLOW_SOUND, said)

    def slow_recording(self):
        whole = self.path / "whole.efcap"
        subprocess.run([RECORDER, whole, "8", "4", "whole"], check=True, timeout=120)
        slow = self.path / "slow.hdf5"
        said = self.run_program(0, "convert", whole, slow, "--longitudinal-velocity", "1.5")
        self.assert_said_once(DATA_SOUND, said)
        return slow

    def test_convert_inspect_and_reconstruct_doubt_data(self):
        slow = self.slow_recording()
        self.assert_said_once(DATA_SOUND, self.run_program(0, "inspect", slow))
        found = json.loads(re.search(r"^{.*^}", self.run_program(0, "inspect", slow, "--json"), re.DOTALL | re.MULTILINE)[0])
        self.assertIn(DATA_SOUND, found["warnings"])
        said = self.run_program(2, "reconstruct", slow, "--config", self.write(VOLUME), "--output", self.path / "ball.npy")
        self.assert_said_once(DATA_SOUND, said)

    def test_replay_doubts_settings_and_data(self):
        with socket.create_server(("127.0.0.1", 0)) as nobody:
            port = nobody.getsockname()[1]
        said = self.run_program(1, "replay", self.slow_recording(), "--connect", f"127.0.0.1:{port}", "--frames", 1, "--config",
                                self.write("[acquisition]\nsample_rate = 40\n"))
        self.assert_said_once(SLOW_RATE, said)
        self.assert_said_once(DATA_SOUND, said)

    def test_record_and_capture_doubt_their_settings(self):
        config = self.write("[input]\nlisten = \"127.0.0.1:0\"\n[material]\nlongitudinal_velocity = 5.9\n")
        self.assert_said_once(SLOW_SOUND, self.run_program(1, "record", "--output", self.path / "a.mfmc", "--seconds", "0.1", "--config", config))
        self.assert_said_once(SLOW_SOUND, self.run_program(0, "capture", "--output", self.path / "a.efcap", "--seconds", "0.1", "--config", config))

    def test_image_and_plan_doubt_what_they_refuse(self):
        """Where images are refused, the doubt may say why."""
        config = self.write("[imaging]\nmethod = \"tomography\"\n[grid]\nx = [-3e-3, 3e-3]\nz = [-3e-3, 3e-3]\n"
                            "pixels = [16, 16]\n[material]\nlongitudinal_velocity = 5.9\n")
        self.assert_said_once(SLOW_SOUND, self.run_program(2, "image", self.ball, "--config", config, "--output", self.path / "a.npy"))
        self.assert_said_once(SLOW_SOUND, self.run_program(2, "plan", "--recording", self.ball, "--config", config))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
