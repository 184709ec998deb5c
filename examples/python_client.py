#!/usr/bin/env python3
"""Echoform from Python, cell by cell: a server, simulated frames into it, images and telemetry out of it.

Editors that know `# %%` cells (VS Code, Spyder, Jupyter with jupytext) run it piece by piece; `python3 examples/python_client.py`
runs it whole. Needs numpy, pyzmq and protobuf, in a source tree protoc, and `echoform` built. With matplotlib it draws, into
python_client.png where there is no screen.
"""
# %% What is needed
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
    "imaging": {"crop": "never"},  # whole A-scans are transformed, as in the plain sum below
    "server": {"telemetry_interval": 0.2},
})
print("viewer:", server.web)

# %% What the instrument is: a 5 MHz array of 32 elements, Full Matrix Capture, 16-bit samples
probe = echoform.Probe.linear(32, 0.6e-3, element_width=0.5e-3, centre_frequency=5e6, bandwidth=3e6)
acquisition = echoform.Acquisition(probe, samples=512, sample_rate=40e6)
print("frames are", acquisition.frame_shape, "[tx, rx, sample],", acquisition.frame_bytes / 1e6, "MB")


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
def plain_image(frame, x, z):
    """|sum over tx, rx of the analytic signal at the time of travel| / N^2 at pixels [z, x], linear interpolation."""
    count = frame.shape[-1]
    gain = np.zeros(count)
    gain[0], gain[1:count // 2], gain[count // 2] = 1, 2, 1  # count is even
    analytic = np.fft.ifft(np.fft.fft(frame) * gain)
    legs = np.hypot(x - probe.x[:, None, None], z[:, None]) / VELOCITY  # [element, z, x]
    total = np.zeros((len(z), len(x)), complex)
    for tx in range(len(probe.x)):
        for rx in range(len(probe.x)):
            u = (legs[tx] + legs[rx] - acquisition.times[0]) * acquisition.sample_rate
            inside = (u >= 0) & (u < count - 1)
            n = np.where(inside, u, 0).astype(int)
            fraction = u - n
            total += np.where(inside, analytic[tx, rx, n] * (1 - fraction) + analytic[tx, rx, n + 1] * fraction, 0)
    return np.abs(total) / len(probe.x) ** 2


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
