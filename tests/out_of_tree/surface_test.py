"""The program of examples/surface: commands take its kind of surface, and reflectors behind it show where they are."""
import re
import tomllib
import unittest

import numpy

from program_case import EXAMPLE, ProgramCase

CONFIG = EXAMPLE / "corrugated.toml"


class Surface(ProgramCase):
    def test_reflectors_behind_it_show_where_they_are_and_behind_a_plane_do_not(self):
        recording = self.recorded(lambda address: self.run_program("simulate", "--connect", address, "--config", CONFIG,
                                                                   "--frames", 1, "--rate", "max"))
        settings = tomllib.loads(CONFIG.read_text())
        grid = settings["grid"]
        x, z = (numpy.linspace(*grid[axis], count) for axis, count in zip("xz", grid["pixels"]))
        flat = self.path / "flat.toml"
        flat.write_text(re.sub(r'(?s)kind = "corrugated".*?\n\n', 'kind = "plane"\n\n', CONFIG.read_text()))
        # A quarter of the wavelength: nearer an image of one frequency cannot be held to.
        near = {"LL": 0.25 * 6320.0 / 5e6, "TT": 0.25 * 3130.0 / 5e6}
        levels = {}
        for name, config in (("corrugated", CONFIG), ("flat", flat)):
            self.run_program("image", recording, "--config", config, "--output", self.path / f"{name}.npy")
            for view in settings["imaging"]["views"]:
                image = numpy.load(self.path / f"{name}.{view}.npy")
                for point in settings["simulator"]["points"]:
                    px, pz, value = self.strongest(image, x, z, point, 1e-3)
                    off = numpy.hypot(px - point[0], pz - point[1])
                    levels[name, view, *point] = value
                    print(f"{name:<10} {view} at ({1e3 * point[0]:5.1f}, {1e3 * point[1]:4.1f}) mm: off by {1e3 * off:.2f} mm, {value:.2e}")
                    if name == "corrugated":
                        # And half of the diagonal of a pixel.
                        self.assertLessEqual(off, near[view] + 0.18e-3)
        # Through a plane the same echoes do not come together: the surface is what focuses them.
        for (name, *rest), value in levels.items():
            if name == "corrugated":
                self.assertGreater(value, 2.0 * levels["flat", *rest], rest)

    def test_commands_know_it(self):
        self.assertRegex(self.run_program("info"), r"surfaces +plane, cylinder, profile, sphere, revolved, stl, corrugated\n")
        keys = self.run_program("info", "--config-keys")
        for key in ("period", "height", "width"):
            self.assertIn(f"`{key}`", keys)
        self.assertIn("corrugated: A cosine along x", keys)
        self.assertIn("2 views", self.run_program("plan", "--config", CONFIG, "--no-measure"))

    def test_bad_parameters_get_one_line_and_code_2(self):
        plan = ("plan", "--no-measure")
        self.assertIn('[surface] period: found no value; expected a number in m, which kind = "corrugated" needs',
                      self.bad_line(*plan, replace="period = 0.016", text=""))
        self.assertIn("[surface] height: found 0.006 m with a period of 0.016 m; expected a slope of 45 degrees at most",
                      self.bad_line(*plan, replace="height = 0.0006", text="height = 0.006"))
        self.assertRegex(self.bad_line(*plan, replace="height = 0.0006", text="height = -1"), r"height.*found -1.*expected a number in m")
        self.assertIn('[surface] radius: found a key for kind = "corrugated"; expected only z, period, height, width',
                      self.bad_line(*plan, replace="height = 0.0006", text="height = 0.0006\nradius = 0.01"))
        self.assertIn("plane, cylinder, profile, sphere, revolved, stl, corrugated", self.bad_line(*plan, replace='"corrugated"', text='"corrugatd"'))


if __name__ == "__main__":
    unittest.main(argv=["surface_test.py"])
