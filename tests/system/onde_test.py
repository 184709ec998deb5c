"""ONDE files, made by h5py alone as the specification has them, and read by it where Echoform wrote them: where a hole is imaged, field by
field, round trips, images, and one line for what is wrong."""
import sys
import unittest

try:
    import h5py
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

from program_case import ProgramCase

RATE = 50e6
PITCH = 0.6e-3
C = 5900.0
IDENTITY = (0, 0, 0, 1, 0, 0, 0)


def quaternion(axis, degrees):
    half = numpy.radians(degrees) / 2
    return numpy.array([numpy.cos(half), *(numpy.sin(half) * numpy.asarray(axis, float))])


def turned(q, v):
    """By Hamilton's product q v q*."""
    w, u = q[0], q[1:]
    return v + 2 * numpy.cross(u, numpy.cross(u, v) + w * v)


def group(file, name, *classes):
    made = file.create_group(name)
    made.attrs["ONDE:TYPE"] = numpy.array(classes, dtype=h5py.string_dtype())
    return made


def refer(made, name, to, many=False, attribute=False):
    references = numpy.array([one.ref for one in to], dtype=h5py.ref_dtype) if many else to.ref
    if attribute:
        made.attrs.create(name, references, dtype=h5py.ref_dtype)
    else:
        made.create_dataset(name, data=references if many else [references], dtype=h5py.ref_dtype)


def make(path, data, *, elements=4, laws=None, places=None, trajectory=None, coupling=None, base=1, newer=False, change=None, **options):
    """`data` [frame, A-scan, sample]; `laws` of each A-scan: ([(element, delay, weight)], receiver), elements from 0 on."""
    laws = laws or [([(t, 0, 1)], r) for t in range(elements) for r in range(elements)]
    with h5py.File(path, "w") as file:
        file.attrs["ONDE:FILETYPE"] = "ONDE_UT"
        file.attrs["ONDE:VERSION"] = "0.9.1" if newer else "0.9.0"
        component = group(file, "part", "ONDE_COMPONENT", "ONDE_PLANE")
        component.attrs["ONDE_COMPONENT:VELOCITIES"] = [C, numpy.nan]
        wedge = group(file, "coupling", *(coupling or ("ONDE_UT_COUPLING",)))
        wedge.attrs["ONDE_WEDGE:WEDGE_VELOCITY"] = [2330.0, numpy.nan]
        probe = group(file, "hardware/probe", "ONDE_UT_PROBE")
        probe.attrs["ONDE:TYPE_TAGS"] = numpy.array(["ONDE_UT_ELEMENTS"], dtype=h5py.string_dtype())
        probe.attrs["ONDE_UT_PROBE:FREQUENCY"] = 5e6
        refer(probe, "ONDE_UT_PROBE:COUPLING", wedge, attribute=True)
        if places is None:
            places = [((k - (elements - 1) / 2) * PITCH, 0, 0, 1, 0, 0, 0) for k in range(elements)]
        probe["ONDE_UT_ELEMENTS:FRAME"] = numpy.array(places, float)
        probe["ONDE_UT_ELEMENTS:SHAPE"] = numpy.zeros(elements, int)
        probe["ONDE_UT_ELEMENTS:SIZE"] = numpy.array([[0.5e-3, 10e-3, 0, 0, 0, 0]])
        way = group(file, "way", "ONDE_ACQUISITION_TRAJECTORY", "ONDE_SPATIAL_TRAJECTORY")
        way["ONDE_SPATIAL_TRAJECTORY:TRAJECTORY"] = numpy.array([IDENTITY] if trajectory is None else trajectory, float)
        geometric = group(file, "geometry", "ONDE_GEOMETRIC_SETUP")
        refer(geometric, "ONDE_GEOMETRIC_SETUP:COMPONENT", component, attribute=newer)
        refer(geometric, "ONDE_GEOMETRIC_SETUP:PROBE_LIST", [probe], many=True)
        refer(geometric, "ONDE_GEOMETRIC_SETUP:ACQUISITION_TRAJECTORY", [way], many=True)
        made = {}

        def law(entries):
            if entries not in made:
                one = group(file, f"laws/{len(made)}", *(("ONDE_PROBE_SELECT", "ONDE_UT_LAW") if newer else ("ONDE_UT_LAW",)))
                if newer:
                    one["ONDE_PROBE_SELECT:PROBE_INDEX"] = numpy.zeros(len(entries), int)
                else:
                    refer(one, "ONDE_UT_LAW:PROBE", [probe] * len(entries), many=True)
                one["ONDE_UT_LAW:ELEMENT"] = [element + base for element, _, _ in entries]
                one["ONDE_UT_LAW:DELAY"] = [float(delay) for _, delay, _ in entries]
                one["ONDE_UT_LAW:WEIGHTING"] = [float(weight) for _, _, weight in entries]
                made[entries] = one
            return made[entries]

        ultrasonic = group(file, "electronics", "ONDE_ULTRASONIC_SETUP")
        ultrasonic.attrs["ONDE_ULTRASONIC_SETUP:RECTIFICATION"] = "FULL_WAVE"
        ultrasonic.attrs["ONDE_ULTRASONIC_SETUP:ASCAN_SAMPLE_RATE"] = RATE
        ultrasonic["ONDE_ULTRASONIC_SETUP:GAIN"] = numpy.ones(len(laws))
        refer(ultrasonic, "ONDE_ULTRASONIC_SETUP:TRANSMIT_LAW", [law(tuple(entries)) for entries, _ in laws], many=True)
        refer(ultrasonic, "ONDE_ULTRASONIC_SETUP:RECEIVE_LAW", [law(((receiver, 0, 1),)) for _, receiver in laws], many=True)
        setup = group(file, "setup", "ONDE_SETUP", "ONDE_SETUP_UT")
        refer(setup, "ONDE_SETUP:GEOMETRIC_SETUP", geometric, attribute=True)
        refer(setup, "ONDE_SETUP_UT:ULTRASONIC_SETUP", ultrasonic, attribute=True)
        dataset = group(file, "scan", "ONDE_DATASET", "ONDE_DATASET_UT", "ONDE_DATASET_UT_ASCAN")
        dataset.attrs["ONDE_DATASET:DATE_AND_TIME"] = "2026-01-02T03:04:05Z"
        refer(dataset, "ONDE_DATASET:SETUP", setup, attribute=True)
        if newer:
            dataset["ONDE_DATASET_UT_ASCAN:ASCAN_START"] = numpy.full((1, 1, 1), 2e-6)
        else:
            ultrasonic["ONDE_ULTRASONIC_SETUP:ASCAN_START"] = [2e-6]
        if data is not None:
            dataset.create_dataset("ONDE_DATASET:DATA", data=data, **options)
        if change:
            change(file)


def noise(*shape):
    return numpy.random.default_rng(7).integers(-2000, 2000, shape, dtype=numpy.int16)


class Onde(ProgramCase):
    def converted(self, file, *arguments, to="out.mfmc"):
        out = self.path / to
        out.unlink(missing_ok=True)
        self.run_program(0, "convert", file, out, *arguments)
        return out

    def mfmc(self, file, *arguments):
        """Samples, elements' places and normals."""
        with h5py.File(self.converted(file, *arguments), "r") as made:
            probe = made["PROBES/P1"]
            normals = numpy.cross(probe["ELEMENT_MAJOR"][...], probe["ELEMENT_MINOR"][...])
            return made["SEQUENCES/S1/MFMC_DATA"][...], probe["ELEMENT_POSITION"][...], normals / numpy.linalg.norm(normals, axis=1)[:, None]

    def test_a_hole_is_imaged_where_it_is_and_the_image_written(self):
        elements, samples = 16, 400
        x = PITCH * (numpy.arange(elements) - 7.5)
        hole = numpy.array([1.2e-3, 12e-3])
        way = numpy.hypot(x - hole[0], hole[1])
        t = 2e-6 + numpy.arange(samples) / RATE - ((way[:, None] + way[None, :]) / C)[..., None]
        data = 20000 * numpy.exp(-(t / 1.5e-7) ** 2) * numpy.cos(2 * numpy.pi * 5e6 * t)
        make(self.path / "hole.onde", data.reshape(1, -1, samples).astype(numpy.int16), elements=elements)
        config = self.path / "config.toml"
        config.write_text('[imaging]\nbackend = "cpu"\n[grid]\nx = [-0.004, 0.005]\nz = [0.008, 0.016]\npixels = [91, 81]\n')
        self.run_program(0, "image", self.path / "hole.onde", "--config", config, "--output", self.path / "image.npy", "--output", self.path / "image.onde")
        image = numpy.load(self.path / "image.npy")
        z, x = numpy.unravel_index(image.argmax(), image.shape)
        self.assertAlmostEqual(-4e-3 + 1e-4 * x, hole[0], delta=1.5e-4)
        self.assertAlmostEqual(8e-3 + 1e-4 * z, hole[1], delta=1.5e-4)
        with h5py.File(self.path / "image.onde", "r") as file:
            self.assertEqual((file.attrs["ONDE:FILETYPE"], file.attrs["ONDE:VERSION"]), ("ONDE_UT", "0.9.0"))
            scan = self.of_class(file, "ONDE_DATASET_UT_TSCAN")
            self.assertEqual(list(scan.attrs["ONDE:TYPE"]), ["ONDE_DATASET", "ONDE_DATASET_UT", "ONDE_DATASET_UT_TSCAN"])
            numpy.testing.assert_array_equal(scan["ONDE_DATASET:DATA"][0], image.T)
            of = lambda name: scan.attrs["ONDE_DATASET_UT_TSCAN:" + name]
            numpy.testing.assert_array_equal(of("ZONE_SIZE"), [91, 1, 81])
            numpy.testing.assert_allclose(of("ZONE_DIMENSION"), [9.1e-3, 0, 8.1e-3], atol=1e-12)
            numpy.testing.assert_allclose(of("ZONE_FRAME"), [0.5e-3, 0, 12e-3, 1, 0, 0, 0], atol=1e-12)
            self.assertEqual(of("RECONSTRUCTION_MODE"), "LL")
            source = file[of("SOURCE_ASCAN_DATASET")]
            self.assertEqual(source.attrs["ONDE:TYPE"][-1], "ONDE_DATASET_UT_ASCAN")
            setup = file[scan.attrs["ONDE_DATASET:SETUP"]]
            geometric = file[setup.attrs["ONDE_SETUP:GEOMETRIC_SETUP"]]
            self.assertEqual(len(geometric["ONDE_GEOMETRIC_SETUP:PROBE_LIST"]), 1)
        line = self.run_program(2, "inspect", self.path / "image.onde")
        self.assertIn("found no A-scans, which were not kept; expected an ONDE file with A-scans", line)
        line = self.run_program(2, "image", self.path / "hole.onde", "--config", config, "--field", "analytic", "--output", self.path / "complex.onde")
        self.assertIn("found an image of complex numbers; expected an envelope", line)
        self.assertFalse((self.path / "complex.onde").exists())

    def test_a_volume_is_written(self):
        places = [(x, y, 0, 1, 0, 0, 0) for y in (-1e-3, 1e-3) for x in (-1e-3, 1e-3)]
        make(self.path / "in.onde", noise(1, 16, 400), places=places)
        config = self.path / "config.toml"
        config.write_text('[imaging]\nbackend = "cpu"\n[grid]\nx = [-0.004, 0.004]\ny = [-0.001, 0.003]\nz = [0.008, 0.014]\npixels = [5, 3, 4]\n')
        self.run_program(0, "image", self.path / "in.onde", "--config", config, "--output", self.path / "image.npy", "--output", self.path / "image.onde")
        image = numpy.load(self.path / "image.npy")
        with h5py.File(self.path / "image.onde", "r") as file:
            scan = self.of_class(file, "ONDE_DATASET_UT_TSCAN")
            self.assertEqual(scan["ONDE_DATASET:DATA"].shape, (1, 5, 3, 4))
            numpy.testing.assert_array_equal(scan["ONDE_DATASET:DATA"][0], image.transpose(2, 1, 0))
            of = lambda name: scan.attrs["ONDE_DATASET_UT_TSCAN:" + name]
            numpy.testing.assert_array_equal(of("ZONE_SIZE"), [5, 3, 4])
            numpy.testing.assert_allclose(of("ZONE_DIMENSION"), [10e-3, 6e-3, 8e-3], atol=1e-12)
            numpy.testing.assert_allclose(of("ZONE_FRAME"), [0, 1e-3, 11e-3, 1, 0, 0, 0], atol=1e-12)

    def of_class(self, file, name):
        found = []
        file.visititems(lambda _, item: found.append(item) if name in list(item.attrs.get("ONDE:TYPE", [])) else None)
        self.assertEqual(len(found), 1, name)
        return found[0]

    def test_every_field(self):
        data = noise(1, 16, 40)
        for newer in (False, True):
            with self.subTest(newer=newer):
                make(self.path / "in.onde", data[None] if newer else data, newer=newer, coupling=("ONDE_UT_COUPLING", "ONDE_WEDGE"),
                     places=[((k - 1.5) * PITCH, 1e-3, -5e-3, 1, 0, 0, 0) for k in range(4)], chunks=True, compression="gzip",
                     change=lambda file: file["hardware/probe"].create_dataset("ONDE_UT_ELEMENTS:DEAD_ELEMENT", data=[0, 1, 0, 0]))
                found = self.inspect(self.path / "in.onde")
                self.assertEqual((found["elements"], found["a_scans"], found["samples"], found["frames"]), (4, 16, 40, 1))
                self.assertEqual((found["matrix"], found["sample_rate"], found["centre_frequency"]), ("full", RATE, 5e6))
                self.assertAlmostEqual(found["start_time"], 2e-6, delta=1e-15)
                self.assertEqual((found["longitudinal_velocity"], found["wedge_velocity"]), (C, 2330.0))
                read, places, normals = self.mfmc(self.path / "in.onde")
                numpy.testing.assert_array_equal(read, data)
                numpy.testing.assert_allclose(places, [((k - 1.5) * PITCH, 1e-3, -5e-3) for k in range(4)], atol=1e-15)
                numpy.testing.assert_allclose(normals, [(0, 0, 1)] * 4, atol=1e-12)
                with h5py.File(self.path / "out.mfmc", "r") as made:
                    numpy.testing.assert_array_equal(made["PROBES/P1/DEAD_ELEMENT"][...], [0, 1, 0, 0])
                    numpy.testing.assert_allclose(numpy.linalg.norm(made["PROBES/P1/ELEMENT_MAJOR"][0]), 5e-3)

    def test_frames_of_reference_are_combined(self):
        """Element in probe, probe in trajectory, trajectory in the part: each a quaternion and a place."""
        turns = [quaternion((0, 1, 0), 20), quaternion((0, 0, 1), 70), quaternion((1, 0, 0), -10)]
        offsets = numpy.array([(1e-3, 2e-3, -1e-3), (3e-3, 0, -20e-3), (0, 1e-3, -5e-3)])
        elements = [(*(offsets[0] + (k * PITCH, 0, 0)), *turns[0]) for k in range(4)]

        def offset(file):
            file["geometry"]["ONDE_GEOMETRIC_SETUP:PROBE_COORDINATE_FRAME"] = [[*offsets[1], *(3 * turns[1])]]  # of any length
        make(self.path / "in.onde", noise(1, 16, 20), places=elements, trajectory=[(*offsets[2], *turns[2])], change=offset)
        _, places, normals = self.mfmc(self.path / "in.onde")
        for k in range(4):
            place = offsets[2] + turned(turns[2], offsets[1] + turned(turns[1], offsets[0] + (k * PITCH, 0, 0)))
            normal = turned(turns[2], turned(turns[1], turned(turns[0], numpy.array([0, 0, 1.0]))))
            numpy.testing.assert_allclose(places[k], place, atol=1e-12)
            numpy.testing.assert_allclose(normals[k], normal, atol=1e-9)

    def test_a_probe_that_moves(self):
        data = noise(3, 16, 20)
        make(self.path / "in.onde", data, trajectory=[(k * 1e-3, 0, 0, 1, 0, 0, 0) for k in range(3)])
        self.assertIn("the probe takes 3 places", self.inspect(self.path / "in.onde")["description"])
        read, places, _ = self.mfmc(self.path / "in.onde", "--frame", "2")
        numpy.testing.assert_array_equal(read[0], data[2])
        numpy.testing.assert_allclose(places[0], (2e-3 - 1.5 * PITCH, 0, 0), atol=1e-15)
        self.assertIn("in.onde, frame 1: found a probe that has moved; expected one that stays where it is",
                      self.run_program(2, "convert", self.path / "in.onde", self.path / "moved.efcap"))
        make(self.path / "in.onde", data, trajectory=[(k * 1e-3, 0, (k - 1) * 1e-3, 1, 0, 0, 0) for k in range(3)])
        self.refused("TRAJECTORY, frame 2, element 1: found z = 0.001 m; expected z <= 0, on or above the surface")
        make(self.path / "in.onde", data, trajectory=[(k * 1e-3, 0, -5e-3, *quaternion((1, 0, 0), 100 * k)) for k in range(3)])
        self.refused("TRAJECTORY, frame 1, element 1: found emission towards z = ")

    def test_what_nobody_knows(self):
        """NaN, which is written of it, is read as that."""
        make(self.path / "in.onde", noise(1, 16, 20), change=lambda file: file["hardware/probe"].attrs.__delitem__("ONDE_UT_PROBE:FREQUENCY"))
        out = self.converted(self.path / "in.onde", to="out.onde")
        with h5py.File(out, "r+") as file:
            probe = file["PROBE"].attrs
            self.assertTrue(numpy.isnan(probe["ONDE_UT_PROBE:FREQUENCY"]).all())
            probe["ONDE_UT_PROBE:BANDWIDTH"] = [numpy.nan]
            file["ULTRASONIC_SETUP/ONDE_ULTRASONIC_SETUP:GAIN"][...] = numpy.nan
        found = self.inspect(out)
        self.assertFalse(found["centre_frequency"])
        self.assertNotIn("gains", found["description"])

    def test_laws_in_any_order_and_counting(self):
        pairs = [(t, r) for t in range(4) for r in range(4)]
        numpy.random.default_rng(1).shuffle(pairs)
        data = noise(4, 4, 20)
        stacked = numpy.array([data[t, r] for t, r in pairs])[None]
        for base in (0, 1):
            # All elements are listed, and one is chosen by its weight.
            laws = [([(e, 0, float(e == t)) for e in range(4)], r) for t, r in pairs]
            make(self.path / "in.onde", stacked, laws=laws, base=base)
            numpy.testing.assert_array_equal(self.mfmc(self.path / "in.onde")[0][0], data.reshape(16, 20))
            self.assertEqual("elements count from 0" in self.inspect(self.path / "in.onde")["description"], base == 0)

    def test_amplitudes_and_data_elsewhere(self):
        data = noise(1, 16, 20)

        def scaled(offset):
            def change(file):
                dimension = group(file, "volts", "ONDE_DIMENSION")
                dimension.attrs["ONDE_DIMENSION:SCALE"], dimension.attrs["ONDE_DIMENSION:OFFSET"] = 0.25, offset
                refer(file["scan"], "ONDE_DATASET:AMPLITUDE_DIMENSION", dimension, attribute=True)
                elsewhere = file.create_dataset("vendor/raw", data=data)
                refer(file["scan"], "ONDE_DATASET:DATA", elsewhere, attribute=offset == 0)
            return change
        make(self.path / "in.onde", None, change=scaled(0.0))
        with h5py.File(self.converted(self.path / "in.onde"), "r") as made:
            numpy.testing.assert_array_equal(made["SEQUENCES/S1/MFMC_DATA"][...], data)
            self.assertEqual(made["SEQUENCES/S1"].attrs["ECHOFORM_SAMPLE_SCALE"], 0.25)
        make(self.path / "in.onde", None, change=scaled(3.0))
        numpy.testing.assert_array_equal(self.mfmc(self.path / "in.onde")[0], 0.25 * data + 3)

    def test_what_is_written(self):
        """By h5py, from files that it made."""
        samples = 30
        half = [([(t, 0, 1)], r) for t in range(4) for r in range(t, 4)]
        waves = [([(e, 1e-8 * (e if k else 3 - e), 1) for e in range(4)], r) for k in range(2) for r in range(4)]
        for name, laws in (("full", None), ("half", half), ("waves", waves)):
            for kind in (numpy.int16, numpy.float32):
                with self.subTest((name, kind)):
                    data = noise(2, len(laws or [0] * 16), samples).astype(kind)
                    make(self.path / "in.onde", data, laws=laws, places=[((k - 1.5) * PITCH, 0, -2e-3, *quaternion((0, 1, 0), 25)) for k in range(4)])
                    self.converted(self.path / "in.onde")
                    with h5py.File(self.converted(self.path / "out.mfmc", to="out.onde"), "r") as file:
                        self.assertEqual((file.attrs["ONDE:FILETYPE"], file.attrs["ONDE:VERSION"]), ("ONDE_UT", "0.9.0"))
                        scan = self.of_class(file, "ONDE_DATASET_UT_ASCAN")
                        stored = scan["ONDE_DATASET:DATA"]
                        self.assertEqual(stored.dtype, kind)
                        numpy.testing.assert_array_equal(stored[...], data)
                        setup = file[scan.attrs["ONDE_DATASET:SETUP"]]
                        ultrasonic = file[setup.attrs["ONDE_SETUP_UT:ULTRASONIC_SETUP"]]
                        geometric = file[setup.attrs["ONDE_SETUP:GEOMETRIC_SETUP"]]
                        probe = file[geometric["ONDE_GEOMETRIC_SETUP:PROBE_LIST"][0]]
                        of = lambda field: ultrasonic["ONDE_ULTRASONIC_SETUP:" + field]
                        self.assertEqual(ultrasonic.attrs["ONDE_ULTRASONIC_SETUP:RECTIFICATION"], "FULL_WAVE")
                        self.assertAlmostEqual(ultrasonic.attrs["ONDE_ULTRASONIC_SETUP:ASCAN_SAMPLE_RATE"][0], RATE, delta=1e-3)
                        numpy.testing.assert_allclose(of("ASCAN_START")[...], [2e-6])
                        for k, (entries, receiver) in enumerate(laws or [([(t, 0, 1)], r) for t in range(4) for r in range(4)]):
                            transmit, receive = file[of("TRANSMIT_LAW")[k]], file[of("RECEIVE_LAW")[k]]
                            numpy.testing.assert_array_equal(transmit["ONDE_UT_LAW:ELEMENT"][...], [e + 1 for e, _, _ in entries])
                            delays = transmit["ONDE_UT_LAW:DELAY"][...] if "ONDE_UT_LAW:DELAY" in transmit else 0
                            numpy.testing.assert_allclose(delays - numpy.array([d for _, d, _ in entries]), 0, atol=1e-14)
                            numpy.testing.assert_array_equal(receive["ONDE_UT_LAW:ELEMENT"][...], [receiver + 1])
                            self.assertEqual(file[transmit["ONDE_UT_LAW:PROBE"][0]], probe)
                        for k, frame in enumerate(probe["ONDE_UT_ELEMENTS:FRAME"][...]):
                            numpy.testing.assert_allclose(frame[:3], ((k - 1.5) * PITCH, 0, -2e-3), atol=1e-12)
                            numpy.testing.assert_allclose(turned(frame[3:], numpy.array([0, 0, 1.0])), turned(quaternion((0, 1, 0), 25), numpy.array([0, 0, 1.0])), atol=1e-9)
                            numpy.testing.assert_allclose(turned(frame[3:], numpy.array([0, 1.0, 0])), (0, 1, 0), atol=1e-9)
                        numpy.testing.assert_allclose(probe["ONDE_UT_ELEMENTS:SIZE"][0], (0.5e-3, 10e-3, 0, 0, 0, 0), atol=1e-12)
                        component = file[geometric["ONDE_GEOMETRIC_SETUP:COMPONENT"][0]]
                        numpy.testing.assert_array_equal(component.attrs["ONDE_COMPONENT:VELOCITIES"], [C, numpy.nan])
                        way = file[geometric["ONDE_GEOMETRIC_SETUP:ACQUISITION_TRAJECTORY"][0]]
                        numpy.testing.assert_array_equal(way["ONDE_SPATIAL_TRAJECTORY:TRAJECTORY"][...], [IDENTITY] * 2)
                    read, places, _ = self.mfmc(self.path / "out.onde")  # and back
                    numpy.testing.assert_array_equal(read, data)
                    numpy.testing.assert_allclose(places[3], (1.5 * PITCH, 0, -2e-3), atol=1e-12)

    def test_what_is_wrong_is_one_line(self):
        data = noise(1, 16, 20)

        def without(place, name):
            def change(file):
                target = file[place]
                del (target.attrs if name in target.attrs else target)[name]
            return change

        def put(place, name, value):
            def change(file):
                del file[place][name]
                file[place][name] = value
            return change

        def attribute(place, name, value):
            return lambda file: file[place].attrs.__setitem__(name, value)

        def referring(place, name, *to, at_attribute=False):
            def change(file):
                made = file[place]
                if name in made:
                    del made[name]
                elif name in made.attrs:
                    del made.attrs[name]
                refer(made, name, [file[one] for one in to], many=True, attribute=at_attribute)
            return change

        def long_text(file):
            del file.attrs["ONDE:FILETYPE"]
            file["ONDE:FILETYPE"] = numpy.bytes_(b"x" * ((1 << 20) + 1))

        def nowhere(file):
            del file["electronics/ONDE_ULTRASONIC_SETUP:TRANSMIT_LAW"]
            file["electronics"].create_dataset("ONDE_ULTRASONIC_SETUP:TRANSMIT_LAW", (16,), h5py.ref_dtype)
        cases = (
            (attribute("/", "ONDE:FILETYPE", "ONDE_ET"), 'in.onde: found ONDE:FILETYPE "ONDE_ET"; expected "ONDE_UT"'),
            (without("/", "ONDE:FILETYPE"), "found no ONDE:FILETYPE"),
            (without("scan", "ONDE:TYPE"), "in.onde: found no group of ONDE_DATASET_UT_ASCAN"),
            (without("scan", "ONDE_DATASET:DATA"), "found no A-scans, which were not kept"),
            (without("scan", "ONDE_DATASET:SETUP"), "scan: found no ONDE_DATASET:SETUP"),
            (put("scan", "ONDE_DATASET:DATA", numpy.zeros((16, 20))), "found shape 16 x 20; expected dataframes x A-scans x samples"),
            (put("scan", "ONDE_DATASET:DATA", numpy.zeros((1, 15, 20))), "TRANSMIT_LAW: found shape 16; expected 15, a law for each A-scan"),
            (put("scan", "ONDE_DATASET:DATA", numpy.full((1, 16, 20), b"x")), "found something else than a dataset of numbers"),
            (put("scan", "ONDE_DATASET:DATA", numpy.zeros((0, 16, 20))), "found shape 0 x 16 x 20; expected 1 to 16777216 frames"),
            (attribute("electronics", "ONDE_ULTRASONIC_SETUP:ASCAN_SAMPLE_RATE", numpy.nan), "ASCAN_SAMPLE_RATE: found nan as value 1"),
            (attribute("electronics", "ONDE_ULTRASONIC_SETUP:ASCAN_SAMPLE_RATE", 0.0), "ASCAN_SAMPLE_RATE: found 0; expected a number from 1"),
            (put("electronics", "ONDE_ULTRASONIC_SETUP:ASCAN_START", [0.0, 1e-6]), "found 0 and 1e-06 s; expected A-scans that all start together"),
            (nowhere, "TRANSMIT_LAW: found a reference to nothing"),
            (put("electronics", "ONDE_ULTRASONIC_SETUP:RECEIVE_LAW", numpy.arange(16)), "RECEIVE_LAW: found something else than references"),
            (put("laws/1", "ONDE_UT_LAW:ELEMENT", [9]), "receives with element 9; expected elements 1 to 4"),
            (put("laws/1", "ONDE_UT_LAW:ELEMENT", [1.5]), "ELEMENT: found 1.5 as value 1"),
            (put("laws/1", "ONDE_UT_LAW:ELEMENT", [1]), "found pair (1, 1) twice"),
            (put("laws/1", "ONDE_UT_LAW:DELAY", [1e-6]), "found a delay of 1e-06 s in a receive law"),
            (put("laws/1", "ONDE_UT_LAW:WEIGHTING", [0.0]), "/laws/1: found a law whose weights are all 0"),
            (without("hardware/probe", "ONDE_UT_ELEMENTS:FRAME"), "found no ONDE_UT_ELEMENTS:FRAME"),
            (put("hardware/probe", "ONDE_UT_ELEMENTS:FRAME", numpy.zeros((4, 7))), "element 1: found a quaternion of length 0"),
            (put("hardware/probe", "ONDE_UT_ELEMENTS:FRAME", numpy.zeros((4, 3))), "found shape 4 x 3; expected elements x 7"),
            (put("hardware/probe", "ONDE_UT_ELEMENTS:SIZE", numpy.zeros((3, 6))), "SIZE: found shape 3 x 6; expected 4 x 6"),
            (put("way", "ONDE_SPATIAL_TRAJECTORY:TRAJECTORY", numpy.tile(IDENTITY, (2, 1))), "TRAJECTORY: found shape 2 x 7; expected 1 x 7"),
            (put("way", "ONDE_SPATIAL_TRAJECTORY:TRAJECTORY", [(0, 0, 1e-3, 1, 0, 0, 0)]), "element 1: found z = 0.001 m; expected z <= 0"),
            (attribute("part", "ONDE_COMPONENT:VELOCITIES", [-1.0, 0.0]), "VELOCITIES: found -1 m/s; expected 0 to 100000, or NaN"),
            (referring("scan", "ONDE_DATASET:DATA", "part", "way"), "ONDE_DATASET:DATA: found shape 2; expected one reference"),
            (referring("scan", "ONDE_DATASET:DATA", "part"), "ONDE_DATASET:DATA: found a reference to no dataset; expected one to a dataset"),
            (referring("electronics", "ONDE_ULTRASONIC_SETUP:TRANSMIT_LAW", *["laws/0/ONDE_UT_LAW:ELEMENT"] * 16),
             "TRANSMIT_LAW: found a reference to something that is not a group; expected references to groups"),
            (long_text, "ONDE:FILETYPE: found a string of 1048577 bytes; expected 1 to 1048576"),
            (referring("scan", "ONDE_DATASET:SETUP", "setup", "setup", at_attribute=True), "ONDE_DATASET:SETUP: found shape 2; expected one reference"),
            (referring("geometry", "ONDE_GEOMETRIC_SETUP:PROBE_LIST", "coupling"), "PROBE_LIST: found none that the laws are of; expected the probe of the laws"),
            (referring("geometry", "ONDE_GEOMETRIC_SETUP:ACQUISITION_TRAJECTORY", "way", "way"), "ACQUISITION_TRAJECTORY: found 2 trajectories; expected 1, as probes"),
            (put("electronics", "ONDE_ULTRASONIC_SETUP:ASCAN_START", []), "ASCAN_START: found none; expected a time within a second"),
            (put("electronics", "ONDE_ULTRASONIC_SETUP:ASCAN_START", [2.0]), "ASCAN_START: found 2 s; expected a time within a second"),
            (put("way", "ONDE_SPATIAL_TRAJECTORY:TRAJECTORY", [*IDENTITY, 0]), "TRAJECTORY: found shape 8; expected seven numbers a frame"),
            (attribute("hardware/probe", "ONDE_UT_PROBE:FREQUENCY", -1.0), "FREQUENCY: found -1; expected hertz from 0 to"),
            (put("hardware/probe", "ONDE_UT_ELEMENTS:SIZE", [[-1e-3, 0, 0, 0, 0, 0]]), "element 1: found a size of -0.001 m; expected metres from 0 up"),
        )
        for change, line in cases:
            with self.subTest(line):
                make(self.path / "in.onde", data, change=change)
                self.refused(line)
        for shape, line in (((1 << 40, 16, 20), "expected 1 to 16777216 frames"), ((1, 16, 1 << 40), "expected at most 4294967296 bytes a frame"),
                            ((1, 1 << 40, 20), "expected at most 4294967296 bytes a frame")):
            with self.subTest(shape):
                make(self.path / "in.onde", None, change=lambda file, shape=shape: file["scan"].create_dataset("ONDE_DATASET:DATA", shape, "i2", chunks=(1, 4, 4)))
                self.refused(line)
        with self.subTest("NaN"):
            bad = data.astype("f4")
            bad[0, 5, 3] = numpy.nan
            make(self.path / "in.onde", bad)
            line = self.run_program(2, "convert", self.path / "in.onde", self.path / "out.efcap")
            self.assertIn("frame 0, A-scan 6, sample 4: found nan; expected finite samples", line)
            self.assertFalse((self.path / "out.efcap").exists())
        with self.subTest("truncated"):
            make(self.path / "in.onde", data)
            whole = (self.path / "in.onde").read_bytes()
            (self.path / "in.onde").write_bytes(whole[:len(whole) // 2])
            self.refused("in.onde: found a file that HDF5 cannot open (truncated or damaged)")

    def refused(self, line):
        text = self.run_program(2, "inspect", self.path / "in.onde")
        self.assertIn(line, text)
        self.assertEqual(text.strip().count("\n"), 0, text)


unittest.main(argv=sys.argv[:1], verbosity=2)
