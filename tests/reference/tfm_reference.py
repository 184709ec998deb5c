#!/usr/bin/env python3
"""An independent total focusing method in double precision: NumPy alone, no line shared with the program that it checks.

    tfm_reference.py INPUT --x FIRST LAST COUNT --z FIRST LAST COUNT [--velocity V] [--output IMAGE.npy]
                     [--compare OTHER.npy --tolerance 1e-4] [--peaks N]

INPUT is a BRAIN exp_data .mat file (version 5 or 7), or a .npy array of A-scans: [tx, rx, sample], or [pair, sample] in the order
(0,0), (0,1) ... (0,N-1), (1,1) ..., with --element-x (or --pitch), --sample-rate, --start-time and --velocity.

What is computed, for pixel p, N elements and every ordered pair (i, j):

    image(p) = 1/N^2 * sum_ij a_ij((|p - e_i| + |p - e_j|) / c)

a_ij is the analytic signal of the M received samples by the periodic DFT: no padding, DC weighted 1, Nyquist once for even M.
Sample n is at start + n / f_s - offset. Linear interpolation uses 0 <= u < M-1, nearest floor(u + 0.5) in 0 .. M-1; outside, a
pair contributes 0. A half matrix counts each off-diagonal pair twice (reciprocity); with --half-summed it counts once.
Exit code 1 if a comparison is above the tolerance, 2 for bad input.
"""
import argparse
import struct
import sys
import zlib

import numpy as np

# ---- a small MAT-file reader (version 5 and 7, little-endian) ----------------------------------------------------------------

DATA_TYPES = {1: "<i1", 2: "<u1", 3: "<i2", 4: "<u2", 5: "<i4", 6: "<u4", 7: "<f4", 9: "<f8", 12: "<i8", 13: "<u8"}


def split_elements(data):
    """Yields (type, payload) for each data element of a byte string."""
    at = 0
    while at < len(data):
        kind, count = struct.unpack_from("<II", data, at)
        if kind >> 16:  # small element: type and count share a word, the data follow in the tag
            yield kind & 0xFFFF, data[at + 4:at + 4 + (kind >> 16)]
            at += 8
        else:
            yield kind, data[at + 8:at + 8 + count]
            at += 8 + (count if kind == 15 else (count + 7) // 8 * 8)


def parse_matrix(payload):
    """(name, value): numbers as float64 arrays of the file's shape, structures as dictionaries, anything else as None."""
    parts = list(split_elements(payload))
    if not parts:
        return "", None
    array_class = parts[0][1][0]
    shape = np.frombuffer(parts[1][1], "<i4")
    name = bytes(parts[2][1]).decode("latin-1")
    if array_class == 2:
        if int(np.prod(shape)) != 1:
            return name, None
        length = struct.unpack("<i", parts[3][1])[0]
        names = [bytes(parts[4][1][k:k + length]).split(b"\0")[0].decode() for k in range(0, len(parts[4][1]), length)]
        return name, {field: parse_matrix(part)[1] for field, (_, part) in zip(names, parts[5:])}
    if 6 <= array_class <= 15:
        values = np.frombuffer(parts[3][1], DATA_TYPES[parts[3][0]]).astype(np.float64)
        return name, values.reshape(shape, order="F")
    return name, None


def read_mat(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[126:128] != b"IM":
        raise ValueError(f"{path}: not a little-endian MAT file of version 5")
    variables = {}
    for kind, payload in split_elements(memoryview(data)[128:]):
        if kind == 15:
            kind, payload = next(split_elements(memoryview(zlib.decompress(payload))))
        if kind == 14:
            name, value = parse_matrix(payload)
            variables[name] = value
    return variables


# ---- recordings ---------------------------------------------------------------------------------------------------------------

class Frame:
    """A-scans with their pairs and weights, sampling, element positions and velocity, all float64."""

    def __init__(self, a_scans, transmit, receive, weight, elements, sample_rate, start_time, velocity):
        self.a_scans = a_scans          # [a_scan, sample]
        self.transmit = transmit        # [a_scan], from 0
        self.receive = receive
        self.weight = weight            # how many ordered pairs an A-scan stands for
        self.elements = elements        # [element, 3] x, y, z
        self.sample_rate = sample_rate
        self.start_time = start_time
        self.velocity = velocity


def pair_weights(transmit, receive, half_summed=False):
    pairs = set(zip(transmit.tolist(), receive.tolist()))
    if len(pairs) != len(transmit):
        raise ValueError("a pair appears twice")
    both = any((j, i) in pairs for i, j in pairs if i != j)
    if both or half_summed:
        return np.ones(len(transmit))
    return np.where(transmit == receive, 1.0, 2.0)


def frame_from_mat(path, half_summed=False):
    data = read_mat(path)["exp_data"]
    array = data["array"]
    x = array["el_xc"].ravel()
    y = array["el_yc"].ravel() if "el_yc" in array else np.zeros_like(x)
    z = array["el_zc"].ravel() if "el_zc" in array else np.zeros_like(x)
    time = data["time"].ravel()
    transmit = data["tx"].ravel().astype(int) - 1
    receive = data["rx"].ravel().astype(int) - 1
    velocity = None
    if "ph_velocity" in data:
        velocity = float(data["ph_velocity"].ravel()[0])
    elif "material" in data:
        velocity = float(data["material"]["vel_spherical_harmonic_coeffs"].ravel()[0])
    return Frame(data["time_data"].T, transmit, receive, pair_weights(transmit, receive, half_summed),
                 np.column_stack([x, y, z]), (len(time) - 1) / (time[-1] - time[0]), time[0], velocity)


def frame_from_npy(path, elements, sample_rate, start_time, half_summed=False):
    samples = np.load(path).astype(np.float64)
    count = len(elements)
    if samples.ndim == 3:
        if samples.shape[:2] != (count, count):
            raise ValueError(f"{path}: shape {samples.shape} for {count} elements")
        transmit, receive = (index.ravel() for index in np.indices((count, count)))
        samples = samples.reshape(count * count, -1)
    else:
        transmit, receive = np.triu_indices(count)
        if samples.shape[0] != len(transmit):
            raise ValueError(f"{path}: {samples.shape[0]} A-scans for {count} elements")
    return Frame(samples, transmit, receive, pair_weights(transmit, receive, half_summed), elements, sample_rate, start_time, None)


# ---- imaging ------------------------------------------------------------------------------------------------------------------

def analytic_signal(samples):
    count = samples.shape[-1]
    gain = np.zeros(count)
    gain[0] = 1.0
    gain[1:(count + 1) // 2] = 2.0
    if count % 2 == 0:
        gain[count // 2] = 1.0
    return np.fft.ifft(np.fft.fft(samples, axis=-1) * gain, axis=-1)


def look_up(signal, u, interpolation):
    """One A-scan at fractional sample numbers `u`."""
    count = len(signal)
    if interpolation == "nearest":
        index = np.floor(u + 0.5)
        inside = (index >= 0) & (index <= count - 1)
        return np.where(inside, signal[np.where(inside, index, 0).astype(np.int64)], 0.0)
    inside = (u >= 0) & (u < count - 1)
    safe = np.where(inside, u, 0.0)
    index = np.floor(safe).astype(np.int64)
    fraction = safe - index
    return np.where(inside, signal[index] * (1.0 - fraction) + signal[index + 1] * fraction, 0.0)


def total_focus(frame, x, z, velocity, interpolation="linear", time_offset=0.0):
    """Complex image [z, x]."""
    signals = analytic_signal(frame.a_scans)
    count = len(frame.elements)
    px, pz = np.meshgrid(x, z)
    times = np.empty((count, px.size))
    for element, (ex, ey, ez) in enumerate(frame.elements):
        times[element] = np.sqrt((px - ex) ** 2 + ey ** 2 + (pz - ez) ** 2).ravel() / velocity
    image = np.zeros(px.size, dtype=np.complex128)
    # Pixels by the block, so that the temporaries stay in the cache.
    for first in range(0, px.size, 8192):
        part = slice(first, min(first + 8192, px.size))
        block = times[:, part]
        for signal, i, j, weight in zip(signals, frame.transmit, frame.receive, frame.weight):
            u = (block[i] + block[j] - frame.start_time + time_offset) * frame.sample_rate
            image[part] += weight * look_up(signal, u, interpolation)
    return (image / count ** 2).reshape(px.shape)


def relative_l2(image, reference):
    return float(np.linalg.norm(image - reference) / np.linalg.norm(reference))


def find_peaks(image, x, z, number, separation=2e-3):
    """The `number` strongest local maxima of |image|, at least `separation` metres apart: (x, z, dB below the highest)."""
    envelope = np.abs(image)
    padded = np.pad(envelope, 1, constant_values=-1.0)
    neighbours = [padded[1 + dz:padded.shape[0] - 1 + dz, 1 + dx:padded.shape[1] - 1 + dx]
                  for dz in (-1, 0, 1) for dx in (-1, 0, 1) if dz or dx]
    rows, columns = np.nonzero(np.all([envelope >= n for n in neighbours], axis=0))
    order = np.argsort(envelope[rows, columns])[::-1]
    peaks = []
    for k in order:
        place = (x[columns[k]], z[rows[k]])
        if all(np.hypot(place[0] - p[0], place[1] - p[1]) >= separation for p in peaks):
            peaks.append((*place, 20.0 * np.log10(envelope[rows[k], columns[k]] / envelope.max())))
        if len(peaks) == number:
            break
    return peaks


# ---- command line -------------------------------------------------------------------------------------------------------------

def axis(values):
    return np.linspace(float(values[0]), float(values[1]), int(values[2]))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input")
    parser.add_argument("--x", nargs=3, required=True, metavar=("FIRST", "LAST", "COUNT"), help="pixel centres, metres")
    parser.add_argument("--z", nargs=3, required=True, metavar=("FIRST", "LAST", "COUNT"))
    parser.add_argument("--velocity", type=float, help="m/s; default: what the file says")
    parser.add_argument("--interpolation", choices=("linear", "nearest"), default="linear")
    parser.add_argument("--time-offset", type=float, default=0.0, help="seconds")
    parser.add_argument("--half-summed", action="store_true", help="the half matrix holds s_ij + s_ji already")
    parser.add_argument("--element-x", help=".npy of element positions: [N] x, or [N, 3] x, y, z, metres (for .npy input)")
    parser.add_argument("--pitch", type=float, help="metres; with --elements a linear array centred on x = 0 (for .npy input)")
    parser.add_argument("--elements", type=int)
    parser.add_argument("--sample-rate", type=float, help="Hz (for .npy input)")
    parser.add_argument("--start-time", type=float, default=0.0, help="seconds (for .npy input)")
    parser.add_argument("--output", help="complex128 .npy")
    parser.add_argument("--compare", help="another image, complex or envelope, .npy [z, x]")
    parser.add_argument("--tolerance", type=float, default=1e-4, help="relative L2 above which the exit code is 1")
    parser.add_argument("--peaks", type=int, default=0, help="print this many of the strongest local maxima")
    parser.add_argument("--separation", type=float, default=2e-3, help="least distance of peaks, metres")
    options = parser.parse_args(arguments)

    try:
        if options.input.endswith(".npy"):
            if options.element_x:
                elements = np.load(options.element_x).astype(np.float64)
                if elements.ndim == 1:
                    elements = np.column_stack([elements, np.zeros((len(elements), 2))])
            elif options.pitch and options.elements:
                x = options.pitch * (np.arange(options.elements) - 0.5 * (options.elements - 1))
                elements = np.column_stack([x, np.zeros((len(x), 2))])
            else:
                raise ValueError(".npy input needs --element-x, or --pitch and --elements")
            if not options.sample_rate:
                raise ValueError(".npy input needs --sample-rate")
            frame = frame_from_npy(options.input, elements, options.sample_rate, options.start_time, options.half_summed)
        else:
            frame = frame_from_mat(options.input, options.half_summed)
        velocity = options.velocity or frame.velocity
        if not velocity:
            raise ValueError("no velocity in the file: --velocity is needed")
    except (OSError, ValueError, KeyError, struct.error, zlib.error) as error:
        print(f"{options.input}: {error}", file=sys.stderr)
        return 2

    x, z = axis(options.x), axis(options.z)
    image = total_focus(frame, x, z, velocity, options.interpolation, options.time_offset)
    if options.output:
        np.save(options.output, image)
    for px, pz, level in find_peaks(image, x, z, options.peaks, options.separation) if options.peaks else []:
        print(f"peak x {px * 1e3:8.3f} mm  z {pz * 1e3:8.3f} mm  {level:7.2f} dB")
    if options.compare:
        other = np.load(options.compare)
        if other.shape != image.shape:
            print(f"{options.compare}: shape {other.shape}; expected {image.shape}", file=sys.stderr)
            return 2
        reference = image if np.iscomplexobj(other) else np.abs(image)
        distance = relative_l2(other, reference)
        field = "complex" if np.iscomplexobj(other) else "envelope"
        print(f"relative L2 {distance:.3e} ({field}), tolerance {options.tolerance:g}")
        if not distance <= options.tolerance:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
