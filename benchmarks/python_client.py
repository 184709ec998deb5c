#!/usr/bin/env python3
"""What the Python client carries, beside what the same machine carries without it in the same run.

    python3 benchmarks/python_client.py [--seconds 3] [--repeat 5] [--pixels 256]

images   ImageSubscriber (each message parsed, checked and counted, pixels as an array) against a loop that only receives
frames   FrameSender into `echoform serve` against `echoform simulate` into the same server
Medians of alternating turns.
"""
import argparse
import multiprocessing
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import zmq

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import echoform  # noqa: E402
from echoform._messages import messages  # noqa: E402
from echoform.server import find_program, toml_of  # noqa: E402


def publish(ports, pixels):
    """Images one after the other, each as soon as the subscriber has room."""
    stages = [messages.StageDuration(stage=name, nanoseconds=123456) for name in
              ("half-matrix", "analytic-signal", "beamform", "envelope", "compression")]
    image = messages.Image(stream="echoform", sequence=1, view="LL", acquisition_time=time.time_ns(), publish_time=time.time_ns(),
                           latency=1234567, x=messages.Axis(first=-0.02, last=0.02, count=pixels),
                           z=messages.Axis(first=0.001, last=0.045, count=pixels), encoding=1, dynamic_range_db=40, reference=1,
                           stages=stages, published=1)
    values = numpy.random.default_rng(1).random((pixels, pixels), numpy.float32).tobytes()
    bytes_of_message = image.SerializeToString() + messages.Image(pixels=values).SerializeToString()
    context = zmq.Context()
    socket = context.socket(zmq.XPUB)
    socket.xpub_nodrop = True
    socket.sndhwm = 16
    ports.send(socket.bind_to_random_port("tcp://127.0.0.1"))
    while True:
        socket.send(bytes_of_message, copy=False)


def bare(endpoint, seconds, copy):
    context = zmq.Context()
    socket = context.socket(zmq.SUB)
    socket.linger = 0
    socket.rcvhwm = 16
    socket.subscribe(b"\x0a\x08echoform")
    socket.connect(endpoint)
    socket.recv()
    begin, count = time.perf_counter(), 0
    while time.perf_counter() - begin < seconds:
        for _ in range(20):
            socket.recv(copy=copy)
        count += 20
    rate = count / (time.perf_counter() - begin)
    socket.close()
    context.term()
    return rate


def client(endpoint, seconds):
    with echoform.ImageSubscriber(endpoint) as images:
        images.receive()
        begin, count = time.perf_counter(), 0
        while time.perf_counter() - begin < seconds:
            for _ in range(20):
                images.receive()
            count += 20
        return count / (time.perf_counter() - begin)


def measure_images(options):
    here, there = multiprocessing.Pipe()
    publisher = multiprocessing.Process(target=publish, args=(there, options.pixels), daemon=True)
    publisher.start()
    endpoint = f"tcp://127.0.0.1:{here.recv()}"
    turns = [("recv(copy=False)", lambda: bare(endpoint, options.seconds, False)), ("recv()", lambda: bare(endpoint, options.seconds, True)),
             ("ImageSubscriber", lambda: client(endpoint, options.seconds))]
    rates = {name: [] for name, _ in turns}
    for _ in range(options.repeat):
        for name, turn in turns:
            rates[name].append(turn())
    publisher.terminate()
    medians = {name: statistics.median(values) for name, values in rates.items()}
    for name, rate in medians.items():
        print(f"images {options.pixels} x {options.pixels} float32, {name:<17} {rate:8.0f} images/s  "
              f"{rate * options.pixels**2 * 4e-9:5.2f} GB/s  {rate / medians['recv(copy=False)']:.2f} of recv(copy=False)")


def measure_frames(options):
    acquisition = echoform.Acquisition(echoform.Probe.linear(64, 0.6e-3, centre_frequency=5e6), 1024, 40e6)
    frame = numpy.random.default_rng(1).integers(-2000, 2000, acquisition.frame_shape).astype(numpy.int16)
    # Four pixels: what is measured is the way in.
    configuration = {"material": {"longitudinal_velocity": 6320.0}, "grid": {"x": [0, 1e-3], "z": [0.01, 0.011], "pixels": [2, 2]}}
    simulator = {"simulator": {"elements": 64, "samples": 1024, "sample_rate": 40e6, "cycle_frames": 4}}
    rates = {"echoform simulate": [], "FrameSender": []}
    with echoform.Server(configuration) as server, tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder, "simulator.toml")
        config.write_text(toml_of(simulator))
        for _ in range(options.repeat):
            done = subprocess.run([find_program(), "simulate", "--connect", server.frames, "--rate", "max", "--frames", str(options.frames),
                                   "--connections", str(options.connections), "--config", str(config)], capture_output=True, text=True, check=True)
            found = re.search(r"([\d.]+) frames/s", done.stdout + done.stderr)
            rates["echoform simulate"].append(float(found[1]))
            with echoform.FrameSender(acquisition, server.frames, connections=options.connections) as sender:
                begin = time.perf_counter()
                for _ in range(options.frames):
                    sender.send(frame)
                rates["FrameSender"].append(options.frames / (time.perf_counter() - begin))
    medians = {name: statistics.median(values) for name, values in rates.items()}
    for name, rate in medians.items():
        print(f"frames of 64 elements x 1024 samples int16, {options.connections} connection(s), {name:<17} {rate:7.0f} frames/s  "
              f"{rate * acquisition.frame_bytes * 1e-9:5.2f} GB/s  {rate / medians['echoform simulate']:.2f} of simulate")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each turn")
    parser.add_argument("--repeat", type=int, default=5, help="turns of each")
    parser.add_argument("--pixels", type=int, default=256)
    parser.add_argument("--frames", type=int, default=500, help="of each turn")
    parser.add_argument("--connections", type=int, default=1)
    options = parser.parse_args()
    measure_images(options)
    measure_frames(options)


if __name__ == "__main__":
    main()
