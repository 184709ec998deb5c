"""Compares a frame that the program read (raw float32, half-matrix order) with what the reference's own reader finds."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))
from tfm_reference import read_mat  # noqa: E402

data = read_mat(sys.argv[1])["exp_data"]
samples = data["time_data"].T
transmit, receive = (data[name].ravel().astype(int) - 1 for name in ("tx", "rx"))
elements = max(transmit.max(), receive.max()) + 1
expected = np.zeros((elements * (elements + 1) // 2, samples.shape[1]), dtype=np.float32)
for a_scan, i, j in zip(samples, np.minimum(transmit, receive), np.maximum(transmit, receive)):
    expected[i * elements - i * (i + 1) // 2 + j] = a_scan
found = np.fromfile(sys.argv[2], dtype="<f4").reshape(expected.shape)
sys.exit(0 if np.array_equal(found, expected) else 1)
