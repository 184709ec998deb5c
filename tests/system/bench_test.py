"""Every benchmark runs on tiny sizes and writes its figures. What they are is for the benchmarks to say; errors are checked.

The second argument is the backend. `ingest` moves gigabytes and `scan` converts large images whatever is asked for; their measurements have tests of their own."""
import functools
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
    return whole_bench(name, *arguments)[name]


@functools.cache
def whole_bench(name, *arguments):
    """What one benchmark writes. The same one is measured once for all tests that look at it."""
    with tempfile.TemporaryDirectory() as folder:
        figures = pathlib.Path(folder) / "figures.json"
        result = subprocess.run([PROGRAM, "bench", name, "--backend", BACKEND, "--json", str(figures), *map(str, arguments)],
                                capture_output=True, text=True, timeout=200)
        if result.returncode != 0:
            raise AssertionError(f"bench {name}: exit code {result.returncode}\n{result.stdout}\n{result.stderr}")
        values = json.loads(figures.read_text())
    assert values["backend"] == BACKEND
    return values


def rounds_of(order, names):
    """How many whole rounds `order` has, each of them all `names`, every second one backwards; -1 where it is something else."""
    if len(order) % len(names):
        return -1
    rounds = [order[k:k + len(names)] for k in range(0, len(order), len(names))]
    return len(rounds) if all(found == (names if k % 2 == 0 else names[::-1]) for k, found in enumerate(rounds)) else -1


class Bench(unittest.TestCase):
    def assert_spread(self, spread):
        self.assertGreater(spread["least"], 0.0)
        self.assertLessEqual(spread["least"], spread["median"])
        self.assertLessEqual(spread["median"], spread["most"])

    def assert_turns(self, turns, names):
        """What is compared was measured in turn; returns the number of rounds."""
        rounds = rounds_of(turns["order"], names)
        self.assertGreater(rounds, 0, turns["order"])
        self.assertEqual(sorted(turns["values"]), sorted(names))
        for values in turns["values"].values():
            self.assertEqual(len(values), rounds)
        return rounds

    def assert_limit(self, figure, names, above, below):
        """The limit stands beside the figure, and their ratio is that of pairs: `above` over `below` of each round."""
        self.assertIn("limit_name", figure)
        self.assert_spread(figure["limit"])
        self.assert_spread(figure["ratio"])
        order = figure["turns"]["order"]
        # Either every second round backwards, or each figure directly behind its limit.
        if order != names * (len(order) // len(names)):
            self.assert_turns(figure["turns"], names)
        pairs = sorted(a / b for a, b in zip(figure["turns"]["values"][above], figure["turns"]["values"][below]))
        self.assertAlmostEqual(figure["ratio"]["least"], pairs[0], delta=1e-9 * pairs[0])
        self.assertAlmostEqual(figure["ratio"]["most"], pairs[-1], delta=1e-9 * pairs[-1])

    def test_hilbert(self):
        figures = bench("hilbert", "--elements", 8, "--samples", 256, "--frames", 3)
        self.assert_stages(figures, figures["stages"] + figures["chains"])

    def test_lines(self):
        figures = bench("lines", "--elements", 8, "--samples", 256, "--frames", 2)
        found = {(figure["filter"], figure["lines"]): figure for figure in figures["figures"]}
        self.assertLessEqual({("linear", 1), ("nearest", 1), ("upsampled 11", 1), ("upsampled 11", 16)}, set(found))
        for figure in found.values():
            self.assert_spread(figure["real_time"])
        if BACKEND == "cuda":
            for figure in found.values():
                for value in ("lookups", "uploads_real_time", "copies_real_time", "ratio"):
                    self.assert_spread(figure[value])
            return
        for figure in found.values():
            self.assert_spread(figure["frames"])
        for compared in (("linear", 1), ("upsampled 11", 4)):
            self.assertGreater(found[compared]["ratio"]["median"], 0.0)
            # Single precision on both sides, places of the plain loop too.
            self.assertLess(found[compared]["difference"], 1e-3)

    def test_flow(self):
        figures = bench("flow", "--pixels", 16, "--frames", 3)
        self.assert_stages(figures, figures["stages"] + figures["chains"])
        names = [figure["name"] for figure in figures["chains"]]
        for wall_filter in ("polynomial of order 1", "FIR, differences of order 2", "SVD, 2 components"):
            self.assertIn(f"{wall_filter}, to velocity", names)

    def test_compounding(self):
        figures = bench("compounding", "--elements", 32, "--pixels", 64, "--frames", 2)
        self.assertEqual({figure["waves"] for figure in figures["figures"]}, {1, 8, 32})
        for figure in figures["figures"]:
            self.assert_spread(figure)
            self.assert_spread(figure["images_per_second"])
            # The images are those of the disk, and turn as it does: 0.87, for what is heard at an angle b turns by (1 + cos b) / 2.
            self.assertGreater(figure["contrast_db"], 8.0)
            self.assertGreater(figure["velocity_slope"], 0.75)
            self.assertLess(figure["velocity_slope"], 1.05)

    def test_decoding(self):
        figures = bench("decoding", "--elements", 8, "--samples", 256, "--frames", 3)
        self.assert_stages(figures, figures["stages"])
        self.assertEqual([figure["name"] for figure in figures["stages"]],
                         ["any code", "any code, directions added", "Hadamard", "Hadamard, directions added"])
        figures = bench("decoding", "--elements", 7, "--samples", 256, "--frames", 3)
        self.assertEqual([figure["name"] for figure in figures["stages"]], ["any code", "any code, directions added"])

    def assert_stages(self, figures, stages):
        self.assertGreater(figures["copy_bytes_per_second"], 0.0)
        for figure in stages:
            self.assert_spread(figure["seconds"])
            self.assert_spread(figure["ratio"])
            order = figure["turns"]["order"]
            self.assertEqual(sorted(order[:2]), ["copy", "work"])
            self.assertEqual(order, order[:2] * 3)

    def test_stream(self):
        figures = bench("stream", "--elements", 8, "--samples", 1024, "--pixels", 16, "--hold", 0.5, "--frames", 20,
                        "--connections", 2)
        self.assertEqual([link["connections"] for link in figures["links"]], [2])
        link = figures["links"][0]
        self.assert_spread(link["bare_frames_per_second"])
        # Full speed is a number of trials, each with a time of its own, between those of bare sockets.
        self.assert_limit(link, ["bare", "pipeline", "engine"], "pipeline", "bare")
        rates = [trial["images_per_second"] for trial in link["trials"]]
        self.assertEqual(rates, link["turns"]["values"]["pipeline"])
        self.assertGreaterEqual(len(set(rates)), 4, rates)
        self.assertEqual([link["least"], link["most"]], [min(rates), max(rates)])
        self.assertTrue(all(trial["closes"] for trial in link["trials"]))
        self.assert_spread(figures["engine_images_per_second"])
        self.assertEqual("device_bytes_growth" in figures, BACKEND == "cuda")

    def test_record(self):
        figures = bench("record", "--elements", 8, "--samples", 1024, "--pixels", 16, "--hold", 0.5, "--frames", 1)
        self.assert_spread(figures["disk_frames_per_second"])
        self.assert_spread(figures["images_without"])
        self.assert_turns(figures["turns"], ["disk", "writer", "without", "with"])
        self.assertGreater(figures["recorded"], 0)
        self.assertTrue(figures["closes"])


class BenchOnCpu(Bench):
    TFM = ("--elements", 8, "--samples", 512, "--pixels", 16, "--frames", 2, "--threads", 1)

    def test_delays(self):
        figures = bench("delays", "--elements", 16, "--pixels", 32, "--frames", 1)
        self.assertEqual(figures["rays"], 16 * 32 * 32)
        for surface in figures["surfaces"]:
            self.assertGreater(surface["reached"], 0.5)
            for table in surface["tables"]:
                self.assert_spread(table["seconds"])
                self.assertLess(table["largest_difference"], 1e-11)  # of the table's single precision

    def test_filters(self):
        figures = bench("filters", "--samples", 100)
        self.assertLess(figures["largest_difference_db"], 0.1)
        self.assertLess(max(figures["deviations"].values()), 1e-6)
        linear = next(found for found in figures["filters"] if found["name"] == "linear")
        self.assertAlmostEqual(linear["noise_gain"], 2 / 3, places=6)
        self.assertEqual([round(at["frequency"], 6) for at in linear["figures"]], [round(0.05 * n, 6) for n in range(1, 10)])
        for at in linear["figures"]:
            self.assertAlmostEqual(at["snr_db"], at["closed_form_snr_db"], delta=0.1)

    def test_tomography(self):
        figures = bench("tomography", "--elements", 16, "--pixels", 16, "--frames", 3)
        self.assertEqual([figure["algorithm"] for figure in figures["figures"]], ["fbp", "ubp"])
        for figure in figures["figures"]:
            for value in ("seconds", "pairs_per_second", "plain_pairs_per_second", "ratio", "whole_volume_seconds"):
                self.assert_spread(figure[value])
            self.assertEqual(self.assert_turns(figure["turns"], ["plain loop", "stage"]), 3)
            # Single precision on both sides, places of the plain loop too.
            self.assertLess(figure["difference"], 1e-3)
        ring = figures["ring"]
        self.assert_spread(ring["images_per_second"])
        self.assert_limit(ring, ["images", "reads"], "images", "reads")
        self.assertIn("back-projection", [stage["stage"] for stage in ring["stages"]])

    def test_tfm_states_the_ratio_to_both_frozen_loops(self):
        figures = bench("tfm", *self.TFM)
        for reference in ("reference", "padded_reference", "limit"):
            self.assert_spread(figures[reference]["lookups_per_second"])
        for ratio in ("ratio", "padded_ratio", "of_limit"):
            self.assert_spread(figures[ratio])
        best = figures["beamformer"][0]["name"]
        values = figures["turns"]["values"]
        self.assertEqual(figures["turns"]["order"][:2], ["frozen loop", "pair-major loop"])
        self.assertAlmostEqual(figures["padded_ratio"]["most"],
                               max(a / b for a, b in zip(values[best], values["pair-major loop"])), places=6)
        self.assertLess(figures["relative_difference"], 1e-3)
        self.assertLess(figures["padded_difference"], 1e-3)

    def test_tfm_covers_weights(self):
        weighted = bench("tfm", *self.TFM)["weighted"]
        for figure in ("beamformer", "reference", "limit"):
            self.assert_spread(weighted[figure]["lookups_per_second"])
        for ratio in ("ratio", "of_unweighted", "of_limit"):
            self.assert_spread(weighted[ratio])
        self.assertLess(weighted["relative_difference"], 1e-3)

    def test_frame_counts_lookups_where_rays_reach(self):
        figures = bench("frame", "--elements", 8, "--samples", 1024, "--pixels", 16, "--frames", 3)
        self.assert_spread(figures["images_per_second"])
        self.assertIn("beamform", [stage["stage"] for stage in figures["stages"]])
        self.assert_limit(figures, ["images", "reads"], "images", "reads")
        lookups = figures["lookups"]
        self.assertEqual(lookups["a_frame_of_all_pairs_and_pixels"], 8 * 9 / 2 * 16 * 16)
        self.assertGreater(lookups["a_frame"], 0)
        self.assertLessEqual(lookups["a_frame"], lookups["a_frame_of_all_pairs_and_pixels"])
        # An A-scan that ends within the image: what lies behind it is no lookup.
        short = bench("frame", "--elements", 8, "--samples", 256, "--pixels", 16, "--frames", 1)["lookups"]
        self.assertLess(short["a_frame"], 0.9 * short["a_frame_of_all_pairs_and_pixels"])

    def test_tables_of_the_documents_are_printed_from_figures(self):
        with tempfile.TemporaryDirectory() as folder:
            figures = pathlib.Path(folder) / "figures.json"
            written = whole_bench("tfm", *self.TFM)
            figures.write_text(json.dumps(written))
            tool = pathlib.Path(os.environ["ECHOFORM_SOURCE_DIR"]) / "tools" / "performance-tables"
            if not tool.exists():
                self.skipTest("the sources are not here")
            printed = subprocess.run([sys.executable, str(tool), str(figures)], capture_output=True, text=True, check=True,
                                     timeout=60).stdout
            values = written["tfm"]
        self.assertIn("| frozen loop |", printed)
        self.assertIn(f"{values['padded_ratio']['median']:.1f} (", printed)

    def test_what_is_not_measured_here_is_said(self):
        result = subprocess.run([PROGRAM, "bench", "schedules", "--backend", "cpu"], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 2)
        self.assertIn("it measures nothing on the CPU", result.stderr)


class BenchOnCuda(Bench):
    SIZES = ["--elements", 16, "--samples", 1024, "--pixels", 32]

    def test_tomography(self):
        figures = bench("tomography", "--pixels", 16, "--frames", 10)
        self.assertEqual([(f["algorithm"], f["rings"], f["views"]) for f in figures["volumes"]][:4],
                         [("fbp", 32, 45), ("fbp", 64, 45), ("fbp", 64, 90), ("fbp", 128, 90)])
        self.assertEqual(len(figures["volumes"]), 8)
        for figure in figures["volumes"]:
            self.assert_spread(figure["seconds"])
            # Places in single precision, against sums in double.
            self.assertLess(figure["difference"], 1e-4)
        for name in ["live_ubp", "live_fbp", "ring"]:
            self.assert_spread(figures[name]["images_per_second"])
        self.assertNotIn("volumes", bench("tomography", "--pixels", 16, "--frames", 10, "--part", "ring"))

    def test_tfm(self):
        figures = bench("tfm", *self.SIZES, "--frames", 2)
        self.assertEqual(len(figures["beamform"]), 8)  # one view, three views, one with weights and plane waves, half and float
        self.assertEqual(sum(figure["weighted"] for figure in figures["beamform"]), 2)
        for figure in figures["beamform"]:
            self.assert_spread(figure)
            self.assertGreater(figure["lookups"], 0)
            self.assert_limit(figure, ["loads", "lookups", "instructions"], "lookups", "loads")
            # What the plans ask for.
            self.assertLess(figure["relative_error"], 1e-3 if figure["path"] == "half" else 1e-4, figure["name"])

    def test_schedules_compare_each_data_path_in_turn(self):
        figures = bench("schedules", *self.SIZES, "--frames", 2)
        errors = {figure["schedule"]: figure["relative_error"] for figure in figures["schedules"]}
        names = ["GPU1", "GPU1op", "GPU2", "Echoform, half", "Echoform, float"]
        self.assertEqual(list(errors), names)
        # Single-precision delays of some hundred samples; textures interpolate with 8 bits of fraction.
        self.assertLess(errors["GPU1"], 1e-3)
        self.assertLess(errors["GPU1op"], 1e-2)
        self.assertLess(errors["GPU2"], 1e-2)
        ratios = figures["ratios"][0]
        self.assertIn(ratios["best"], names[:3])
        self.assert_turns(ratios["kernel_turns"], names)
        self.assert_turns(ratios["frame_turns"], names)
        for path in ("half", "float"):
            self.assert_spread(ratios["kernel_ratio"][path])
            self.assert_spread(ratios["frame_ratio"][path])

    def test_frame(self):
        for gate in ([], ["--gate"]):
            figures = bench("frame", *self.SIZES, "--frames", 20, *gate)
            self.assertEqual(len(figures["frames"]), 2)
            for figure in figures["frames"]:
                self.assert_spread(figure)
                self.assert_limit(figure, ["copies", "images"], "images", "copies")
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
