#!/usr/bin/env python3
"""Sends simulated Full Matrix Capture frames to an Echoform server. Needs numpy.

    python3 examples/python_sender.py --connect 127.0.0.1:17171 --elements 32 --samples 1024 --frames 100 --rate 25

What is said over the wire is in python/echoform/wire.py and sender.py, a guide for a sender in any language.
"""

import argparse
import os
import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))  # not needed once the package is installed
import echoform  # noqa: E402

VELOCITY = 5900.0  # steel, m/s


def simulate(acquisition, step, seed):
    """Point scatterers in steel, one of them moving, about 12 bit: a frame as it is sent."""
    places = [(0.0, 0.010), (-0.005, 0.015), (0.004 + 0.0005 * step, 0.020)]
    frame = echoform.point_scatterers(acquisition, places, VELOCITY, amplitude=600.0, noise=10.0, seed=seed + step)
    frame = np.clip(frame, -2048, 2047)
    if acquisition.matrix == "half":
        frame = echoform.half_matrix(frame)
    elif acquisition.matrix == "half_summed":
        frame = echoform.half_summed(frame) / acquisition.sample_scale
    return frame.astype(np.float32) if acquisition.encoding == "float32" else np.rint(frame).astype(np.int16)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--connect", default="127.0.0.1:17171", metavar="HOST:PORT")
    parser.add_argument("--token-file", type=pathlib.Path, metavar="FILE", help="with the secret that the server asks for; without, the "
                        "environment variable ECHOFORM_TOKEN: arguments are read by every user of a machine")
    parser.add_argument("--elements", type=int, default=32)
    parser.add_argument("--samples", type=int, default=1024)
    parser.add_argument("--pitch", type=float, default=0.6e-3, help="metres")
    parser.add_argument("--frequency", type=float, default=5e6, help="hertz")
    parser.add_argument("--sample-rate", type=float, default=50e6, help="hertz")
    parser.add_argument("--matrix", choices=("full", "half", "half_summed"), default="full")
    parser.add_argument("--encoding", choices=("int16", "packed12", "float32"), default="int16")
    parser.add_argument("--connections", type=int, default=1, choices=range(1, 9), metavar="K", help="1 to 8")
    parser.add_argument("--frames", type=int, default=100)
    parser.add_argument("--rate", type=float, default=25.0, help="frames per second; 0: as fast as the server takes them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", metavar="FILE", help="also write the payloads of all frames, one after another")
    options = parser.parse_args()
    token = options.token_file.read_text().strip() if options.token_file else os.environ.get("ECHOFORM_TOKEN", "")

    probe = echoform.Probe.linear(options.elements, options.pitch, element_width=0.9 * options.pitch,
                                  centre_frequency=options.frequency, bandwidth=0.6 * options.frequency)
    # Sums of two samples are sent halved where they are integers, so that 12 bits hold them.
    scale = 2.0 if options.matrix == "half_summed" and options.encoding != "float32" else 1.0
    acquisition = echoform.Acquisition(probe, options.samples, options.sample_rate, matrix=options.matrix, encoding=options.encoding,
                                       sample_scale=scale)
    # Simulated ahead and put into bytes once, where 12 bits are packed; sent again and again.
    frames = [simulate(acquisition, step, options.seed) for step in range(min(options.frames, 8))]
    if options.encoding == "packed12":
        frames = [echoform.pack12(frame) for frame in frames]
    saved = open(options.save, "wb") if options.save else None
    start = time.monotonic()
    with echoform.FrameSender(acquisition, options.connect, connections=options.connections, token=token) as sender:
        start = time.monotonic()
        for sequence in range(options.frames):
            if options.rate > 0:
                time.sleep(max(0.0, start + sequence / options.rate - time.monotonic()))
            sender.send(frames[sequence % len(frames)], sequence=sequence)
            if saved:
                saved.write(acquisition.payload(frames[sequence % len(frames)]))
    if saved:
        saved.close()
    seconds = time.monotonic() - start
    print(f"sent {options.frames} frames in {seconds:.2f} s ({options.frames / max(seconds, 1e-9):.1f} frames/s)")


if __name__ == "__main__":
    try:
        main()
    except echoform.Rejected as error:
        sys.exit(f"rejected: {error}")
    except (echoform.EchoformError, ValueError, OSError) as error:
        sys.exit(f"{error}")
