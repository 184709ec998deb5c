"""`[acquisition] sample_scale` replaces the scale of a recording, a capture or a sender, and multiplies floats: `image` of a file and
`replay` of it to `serve` give the same image, and the server's recorder keeps the scale of the data."""
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

PROGRAM = sys.argv[1]
KEY = 0.5
SETUP = ('[material]\nlongitudinal_velocity = 6320.0\n[grid]\nx = [-0.002, 0.002]\nz = [0.004, 0.012]\npixels = [20, 40]\n'
         '[imaging]\ncrop = "never"\naccuracy = 1e-5\n')  # half precision rounds two scales differently
DOORS = ('[input]\nlisten = "127.0.0.1:0"\n[server]\nimages = "127.0.0.1:0"\ntelemetry = "127.0.0.1:0"\nweb = "127.0.0.1:0"\n'
         'control = "127.0.0.1:0"\n')


class SampleScale(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def run_program(self, *arguments):
        done = subprocess.run([PROGRAM, "--log-level", "warning", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout)

    def start(self, *arguments):
        process = subprocess.Popen([PROGRAM, "--log-level", "warning", *map(str, arguments)], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        for cleanup in (process.stdout.close, process.wait, process.kill):
            self.addCleanup(cleanup)
        return process

    def config(self, name, text):
        place = self.path / name
        place.write_text(text)
        return place

    def scaled(self, key):
        return f"[acquisition]\nsample_scale = {key}\n" if key else ""

    def recorded(self, encoding):
        """A frame of the simulated source as MFMC."""
        file = self.path / f"{encoding}.mfmc"
        recorder = self.start("record", "--listen", "127.0.0.1:0", "--output", file, "--frames", 1)
        place = re.search(r"127\.0\.0\.1:\d+$", recorder.stdout.readline().strip())[0]
        source = self.config("source.toml", f'[simulator]\nelements = 8\nsamples = 300\nencoding = "{encoding}"\n')
        self.run_program("simulate", "--connect", place, "--config", source, "--rate", "max", "--frames", 1)
        output, _ = recorder.communicate(timeout=60)
        self.assertEqual(recorder.returncode, 0, output)
        return file

    def imaged(self, file, key):
        self.run_program("image", file, "--config", self.config("image.toml", SETUP + self.scaled(key)), "--output", self.path / "i.npy")
        return numpy.load(self.path / "i.npy").astype(float)

    def served(self, file, key, recorder=""):
        server = self.start("serve", "--config", self.config("serve.toml", SETUP + DOORS + self.scaled(key) + recorder))
        places = {}
        while len(places) < 2:
            line = server.stdout.readline()
            self.assertTrue(line, "the server says where it listens")
            if found := re.match(r"(frames in|images out)\s+tcp\W+(127\.0\.0\.1:\d+)$", line.strip()):
                places[found[1]] = found[2]
        view = self.start("view", "--connect", "tcp://" + places["images out"], "--frames", 1, "--timeout", 60, "--snapshot",
                          self.path / "v.npy")
        replay = self.start("replay", file, "--connect", places["frames in"], "--rate", 20, "--loop")
        output, _ = view.communicate(timeout=120)
        self.assertEqual(view.returncode, 0, output)
        replay.send_signal(signal.SIGINT)
        replay.communicate(timeout=60)
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=60)
        self.assertEqual(server.returncode, 0)
        return numpy.load(self.path / "v.npy").astype(float)

    def expect_same(self, found, expected, what):
        # Some 10 roundings to single precision on either way.
        self.assertLess(numpy.linalg.norm(found - expected) / numpy.linalg.norm(expected), 1e-6, what)

    def test_a_recordings_own_scale_is_replaced_by_image_as_by_serve(self):
        for encoding in ("int16", "packed12"):
            file = self.recorded(encoding)
            with h5py.File(file) as opened:
                own = opened["SEQUENCES/S1"].attrs["ECHOFORM_SAMPLE_SCALE"][0]
            capture = self.path / f"{encoding}.efcap"
            self.run_program("convert", file, capture)
            plain = self.imaged(file, None)
            for input in (file, capture):
                image = self.imaged(input, KEY)
                self.expect_same(image, KEY / own * plain, f"{input.name}: the key replaces {own}")
                self.expect_same(self.served(input, KEY), image, input.name)
            self.expect_same(self.served(file, None), plain, "without the key")

    def test_floats_and_mat_are_multiplied(self):
        file = self.recorded("float32")
        capture, mat = self.path / "f.efcap", self.path / "f.mat"
        self.run_program("convert", file, capture)
        self.run_program("convert", file, mat, "--frame", 0)
        plain = self.imaged(file, None)
        for input in (file, capture, mat):
            self.expect_same(self.imaged(input, KEY), KEY * plain, input.name)
            self.expect_same(self.served(input, KEY), KEY * plain, f"{input.name} to serve")

    def test_the_servers_recorder_keeps_the_scale_of_the_data(self):
        file = self.recorded("int16")
        again = f'[recorder]\nfolder = "{self.path}"\nfile = "again.mfmc"\nmin_free_bytes = 0\n'
        live = self.served(file, KEY, again)
        copies = [entry for entry in self.path.iterdir() if entry.name.startswith("again")]
        self.assertEqual(len(copies), 1)
        with h5py.File(file) as first, h5py.File(copies[0]) as second:
            self.assertEqual(first["SEQUENCES/S1"].attrs["ECHOFORM_SAMPLE_SCALE"][0],
                             second["SEQUENCES/S1"].attrs["ECHOFORM_SAMPLE_SCALE"][0])
            self.assertTrue((first["SEQUENCES/S1/MFMC_DATA"][0] == second["SEQUENCES/S1/MFMC_DATA"][0]).all())
        self.expect_same(self.imaged(copies[0], KEY), live, "the recording of a live run, by the same configuration")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
