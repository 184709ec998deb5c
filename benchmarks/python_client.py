#!/usr/bin/env python3
"""What the Python client carries, beside what the same machine carries without it in the same run.

    python3 benchmarks/python_client.py [--seconds 1] [--repeat 7] [--pixels 256]

images   ImageSubscriber (each message parsed, checked and counted, pixels as an array) against a loop that only receives
frames   FrameSender against `echoform simulate`, both into a socket that only reads
The best of alternating turns: others on the machine only slow a turn down.
"""
import argparse
import multiprocessing
import pathlib
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import numpy
import zmq

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import echoform  # noqa: E402
from echoform import wire  # noqa: E402
from echoform._messages import messages  # noqa: E402
from echoform.server import find_program, toml_of  # noqa: E402


def publish(ports, pixels):
    """Images one after the other, each as soon as the subscriber has room."""
    stages = [messages.StageDuration(stage=name, nanoseconds=123456) for name in
              ("pairing", "analytic-signal", "beamform", "envelope", "compression")]
    image = messages.Image(stream="echoform", sequence=1, view="LL", acquisition_time=time.time_ns(), publish_time=time.time_ns(),
                           latency=1234567, x=messages.Axis(first=-0.02, last=0.02, count=pixels),
                           z=messages.Axis(first=0.001, last=0.045, count=pixels), encoding=1, dynamic_range_db=40, reference=1,
                           stages=stages, published=1)
    values = numpy.random.default_rng(1).random((pixels, pixels), numpy.float32).tobytes()
    bytes_of_message = image.SerializeToString() + messages.Image(pixels=values).SerializeToString()
    context = zmq.Context()
    publisher = context.socket(zmq.XPUB)
    publisher.xpub_nodrop = True
    publisher.sndhwm = 16
    ports.send(publisher.bind_to_random_port("tcp://127.0.0.1"))
    while True:
        publisher.send(bytes_of_message, copy=False)


def rate_of(receive, seconds):
    """(images per second, processor seconds per image of this process with all its threads)."""
    receive()
    begin, processor, count = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() - begin < seconds:
        for _ in range(20):
            receive()
        count += 20
    return count / (time.perf_counter() - begin), (time.process_time() - processor) / count


def bare(endpoint, seconds, copy):
    with zmq.Context() as context, context.socket(zmq.SUB) as subscriber:
        subscriber.linger = 0
        subscriber.rcvhwm = 16
        subscriber.subscribe(b"\x0a\x08echoform")
        subscriber.connect(endpoint)
        return rate_of(lambda: subscriber.recv(copy=copy), seconds)


def client(endpoint, seconds):
    with echoform.ImageSubscriber(endpoint) as images:
        return rate_of(images.receive, seconds)


def measure_images(options):
    here, there = multiprocessing.Pipe()
    publisher = multiprocessing.Process(target=publish, args=(there, options.pixels), daemon=True)
    publisher.start()
    endpoint = f"tcp://127.0.0.1:{here.recv()}"
    turns = {"recv(copy=False)": lambda: bare(endpoint, options.seconds, False), "recv()": lambda: bare(endpoint, options.seconds, True),
             "ImageSubscriber": lambda: client(endpoint, options.seconds)}
    found = {name: [] for name in turns}
    for _ in range(options.repeat):
        for name, turn in turns.items():
            found[name].append(turn())
    publisher.terminate()
    best = {name: (max(rates), min(costs)) for name, (rates, costs) in ((name, zip(*both)) for name, both in found.items())}
    for name, (rate, cost) in best.items():
        print(f"images {options.pixels} x {options.pixels} float32, {name:<17} {rate:7.0f} images/s  {rate * options.pixels**2 * 4e-9:5.2f} GB/s  "
              f"{rate / best['recv(copy=False)'][0]:.2f} of recv(copy=False)  {1e6 * cost:5.0f} us of processor each")


def swallow(ports, frame_bytes):
    """Accepts every sender and reads what it sends, as fast as a socket gives it."""
    listener = socket.create_server(("127.0.0.1", 0))
    ports.send(listener.getsockname()[1])

    def read(peer):
        memory = bytearray(1 << 20)
        with peer:
            header_bytes = struct.unpack("<I", peer.recv(24, socket.MSG_WAITALL)[8:12])[0]
            peer.recv(header_bytes, socket.MSG_WAITALL)
            peer.sendall(wire.message(wire.ACCEPT, wire.number(1, frame_bytes)))
            while peer.recv_into(memory):
                pass

    while True:
        threading.Thread(target=read, args=(listener.accept()[0],), daemon=True).start()


def measure_frames(options):
    acquisition = echoform.Acquisition(echoform.Probe.linear(64, 0.6e-3, centre_frequency=5e6), 1024, 40e6)
    frame = numpy.random.default_rng(1).integers(-2000, 2000, acquisition.frame_shape).astype(numpy.int16)
    simulator = {"simulator": {"elements": 64, "samples": 1024, "sample_rate": 40e6, "cycle_frames": 1}}
    here, there = multiprocessing.Pipe()
    sink = multiprocessing.Process(target=swallow, args=(there, acquisition.frame_bytes), daemon=True)
    sink.start()
    endpoint = f"127.0.0.1:{here.recv()}"
    rates = {"echoform simulate": [], "FrameSender": []}
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder, "simulator.toml")
        config.write_text(toml_of(simulator))
        for _ in range(options.repeat):
            done = subprocess.run([find_program(), "simulate", "--connect", endpoint, "--rate", "max", "--frames", str(options.frames),
                                   "--connections", str(options.connections), "--config", str(config)], capture_output=True, text=True, check=True)
            rates["echoform simulate"].append(float(re.search(r"([\d.]+) frames/s", done.stdout + done.stderr)[1]))
            with echoform.FrameSender(acquisition, endpoint, connections=options.connections) as sender:
                begin = time.perf_counter()
                for _ in range(options.frames):
                    sender.send(frame)
                rates["FrameSender"].append(options.frames / (time.perf_counter() - begin))
    sink.terminate()
    best = {name: max(values) for name, values in rates.items()}
    for name, rate in best.items():
        print(f"frames of 64 elements x 1024 samples int16, {options.connections} connection(s), {name:<17} {rate:7.0f} frames/s  "
              f"{rate * acquisition.frame_bytes * 1e-9:5.2f} GB/s  {rate / best['echoform simulate']:.2f} of simulate")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each turn")
    parser.add_argument("--repeat", type=int, default=7, help="turns of each")
    parser.add_argument("--pixels", type=int, default=256)
    parser.add_argument("--frames", type=int, default=500, help="of each turn")
    parser.add_argument("--connections", type=int, default=1)
    options = parser.parse_args()
    measure_images(options)
    measure_frames(options)


if __name__ == "__main__":
    main()
