"""Runs examples/python_subscriber.py against a publisher of synthetic images. Exit codes: 0 passed, 1 failed, 77 skipped."""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import google.protobuf  # noqa: F401
    import numpy
    import zmq  # noqa: F401
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def receive(arguments, endpoint, *options):
    return subprocess.run([sys.executable, arguments.example, "--connect", endpoint, *options],
                          capture_output=True, text=True, timeout=60)


def main():
    parser = argparse.ArgumentParser()
    for name in ("--server", "--example"):
        parser.add_argument(name, required=True)
    arguments = parser.parse_args()

    server = subprocess.Popen([arguments.server, "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        endpoint = server.stdout.readline().split()[3]
        server.stdin.write("run\n")
        server.stdin.flush()
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "image.npy")
            done = receive(arguments, endpoint, "--frames", "30", "--save", str(file))
            assert done.returncode == 0, done.stderr
            assert re.search(r"^30 images, \d+\.\d images/s, \d+ missing$", done.stdout, re.MULTILINE), done.stdout
            image = numpy.load(file)
            assert image.shape == (256, 256) and image.dtype == numpy.float32
            # The spot is at x = 8 mm, z = 30 mm of a grid from -20 to 20 and 1 to 45 mm.
            z, x = numpy.unravel_index(image.argmax(), image.shape)
            assert abs(numpy.linspace(-20, 20, 256)[x] - 8) < 0.08 and abs(numpy.linspace(1, 45, 256)[z] - 30) < 0.09, (x, z)

            done = receive(arguments, endpoint, "--frames", "5", "--stream", "echoform.display", "--latest", "--save", str(file))
            assert done.returncode == 0, done.stderr
            assert numpy.load(file).dtype == numpy.uint8 and numpy.load(file).max() == 255

            done = receive(arguments, endpoint, "--frames", "1", "--stream", "imag", "--timeout", "0.3")
            assert done.returncode == 1 and "no image of stream imag within 0.3 s" in done.stderr, (done.returncode, done.stderr)
    finally:
        server.kill()
    print("passed")


if __name__ == "__main__":
    main()
