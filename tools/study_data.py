"""What tools/tomography-study images: the paper's set-up at a scale, exact truth, and recordings with noise.

Lengths in metres, images [z, y, x], data [ring, view, sample]."""
import math
import pathlib
import socket
import struct
import subprocess
import threading

import numpy as np

VELOCITY, RATE, BLUR = 1540.0, 20e6, 0.77e-3
RADIUS, BOX = 65e-3, (29.4e-3, 29.4e-3, 61.6e-3)

# Of examples/optoacoustic_phantom.toml: x, y, z, radius, pressure. The paper does not say where its nine balls are.
BALLS = ((-6.58e-3, 0.0, 20.0e-3, 4.0e-3, 1.0), (-6.58e-3, 0.0, 5.0e-3, 3.0e-3, 1.0), (-6.58e-3, 0.0, -8.0e-3, 2.0e-3, 0.5),
         (-6.58e-3, 0.0, -20.0e-3, 5.0e-3, 0.8), (6.0e-3, 0.0, 22.0e-3, 5.0e-3, 0.6), (6.0e-3, 0.0, 8.0e-3, 1.5e-3, 1.0),
         (7.0e-3, 0.0, -3.0e-3, 3.0e-3, 0.9), (5.0e-3, 4.0e-3, -18.0e-3, 4.0e-3, 0.7), (0.0, -7.0e-3, 0.0, 4.5e-3, 1.0))
# Of the stand-in for the mouse: vessels as lines of places, their radius and pressure; organs as balls.
VESSELS = (((0, 0, -28), (2, 1, -14), (0, -1, 0), (-1, 0, 14), (0, 1, 28), 1.2, 1.0), ((0, -1, 0), (5, 2, 4), (9, 4, 12), 0.8, 0.9),
           ((0, -1, 0), (-5, -3, 5), (-10, -3, 13), 0.8, 0.9), ((2, 1, -14), (7, 5, -10), (11, 3, -3), 0.7, 0.8),
           ((2, 1, -14), (-5, 4, -16), (-10, 6, -22), 0.7, 0.8), ((-1, 0, 14), (6, -6, 18), (8, -9, 25), 0.6, 0.7),
           ((-1, 0, 14), (-6, 7, 19), (-9, 9, 26), 0.6, 0.7))
ORGANS = ((6.5, 0, -8, 3.5, 0.4), (-6.5, 0, -6, 3.5, 0.4), (0, 7, 8, 3.0, 0.3))


class Scale:
    """A share of all lengths but the blur, and of the numbers of rings and views."""

    def __init__(self, name, share, spacing, rings, views, mouse_spacing, mouse_rings, mouse_views):
        self.name, self.share, self.spacing, self.rings, self.views = name, share, spacing, rings, views
        self.mouse_spacing, self.mouse_rings, self.mouse_views = mouse_spacing, mouse_rings, mouse_views
        self.radius = share * RADIUS
        # The paper's 1022 samples from 16.5 us on, shorter as ways are; what is before and after the sound is as long.
        self.start = share * 18.08e-6 - 1.58e-6
        self.samples = round((share * (66.34e-6 - 18.08e-6) + 2.84e-6) * RATE)

    def pixels(self, spacing):
        return tuple(round(self.share * size / spacing) for size in BOX)


SCALES = {scale.name: scale for scale in (
    Scale("tiny", 1 / 6, 0.35e-3, 20, 16, 0.35e-3, 8, 24), Scale("small", 1 / 3, 0.28e-3, 44, 30, 0.42e-3, 22, 60),
    Scale("half", 1 / 2, 0.2e-3, 64, 46, 0.2e-3, 32, 88), Scale("full", 1.0, 0.14e-3, 128, 90, 0.14e-3, 64, 180))}


def phantom_balls(share):
    return [tuple(share * value for value in ball[:4]) + (ball[4],) for ball in BALLS]


def mouse_balls(share):
    """Organs, and vessels as rows of balls about their radius apart, whose mean along the axis is the vessel's pressure."""
    balls = [tuple(1e-3 * share * value for value in organ[:4]) + (organ[4],) for organ in ORGANS]
    for *places, radius, pressure in VESSELS:
        for begin, end in zip(np.array(places[:-1], float), np.array(places[1:], float)):
            count = math.ceil(np.linalg.norm(end - begin) / radius)
            step = np.linalg.norm(end - begin) / count
            for k in range(count):
                at = 1e-3 * share * (begin + (end - begin) * (k + 0.5) / count)
                balls.append((*map(float, at), 1e-3 * share * radius, pressure * step / (2 * radius)))
    return balls


class Detectors:
    """Rings at angles from +z, in degrees, and views all around from +x, on a sphere."""

    def __init__(self, scale, rings, views, angles, element=0.0):
        self.scale, self.rings, self.views, self.angles, self.element = scale, rings, views, angles, element

    @classmethod
    def all_around(cls, scale, every_ring=1, every_view=1):
        """Of rings in the middle of equal parts of 180 degrees every so many, from the first one on, and likewise views: as the paper does."""
        rings, part = scale.rings // every_ring, 180.0 / scale.rings
        return cls(scale, rings, scale.views // every_view, (0.5 * part, 0.5 * part + (rings - 1) * every_ring * part))

    def __str__(self):
        return f"{self.rings} x {self.views}"

    @property
    def count(self):
        return self.rings * self.views

    def places(self):
        """[ring, view, axis]"""
        polar = np.radians(np.linspace(*self.angles, self.rings))[:, None]
        turn = 2 * np.pi * np.arange(self.views)[None, :] / self.views
        return self.scale.radius * np.stack([np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn),
                                             np.cos(polar) + 0 * turn], axis=-1)

    def areas(self):
        """Of the sphere, for a detector of each ring: zones end half way between rings."""
        polar = np.radians(np.linspace(*self.angles, self.rings))
        half = 0.5 * (polar[1] - polar[0])
        before, after = np.maximum(0.0, polar - half), np.minimum(np.pi, polar + half)
        return 2 * np.pi * self.scale.radius ** 2 * (np.cos(before) - np.cos(after)) / self.views

    def configuration(self):
        return (f'[detectors]\nkind = "arc"\ncount = {self.rings}\nradius = {self.scale.radius!r}\nangles = [{self.angles[0]!r}, {self.angles[1]!r}]\n'
                f"positions = {self.views}\n" + (f"element_width = {self.element!r}\nelement_length = {self.element!r}\n" if self.element else ""))


class Voxels:
    def __init__(self, scale, spacing):
        self.spacing, self.count = spacing, scale.pixels(spacing)
        self.axes = [spacing * (np.arange(n) - 0.5 * (n - 1)) for n in self.count]  # x, y, z

    def configuration(self):
        ends = "".join(f"{name} = [{float(axis[0])!r}, {float(axis[-1])!r}]\n" for name, axis in zip("xyz", self.axes))
        return f"[grid]\n{ends}pixels = [{', '.join(map(str, self.count))}]\n"

    def truth(self, balls):
        """p0 at the voxels' middles, of balls that are blurred by a Gaussian: a closed form, by a table over the distance."""
        deviation = BLUR / math.sqrt(8 * math.log(2))
        volume = np.zeros(self.count[::-1])
        for *place, radius, pressure in balls:
            reach = radius + 8 * deviation
            table = np.linspace(0.0, reach, 2001)
            profile = np.array([_blurred(r, radius, deviation) for r in table])
            near = [np.flatnonzero(np.abs(axis - at) < reach) for axis, at in zip(self.axes, place)]
            if min(map(len, near)) == 0:
                continue
            x, y, z = (slice(part[0], part[-1] + 1) for part in near)
            squares = [(axis[part] - at) ** 2 for axis, part, at in zip(self.axes, (x, y, z), place)]
            distance = np.sqrt(squares[2][:, None, None] + squares[1][None, :, None] + squares[0][None, None, :])
            volume[z, y, x] += pressure * np.interp(distance, table, profile, right=0.0)
        return volume


def _blurred(r, radius, s):
    if r == 0.0:
        return math.erf(radius / (math.sqrt(2) * s)) - math.sqrt(2 / math.pi) * radius / s * math.exp(-radius ** 2 / (2 * s * s))
    return (0.5 * (math.erf((radius - r) / (math.sqrt(2) * s)) + math.erf((radius + r) / (math.sqrt(2) * s))) -
            s / (math.sqrt(2 * math.pi) * r) * (math.exp(-(radius - r) ** 2 / (2 * s * s)) - math.exp(-(radius + r) ** 2 / (2 * s * s))))


def impulse_response(centre=2e6, bandwidth=1.6):
    """What the stand-in's detectors make of an impulse of pressure, at RATE: a cosine of `centre` below a Gaussian of `bandwidth` times that,
    between half amplitudes. Of a steady pressure it leaves 0.67. The middle sample is the impulse's."""
    deviation = math.sqrt(2 * math.log(2)) / (math.pi * bandwidth * centre)
    reach = math.ceil(4 * deviation * RATE)
    times = np.arange(-reach, reach + 1) / RATE
    wave = np.exp(-times ** 2 / (2 * deviation ** 2)) * np.cos(2 * np.pi * centre * times)
    return wave / np.abs(np.fft.rfft(wave, 4096)).max()


def received(data, response):
    """Rows, convolved with a response whose middle sample is the impulse's."""
    length = data.shape[-1] + len(response) - 1
    spectrum = np.fft.rfft(data, length) * np.fft.rfft(response, length)
    first = len(response) // 2
    return np.fft.irfft(spectrum, length)[..., first:first + data.shape[-1]]


def configuration(detectors, voxels, balls, more=""):
    rows = "".join(f"  [{', '.join(repr(float(value)) for value in ball)}],\n" for ball in balls)
    return (f'[imaging]\nmethod = "tomography"\n[material]\nlongitudinal_velocity = {VELOCITY}\n[filter]\nkind = "none"\n{voxels.configuration()}'
            f'{detectors.configuration()}[simulator]\nsamples = {detectors.scale.samples}\nsample_rate = {RATE}\nstart_time = {detectors.scale.start!r}\n'
            f'encoding = "float32"\nquantised = false\nnoise_rms = 0.0\ncycle_frames = 1\nblur = {BLUR}\nballs = [\n{rows}]\n{more}')


def _free_port():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return door.getsockname()[1]


def _exactly(stream, count):
    data = stream.read(count)
    if len(data) != count:
        raise ConnectionError("the source ended in the middle of a message")
    return data


def record(program, config, recording, detectors, noise=0.0, seed=1, response=None):
    """A frame of `echoform simulate`, as `echoform record` writes it. Between them stand a response that samples are convolved with, and white noise,
    `noise` times the greatest magnitude of what it is added to. The samples [ring, view, sample], and that magnitude."""
    shots, answers = [], []
    with socket.create_server(("127.0.0.1", 0)) as door:
        address = f"127.0.0.1:{_free_port()}"
        recorder = subprocess.Popen([program, "record", "--frames", "1", "--listen", address, "--config", config, "--output", recording],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        said = []
        reader = threading.Thread(target=lambda: said.extend(recorder.stderr), daemon=True)
        reader.start()
        source = subprocess.Popen([program, "simulate", "--config", config, "--connect", f"127.0.0.1:{door.getsockname()[1]}", "--frames", "1",
                                   "--rate", "max"], stdout=subprocess.DEVNULL)
        try:
            sender = _accepted(door, source)
            with sender, _connected(address, recorder) as receiver:
                back = threading.Thread(target=_hand_back, args=(receiver, sender, answers), daemon=True)
                back.start()
                with sender.makefile("rb") as stream:
                    heads = []
                    while prefix := stream.read(24):
                        kind, header, payload = struct.unpack("<6xHIQ4x", prefix)
                        head = prefix + _exactly(stream, header)
                        samples = np.frombuffer(_exactly(stream, payload), "<f4").reshape(-1, detectors.scale.samples) if kind == 4 else None
                        if kind == 1:
                            receiver.sendall(head)  # the Hello, for its answer
                        else:
                            heads.append((head, None if samples is None else len(shots)))
                            if samples is not None:
                                shots.append(samples)
                        if kind == 5:
                            break
                data = np.stack(shots).astype(float)  # [view, ring, sample]
                if response is not None:
                    data = received(data, response)
                peak = float(np.abs(data).max())
                if noise > 0.0:
                    data = data + np.random.default_rng(seed).normal(0.0, noise * peak, data.shape)
                data = data.astype("<f4")
                for head, shot in heads:
                    receiver.sendall(head + (b"" if shot is None else data[shot].tobytes()))
                receiver.shutdown(socket.SHUT_WR)
                back.join(600)
            source.wait(60)
            if recorder.wait(60) != 0:
                raise RuntimeError(f"echoform record: {''.join(said).strip()}")
        finally:
            for process in (source, recorder):
                process.kill()
                process.wait()
            reader.join(10)
            recorder.stderr.close()
    return np.swapaxes(data, 0, 1), peak


def _accepted(door, source):
    door.settimeout(0.2)
    while True:
        try:
            sender, _ = door.accept()
        except TimeoutError:
            if source.poll() is not None:
                raise RuntimeError(f"echoform simulate ended with {source.returncode}") from None
        else:
            sender.settimeout(600)
            return sender


def _connected(address, recorder):
    host, port = address.split(":")
    for _ in range(600):
        try:
            return socket.create_connection((host, int(port)))
        except ConnectionRefusedError:
            if recorder.poll() is not None:
                raise RuntimeError(f"echoform record ended with {recorder.returncode}") from None
            threading.Event().wait(0.1)
    raise RuntimeError("echoform record does not listen")


def _hand_back(receiver, sender, answers):
    """Answers of the recorder, until it closes."""
    while answer := receiver.recv(65536):
        answers.append(answer)
        sender.sendall(answer)


def back_projection(data, detectors, x, y, z):
    """Filtered back-projection in double precision at points of one shape: Finch, Patch and Rakesh's sum by the term of each sample, p' by central
    differences of order 24, linear between samples."""
    samples = detectors.scale.samples
    times = detectors.scale.start + np.arange(samples) / RATE
    half = 12
    padded = np.pad(data.astype(float), ((0, 0), (0, 0), (half, half)))
    slope = np.zeros(data.shape)
    for k in range(1, half + 1):
        weight = (-1) ** (k + 1) * math.factorial(half) ** 2 / (k * math.factorial(half - k) * math.factorial(half + k))
        slope += weight * (padded[..., half + k:half + k + samples] - padded[..., half - k:half - k + samples])
    term = 2 * data / (VELOCITY * times) + slope * RATE / VELOCITY
    image = np.zeros(np.broadcast(x, y, z).shape)
    for places, rows, area in zip(detectors.places(), term, detectors.areas()):
        for place, row in zip(places, rows):
            way = np.sqrt((x - place[0]) ** 2 + (y - place[1]) ** 2 + (z - place[2]) ** 2)
            image += area * np.interp(way / VELOCITY, times, row, left=0.0, right=0.0)
    return -image / (2 * np.pi * detectors.scale.radius)


def machine():
    """The processor, in words."""
    try:
        names = [line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    except OSError:
        names = []
    return f"{len(names)} x {names[0]}" if names else "an unknown processor"
