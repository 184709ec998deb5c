"""Recordings as arrays: what was sent to `echoform record` comes back, also while it is being written."""
import ctypes
import dataclasses
import re
import resource
import subprocess
import unittest
import unittest.mock
import zlib

from support import PATIENCE, PROGRAM, need, run

need("numpy", "h5py")
import pathlib  # noqa: E402
import signal  # noqa: E402
import tempfile  # noqa: E402

import h5py  # noqa: E402
import numpy  # noqa: E402

import echoform  # noqa: E402
from echoform import _datasets  # noqa: E402


def acquisition(**more):
    probe = echoform.Probe(x=[-1e-3, 0, 1e-3], z=[0, -1e-4, 0], normals=[(0, 0, 1), (0.6, 0, 0.8), (0, 0, 1)], element_width=4e-4,
                           element_length=1e-2, centre_frequency=5e6, bandwidth=3e6, dead_elements=[1])
    return echoform.Acquisition(probe, 20, 4e7, start_time=1e-6, time_offset=2.5e-7, **more)


class Recordings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name, "r.mfmc")

    def record(self, *options):
        recorder = subprocess.Popen([PROGRAM, "--log-level", "warning", "record", "--listen", "127.0.0.1:0", "--output", str(self.file),
                                     *options], stdout=subprocess.PIPE, text=True)
        for cleanup in (recorder.stdout.close, recorder.wait, recorder.kill):
            self.addCleanup(cleanup)
        return recorder, re.search(r"127\.0\.0\.1:\d+", recorder.stdout.readline())[0]

    def test_what_was_sent_comes_back(self):
        for encoding, matrix in (("int16", "full"), ("float32", "half"), ("packed12", "half")):
            with self.subTest(encoding=encoding, matrix=matrix):
                self.file.unlink(missing_ok=True)
                sent = acquisition(encoding=encoding, matrix=matrix, sample_scale=0.5 if encoding == "packed12" else 1.0)
                kind = numpy.float32 if encoding == "float32" else numpy.int16
                frames = numpy.random.default_rng(1).integers(-2000, 2000, (4, *sent.frame_shape)).astype(kind)
                if matrix == "full":  # the dead element gives nothing
                    frames[:, 1] = frames[:, :, 1] = 0
                else:
                    frames[:, [1, 3, 4]] = 0
                recorder, endpoint = self.record("--frames", "4")
                with echoform.FrameSender(sent, endpoint) as sender:
                    for frame, position in zip(frames, (None, -41, None, 2**53 + 1)):
                        sender.send(frame, time_ns=1_700_000_000_000_000_000, position=position)
                self.assertEqual(recorder.wait(PATIENCE), 0)
                with echoform.Recording(self.file) as recording:
                    self.assertEqual((len(recording), recording.matrix), (4, matrix))
                    numpy.testing.assert_array_equal(list(recording), frames)
                    numpy.testing.assert_array_equal(recording[-1], frames[-1])
                    self.assertEqual(recording[0].dtype, kind)
                    self.assertEqual(recording.recorded, "2023-11-14 22:13:20")
                    self.assertEqual(recording.positions.tolist(), [None, -41, None, 2**53 + 1])
                    self.assertEqual([recording.position(k) for k in (0, 1, -2, -1)], [None, -41, None, 2**53 + 1])
                    full = recording.full(1, 3)
                    self.assertEqual(full.shape, (2, 3, 3, 20))
                    for i, j, pair in ((0, 2, 2), (2, 0, 2), (1, 1, 3)):
                        numpy.testing.assert_array_equal(full[:, i, j], frames[1:3, i, j] if matrix == "full" else frames[1:3, pair])
                    read, probe = recording.acquisition, recording.acquisition.probe
                    self.assertEqual((read.samples, read.encoding, read.sample_scale),
                                     (20, "float32" if encoding == "float32" else "int16", sent.sample_scale))
                    numpy.testing.assert_allclose(read.sample_rate, 4e7, rtol=1e-12)
                    numpy.testing.assert_allclose(read.times, sent.times, rtol=1e-12)
                    numpy.testing.assert_allclose(probe.x, sent.probe.x, atol=1e-15)
                    numpy.testing.assert_allclose(probe.z, sent.probe.z, atol=1e-15)
                    numpy.testing.assert_allclose(probe.normals, sent.probe.normals, atol=1e-12)
                    numpy.testing.assert_allclose([probe.element_width, probe.element_length], [4e-4, 1e-2], rtol=1e-12)
                    self.assertEqual((probe.centre_frequency, probe.bandwidth, probe.dead_elements), (5e6, 3e6, (1,)))
                    with self.assertRaisesRegex(IndexError, "frame 4 of 4"):
                        recording[4]

    def test_sparse_firings_come_back(self):
        for events in ((2, 0), (2, 0, 1)):  # some, and all in an order of their own
            with self.subTest(events=events):
                self.sparse_firings_come_back(events)

    def sparse_firings_come_back(self, events):
        self.file.unlink(missing_ok=True)
        sent = dataclasses.replace(acquisition(), events=events)
        frame = numpy.random.default_rng(1).integers(-2000, 2000, sent.frame_shape).astype(numpy.int16)
        frame[:, 1] = 0  # the dead element gives nothing
        frame[[event for event, element in enumerate(events) if element == 1]] = 0
        recorder, endpoint = self.record("--frames", "1")
        with echoform.FrameSender(sent, endpoint) as sender:
            sender.send(frame)
        self.assertEqual(recorder.wait(PATIENCE), 0)
        with echoform.Recording(self.file) as recording:
            self.assertEqual(recording.acquisition.events, events)
            numpy.testing.assert_array_equal(recording[0], frame)
            self.assertEqual(recording.full().shape, (1, len(events), 3, 20))

    def push_sender(self, acquisition, endpoint):
        try:
            return echoform.PushFrameSender(acquisition, endpoint, timeout=PATIENCE)
        except ImportError as error:
            self.skipTest(str(error))

    def test_waves_and_codes_come_back(self):
        probe = echoform.Probe.linear(4, 0.6e-3, element_width=5e-4, element_length=1e-2, centre_frequency=5e6)
        waves = (echoform.plane_wave(0.2, 6320.0), echoform.PlaneWave(-1e-5, delay=0.0, elements=(0, 1, 3), receivers=(3, 1)), 2,
                 echoform.PointWave(0.0, -0.02, 6320.0), echoform.Law((1, 2), (-1e-7, 0.0), (0.5, 1.0)))
        doors = self.file.with_name("doors.toml")
        doors.write_text('[input]\nzeromq = "127.0.0.1:0"\n')
        for events, make_sender in ((waves, echoform.FrameSender), (echoform.hadamard(4), echoform.FrameSender), (waves, self.push_sender)):
            with self.subTest(events=len(events), sender=make_sender.__name__):
                self.file.unlink(missing_ok=True)
                sent = echoform.Acquisition(probe, 20, 4e7, events=events)
                frame = numpy.random.default_rng(1).integers(-2000, 2000, sent.frame_shape).astype(numpy.int16)
                recorder, endpoint = self.record("--frames", "1", "--config", str(doors))
                with make_sender(sent, recorder.stdout.readline().split()[-1] if make_sender == self.push_sender else endpoint) as sender:
                    sender.send(frame)
                self.assertEqual(recorder.wait(PATIENCE), 0)
                with echoform.Recording(self.file) as recording:
                    read = recording.acquisition
                    numpy.testing.assert_array_equal(recording[0], frame)
                    self.assertEqual(read.shots, sent.shots)
                    for event in range(sent.shots):
                        numpy.testing.assert_array_equal(read.receivers(event), sent.receivers(event))
                        self.assertIs(type(read.events[event]), type(sent.events[event]))
                        stated, found = sent.firings(event), read.firings(event)
                        numpy.testing.assert_array_equal(found[0], stated[0])
                        # Laws have 32-bit floats: 6e-8 of some 100 ns.
                        numpy.testing.assert_allclose(found[1], stated[1], rtol=0, atol=1e-13)
                        numpy.testing.assert_array_equal(found[2], stated[2])

    def test_laws_are_read_as_the_format_has_them(self):
        recorder, endpoint = self.record("--frames", "1")
        sent = dataclasses.replace(acquisition(), events=(0, 1, 2))
        samples = numpy.arange(180).reshape(9, 20).astype(numpy.int16)
        with echoform.FrameSender(sent, endpoint) as sender:
            sender.send(samples.reshape(3, 3, 20))
        self.assertEqual(recorder.wait(PATIENCE), 0)
        law = numpy.dtype(h5py.special_dtype(ref=h5py.Reference))
        with h5py.File(self.file, "r+") as file:  # as facts of MFMC 2.0: ELEMENT from 1, one law a transmit of each A-scan
            def add(name, **items):
                group = file.create_group(name)
                group.attrs["TYPE"] = "LAW"
                for item, values in items.items():
                    group[item] = values
                return group.ref

            wave = add("wave", ELEMENT=[1, 2, 3], DELAY=numpy.float32([0, 1e-7, 2e-7]))
            pair = add("pair", ELEMENT=[3.0, 2.0, 1.0], WEIGHTING=[0.5, 0.0, -1.0])  # some writers have floats and zeros
            third = add("third", ELEMENT=3, WEIGHTING=1.0)  # and scalars
            first = [add(f"r{k}", ELEMENT=[k + 1]) for k in range(3)]
            sequence = file["/SEQUENCES/S1"]
            for item, references in (("TRANSMIT_LAW", [wave] * 6 + [pair] * 2 + [third]), ("RECEIVE_LAW", first + first + [first[2], first[0], first[1]])):
                del sequence[item]
                sequence.create_dataset(item, data=numpy.array(references, law), dtype=law)
        with echoform.Recording(self.file) as recording:
            delays = tuple(float(numpy.float32(delay)) for delay in (0, 1e-7, 2e-7))
            self.assertEqual(recording.acquisition.events, (echoform.Law((0, 1, 2), delays), echoform.Law((0, 1, 2), delays),
                                                            echoform.Law((2, 0), (), (0.5, -1.0), receivers=(2, 0)),
                                                            echoform.Element(2, receivers=(1,))))
            self.assertEqual(recording.full().shape, (1, 9, 20))
        with h5py.File(self.file, "r+") as file:
            file["/SEQUENCES/S1/RECEIVE_LAW"][4] = wave
        with self.assertRaisesRegex(echoform.EchoformError, "receive laws of 3 elements"):
            echoform.Recording(self.file)

    def test_a_recording_can_be_sent_again(self):
        sent = acquisition()
        frame = numpy.arange(180).reshape(3, 3, 20).astype(numpy.int16)
        frame[1] = frame[:, 1] = 0
        recorder, endpoint = self.record("--frames", "1")
        with echoform.FrameSender(sent, endpoint) as sender:
            sender.send(frame)
        self.assertEqual(recorder.wait(PATIENCE), 0)
        with echoform.Recording(self.file) as recording:
            self.file = self.file.with_name("again.mfmc")
            recorder, endpoint = self.record("--frames", "1")
            with echoform.FrameSender(recording.acquisition, endpoint) as sender:
                sender.send(recording[0])
            self.assertEqual(recorder.wait(PATIENCE), 0)
        with echoform.Recording(self.file) as again:
            numpy.testing.assert_array_equal(again[0], frame)

    def test_positions_that_take_turns(self):
        probe = echoform.Probe.linear(3, 1e-3, element_width=4e-4, centre_frequency=5e6)
        sent = echoform.Acquisition(probe, 20, 4e7, positions=[(0, 0, 0), (2e-3, 0, 0), (1e-3, 1e-3, 0)])
        frames = numpy.random.default_rng(3).integers(-9, 9, (2, *sent.frame_shape)).astype(numpy.int16)
        recorder, endpoint = self.record("--frames", "2")
        with echoform.FrameSender(sent, endpoint) as sender:
            for frame in frames:
                sender.send(frame)
        self.assertEqual(recorder.wait(PATIENCE), 0)
        with h5py.File(self.file, "r+") as file:
            sequence = file["/SEQUENCES/S1"]
            # Event by event, each at all positions; some receivers come before others at one of them.
            order = numpy.arange(27).reshape(3, 3, 3).swapaxes(0, 1).reshape(-1)
            for name in ("TRANSMIT_LAW", "RECEIVE_LAW"):
                sequence[name][...] = sequence[name][()][order]
            for name in ("PROBE_PLACEMENT_INDEX", "MFMC_DATA"):
                sequence[name][...] = sequence[name][()][:, order]
        with echoform.Recording(self.file) as recording:
            self.assertEqual(recording.acquisition.positions, sent.positions)
            self.assertEqual(recording.acquisition.events, ())
            numpy.testing.assert_array_equal(list(recording), frames)
            numpy.testing.assert_array_equal(recording.full(1), frames[1:])
            self.assertIsNone(recording.pose(0))
        with h5py.File(self.file, "r+") as file:
            file["/SEQUENCES/S1/PROBE_PLACEMENT_INDEX"][1] = 1
        with self.assertRaisesRegex(echoform.EchoformError, "a probe that moves from frame to frame"):
            echoform.Recording(self.file)

    def test_a_scan_says_where_the_probe_was(self):
        config = self.file.with_name("scan.toml")
        config.write_text('[scan]\npath = "circle"\ncentre = [0.0, 0.0, 0.05]\nencoder_step = 1e-3\n')
        probe = echoform.Probe.linear(3, 1e-3, element_width=4e-4, centre_frequency=5e6)
        sent = echoform.Acquisition(probe, 20, 4e7)
        frames = numpy.random.default_rng(4).integers(-9, 9, (3, *sent.frame_shape)).astype(numpy.int16)
        recorder, endpoint = self.record("--frames", "3", "--config", str(config))
        with echoform.FrameSender(sent, endpoint) as sender:
            for frame, position in zip(frames, (0, None, 120)):
                sender.send(frame, position=position)
        self.assertEqual(recorder.wait(PATIENCE), 0)
        with echoform.Recording(self.file) as recording:
            numpy.testing.assert_array_equal(list(recording), frames)
            numpy.testing.assert_allclose(recording.acquisition.probe.x, probe.x, atol=1e-15)
            self.assertEqual(recording.positions.tolist(), [0, None, 120])
            self.assertEqual(recording.pose(0), echoform.Pose((0, 0, 0)))
            self.assertIsNone(recording.pose(1))
            turn = 0.12 / 0.05  # radians about +y, beyond a quarter
            place = recording.pose(-1)
            numpy.testing.assert_allclose(place.origin, (-0.05 * numpy.sin(turn), 0, 0.05 - 0.05 * numpy.cos(turn)), atol=1e-15)
            numpy.testing.assert_allclose(place.x, (numpy.cos(turn), 0, -numpy.sin(turn)), atol=1e-15)

    def test_a_recording_that_grows(self):
        recorder, endpoint = self.record()
        frames = numpy.random.default_rng(2).integers(-9, 9, (3, 3, 3, 20)).astype(numpy.int16)
        frames[:, 1] = frames[:, :, 1] = 0
        with echoform.FrameSender(acquisition(), endpoint) as sender:
            sender.send(frames[0])
        while not self.file.exists():  # it appears whole with the first frame
            self.assertIsNone(recorder.poll())
        with echoform.Recording(self.file) as recording:
            with echoform.FrameSender(acquisition(), endpoint) as sender:
                for frame in frames[1:]:
                    sender.send(frame)
            while recording.refresh() < 3:
                self.assertIsNone(recorder.poll())
            numpy.testing.assert_array_equal(recording.full(), frames)
        recorder.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(PATIENCE), 0)

    def test_files_that_are_none(self):
        with self.assertRaisesRegex(echoform.EchoformError, "r.mfmc: cannot be read"):
            echoform.Recording(self.file)
        self.file.write_bytes(b"nonsense" * 100)
        with self.assertRaisesRegex(echoform.EchoformError, "r.mfmc: cannot be read"):
            echoform.Recording(self.file)
        with h5py.File(self.file, "w") as file:
            file["data"] = [1, 2, 3]
        with self.assertRaisesRegex(echoform.EchoformError, "found no recording as echoform writes it .0 sequences"):
            echoform.Recording(self.file)
        with h5py.File(self.file, "w") as file:
            file.create_group("s").attrs["TYPE"] = "SEQUENCE"
        with self.assertRaisesRegex(echoform.EchoformError, "found no recording as echoform writes it"):
            echoform.Recording(self.file)

    def test_data_of_other_files_are_refused(self):
        recorder, endpoint = self.record("--frames", "1")
        with echoform.FrameSender(acquisition(), endpoint) as sender:
            sender.send(numpy.ones((3, 3, 20), numpy.int16))
        self.assertEqual(recorder.wait(PATIENCE), 0)
        with h5py.File(self.file, "r") as file:
            data = file["/SEQUENCES/S1/MFMC_DATA"]
            name, shape, kind = data.name, data.shape, data.dtype
        secret = self.file.with_name("secret.h5")
        with h5py.File(secret, "w") as file:
            file["data"] = numpy.full(shape, 7, kind)
        raw = self.file.with_name("secret.raw")
        raw.write_bytes(numpy.full(shape, 7, kind).tobytes())

        def external_link(file):
            file[name] = h5py.ExternalLink(str(secret), "/data")

        def soft_link_through_an_external_one(file):
            file["elsewhere"] = h5py.ExternalLink(str(secret), "/")
            file[name] = h5py.SoftLink("/elsewhere/data")

        def external_storage(file):
            file.create_dataset(name, shape, kind, external=[(str(raw), 0, h5py.h5f.UNLIMITED)])

        def virtual_dataset(file):
            layout = h5py.VirtualLayout(shape, kind)
            layout[...] = h5py.VirtualSource(str(secret), "data", shape)
            file.create_virtual_dataset(name, layout)

        def circle(file):
            file[name] = h5py.SoftLink(name)

        whole = self.file.read_bytes()
        for make, found in ((external_link, "external link to /data in the file '.*secret.h5'"),
                            (soft_link_through_an_external_one, "external link to / in the file '.*secret.h5'"),
                            (external_storage, "external storage in the file '.*secret.raw'"),
                            (virtual_dataset, "virtual dataset of the file '.*secret.h5'"), (circle, "more than 16 soft links away")):
            with self.subTest(make.__name__):
                self.file.write_bytes(whole)
                with h5py.File(self.file, "r+") as file:
                    del file[name]
                    make(file)
                with self.assertRaisesRegex(echoform.EchoformError, f"{name} is (an? )?{found}"):
                    echoform.Recording(self.file)
        # Within the file a soft link is as good as any.
        self.file.write_bytes(whole)
        with h5py.File(self.file, "r+") as file:
            file.move(name, "/samples")
            file[name] = h5py.SoftLink("/samples")
        with echoform.Recording(self.file) as recording:
            self.assertEqual(recording[0].min(), 0)

    def packed(self, name, pack, **how):
        """The dataset once more, a chunk a row, of which `pack` makes what is in the file; none: as HDF5 packs it."""
        with h5py.File(self.file, "r+") as file:
            values = file[name][()]
            del file[name]
            made = file.create_dataset(name, data=values, chunks=(1, *values.shape[1:]), **how)
            for row in range(len(values)) if pack else ():
                made.id.write_direct_chunk((row, *(0 for _ in values.shape[1:])), pack(values[row:row + 1].tobytes()))

    def test_packed_chunks_are_read_and_checked(self):
        frames = numpy.random.default_rng(5).integers(-2000, 2000, (3, 3, 3, 20)).astype(numpy.int16)
        frames[:, 1] = frames[:, :, 1] = 0  # the dead element
        recorder, endpoint = self.record("--frames", "3")
        with echoform.FrameSender(acquisition(), endpoint) as sender:
            for frame in frames:
                sender.send(frame)
        self.assertEqual(recorder.wait(PATIENCE), 0)
        whole = self.file.read_bytes()
        data, placements = "/SEQUENCES/S1/MFMC_DATA", "/SEQUENCES/S1/PROBE_PLACEMENT_INDEX"
        for how in ({"compression": "gzip"}, {"compression": "gzip", "shuffle": True}, {"fletcher32": True}, {"shuffle": True},
                    {"compression": "gzip", "shuffle": True, "fletcher32": True}):
            with self.subTest(how):
                self.file.write_bytes(whole)
                for name in (data, placements, "/SEQUENCES/S1/TRANSMIT_LAW", "/PROBES/P1/ELEMENT_POSITION"):
                    self.packed(name, None, **how)
                with echoform.Recording(self.file) as recording:
                    numpy.testing.assert_array_equal(list(recording), frames)
                    numpy.testing.assert_array_equal(recording.full(1), frames[1:])
                    numpy.testing.assert_array_equal(recording.samples[2, 4, 3:7], frames[2].reshape(9, 20)[4, 3:7])
        for keep, found in ((0.5, "found 180 bytes; expected chunks of 360 bytes"), (1.5, "found 540 bytes; expected chunks of 360 bytes")):
            self.file.write_bytes(whole)
            self.packed(data, lambda values: zlib.compress((values * 2)[:int(keep * len(values))]), compression="gzip")
            with echoform.Recording(self.file) as recording, self.assertRaisesRegex(echoform.EchoformError, f"chunk at 1, 0, 0: {found}"):
                recording[1]
        self.file.write_bytes(whole)
        self.packed("/SEQUENCES/S1/TRANSMIT_LAW", lambda values: zlib.compress(values[:3]), compression="gzip")
        with self.assertRaisesRegex(echoform.EchoformError, "TRANSMIT_LAW, chunk at 0: found 3 bytes"):
            echoform.Recording(self.file)
        for how, name in (({"scaleoffset": 0}, "6 \\(scaleoffset\\)"), ({"compression": 32001, "allow_unknown_filter": True}, "32001 \\(Blosc\\)")):
            self.file.write_bytes(whole)
            self.packed(data, None, **how)
            with self.assertRaisesRegex(echoform.EchoformError, f"MFMC_DATA: filter {name}.*h5repack.*plug-in"):
                echoform.Recording(self.file)

    def dataset(self, values, rows=None, prepare=None, kind="<f8", **how):
        """A file with one dataset of `rows` rows, of which the first have these values; `prepare` gets the property list of creation."""
        with h5py.File(self.file, "w", libver="latest" if prepare else "earliest") as file:
            made = file.create_dataset("values", (rows or len(values),), kind, **how)
            if prepare:
                creation, space, stored = made.id.get_create_plist(), made.id.get_space(), made.id.get_type()
                prepare(creation)
                del made, file["values"]
                made = h5py.Dataset(h5py.h5d.create(file.id, b"values", stored, space, dcpl=creation))
            if len(values):
                made[:len(values)] = values

    def read(self, *rows):
        with _datasets.open_file(str(self.file)) as file:
            return _datasets.checked(file["values"])[slice(*(rows or (None,)))]

    def test_missing_data_are_the_fill_value(self):
        for how in ({}, {"chunks": (2,)}, {"chunks": (2,), "compression": "gzip"}):
            for fill in (None, 1234.5678):
                with self.subTest(how, fill=fill):
                    written = [1.0, 2.0] if how else []
                    self.dataset(written, 5, fillvalue=fill, **how)
                    numpy.testing.assert_array_equal(self.read(), written + [fill or 0.0] * (5 - len(written)))

    def test_missing_data_of_a_fill_value_of_another_size_are_refused(self):
        fill = numpy.float64(1234.5678)
        for how in ({}, {"chunks": (2,)}, {"chunks": (2,), "compression": "gzip"}):
            with self.subTest(how):
                self.dataset([1.0, 2.0] if how else [], 5, fillvalue=fill, **how)
                whole = self.file.read_bytes()
                message = b"\x08\0\0\0" + fill.tobytes()  # the size and the value, as the format has them
                self.assertEqual(whole.count(message), 2)  # also as HDF5 before 1.6 reads it
                self.file.write_bytes(whole.replace(message, b"\x01\0\0\0" + fill.tobytes()))
                with self.assertRaisesRegex((echoform.EchoformError, ValueError), "no data, and a fill value of 1 bytes for numbers of 8"):
                    self.read()
                if how:  # what was written does not need it
                    numpy.testing.assert_array_equal(self.read(0, 2), [1.0, 2.0])

    def test_a_missing_chunk_takes_no_memory(self):
        rows = 1 << 29  # 4 GiB less one row, a chunk
        self.dataset([], rows, chunks=(rows - 1,), compression="gzip")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        numpy.testing.assert_array_equal(self.read(5, 8), [0.0, 0.0, 0.0])
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 1 << 20)  # KiB: a quarter of the chunk

    def test_chunks_that_the_end_cuts_may_be_unpacked(self):
        def leave_cut_chunks(creation):
            set_options = ctypes.PyDLL(h5py.h5p.__file__).H5Pset_chunk_opts
            self.assertEqual(set_options(ctypes.c_int64(creation.id), ctypes.c_uint(2)), 0)  # H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS

        for how in ({"compression": "gzip"}, {"shuffle": True}, {"fletcher32": True}, {"compression": "gzip", "shuffle": True}):
            for prepare in (None, leave_cut_chunks):
                with self.subTest(how, cut_unpacked=prepare is not None):
                    values = numpy.arange(1.0, 8.0)
                    self.dataset(values, prepare=prepare, chunks=(4,), **how)
                    numpy.testing.assert_array_equal(self.read(), values)
        # Where HDF5 cannot be asked, a chunk that may be either is refused.
        self.dataset(values, prepare=leave_cut_chunks, chunks=(4,), compression="gzip")
        with unittest.mock.patch.object(_datasets, "_hdf5", lambda: None):
            numpy.testing.assert_array_equal(self.read(0, 4), values[:4])
            with self.assertRaisesRegex(echoform.EchoformError, "chunk at 4: found a chunk at the end of the data, of which this h5py"):
                self.read()


if __name__ == "__main__":
    run()
