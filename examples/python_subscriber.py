#!/usr/bin/env python3
"""Receives Echoform's live images in Python.

    python3 examples/python_subscriber.py --connect tcp://127.0.0.1:17180 --frames 100 --save image.npy

Needs pyzmq, numpy and protobuf (Debian: python3-zmq python3-numpy python3-protobuf); in a source tree also protoc
(protobuf-compiler).
"""
import argparse
import pathlib
import sys
import time

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))  # not needed once the package is installed
import echoform  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connect", default="tcp://127.0.0.1:17180", metavar="tcp://HOST:PORT")
    parser.add_argument("--stream", default="echoform", help="the stream's exact name: the server's name, or NAME.display for 8 bits")
    parser.add_argument("--frames", type=int, default=0, help="stop after so many images; 0: run until interrupted")
    parser.add_argument("--timeout", type=float, default=10.0, help="give up when no image comes for so many seconds")
    parser.add_argument("--latest", action="store_true", help="skip to the newest image instead of reading every one")
    parser.add_argument("--save", metavar="FILE.npy", help="save the last image")
    arguments = parser.parse_args()

    image = None
    shown = time.monotonic()
    with echoform.ImageSubscriber(arguments.connect, arguments.stream, latest_only=arguments.latest,
                                  timeout=arguments.timeout) as images:
        try:
            for image in images:
                if images.images == arguments.frames:
                    break
                if time.monotonic() - shown >= 1.0:
                    shown = time.monotonic()
                    seen = images.statistics
                    print(f"sequence {image.sequence}  {seen.images_per_second:.1f} images/s  {seen.gaps} missing  "
                          f"latency {1e3 * image.latency:.1f} ms", flush=True)
        except KeyboardInterrupt:
            pass
        seen = images.statistics
    print(f"{seen.images} images, {seen.images_per_second:.1f} images/s, {seen.gaps} missing")
    if image is not None:
        x, z, values = 1e3 * image.x, 1e3 * image.z, image.pixels
        print(f"{image}, "
              f"x {x[0]:g} .. {x[-1]:g} mm, z {z[0]:g} .. {z[-1]:g} mm, maximum {values.max():g}")
        if arguments.save:
            numpy.save(arguments.save, values)


if __name__ == "__main__":
    try:
        main()
    except (echoform.EchoformError, ValueError, OSError) as error:
        sys.exit(f"{error}")
