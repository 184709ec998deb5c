"""docs/gpu.md says how many machine instructions a lookup of the CUDA beamformer takes: the compiler's output agrees.

The arguments: the program, which is not run, and nvcc, empty in a build without CUDA. Three kernels are compiled by themselves."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["ECHOFORM_SOURCE_DIR"])
NVCC = sys.argv[2] if len(sys.argv) > 2 else ""

KERNELS = """#include "stages/beamform/tile_kernel.cuh"
namespace echoform::beamform {
const void* computed_delays() {
  return reinterpret_cast<const void*>(&beamform_tiles<TileVariant<true, true, false, false, 2>>);
}
const void* weighted_tables() {
  return reinterpret_cast<const void*>(&beamform_tiles<TileVariant<true, false, true, false, 2>>);
}
const void* plane_waves() {
  return reinterpret_cast<const void*>(&beamform_tiles<PlaneVariant<true, false, 2>>);
}
}
"""


class CountInstructions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "kernels.cu"
            source.write_text(KERNELS)
            subprocess.run([NVCC, "-std=c++20", "-O3", "-arch=sm_90", "--fmad=false", f"-I{SOURCE}", "-cubin", "-o", f"{folder}/kernels.cubin", str(source)],
                           check=True, timeout=250)
            subprocess.run([sys.executable, str(SOURCE / "tools" / "count-instructions"), f"{folder}/kernels.cubin", "--json",
                            f"{folder}/counts.json"], check=True, stdout=subprocess.DEVNULL, timeout=60)
            cls.figures = json.loads((pathlib.Path(folder) / "counts.json").read_text())
        cls.document = (SOURCE / "docs" / "gpu.md").read_text()

    def stated(self, words):
        """The figure of the column "16 x 16, 64" in the row that begins with `words`."""
        rows = [line.strip(" |").split("|") for line in self.document.splitlines() if line.startswith("| ")]
        head = next(row for row in rows if row[0].strip().startswith("instructions a lookup"))
        column = [cell.strip() for cell in head].index("16 x 16, 64")
        row = next(row for row in rows if row[0].strip().startswith(words))
        return float(re.match(r"[\d.]+", row[column].strip()).group())

    def test_straight_loop_takes_what_the_document_says(self):
        # Half an instruction: compilers order and share the delays' work in more than one way.
        for words, delays in (("half, computed", "computed"), ("half, plane waves", "computed, plane waves"), ("half, tables, weights", "tables")):
            figure = next(f for f in self.figures if f["delays"] == delays)
            self.assertEqual(figure["loads_of_samples"], 64)
            self.assertAlmostEqual(figure["instructions_a_lookup"], self.stated(words), delta=0.5, msg=words)

    def test_a_lookup_by_itself_is_seven_instructions(self):
        names = next(f for f in self.figures if f["delays"] == "computed")["by_name"]
        # Address: add, shift and one three-input operation; load; the fraction's mask; interpolation and sum. The adder of delays may
        # be any of three instructions, and so may the one of halves.
        self.assertEqual(names["LDS"] - 32, 64)  # 32 are for the forms of eight receivers: four words each
        for name in ("SHF", "LOP3"):
            self.assertAlmostEqual(names[name] / 64, {"SHF": 1, "LOP3": 2}[name], delta=0.15, msg=name)
        self.assertAlmostEqual((names["HFMA2"] + names["HADD2"]) / 64, 2, delta=0.15)
        self.assertIn("a lookup itself is 7 instructions", " ".join(self.document.split()))


if __name__ == "__main__":
    if not (SOURCE / "tools" / "count-instructions").exists():
        print("SKIPPED: the sources are not here")
        sys.exit(77)
    if shutil.which(NVCC) is None:
        print("SKIPPED: no nvcc" + (f" at {NVCC}" if NVCC else ": a build without CUDA"))
        sys.exit(77)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromTestCase(CountInstructions)).wasSuccessful())
