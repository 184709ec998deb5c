"""Every benchmark runs on tiny sizes and writes its figures. What they are is for the benchmarks to say; errors are checked.

The second argument is the backend. `ingest` moves gigabytes and `scan` converts large images whatever is asked for; their measurements have tests of their own."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]
BACKEND = sys.argv[2]


def bench(name, *arguments):
    """The figures of one benchmark."""
    with tempfile.TemporaryDirectory() as folder:
        figures = pathlib.Path(folder) / "figures.json"
        result = subprocess.run([PROGRAM, "bench", name, "--backend", BACKEND, "--json", str(figures), *map(str, arguments)],
                                capture_output=True, text=True, timeout=200)
        if result.returncode != 0:
            raise AssertionError(f"bench {name}: exit code {result.returncode}\n{result.stdout}\n{result.stderr}")
        values = json.loads(figures.read_text())
    assert values["backend"] == BACKEND
    return values[name]


class Bench(unittest.TestCase):
    def assert_spread(self, spread):
        self.assertGreater(spread["least"], 0.0)
        self.assertLessEqual(spread["least"], spread["median"])
        self.assertLessEqual(spread["median"], spread["most"])

    def test_hilbert(self):
        figures = bench("hilbert", "--elements", 8, "--samples", 256, "--frames", 3)
        self.assertGreater(figures["copy_bytes_per_second"], 0.0)
        for figure in figures["stages"] + figures["chains"]:
            self.assert_spread(figure["seconds"])

    def test_stream(self):
        figures = bench("stream", "--elements", 8, "--samples", 1024, "--pixels", 16, "--hold", 0.5, "--frames", 20,
                        "--connections", 2)
        self.assertEqual([link["connections"] for link in figures["links"]], [2])
        self.assert_spread(figures["links"][0]["bare_frames_per_second"])
        self.assertTrue(figures["full_speed"]["closes"])
        self.assertEqual("device_bytes_growth" in figures, BACKEND == "cuda")

    def test_record(self):
        figures = bench("record", "--elements", 8, "--samples", 1024, "--pixels", 16, "--hold", 0.5, "--frames", 1)
        self.assert_spread(figures["disk_frames_per_second"])
        self.assert_spread(figures["images_without"])
        self.assertGreater(figures["recorded"], 0)
        self.assertTrue(figures["closes"])


class BenchOnCpu(Bench):
    def test_delays(self):
        figures = bench("delays", "--elements", 16, "--pixels", 32, "--frames", 1)
        self.assertEqual(figures["rays"], 16 * 32 * 32)
        for surface in figures["surfaces"]:
            self.assertGreater(surface["reached"], 0.5)
            for table in surface["tables"]:
                self.assert_spread(table["seconds"])
                self.assertLess(table["largest_difference"], 1e-11)  # of the table's single precision

    def test_tfm(self):
        figures = bench("tfm", "--elements", 8, "--samples", 512, "--pixels", 16, "--frames", 1, "--threads", 1)
        self.assert_spread(figures["reference"]["lookups_per_second"])
        self.assertLess(figures["relative_difference"], 1e-3)

    def test_frame(self):
        figures = bench("frame", "--elements", 8, "--samples", 1024, "--pixels", 16, "--frames", 3)
        self.assert_spread(figures["images_per_second"])
        self.assertIn("beamform", [stage["stage"] for stage in figures["stages"]])

    def test_what_is_not_measured_here_is_said(self):
        result = subprocess.run([PROGRAM, "bench", "schedules", "--backend", "cpu"], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 2)
        self.assertIn("it measures nothing on the CPU", result.stderr)


class BenchOnCuda(Bench):
    SIZES = ["--elements", 16, "--samples", 1024, "--pixels", 32]

    def test_tfm(self):
        figures = bench("tfm", *self.SIZES, "--frames", 2)
        self.assertEqual(len(figures["beamform"]), 4)  # one and three views, half and float
        for figure in figures["beamform"]:
            self.assert_spread(figure)
            self.assertGreater(figure["lookups"], 0)
            # What the plans ask for.
            self.assertLess(figure["relative_error"], 1e-3 if figure["path"] == "half" else 1e-4, figure["name"])

    def test_schedules(self):
        figures = bench("schedules", *self.SIZES, "--frames", 2)
        errors = {figure["schedule"]: figure["relative_error"] for figure in figures["schedules"]}
        self.assertEqual(list(errors), ["GPU1", "GPU1op", "GPU2", "Echoform, half", "Echoform, float"])
        # Single-precision delays of some hundred samples; textures interpolate with 8 bits of fraction.
        self.assertLess(errors["GPU1"], 1e-3)
        self.assertLess(errors["GPU1op"], 1e-2)
        self.assertLess(errors["GPU2"], 1e-2)

    def test_frame(self):
        for gate in ([], ["--gate"]):
            figures = bench("frame", *self.SIZES, "--frames", 20, *gate)
            self.assertEqual(len(figures["frames"]), 2)
            for figure in figures["frames"]:
                self.assert_spread(figure)
                self.assertEqual(figure["gated"], bool(gate))


if __name__ == "__main__":
    if BACKEND == "cuda" and os.environ.get("ECHOFORM_REQUIRE_GPU") != "1":
        probe = subprocess.run([PROGRAM, "bench", "tfm", "--backend", "cuda", "--elements", "2", "--samples", "64", "--pixels", "1",
                                "--frames", "1"], capture_output=True, text=True, timeout=120)
        if "backend cuda:" in probe.stderr:
            print("SKIPPED:", probe.stderr.strip().splitlines()[-1])
            sys.exit(77)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(BenchOnCuda if BACKEND == "cuda" else BenchOnCpu)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
