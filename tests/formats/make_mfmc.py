"""make_mfmc.py INPUT.mat OUTPUT.mfmc FRAMES writes a BRAIN recording as MFMC with h5py. Frame k is the recording times k + 1, taken
with the probe moved by k millimetres along x; big-endian float32, in groups PROBES, LAWS and SEQUENCES."""
import pathlib
import sys

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))
from tfm_reference import read_mat  # noqa: E402

data = read_mat(sys.argv[1])["exp_data"]
frames = int(sys.argv[3])
array = data["array"]
time = data["time"].ravel()
transmit, receive = (data[name].ravel().astype(int) - 1 for name in ("tx", "rx"))
x = array["el_xc"].ravel()
count = len(x)
with h5py.File(sys.argv[2], "w") as file:
    probe = file.create_group("PROBES/P1")
    probe.attrs["TYPE"] = "PROBE"
    probe["ELEMENT_POSITION"] = np.column_stack([x, np.zeros((count, 2))])
    probe["ELEMENT_MAJOR"] = np.tile([0.0, 7.5e-3, 0.0], (count, 1))
    probe["ELEMENT_MINOR"] = np.tile([-1e-4, 0.0, 0.0], (count, 1))
    probe["ELEMENT_SHAPE"] = np.ones(count, dtype=np.uint8)
    probe.attrs["CENTRE_FREQUENCY"] = [5e6]
    laws = []
    for i in range(count):
        law = file.create_group(f"LAWS/L{i + 1}")
        law.attrs["TYPE"] = np.bytes_("LAW")
        law.create_dataset("PROBE", data=[probe.ref], dtype=h5py.ref_dtype)
        law["ELEMENT"] = i + 1
        laws.append(law.ref)
    sequence = file.create_group("SEQUENCES/S1")
    sequence.attrs["TYPE"] = "SEQUENCE"
    sequence.create_dataset("PROBE_LIST", data=[probe.ref], dtype=h5py.ref_dtype)
    sequence.create_dataset("TRANSMIT_LAW", data=[laws[i] for i in transmit], dtype=h5py.ref_dtype)
    sequence.create_dataset("RECEIVE_LAW", data=[laws[j] for j in receive], dtype=h5py.ref_dtype)
    sequence.attrs["TIME_STEP"] = (time[-1] - time[0]) / (len(time) - 1)
    sequence.attrs["START_TIME"] = time[0]
    sequence.attrs["SPECIMEN_VELOCITY"] = [3130.0, 6300.0]
    sequence["PROBE_POSITION"] = [[[1e-3 * k, 0.0, 0.0]] for k in range(frames)]
    sequence["PROBE_X_DIRECTION"] = np.tile([1.0, 0.0, 0.0], (frames, 1, 1))
    sequence["PROBE_Y_DIRECTION"] = np.tile([0.0, 1.0, 0.0], (frames, 1, 1))
    sequence["PROBE_PLACEMENT_INDEX"] = np.tile(np.arange(1, frames + 1)[:, None], (1, len(transmit)))
    samples = data["time_data"].T
    sequence.create_dataset("MFMC_DATA", data=np.stack([(k + 1) * samples for k in range(frames)]).astype(">f4"),
                            chunks=(1, *samples.shape), maxshape=(None, *samples.shape), compression="gzip")
