"""What the tests of the Python client share."""
import os
import pathlib
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("ECHOFORM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(SOURCE / "python"))
PROGRAM = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
PATIENCE = 60.0  # seconds within which anything expected must have happened on a busy machine
VELOCITY = 6320.0


def need(*modules):
    """Ends the script as skipped, by name, where Python lacks one of them."""
    for module in modules:
        try:
            __import__(module)
        except ImportError as error:
            print(f"SKIPPED: {error}")
            sys.exit(77)


def run():
    unittest.main(module="__main__", argv=sys.argv[:1], verbosity=2)


def configuration(**sections):
    """A small grid on whole A-scans as they are, on the CPU, telemetry ten times a second; sections add to it or replace keys."""
    complete = {"material": {"longitudinal_velocity": VELOCITY}, "grid": {"x": [-0.006, 0.006], "z": [0.004, 0.016], "pixels": [49, 41]},
                "filter": {"kind": "none"}, "imaging": {"backend": "cpu", "crop": "never", "threads": 1},
                "server": {"telemetry_interval": 0.1}}
    for section, keys in sections.items():
        complete[section] = {**complete.get(section, {}), **keys}
    return complete


def serve(test, **sections):
    """A server until the test has ended."""
    import echoform
    server = echoform.Server(configuration(**sections), program=PROGRAM)
    test.addCleanup(server.__exit__, None, None, None)
    return server


def linear(elements=8, samples=256, **more):
    """An acquisition of a small linear array."""
    import echoform
    probe = echoform.Probe.linear(elements, 0.6e-3, element_width=0.5e-3, centre_frequency=5e6, bandwidth=3e6)
    return echoform.Acquisition(probe, samples, 40e6, **more)


def scatterer_frame(acquisition, x=0.0, z=0.01, amplitude=1000.0):
    """int16 [tx, rx, sample] with the echo of one point."""
    import echoform
    import numpy
    return numpy.rint(echoform.point_scatterers(acquisition, [(x, z)], VELOCITY, amplitude=amplitude)).astype(numpy.int16)


def join(images, sender, frame):
    """Sends until the subscription has reached the server and an image comes; from then on none is missed. Returns the newest."""
    import echoform
    for _ in range(int(PATIENCE / 0.1)):
        sent = sender.send(frame)
        try:
            image = images.receive(0.1)
            while image.sequence < sent:
                image = images.receive(PATIENCE)
            return image
        except echoform.TimedOut:
            pass
    raise AssertionError("no image came")
