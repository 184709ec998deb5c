#!/usr/bin/env python3
"""Sends frames of noise to an Echoform server over ZeroMQ: proto/WIRE.md, "Over ZeroMQ". Needs numpy and pyzmq.

    python3 examples/python_zeromq_sender.py --connect 127.0.0.1:17172 --elements 32 --samples 1024 --frames 100 --rate 25

The server must have the door: [input] zeromq = "127.0.0.1:17172".
"""

import argparse
import os
import pathlib
import secrets
import sys
import time

import numpy as np
import zmq

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))  # not needed once the package is installed
import echoform  # noqa: E402
from echoform import wire  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--connect", default="127.0.0.1:17172", metavar="HOST:PORT")
    parser.add_argument("--token-file", type=pathlib.Path, metavar="FILE", help="with the secret that the server asks for; without, the "
                        "environment variable ECHOFORM_TOKEN: arguments are read by every user of a machine")
    parser.add_argument("--elements", type=int, default=32)
    parser.add_argument("--samples", type=int, default=1024)
    parser.add_argument("--sample-rate", type=float, default=50e6, help="hertz")
    parser.add_argument("--frames", type=int, default=100)
    parser.add_argument("--rate", type=float, default=25.0, help="frames per second; 0: as fast as the server takes them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", metavar="FILE", help="also write the payloads of all frames, one after another")
    options = parser.parse_args()
    token = options.token_file.read_text().strip() if options.token_file else os.environ.get("ECHOFORM_TOKEN", "")

    probe = echoform.Probe.linear(options.elements, 0.6e-3, element_width=0.5e-3, centre_frequency=5e6, bandwidth=3e6)
    acquisition = echoform.Acquisition(probe, options.samples, options.sample_rate, matrix="full", encoding="int16")
    session = secrets.randbits(63) + 1  # in every message: it tells our shots from those of others
    hello = wire.message(wire.HELLO, wire.hello_header(acquisition, session=session, sender="python_zeromq_sender",
                                                       token=token))

    socket = zmq.Context.instance().socket(zmq.PUSH)
    socket.sndhwm = 2 * (options.elements + 1)  # two frames may wait; then send() does
    socket.immediate = True  # nothing waits for a server that is not there
    socket.linger = 5000  # what was sent still leaves, for so many milliseconds, when the program ends
    socket.connect(f"tcp://{options.connect}")

    random = np.random.default_rng(options.seed)
    saved = open(options.save, "wb") if options.save else None
    start = time.monotonic()
    for sequence in range(options.frames):
        if options.rate > 0:
            time.sleep(max(0.0, start + sequence / options.rate - time.monotonic()))
        frame = random.integers(-2048, 2048, (options.elements, options.elements, options.samples), dtype=np.int16)
        socket.send(hello)
        for transmit in range(options.elements):
            header = wire.shot_header(sequence, transmit, time.time_ns(), session)
            # Two parts: the payload is not copied behind the header.
            socket.send(wire.message(wire.SHOT, header, frame[transmit].nbytes), zmq.SNDMORE)
            socket.send(frame[transmit])
        if saved:
            saved.write(frame.tobytes())
    socket.send(wire.message(wire.END, wire.end_header(session)))
    if saved:
        saved.close()
    print(f"sent {options.frames} frames")


if __name__ == "__main__":
    try:
        main()
    except (ValueError, OSError, zmq.ZMQError) as error:
        sys.exit(f"{error}")
