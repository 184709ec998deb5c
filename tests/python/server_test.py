"""The helper that runs a server, the package's loading by parts, and its installation."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from support import PROGRAM, SOURCE, configuration, need, run

need("numpy", "zmq", "google.protobuf")
import echoform  # noqa: E402


def python(code, **environment):
    """Runs code in another interpreter that knows the tree's package, and nothing of the build's folder."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": str(SOURCE / "python"), **environment})


class Servers(unittest.TestCase):
    def test_says_where_it_is_and_how_it_ended(self):
        with echoform.Server(configuration(), program=PROGRAM) as server:
            for door in ("frames", "images", "telemetry", "web"):
                self.assertRegex(getattr(server, door), r"127\.0\.0\.1:[1-9]\d*")
            self.assertEqual(server.stop(), ["drops none", "frames received 0 = published 0 + dropped 0 + in flight 0"])

    def test_a_server_that_does_not_start_is_an_exception_with_its_line(self):
        with self.assertRaisesRegex(echoform.EchoformError, r"unknown key pixel in \[grid\]"):
            echoform.Server(configuration(grid={"pixel": [1, 1]}), program=PROGRAM)
        with self.assertRaisesRegex(echoform.EchoformError, "127.0.0.1"):
            with echoform.Server(configuration(), program=PROGRAM) as first:
                echoform.Server(configuration(input={"listen": first.frames}), program=PROGRAM)

        with self.assertRaisesRegex(echoform.EchoformError, "^/nowhere/echoform: cannot be run .No such file"):
            echoform.Server(program="/nowhere/echoform")

    def test_one_that_dies_may_leave_the_block(self):
        with echoform.Server(configuration(), program=PROGRAM) as server:
            server.kill()


class Loading(unittest.TestCase):
    def test_sending_needs_numpy_alone(self):
        hidden = "import sys; sys.modules.update(dict.fromkeys(['zmq', 'google.protobuf', 'h5py']))\n"
        done = python(hidden + "import echoform; echoform.FrameSender, echoform.Acquisition, echoform.point_scatterers")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = python(hidden + "import echoform; echoform.ImageSubscriber")
        self.assertIn("ModuleNotFoundError", done.stderr)

    def test_all_names_are_there(self):
        for name in echoform.__all__:
            if name != "Recording":  # which needs h5py
                self.assertIsNotNone(getattr(echoform, name))
        with self.assertRaisesRegex(AttributeError, "no attribute 'nothing'"):
            echoform.nothing

    def test_descriptors_are_made_once_and_again_where_they_cannot_be_kept(self):
        if subprocess.run(["which", "protoc"], capture_output=True).returncode != 0 or not (SOURCE / "proto/image.proto").exists():
            self.skipTest("no protoc, or no proto/")
        if (SOURCE / "python/messages.desc").exists():
            self.skipTest("descriptors come with this package")
        code = "from echoform._messages import messages; print(messages.Image.DESCRIPTOR.fields_by_name['pixels'].number)"
        with tempfile.TemporaryDirectory() as cache:
            for _ in range(2):
                done = python(code, XDG_CACHE_HOME=cache)
                self.assertEqual((done.stdout, done.stderr), ("100\n", ""))
                kept = list(pathlib.Path(cache, "echoform").iterdir())
                self.assertEqual(len(kept), 1)
            kept[0].write_bytes(b"half a fi")  # a damaged one is made again
            self.assertEqual(python(code, XDG_CACHE_HOME=cache).stdout, "100\n")
        done = python(code, XDG_CACHE_HOME="/dev/null")
        self.assertEqual((done.stdout, done.stderr), ("100\n", ""))

    def test_installs_without_a_network(self):
        if not (SOURCE / "python/pyproject.toml").exists() or subprocess.run(["which", "protoc"], capture_output=True).returncode != 0:
            self.skipTest("no source tree, or no protoc")
        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder, "installed")
            done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-cache-dir",
                                   "--disable-pip-version-check", "--target", str(target), str(SOURCE / "python")],
                                  capture_output=True, text=True, timeout=240)
            if "No module named pip" in done.stderr:
                self.skipTest("no pip")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = python("import echoform; from echoform._messages import messages; print(echoform.__file__, messages.Telemetry.__name__)",
                          PYTHONPATH=str(target), PATH="/nowhere", HOME="/nowhere", XDG_CACHE_HOME="/nowhere")
            self.assertEqual(done.stdout, f"{target}/echoform/__init__.py Telemetry\n", done.stderr)


if __name__ == "__main__":
    run()
