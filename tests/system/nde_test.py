"""Evident .nde files, made by h5py and json alone as the format's documentation has them: where a hole is imaged, field by field, and one
line for what is wrong."""
import copy
import json
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


def wedge(angle=0.0, primary=0.0, secondary=0.0, tertiary=0.0, **more):
    location = dict(id=7, wedgeAngle=angle, primaryOffset=primary, secondaryOffset=secondary, tertiaryOffset=tertiary, **more)
    return dict(id=3, model="none", angleBeamWedge=dict(width=0, height=0, length=0, longitudinalVelocity=2330.0, mountingLocations=[location]),
                positioning=dict(specimenId=0, surfaceId=0, uCoordinateOffset=0.0, vCoordinateOffset=0.0, skewAngle=90.0))


def setup(elements, beams, samples, *, start=0.0, pattern="FMC", axes=("UCoordinate",), shape=(1,), ids=None):
    """`beams`: a list of (pulsers as [(element, delay or None)], receivers)."""
    ids = ids or {element: element for element in range(elements)}
    length = (samples - 1) / RATE
    made = []
    for number, (pulsers, receivers) in enumerate(beams):
        made.append(dict(
            id=number,
            pulsers=[dict(id=k, probeId=0, elementId=ids[e], waveformId=0, **({} if delay is None else {"delay": delay})) for k, (e, delay) in enumerate(pulsers)],
            receivers=[dict(id=k, probeId=0, elementId=ids[e], ascanStart=start, ascanLength=length) for k, e in enumerate(receivers)]))
    dimensions = [dict(axis=axis, quantity=n, resolution=1e-3) for axis, n in zip(axes, shape)]
    # What the documentation's own example has there is the product of one beam.
    dimensions.append(dict(axis="StackedAScan", quantity=elements * samples, resolution=1 / RATE))
    return {
        "$schema": "./Setup-Schema-4.1.0.json", "version": "4.1.0", "scenario": "General Mapping",
        "groups": [dict(
            id=0, name="FMC Capture",
            datasets=[dict(id=0, dataTransformations=[dict(processId=0)], storageMode="Independent", dataClass="AScanAmplitude",
                           dataValue=dict(min=-32767, max=32767, unitMin=-100, unitMax=100, unit="Percent"),
                           path="/Public/Groups/0/Datasets/0-AScanAmplitude", dimensions=dimensions)],
            processes=[dict(id=0, ultrasonicMatrixCapture=dict(
                acquisitionPattern=pattern, digitizingFrequency=RATE, pulserFrequency=5e6,
                waveforms=[dict(id=0, pulse=dict(width=1e-7, voltage=40, polarity="Bipolar"))], beams=made))])],
        "specimens": [dict(id=0, plateGeometry=dict(thickness=0.025, surfaces=[dict(id=0, name="Top")], material=dict(
            name="Steel", longitudinalWave=dict(nominalVelocity=C), transversalVerticalWave=dict(nominalVelocity=3240.0))))],
        "probes": [dict(id=0, model="5L", phasedArrayLinear=dict(
            centralFrequency=5e6,
            elements=[dict(id=ids[e], pinId=e, acquisitionUnitId=0, connectorName="PA", primaryIndex=e, secondaryIndex=0, enabled=True) for e in range(elements)],
            primaryAxis=dict(elementGap=0.1e-3, elementQuantity=elements, elementLength=PITCH - 0.1e-3, referencePoint=-0.0366, casingLength=0.04),
            secondaryAxis=dict(elementGap=0.0, elementQuantity=1, elementLength=0.01, referencePoint=0.0, casingLength=2e-6)),
            wedgeAssociation=dict(wedgeId=3, mountingLocationId=7, orientation="Normal"))],
        "wedges": [wedge()],
    }


def full(elements):
    return [([(transmit, None)], range(elements)) for transmit in range(elements)]


def write(path, described, data, **options):
    text = described if isinstance(described, str) else json.dumps(described, indent=4)
    with h5py.File(path, "w") as file:
        file.create_dataset("Public/Setup", data=text, dtype=h5py.string_dtype("utf-8", len(text.encode())))
        file.create_dataset("Properties", data='{"file": {"formatVersion": "4.1.0"}, "methods": ["UT"]}')
        if data is not None:
            file.create_dataset("Public/Groups/0/Datasets/0-AScanAmplitude", data=data, **options)


def dataset_of(described):
    return described["groups"][0]["datasets"][0]


def process_of(described):
    return described["groups"][0]["processes"][0]["ultrasonicMatrixCapture"]


def noise(*shape):
    return numpy.random.default_rng(5).integers(-2000, 2000, shape, dtype=numpy.int16)


class Nde(ProgramCase):
    def converted(self, file, *arguments):
        """Samples, elements' places and normals, as an MFMC file has them."""
        out = self.path / "out.mfmc"
        out.unlink(missing_ok=True)
        self.run_program(0, "convert", file, out, *arguments)
        with h5py.File(out, "r") as made:
            probe = made["PROBES/P1"]
            normals = numpy.cross(probe["ELEMENT_MAJOR"][...], probe["ELEMENT_MINOR"][...])
            return (made["SEQUENCES/S1/MFMC_DATA"][...], probe["ELEMENT_POSITION"][...],
                    normals / numpy.linalg.norm(normals, axis=1)[:, None])

    def test_a_hole_is_imaged_where_it_is(self):
        elements, samples = 16, 500
        x = PITCH * numpy.arange(elements)
        hole = numpy.array([5.1e-3, 12e-3])
        way = numpy.hypot(x - hole[0], hole[1])
        delay = (way[:, None] + way[None, :]) / C
        t = numpy.arange(samples) / RATE - delay[..., None]
        data = 20000 * numpy.exp(-(t / 1.5e-7) ** 2) * numpy.cos(2 * numpy.pi * 5e6 * t)
        write(self.path / "hole.nde", setup(elements, full(elements), samples), data.reshape(1, -1).astype(numpy.int16))
        config = self.path / "config.toml"
        config.write_text('[imaging]\nbackend = "cpu"\n[grid]\nx = [0.0, 0.010]\nz = [0.008, 0.016]\npixels = [101, 81]\n')
        self.run_program(0, "image", self.path / "hole.nde", "--config", config, "--output", self.path / "image.npy")
        image = numpy.load(self.path / "image.npy")
        z, x = numpy.unravel_index(image.argmax(), image.shape)
        self.assertAlmostEqual(1e-4 * x, hole[0], delta=1.5e-4)
        self.assertAlmostEqual(8e-3 + 1e-4 * z, hole[1], delta=1.5e-4)

    def test_every_field(self):
        data = noise(3, 16 * 40)
        described = setup(4, full(4), 40, start=2e-6, shape=(3,))
        described["wedges"] = [wedge(tertiary=5e-3)]
        write(self.path / "in.nde", described, data, chunks=(1, 100), compression="gzip")
        found = self.inspect(self.path / "in.nde")
        self.assertEqual((found["elements"], found["a_scans"], found["samples"], found["frames"]), (4, 16, 40, 3))
        self.assertEqual(found["matrix"], "full")
        self.assertAlmostEqual(found["start_time"], 2e-6, delta=1e-15)
        self.assertEqual((found["sample_rate"], found["centre_frequency"]), (RATE, 5e6))
        self.assertEqual((found["longitudinal_velocity"], found["shear_velocity"], found["wedge_velocity"]), (C, 3240.0, 2330.0))
        for said in ("amplitudes are percent", "positions count steps of 1 mm along u", "a wedge of 0 degrees, element 1 at 5 mm above the part"):
            self.assertIn(said, found["description"])
        read, places, normals = self.converted(self.path / "in.nde")
        numpy.testing.assert_array_equal(read.reshape(3, -1), data)
        numpy.testing.assert_allclose(places, [(k * PITCH, 0, -5e-3) for k in range(4)], atol=1e-15)
        numpy.testing.assert_allclose(normals, [(0, 0, 1)] * 4, atol=1e-12)
        with h5py.File(self.path / "out.mfmc", "r") as made:
            numpy.testing.assert_array_equal(made["SEQUENCES/S1/ECHOFORM_ENCODER_COUNT"][...], [[0], [1], [2]])
            self.assertAlmostEqual(made["SEQUENCES/S1"].attrs["ECHOFORM_SAMPLE_SCALE"][0], 200 / 65534, delta=1e-15)

    def test_a_wedge_turns_the_probe(self):
        """Coordinates of the wedge: y forwards, z up, its origin at the bottom of its front (documentation of wedges)."""
        described = setup(4, full(4), 20)
        described["wedges"] = [wedge(36.1, -55.52e-3, 2e-3, 11e-3)]
        described["probes"][0]["phasedArrayLinear"]["elements"][2]["enabled"] = False
        write(self.path / "in.nde", described, noise(1, 16 * 20))
        _, places, normals = self.converted(self.path / "in.nde")
        angle = numpy.radians(36.1)
        along = numpy.array([0, numpy.cos(angle), numpy.sin(angle)])  # x, y, z of the wedge
        down = numpy.array([0, numpy.sin(angle), -numpy.cos(angle)])
        in_wedge = numpy.array([2e-3, -55.52e-3, 11e-3]) + PITCH * numpy.arange(4)[:, None] * along
        turn = numpy.array([[0, 1, 0], [1, 0, 0], [0, 0, -1]])  # from the wedge's axes to Echoform's
        numpy.testing.assert_allclose(places, in_wedge @ turn.T, atol=1e-12)
        numpy.testing.assert_allclose(normals, [turn @ down] * 4, atol=1e-9)
        with h5py.File(self.path / "out.mfmc", "r") as made:
            numpy.testing.assert_array_equal(made["PROBES/P1/DEAD_ELEMENT"][...], [0, 0, 1, 0])

    def test_beams_and_receivers_in_any_order(self):
        samples, elements = 30, 5
        data = noise(elements, elements, samples)
        order = numpy.random.default_rng(3)
        transmit = order.permutation(elements)
        receive = [order.permutation(elements) for _ in range(elements)]
        stacked = numpy.concatenate([data[t, r] for t, rs in zip(transmit, receive) for r in rs])
        ids = {element: 100 - 3 * element for element in range(elements)}
        beams = [([(t, None)], list(rs)) for t, rs in zip(transmit, receive)]
        write(self.path / "in.nde", setup(elements, beams, samples, ids=ids), stacked[None])
        numpy.testing.assert_array_equal(self.converted(self.path / "in.nde")[0][0], data.reshape(-1, samples))

    def test_other_patterns(self):
        samples, elements = 30, 4
        half = [([(t, None)], range(t, elements)) for t in range(elements)]
        sparse = [([(t, None)], range(elements)) for t in (2, 0)]
        waves = [([(e, 1e-8 * e * k) for e in range(elements)], range(elements)) for k in (-1, 1)]
        for pattern, beams, matrix in (("HMC", half, "half"), ("Sparse", sparse, "events"), ("PWI", waves, "events")):
            with self.subTest(pattern):
                data = noise(1, sum(len(r) for _, r in beams) * samples)
                write(self.path / "in.nde", setup(elements, beams, samples, pattern=pattern), data)
                found = self.inspect(self.path / "in.nde")
                self.assertEqual(found["matrix"], matrix)
                numpy.testing.assert_array_equal(self.converted(self.path / "in.nde")[0].reshape(1, -1), data)
                if pattern == "Sparse":
                    self.assertEqual([event["element"] for event in found["events"]], [2, 0])
                if pattern == "PWI":
                    with h5py.File(self.path / "out.mfmc", "r") as made:
                        delays = [made[f"LAWS/T{k}/DELAY"][...] for k in (1, 2)]
                    numpy.testing.assert_allclose(delays, 1e-8 * numpy.arange(4) * [[-1], [1]], atol=1e-15)

    def test_positions_in_two_directions(self):
        data = noise(2, 3, 16 * 20)
        write(self.path / "in.nde", setup(4, full(4), 20, axes=("UCoordinate", "VCoordinate"), shape=(2, 3)), data)
        numpy.testing.assert_array_equal(self.converted(self.path / "in.nde")[0].reshape(2, 3, -1), data)
        numpy.testing.assert_array_equal(self.converted(self.path / "in.nde", "--frame", "4")[0].reshape(-1), data[1, 1])

    def test_amplitudes(self):
        data = noise(1, 16 * 20)
        described = setup(4, full(4), 20)
        # Unsigned with its zero in the middle; floats as they are; without a word of amplitudes.
        dataset_of(described)["dataValue"] = dict(min=0, max=65535, unitMin=-100, unitMax=100, unit="Percent")
        write(self.path / "in.nde", described, (data + 32768).astype(numpy.uint16))
        numpy.testing.assert_allclose(self.converted(self.path / "in.nde")[0].ravel(), (data.ravel() + 0.5) * 200 / 65535, rtol=1e-5, atol=1e-6)
        dataset_of(described)["dataValue"] = dict(min=-1, max=1, unitMin=-100, unitMax=100, unit="Percent")
        write(self.path / "in.nde", described, (data / 2000).astype(">f8"))
        numpy.testing.assert_allclose(self.converted(self.path / "in.nde")[0].ravel(), data.ravel() / 20, rtol=1e-6)
        del dataset_of(described)["dataValue"]
        write(self.path / "in.nde", described, data)
        numpy.testing.assert_array_equal(self.converted(self.path / "in.nde")[0].ravel(), data.ravel())
        dataset_of(described)["dataValue"] = dict(min=0, max=32767, unitMin=0, unitMax=200, unit="Percent")
        write(self.path / "in.nde", described, data)
        self.assertIn("rectified A-scans make no images", self.run_program(0, "inspect", self.path / "in.nde"))

    def test_several_captures(self):
        described = setup(4, full(4), 20)
        second = copy.deepcopy(described["groups"][0])
        second["id"] = 1
        second["datasets"][0].pop("path")
        described["groups"].append(second)
        first, data = noise(1, 16 * 20), noise(1, 16 * 20)[:, ::-1]
        write(self.path / "in.nde", described, first)
        with h5py.File(self.path / "in.nde", "r+") as file:
            file["Public/Groups/1/Datasets/0-AScanAmplitude"] = data
        self.assertIn("2 captures", self.run_program(0, "inspect", self.path / "in.nde"))
        numpy.testing.assert_array_equal(self.converted(self.path / "in.nde", "--sequence", "1")[0].ravel(), data.ravel())
        self.assertIn("a request for sequence 2; expected 0 to 1", self.run_program(2, "convert", self.path / "in.nde", self.path / "x.mfmc", "--sequence", "2"))

    def test_what_is_wrong_is_one_line(self):
        good = setup(4, full(4), 20)
        data = noise(1, 16 * 20)

        def with_change(change):
            described = copy.deepcopy(good)
            change(described)
            return described

        def put(of, **items):
            def change(described):
                target = of(described)
                for name, value in items.items():
                    target.pop(name, None)
                    if value is not None:
                        target[name] = value
            return change

        whole = lambda described: described
        probe = lambda described: described["probes"][0]
        array = lambda described: probe(described)["phasedArrayLinear"]
        receiver = lambda described: process_of(described)["beams"][1]["receivers"][2]
        pulser = lambda described: process_of(described)["beams"][1]["pulsers"][0]
        location = lambda described: described["wedges"][0]["angleBeamWedge"]["mountingLocations"][0]
        cases = (
            (put(whole, groups=None), "Setup: found no groups; expected groups, which is required"),
            (put(whole, groups=7), "Setup.groups: found 7; expected a list"),
            (put(dataset_of, dataClass="TfmValue"), "found groups with TfmValue; expected one with the A-scans of an ultrasonicMatrixCapture"),
            (put(dataset_of, dataTransformations=[dict(groupId=7, processId=0)]), "dataTransformations[0].groupId: found the group 7; expected one of the file's"),
            (put(dataset_of, path="/Public/Nothing"), "in.nde: found no /Public/Nothing; expected the dataset of"),
            (put(dataset_of, dimensions=[dict(axis="Beam"), dict(axis="StackedAScan")]), "dimensions[0]: found the axis Beam"),
            (put(dataset_of, dimensions=[dict(axis="StackedAScan")]), "found shape 1 x 320; expected 1 axes, as its dimensions say"),
            (put(dataset_of, dataValue=dict(min=1, max=1, unitMin=0, unitMax=1)), "dataValue: found 1 to 1 for 0 to 1; expected ranges"),
            (put(process_of, digitizingFrequency=0), "digitizingFrequency: found 0; expected a number from 1 to 1e+10"),
            (put(process_of, digitizingFrequency=1e9), "found 320 samples of 16 A-scans; expected some 380 each"),
            (put(process_of, beams=[]), "beams: found 0 beams; expected 1 to"),
            (put(receiver, ascanStart=1e-6), "beams[1].receivers[2]: found an A-scan from 1 us on, 0.38 us long; expected 0 and 0.38 us"),
            (put(receiver, ascanLength="long"), 'receivers[2].ascanLength: found "long"; expected a number from 0 to 1'),
            (put(receiver, elementId=9), "receivers[2].elementId: found the element 9; expected one of the probe's"),
            (put(receiver, elementId=1), "in.nde, beams: found pair (2, 2) twice"),
            (put(receiver, probeId=1), "found a second probe; expected one probe that transmits and receives"),
            (put(pulser, delay=2.0), "pulsers[0].delay: found 2; expected a number from -1 to 1"),
            (put(whole, probes=[]), "probes: found no probe with id 0"),
            (put(probe, phasedArrayLinear=None), "found no phasedArrayLinear; expected an array"),
            (put(array, centralFrequency=None), "found no centralFrequency"),
            (put(lambda d: array(d)["primaryAxis"], elementQuantity=1 << 40), "elementQuantity: found 1.09951e+12; expected a number from 1 to 4096"),
            (put(lambda d: array(d)["elements"][3], id=0), "found the element id 0 again"),
            (put(location, wedgeAngle=30.0), "found a wedgeAngle and no tertiaryOffset"),
            (put(location, tertiaryOffset=-1e-3), "tertiaryOffset: found -0.001; expected a number from 0 to 100"),
            (put(location, id=8), "found no mounting location with id 7"),
        )
        for change, line in cases:
            with self.subTest(line):
                write(self.path / "in.nde", with_change(change), data)
                self.refused(line)
        text = json.dumps(good)
        deep = '{"groups": ' + "[" * 40 + "]" * 40 + "}"
        for written, line in ((text[:-1], f"found no JSON from byte {len(text)} on"), ("{", "found no JSON from byte 2 on"),
                              (deep, "found JSON that is nested too deeply; expected at most 32 levels"), (text.replace("0.025", "1e999"), "found JSON that cannot be read"),
                              ("[]", "Setup: found JSON's array; expected an object with groups"), ("[" + "1," * (1 << 22) + "1]", "found JSON of too many values")):
            with self.subTest(line):
                write(self.path / "in.nde", written, data)
                self.refused(line)
        for name, shape, line in (("short", (1, 300), "found 300 samples of 16 A-scans; expected some 19 each"), ("flat", (320,), "found shape 320; expected 2 axes"),
                                  ("none", (0, 320), "found shape 0 x 320; expected 1 to 16777216 frames")):
            with self.subTest(name):
                write(self.path / "in.nde", good, numpy.zeros(shape, numpy.int16))
                self.refused(line)
        for shape, line in (((1 << 40, 320), "expected 1 to 16777216 frames"), ((1, 1 << 40), "expected at most 4294967296 bytes a frame")):
            with self.subTest(shape):
                write(self.path / "in.nde", good, None)
                with h5py.File(self.path / "in.nde", "r+") as file:
                    file.create_dataset("Public/Groups/0/Datasets/0-AScanAmplitude", shape, "i2", chunks=(1, 16))
                self.refused(line)
        with self.subTest("NaN"):
            bad = data.astype("f4")
            bad[0, 5 * 20 + 3] = numpy.nan
            write(self.path / "in.nde", good, bad)
            line = self.run_program(2, "convert", self.path / "in.nde", self.path / "out.efcap")
            self.assertIn("frame 0, A-scan 6, sample 4: found nan; expected finite samples", line)
            self.assertFalse((self.path / "out.efcap").exists())
        with self.subTest("text"):
            write(self.path / "in.nde", good, numpy.full((1, 320), b"x"))
            self.refused("found something else than numbers; expected A-scans")
        with self.subTest("version 3"):
            with h5py.File(self.path / "in.nde", "w") as file:
                file["Domain/Setup"] = text
            self.refused("in.nde: found /Domain/Setup, of version 3; expected version 4 of the format")
        with self.subTest("another file's data"):
            write(self.path / "other.nde", good, data)
            write(self.path / "in.nde", good, None)
            with h5py.File(self.path / "in.nde", "r+") as file:
                file["Public/Groups"] = h5py.ExternalLink("other.nde", "/Public/Groups")
            self.refused("found no /Public/Groups/0/Datasets/0-AScanAmplitude")
        with self.subTest("truncated"):
            write(self.path / "in.nde", good, data)
            bytes_of = (self.path / "in.nde").read_bytes()
            (self.path / "in.nde").write_bytes(bytes_of[:len(bytes_of) // 2])
            self.refused("in.nde: found a file that HDF5 cannot open (truncated or damaged)")
            (self.path / "in.nde").write_bytes(b"MZ")
            self.refused("found no HDF5 signature; expected an NDE file (HDF5)")

    def refused(self, line):
        text = self.run_program(2, "inspect", self.path / "in.nde")
        self.assertIn(line, text)
        self.assertEqual(text.strip().count("\n"), 0, text)


unittest.main(argv=sys.argv[:1], verbosity=2)
