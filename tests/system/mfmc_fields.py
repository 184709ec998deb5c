"""A recording against MFMC 2.0, field by field, with h5py alone."""
import acquisition_pb2
import h5py
import numpy


def check_fields(test, file, hello, frames, velocities=(3130.0, 6320.0)):
    """Every field that a recording of ours has: class, shape, value."""
    elements, samples = len(hello.probe.x), hello.samples
    full = hello.matrix == acquisition_pb2.FULL
    pairs = [(i, j) for i in range(elements) for j in range(0 if full else i, elements)]
    if hello.matrix == acquisition_pb2.EVENTS:
        pairs = [(event.element, j) for event in hello.events for j in range(elements)]
    test.assertEqual((file.attrs["TYPE"], file.attrs["VERSION"]), ("MFMC", "2.0.0"))
    groups = []
    file.visititems(lambda name, item: groups.append(item) if isinstance(item, h5py.Group) else None)
    sequences = [group for group in groups if group.attrs.get("TYPE") == "SEQUENCE"]
    test.assertEqual(len(sequences), 1)
    sequence = sequences[0]

    def expect(group, name, kind, shape):
        item = group.attrs[name] if name in group.attrs else group[name]
        test.assertEqual(item.dtype.kind, kind, name)
        test.assertEqual(item.shape, shape, name)
        return item[...]

    data = sequence["MFMC_DATA"]
    test.assertEqual(data.dtype, numpy.float32 if hello.encoding == acquisition_pb2.FLOAT32 else numpy.int16)
    test.assertEqual(data.shape, (frames, len(pairs), samples))
    test.assertEqual(data.chunks, (1, len(pairs), samples))
    test.assertIsNone(data.maxshape[0])
    placement = sequence["PROBE_PLACEMENT_INDEX"]
    test.assertIsNone(placement.maxshape[0])
    test.assertTrue((placement[:frames] == 1).all())
    test.assertEqual((placement.dtype.kind, placement.shape[1:]), ("i", (len(pairs),)))
    test.assertEqual(expect(sequence, "PROBE_POSITION", "f", (1, 1, 3)).tolist(), [[[0, 0, 0]]])
    test.assertEqual(expect(sequence, "PROBE_X_DIRECTION", "f", (1, 1, 3)).tolist(), [[[1, 0, 0]]])
    test.assertEqual(expect(sequence, "PROBE_Y_DIRECTION", "f", (1, 1, 3)).tolist(), [[[0, 1, 0]]])
    test.assertAlmostEqual(expect(sequence, "TIME_STEP", "f", (1,))[0] * hello.sample_rate, 1.0, 12)
    test.assertEqual(expect(sequence, "START_TIME", "f", (1,))[0], hello.start_time - hello.time_offset)
    test.assertEqual(expect(sequence, "SPECIMEN_VELOCITY", "f", (2,)).tolist(), list(velocities))  # shear first
    test.assertRegex(sequence.attrs["DATE_AND_TIME"], r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$")
    scale = 1.0 if hello.encoding == acquisition_pb2.FLOAT32 else hello.sample_scale
    test.assertEqual(sequence.attrs.get("ECHOFORM_SAMPLE_SCALE", [1.0])[0], scale)

    probe = file[expect(sequence, "PROBE_LIST", "O", (1,))[0]]
    test.assertEqual(probe.attrs["TYPE"], "PROBE")
    position = expect(probe, "ELEMENT_POSITION", "f", (elements, 3))
    test.assertEqual(position[:, 0].tolist(), list(hello.probe.x))
    major, minor = (expect(probe, name, "f", (elements, 3)) for name in ("ELEMENT_MAJOR", "ELEMENT_MINOR"))
    normal = numpy.cross(major, minor)
    test.assertTrue((normal / numpy.linalg.norm(normal, axis=1)[:, None] == [0, 0, 1]).all(), "emission")
    test.assertGreaterEqual(numpy.linalg.norm(major), numpy.linalg.norm(minor))
    widths = 2 * numpy.maximum(abs(major[:, 0]), abs(minor[:, 0]))
    test.assertTrue(numpy.allclose(widths, hello.probe.element_width, rtol=1e-12))
    test.assertEqual(expect(probe, "ELEMENT_SHAPE", "i", (elements,)).tolist(), [1] * elements)
    test.assertEqual(expect(probe, "CENTRE_FREQUENCY", "f", (1,))[0], hello.probe.centre_frequency)
    test.assertEqual(expect(probe, "BANDWIDTH", "f", (1,))[0], hello.probe.bandwidth)

    transmit, receive = (expect(sequence, name, "O", (len(pairs),)) for name in ("TRANSMIT_LAW", "RECEIVE_LAW"))
    element_of = {}
    for reference in set(transmit) | set(receive):
        law = file[reference]
        test.assertEqual(law.attrs["TYPE"], "LAW")
        test.assertEqual(file[expect(law, "PROBE", "O", (1,))[0]], probe)
        element_of[law.name] = expect(law, "ELEMENT", "i", (1,))[0]
    test.assertEqual([(element_of[file[t].name] - 1, element_of[file[r].name] - 1) for t, r in zip(transmit, receive)], pairs)
    return data
