"""One line for each configuration or option that cannot be: where, what was found, and what was expected."""
import os
import pathlib
import subprocess
import sys
import unittest

from program_case import PROGRAM, ProgramCase

sys.path.insert(0, str(pathlib.Path(os.environ["ECHOFORM_SOURCE_DIR"]) / "tools"))
import two_builds  # noqa: E402

VELOCITY = "[material]\nlongitudinal_velocity = 6000\n"
SOUND = "[imaging]\nmethod = 'tomography'\n[material]\nlongitudinal_velocity = 1500\n[detectors]\nkind = 'ring'\nradius = 0.04\n"
SOURCE = "[simulator]\nelements = 8\nsamples = 200\n"
TISSUE = SOURCE + "scatterers = 100\n"
LIGHT = SOUND + "[simulator]\nsamples = 200\nballs = [[0, 0, 0, 0.001, 1]]\n"
WATER = VELOCITY + "[couplant]\nvelocity = 1480\n[surface]\n"


class Refusals(ProgramCase):
    def refused(self, line, configuration, *command):
        (self.path / "c.toml").write_text(configuration)
        with self.subTest(line):
            done = subprocess.run([PROGRAM, "--log-level", "error", *map(str, command)], cwd=self.path, capture_output=True, text=True, timeout=120)
            self.assertEqual((done.returncode, done.stderr.strip()), (2, f"echoform: {line}"))

    def test_scenes_of_the_simulated_source(self):
        (self.path / "blood.csv").write_text("700,0,1\n800,0,1\n900,0,1\n")
        (self.path / "one.csv").write_text("700,1\n900,1\n")
        for configuration, line in (
                (TISSUE + "speckle_x = [0.001, -0.001]\n", "speckle_x: found 0.001 to -0.001 m; expected the lower end first, within 10 m"),
                (TISSUE + "vessels = [[0, 0, 0.01, 0, 0, 0.01, 0.001, 0.1, 0]]\n", "vessel 0: found two ends at one place; expected a tube of some length"),
                (TISSUE + "vessels = [[0, 0.01, 0.01, 0, 0.01, 0.02, 0.001, 0.1, 0]]\n",
                 "vessel 0: found ends beside the plane of the speckle; expected ends in it, or speckle_y with two ends"),
                (TISSUE + "vessels = [[0, 0.01, 0, 0.02, 0.001, 0.1, 200]]\n", "vessel 0: found 200 dB; expected up to 100 dB, or -inf"),
                (TISSUE + "disks = [[0, 0.02, 0.001, 1e6, 0]]\n", "disk 0: found 1e+06 turns a second; expected -10000 to 10000 turns a second"),
                (SOURCE + "radius = 0.05\n[probe]\nangle = 5.0\n",
                 "radius: found an arc with [probe] stand_off or angle; expected one whose middle is at z = 0"),
                (SOURCE + "rows = 2\nrow_pitch = 0.001\ntransmit = 'focused'\nfocus = 0.01\naperture = 2\n",
                 "aperture: found neighbours of a row, and 2 rows; expected elements by fire and receive, or one row"),
                (SOURCE + "transmit = 'plane'\nfocus = 0.02\n",
                 'focus: found one with transmit "plane"; expected transmit "diverging", "focused" or "beams"')):
            self.refused(f"c.toml: [simulator] {line}", configuration, "simulate", "--config", "c.toml")
        self.refused("c.toml:4: [simulator] haemoglobin: found \"\"; expected the name of a file, relative to the configuration's folder",
                     SOURCE + "haemoglobin = ''\n", "simulate", "--config", "c.toml")
        self.refused("one.csv, line 1: found 2 values; expected wavelength in nm, absorption of HbO2 and of Hb in 1/cm per mol/l",
                     LIGHT + "haemoglobin = 'one.csv'\n", "simulate", "--config", "c.toml")
        self.refused("c.toml: [simulator] balls, ball 0: found an amplitude of 1e+09; expected -1e6 to 1e6", LIGHT.replace(", 1]]", ", 1e9]]"), "simulate", "--config", "c.toml")
        self.refused("c.toml: [simulator] wavelengths: found oxygenated blood that takes up nothing at 800 nm; expected a table in which it does",
                     LIGHT + "wavelengths = [700e-9]\nball_saturations = [0.5]\nhaemoglobin = 'blood.csv'\n", "simulate", "--config", "c.toml")

    def test_surfaces(self):
        (self.path / "twice.csv").write_text("0,0\n0,0\n0.01,0.01\n")
        profile = WATER + "kind = 'profile'\nfile = 'twice.csv'\n"
        for configuration, line in (
                (profile + "interpolation = 'spline'\n", "c.toml: [surface] twice.csv, point 1: found the point before once more; expected points that differ"),
                (profile, "c.toml: [surface] twice.csv, segment 0: found no length at (0, 0) mm; expected points that differ"),
                (profile + "interpolation = 'dots'\n", 'c.toml: [surface] interpolation: found "dots"; expected "lines", "spline" or "points"'),
                (profile.replace("twice.csv", ""), "c.toml:7: [surface] file: found \"\"; expected the name of a file, relative to the configuration's folder")):
            self.refused(line, configuration + SOURCE, "plan", "--config", "c.toml", "--no-measure")

    def test_methods_and_scans(self):
        for method, what in (("beams", "velocity of sound in"), ("tomography", "speed of sound in")):
            self.refused(f"c.toml: [material] longitudinal_velocity: found none; expected the {what} m/s", f"[imaging]\nmethod = '{method}'\n",
                         "serve", "--config", "c.toml")
        scan = VELOCITY + "[grid]\nx = [-0.01, 0.01]\nz = [0.001, 0.02]\n[scan]\n"
        self.refused("c.toml: [scan] centre: found an axis through the middle of the probe's elements; expected a place on one that the probe goes around",
                     scan + "path = 'circle'\ncentre = [0, 0, 0]\n" + SOURCE, "plan", "--config", "c.toml", "--no-measure")
        self.refused("c.toml: [scan] file: /nowhere/x.h5: found no directory /nowhere; expected an existing directory",
                     scan + "path = 'line'\nfile = '/nowhere/x.h5'\n", "serve", "--config", "c.toml")

    def test_servers_and_their_keys(self):
        self.run_program(0, "keygen", "--output", self.path / "k")
        self.refused("c.toml: [curve] client_keys: found clients' keys and no secret_key_file; expected the server's own key beside them: without it nothing is "
                     "encrypted and everybody is let in", VELOCITY + "[curve]\nclient_keys = 'k.public'\n", "serve", "--config", "c.toml")
        self.refused("--server-key: found a key for a connection over TCP; expected --zeromq with it: TCP is not encrypted", "",
                     "simulate", "--server-key", "k.public", "--key", "k.secret")
        self.refused("c.toml: [input] idle_timeout: found 3 s; expected 0, since faults hold the sender up", "[input]\nidle_timeout = 3.0\n",
                     "soak", "--config", "c.toml")
        (self.path / "t.key").write_text("no key")
        (self.path / "t.key").chmod(0o600)
        (self.path / "c.toml").write_text(VELOCITY + "[input]\nlisten = '127.0.0.1:0'\n[server]\nimages = '127.0.0.1:0'\n"
                                          "telemetry = '127.0.0.1:0'\ncontrol = '127.0.0.1:0'\nweb = '127.0.0.1:0'\ntls_certificate = 't.key'\ntls_key = 't.key'\n")
        said = self.run_program(2, "serve", "--config", self.path / "c.toml")  # what was found is the library's word
        self.assertIn("[server] tls_certificate: ", said)
        self.assertIn("; expected a certificate in PEM (docs/security.md)", said)

    def test_instruments(self):
        self.refused('NAME: found "scope"; expected micropulse or us_lab4a', "", "instrument", "scope")
        pulse = VELOCITY + "[input.micropulse]\nconnect = '127.0.0.1:1'\n"
        self.refused("c.toml: [input.micropulse] pulse_width: found 2.15e-08; expected 20 to 500 ns in steps of 2", pulse + "pulse_width = 2.15e-8\n",
                     "serve", "--config", "c.toml")
        self.refused("c.toml: [input.micropulse] pulse_voltage: found 60; expected 50 to 200 V in steps of 25", pulse + "pulse_voltage = 60\n",
                     "serve", "--config", "c.toml")
        self.refused("c.toml: [input.micropulse] pulse_width: found 21; expected 20 to 500 ns in steps of 2", pulse + "pulse_width = 2.1e-8\n",
                     "serve", "--config", "c.toml")

    def test_options(self):
        self.refused('control start_recording: found "b"; expected one FILE at most', "", "control", "start_recording", "a", "b")
        self.refused("--loop: found it beside a capture that is sent as it came; expected --rate FPS|max beside it, which sends its frames", "",
                     "replay", "x.efcap", "--loop")

    def test_frames_and_files_of_a_recording(self):
        for frames, name in ((1, "one.mfmc"), (3, "three.mfmc")):
            two_builds.make_recording(PROGRAM, "[simulator]\nelements = 4\nsamples = 100\n", self.path / name, frames=frames)
        def image(recording):
            return "image", recording, "--config", "c.toml", "--output", "x.npy"
        imaging = VELOCITY + "[grid]\nx = [-0.001, 0.001]\nz = [0.001, 0.002]\npixels = [4, 4]\n[imaging]\nbackend = 'cpu'\n"
        self.refused("--frame: found 1; expected 0, as one.mfmc holds one frame", imaging, *image("one.mfmc"), "--frame", 1)
        self.refused("--frame: found 3; expected 0 to 2, as three.mfmc holds 3 frames", imaging, *image("three.mfmc"), "--frame", 3)
        self.refused("--to: found 0; expected 1 (--from) or more", imaging, *image("three.mfmc"), "--from", 1, "--to", 0)
        self.refused("--output: found ./x.npy twice; expected each file once", imaging, *image("one.mfmc"), "--output", "./x.npy")
        self.refused("--longitudinal-velocity: found x.efcap; expected a file that states velocities, which .efcap has no word for", "",
                     "convert", "one.mfmc", "x.efcap", "--longitudinal-velocity", 6000)
        self.refused("x.mat: found 3 frames; expected 1, which is all that such a file holds: choose it with --frame", "", "convert", "three.mfmc", "x.mat")
        self.assertEqual(sorted(path.name for path in self.path.iterdir()), ["c.toml", "one.mfmc", "three.mfmc"])


unittest.main(argv=sys.argv[:1], verbosity=2)
