#!/usr/bin/env python3
"""Receives Echoform's live images in Python.

    python3 examples/python_subscriber.py --connect tcp://127.0.0.1:17180 --frames 100 --save image.npy

Needs pyzmq, numpy and protobuf (Debian: python3-zmq python3-numpy python3-protobuf). The message classes are taken from
--messages (the build makes them in build/release/python), or generated from proto/image.proto where protoc is installed.
"""
import argparse
import importlib
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
import zmq

HERE = pathlib.Path(__file__).resolve().parent


def load_messages(folder):
    """The module image_pb2, ready-made or generated for the purpose."""
    candidates = [pathlib.Path(folder)] if folder else sorted(HERE.parent.glob("build/*/python"))
    for candidate in candidates:
        if (candidate / "image_pb2.py").exists():
            sys.path.insert(0, str(candidate))
            return importlib.import_module("image_pb2")
    proto = HERE.parent / "proto"
    with tempfile.TemporaryDirectory() as generated:
        try:
            subprocess.run(["protoc", f"-I{proto}", f"--python_out={generated}", str(proto / "image.proto")], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(f"image_pb2.py: found neither it (see --messages) nor a working protoc ({error})")
        sys.path.insert(0, generated)
        return importlib.import_module("image_pb2")


def prefix(stream):
    """What every message of `stream` begins with: field 1, length, name. A subscription to it selects the stream."""
    name = stream.encode()
    if len(name) > 127:
        sys.exit("--stream: found a name longer than 127 bytes; expected a shorter one")
    return bytes([0x0A, len(name)]) + name


def pixels(messages, image):
    """The image as an array [z, x] (volumes [z, y, x]): float32 envelope, or uint8 for display streams."""
    kind = {messages.ENVELOPE_FLOAT32: "<f4", messages.DISPLAY_UINT8: "u1"}[image.encoding]
    shape = [image.z.count, image.x.count]
    if image.HasField("y"):
        shape.insert(1, image.y.count)
    return numpy.frombuffer(image.pixels, kind).reshape(shape)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connect", default="tcp://127.0.0.1:17180", metavar="tcp://HOST:PORT")
    parser.add_argument("--stream", default="echoform", help="the stream's exact name: the server's name, or NAME.display for 8 bits")
    parser.add_argument("--frames", type=int, default=0, help="stop after so many images; 0: run until interrupted")
    parser.add_argument("--timeout", type=float, default=10.0, help="give up when no image comes for so many seconds")
    parser.add_argument("--latest", action="store_true", help="skip to the newest image instead of reading every one")
    parser.add_argument("--save", metavar="FILE.npy", help="save the last image")
    parser.add_argument("--messages", metavar="FOLDER", help="folder with image_pb2.py")
    arguments = parser.parse_args()

    messages = load_messages(arguments.messages)
    socket = zmq.Context().socket(zmq.SUB)
    socket.setsockopt(zmq.LINGER, 0)
    if arguments.latest:
        socket.setsockopt(zmq.CONFLATE, 1)  # before connect
    socket.setsockopt(zmq.RCVTIMEO, int(arguments.timeout * 1000))
    socket.setsockopt(zmq.SUBSCRIBE, prefix(arguments.stream))
    socket.connect(arguments.connect)

    image, previous = messages.Image(), None
    count = gaps = 0
    begin = shown = time.monotonic()
    try:
        while arguments.frames == 0 or count < arguments.frames:
            try:
                image.ParseFromString(socket.recv())
            except zmq.Again:
                sys.exit(f"{arguments.connect}: no image of stream {arguments.stream} within {arguments.timeout:g} s")
            count += 1
            if previous is None:
                begin = shown = time.monotonic()  # the rate counts from the first image
            elif image.sequence > previous + 1:
                gaps += image.sequence - previous - 1
            previous = image.sequence
            now = time.monotonic()
            if now - shown >= 1.0:
                shown = now
                print(f"sequence {image.sequence}  {(count - 1) / (now - begin):.1f} images/s  {gaps} missing  "
                      f"latency {image.latency / 1e6:.1f} ms", flush=True)
    except KeyboardInterrupt:
        pass

    seconds = time.monotonic() - begin
    rate = (count - 1) / seconds if count > 1 and seconds > 0 else 0.0
    print(f"{count} images, {rate:.1f} images/s, {gaps} missing")
    if count:
        values = pixels(messages, image)
        print(f"view {image.view}, {'x'.join(map(str, values.shape))} {values.dtype}, "
              f"x {image.x.first * 1e3:g} .. {image.x.last * 1e3:g} mm, z {image.z.first * 1e3:g} .. {image.z.last * 1e3:g} mm, "
              f"maximum {values.max():g}")
        if arguments.save:
            numpy.save(arguments.save, values)


if __name__ == "__main__":
    main()
