"""Channel data as the writer of the Ultrasound Toolbox (USTB, +uff/write_object.m) has it, by h5py alone; echoes of a scatterer."""
import h5py
import numpy

C, RATE, CENTRE = 1540.0, 40e6, 5e6
PLANE, SPHERICAL, LIGHT = 0, 1, 2


def number(group, name, value):
    """As write_object.m has it: single precision, MATLAB's size 1 x 1."""
    group[name] = numpy.full((1, 1), value, "<f4")
    group[name].attrs.update({"class": numpy.bytes_("double"), "name": numpy.bytes_(name), "imaginary": 0.0, "complex": 0.0})


def numbers(group, name, values):
    """`values` in MATLAB's order of axes; complex ones as a group of two."""
    if numpy.iscomplexobj(values):
        parts = group.create_group(name)
        parts.attrs.update({"class": numpy.bytes_("single"), "name": numpy.bytes_(name), "complex": 1.0})
        for part, of in (("real", values.real), ("imag", values.imag)):
            parts[part] = of.T.astype("<f4")
        return
    group[name] = values.T if values.dtype.kind == "i" else values.T.astype("<f4")
    group[name].attrs.update({"class": numpy.bytes_("single"), "name": numpy.bytes_(name), "imaginary": 0.0, "complex": 0.0})


def entity(group, name, of_class, size=(1.0, 1.0)):
    made = group.create_group(name)
    made.attrs.update({"class": numpy.bytes_(of_class), "name": numpy.bytes_(name), "size": numpy.array(size), "array": float(size[1] > 1)})
    return made


def point(group, name, place):
    """Of a place, or of a direction (azimuth, elevation)."""
    made = entity(group, name, "uff.point")
    if len(place) == 2:
        distance, azimuth, elevation = numpy.inf, *place
    else:
        x, y, z = place
        distance = numpy.linalg.norm(place)
        azimuth, elevation = numpy.arctan2(x, z), numpy.arcsin(y / distance) if distance else 0.0
    for field, value in dict(distance=distance, azimuth=azimuth, elevation=elevation).items():
        number(made, field, value)


def geometry(elements=32, pitch=0.3e-3, middle=0.0):
    made = numpy.zeros((elements, 7))
    made[:, 0] = middle + pitch * (numpy.arange(elements) - (elements - 1) / 2)
    made[:, 5:] = 0.25e-3, 5e-3
    return made


def make(path, data, waves, *, probe=None, first=1e-6, modulation=0.0, name="channel_data", change=None):
    """`data` [time, channel, wave(, frame)], `waves` (kind, source, delay) each; `change` alters the open object."""
    with h5py.File(path, "a") as file:
        file.attrs["version"] = numpy.array([b"v1.2.0"])
        made = entity(file, name, "uff.channel_data")
        for field, value in dict(sampling_frequency=RATE, initial_time=first, sound_speed=C, modulation_frequency=modulation).items():
            number(made, field, value)
        numbers(entity(made, "probe", "uff.linear_array"), "geometry", geometry() if probe is None else probe)
        sequence = entity(made, "sequence", "uff.wave", (1.0, len(waves))) if len(waves) > 1 else made
        for k, (kind, source, delay) in enumerate(waves):
            wave = entity(sequence, f"sequence_{k + 1:04d}" if len(waves) > 1 else "sequence", "uff.wave")
            wave["wavefront"] = numpy.full((1, 1), kind, "<i4")
            wave["wavefront"].attrs["class"] = numpy.bytes_("uff.wavefront")
            if source is not None:
                point(wave, "source", source)
            number(wave, "delay", delay)
            number(wave, "sound_speed", C)
        pulse = entity(made, "pulse", "uff.pulse")
        number(pulse, "center_frequency", CENTRE)
        number(pulse, "fractional_bandwidth", 0.6)
        numbers(made, "data", data)
        if change:
            change(made)


def arrival(kind, source, delay, place):
    """Of a wave at `place` on the clock of the samples, as das.m has it."""
    if kind == LIGHT:
        return -delay
    if kind == PLANE or len(source) == 2:
        azimuth, elevation = source
        return numpy.dot(place, (numpy.sin(azimuth) * numpy.cos(elevation), numpy.sin(elevation), numpy.cos(azimuth) * numpy.cos(elevation))) / C - delay
    sign = -1.0 if place[2] < source[2] else 1.0
    origin = -1.0 if source[2] < -1e-3 else 1.0
    return (sign * numpy.linalg.norm(numpy.subtract(place, source)) + origin * numpy.linalg.norm(source)) / C - delay


def analytic(waves, place, probe, first, samples):
    """The analytic signals of a scatterer at `place`: [time, channel, wave]."""
    back = numpy.linalg.norm(probe[:, :3] - place, axis=1) / C
    times = first + numpy.arange(samples) / RATE
    made = numpy.empty((samples, len(probe), len(waves)), complex)
    for k, wave in enumerate(waves):
        late = times[:, None] - (arrival(*wave, place) + back)
        made[:, :, k] = numpy.exp(-(late / 0.15e-6) ** 2 + 2j * numpy.pi * CENTRE * late)
    return made


def put(made, **items):
    for name, value in items.items():
        if name in made:
            del made[name]
        if value is not None:
            made[name] = numpy.full((1, 1), value) if numpy.isscalar(value) else value
