#!/usr/bin/env python3
"""Echoform from Python, cell by cell: a server, simulated frames into it, images and telemetry out of it.

Editors that know `# %%` cells (VS Code, Spyder, Jupyter with jupytext) run it piece by piece; `python3 examples/python_client.py`
runs it whole, with `--plane-waves 16` on plane waves in the place of single elements that fire. Needs numpy, pyzmq and protobuf, in a source tree protoc, and `echoform` built. With matplotlib it draws, into
python_client.png where there is no screen.
"""
# %% What is needed
import argparse
import math
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path.cwd() / "python"))  # neither is needed
sys.path.insert(0, str(pathlib.Path(globals().get("__file__", "x")).resolve().parents[1] / "python"))  # once the package is installed
import echoform  # noqa: E402

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

# %% A server of our own, on free ports. To use one that runs: its addresses in the place of server.frames, server.images ...
VELOCITY = 6320.0  # aluminium, m/s
server = echoform.Server({
    "material": {"longitudinal_velocity": VELOCITY},
    "grid": {"x": [-0.009, 0.009], "z": [0.004, 0.022], "pixels": [91, 91]},
    "filter": {"kind": "none"},    # A-scans as they are, as in the plain sum below
    "imaging": {"crop": "never"},  # and whole ones
    "server": {"telemetry_interval": 0.2},
})
print("viewer:", server.web)

# %% What the instrument is: a 5 MHz array of 32 elements, 16-bit samples. Full Matrix Capture, or plane waves between 20 degrees to
# both sides: who fires when in each, an instrument reads from acquisition.firings(event)
parser = argparse.ArgumentParser()
parser.add_argument("--plane-waves", type=int, default=0, metavar="N")
count = parser.parse_known_args()[0].plane_waves  # notebooks have arguments of their own
probe = echoform.Probe.linear(32, 0.6e-3, element_width=0.5e-3, centre_frequency=5e6, bandwidth=3e6)
waves = [echoform.plane_wave(angle, VELOCITY) for angle in np.linspace(math.radians(-20), math.radians(20), count)]
acquisition = echoform.Acquisition(probe, samples=512, sample_rate=40e6, events=waves)
print("frames are", acquisition.frame_shape, "[event, rx, sample],", acquisition.frame_bytes / 1e6, "MB")
if waves:
    elements, delays, _ = acquisition.firings(0)
    print(f"event 0: element {elements[0]} fires at {1e9 * delays[0]:.0f} ns, element {elements[-1]} at {1e9 * delays[-1]:.0f} ns")


# %% What it would record: three points, one of which moves with the step
def simulate(step):
    points = [(-0.004, 0.009), (0.0, 0.014), (-0.003 + 0.0004 * step, 0.018)]
    frame = echoform.point_scatterers(acquisition, points, VELOCITY, amplitude=1000.0, noise=20.0, seed=step)
    return np.rint(frame).astype(np.int16)


# %% Frames in, images out
sender = echoform.FrameSender(acquisition, server.frames)
images = echoform.ImageSubscriber(server.images, timeout=30.0)


def image_of(frame):
    """Sends a frame and waits for its image; again, as long as the subscription has not yet reached the server."""
    while True:
        sequence = sender.send(frame)
        try:
            for image in images:
                if image.sequence >= sequence:
                    return image
        except echoform.TimedOut:
            continue


images.timeout = 0.5
image = image_of(simulate(0))
images.timeout = 30.0
for step in range(1, 16):
    image = image_of(simulate(step))
row, column = np.unravel_index(image.pixels.argmax(), image.pixels.shape)
print(f"{image}: brightest at x = {1e3 * image.x[column]:.1f} mm, z = {1e3 * image.z[row]:.1f} mm")
print(f"latency {1e3 * image.latency:.1f} ms;", ", ".join(f"{name} {1e3 * seconds:.2f} ms" for name, seconds in image.stages.items()))
print(images.statistics)


# %% The same frame by a plain delay-and-sum in double precision
def transmit_times(event, x, z):
    """When the sound of an event is at pixels [z, x], after its t = 0."""
    if not waves:  # element `event` fires alone
        return np.hypot(x - probe.x[event], z[:, None]) / VELOCITY
    slowness = waves[event].slowness_x
    at_origin = -(slowness * probe.x).min()  # so that the earliest element fires at 0
    return at_origin + slowness * x + math.sqrt(VELOCITY**-2 - slowness**2) * z[:, None]


def plain_image(frame, x, z):
    """|sum over events and receivers of the analytic signal at the time of travel| / their number, at pixels [z, x], linear interpolation."""
    count = frame.shape[-1]
    gain = np.zeros(count)
    gain[0], gain[1:count // 2], gain[count // 2] = 1, 2, 1  # count is even
    analytic = np.fft.ifft(np.fft.fft(frame) * gain)
    back = np.hypot(x - probe.x[:, None, None], z[:, None]) / VELOCITY  # [receiver, z, x]
    total = np.zeros((len(z), len(x)), complex)
    for event in range(acquisition.shots):
        out = transmit_times(event, x, z)
        for rx in range(len(probe.x)):
            u = (out + back[rx] - acquisition.times[0]) * acquisition.sample_rate
            inside = (u >= 0) & (u < count - 1)
            n = np.where(inside, u, 0).astype(int)
            fraction = u - n
            total += np.where(inside, analytic[event, rx, n] * (1 - fraction) + analytic[event, rx, n + 1] * fraction, 0)
    return np.abs(total) / (acquisition.shots * len(probe.x))


plain = plain_image(simulate(15), image.x, image.z)
error = np.linalg.norm(image.pixels - plain) / np.linalg.norm(plain)
print(f"relative difference to the plain sum: {error:.1e}")
assert error < 1e-3  # the accuracy that `[imaging] accuracy` asks of a GPU; a CPU gives some 1e-6

# %% Both side by side, in dB
if plt:
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), sharey=True, layout="constrained")
    for plot, values, title in ((axes[0], image.decibels(reference=plain.max()), "Echoform"),
                                (axes[1], 20 * np.log10(plain / plain.max()), "plain sum")):
        shown = plot.imshow(values, extent=image.extent, vmin=-40, vmax=0, cmap="viridis")
        plot.set(title=title, xlabel="x in mm", ylabel="z in mm")
    figure.colorbar(shown, ax=axes, label="dB")
    if plt.get_backend().lower() == "agg":
        figure.savefig("python_client.png")
    else:
        plt.show()
else:
    # Without matplotlib: the image in letters, 6 dB each.
    letters = np.array(list("#+=-. "))
    for line in np.clip(-image.decibels(reference=plain.max()) / 6, 0, 5).astype(int)[::4, ::2]:
        print("".join(letters[line]))

# %% Another grid while it runs: closer to the point in the middle
with echoform.Control(server.control) as control:
    revision = control.set({"grid.x": [-0.002, 0.002], "grid.z": [0.012, 0.016], "grid.pixels": [81, 81]})
    while image.settings_revision < revision:  # the frames before are imaged by the settings before
        image = image_of(simulate(15))
    print(f"{image}: x {1e3 * image.x[0]:.0f} .. {1e3 * image.x[-1]:.0f} mm, z {1e3 * image.z[0]:.0f} .. {1e3 * image.z[-1]:.0f} mm")
    try:
        control["grid.pixels"] = [0, 81]
    except echoform.Rejected as refusal:
        print("refused:", refusal)
    control.reset()

# %% What the server says of itself
with echoform.TelemetrySubscriber(server.telemetry, timeout=30.0) as telemetry:
    for report in telemetry:
        if report.frames_published == sender.frames_sent:
            break
print(f"received {report.frames_received} = published {report.frames_published} + dropped {report.frames_dropped} "
      f"+ in flight {report.frames_in_flight}: {report.closed}; {report.backend}")

# %% The end
images.close()
sender.close()
print("\n".join(server.stop()))
