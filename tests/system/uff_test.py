"""Channel data of USTB's files (UFF), made and read by h5py alone as the toolbox's own writer has them: where a scatterer is imaged by
every kind of wave, field by field, what is written, and one line for what is wrong."""
import os
import pathlib
import resource
import subprocess
import sys
import unittest

try:
    import h5py
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

from program_case import PROGRAM, ProgramCase
from uff_maker import C, CENTRE, LIGHT, PLANE, RATE, SPHERICAL, analytic, arrival, entity, geometry, make, put


def all_waves(probe):
    elements = [tuple(one[:3]) for one in probe]
    return {
        "plane waves": [(PLANE, (a, 0.0), 0.3e-6) for a in numpy.linspace(-0.2, 0.2, 9)],
        "plane waves of before, by infinite sources": [(SPHERICAL, (a, 0.0), -0.2e-6 * k) for k, a in enumerate(numpy.linspace(-0.2, 0.2, 9))],
        "diverging waves": [(SPHERICAL, (x, 0.0, -8e-3), 0.4e-6) for x in numpy.linspace(-4e-3, 4e-3, 9)],
        "focused waves": [(SPHERICAL, (x, 0.0, 5e-3), -0.4e-6) for x in numpy.linspace(-3e-3, 5e-3, 17)],
        "single elements": [(SPHERICAL, place, numpy.linalg.norm(place) / C + 0.5e-6) for place in elements],
        "single elements at times of their own": [(SPHERICAL, place, 0.5e-6 + 1e-8 * k) for k, place in enumerate(elements[::2])],
    }


class Uff(ProgramCase):
    def image(self, file, *views):
        config = self.path / "config.toml"
        config.write_text('[imaging]\nbackend = "cpu"\n[filter]\nkind = "none"\n[grid]\nx = [-0.004, 0.008]\nz = [0.008, 0.02]\npixels = [121, 121]\n')
        self.run_program(0, "image", file, "--config", config, "--output", self.path / "image.npy", *views)
        return numpy.load(self.path / "image.npy")

    def place_of(self, image):
        z, x = numpy.unravel_index(image.argmax(), image.shape)
        return -4e-3 + 1e-4 * x, 8e-3 + 1e-4 * z

    def test_a_scatterer_is_imaged_where_it_is(self):
        # The array is beside the origin of coordinates, from which the waves' times count.
        probe = geometry(middle=1.5e-3)
        place = numpy.array([2.2e-3, 0.0, 13e-3])
        for name, waves in all_waves(probe).items():
            with self.subTest(name):
                file = self.path / f"{name}.uff"
                make(file, analytic(waves, place, probe, 1e-6, 1200).real, waves, probe=probe)
                x, z = self.place_of(self.image(file))
                self.assertAlmostEqual(x, place[0], delta=1.5e-4)
                self.assertAlmostEqual(z, place[2], delta=0.6e-4)

    def test_plane_waves_of_a_convex_array_arrive_by_their_angles_from_the_origin(self):
        # As an abdominal probe has them: 64 elements over 60 degrees of a radius of 49.6 mm, their middle foremost at the origin.
        radius, turns = 49.6e-3, numpy.radians(numpy.linspace(-30, 30, 64))
        probe = numpy.zeros((64, 7))
        probe[:, 0], probe[:, 2] = radius * numpy.sin(turns), radius * (numpy.cos(turns) - 1.0)
        probe[:, 3], probe[:, 5:] = turns, (0.4e-3, 5e-3)
        waves = [(PLANE, (a, 0.0), 0.3e-6) for a in numpy.linspace(-0.2, 0.2, 9)]
        place = numpy.array([2.2e-3, 0.0, 13e-3])
        made = analytic(waves, place, probe, 1e-6, 1600)
        make(self.path / "convex.uff", made.real, waves, probe=probe)
        image = self.image(self.path / "convex.uff")
        # The sum of the pulses themselves at the times of each pixel, x at arrivals n . p / c + |p - e| / c.
        x, z = numpy.meshgrid(numpy.linspace(-4e-3, 8e-3, 121), numpy.linspace(8e-3, 20e-3, 121))
        pixels = numpy.stack((x, numpy.zeros_like(x), z), axis=-1)
        total = numpy.zeros(x.shape, complex)
        for wave in waves:
            (azimuth, _), delay = wave[1:]
            passes = (x * numpy.sin(azimuth) + z * numpy.cos(azimuth)) / C - delay
            for element in probe[:, :3]:
                back = (numpy.linalg.norm(pixels - element, axis=-1) - numpy.linalg.norm(place - element)) / C
                late = passes - arrival(*wave, place) + back
                total += numpy.exp(-(late / 0.15e-6) ** 2 + 2j * numpy.pi * CENTRE * late)
        right = numpy.abs(total) / (len(waves) * len(probe))
        # Lookups by straight lines at n samples a period lower amplitudes to 1 - (2 pi / n)^2 / 12 in the mean, 0.949 at 8, and by 3 % less or more
        # at the ends of the band.
        scale = (image * right).sum() / (right * right).sum()
        self.assertAlmostEqual(scale, 0.949, delta=0.01)
        self.assertLess(numpy.linalg.norm(image / scale - right) / numpy.linalg.norm(right), 0.03)
        plane = self.inspect(self.path / "convex.uff")["events"][0]["plane_wave"]
        self.assertAlmostEqual(plane["slowness_z"], numpy.cos(-0.2) / C, delta=1e-10)
        # Written and read again, and by way of another format.
        for name in ("again.uff", "again.mfmc"):
            self.run_program(0, "convert", self.path / "convex.uff", self.path / name)
            numpy.testing.assert_allclose(self.image(self.path / name), image, rtol=0, atol=1e-5 * image.max())

    def test_a_file_of_a_convex_array_where_there_is_one(self):
        data = pathlib.Path(os.environ.get("ECHOFORM_CASES_DIR", pathlib.Path(__file__).resolve().parents[2] / "../shared/cases"))
        if not (data / "convex.uff").exists():
            self.skipTest(f"no {data / 'convex.uff'}: set ECHOFORM_CASES_DIR to the folder of cases")
        self.run_program(0, "image", data / "convex.uff", "--config", data / "convex.toml", "--output", self.path / "convex.npy")
        right = numpy.load(data / "convex_right.npy")
        found = numpy.load(self.path / "convex.npy")
        self.assertLess(numpy.linalg.norm(found - numpy.abs(right)) / numpy.linalg.norm(right), 0.02)

    def test_flow_goes_by_the_rate_of_events_that_the_file_states(self):
        # Three soundings of one wave, 5000 a second, of a scatterer that comes nearer by 20 um from each to the next: 0.1 m/s.
        probe = geometry()
        waves = [(PLANE, (0.0, 0.0), 0.0)]
        soundings = [analytic(waves, numpy.array([1e-3, 0.0, 12e-3 - 20e-6 * n]), probe, 1e-6, 1000).real for n in range(3)]
        data = numpy.concatenate(soundings, axis=2)
        make(self.path / "flow.uff", data, 3 * waves, probe=probe, change=lambda made: put(made, PRF=5000.0))
        self.assertEqual(self.inspect(self.path / "flow.uff")["pulse_repetition"], 5000.0)
        config = self.path / "flow.toml"
        config.write_text('[imaging]\nbackend = "cpu"\n[filter]\nkind = "none"\n[grid]\nx = [0.0, 0.002]\nz = [0.011, 0.013]\npixels = [21, 41]\n'
                          '[doppler]\nwall_filter = "none"\n')
        for name in ("flow.uff", "flow.mfmc", "flow.onde", "again.uff"):
            file = self.path / name
            if not file.exists():
                self.run_program(0, "convert", self.path / "flow.uff", file)
            self.run_program(0, "image", file, "--config", config, "--output", self.path / "image.npy")
            velocity = numpy.load(next(self.path.glob("image*velocity*.npy")))
            # In the middle, at the scatterer; the pulse's mean frequency is its centre's. Angles up to 22 degrees take a part away.
            self.assertAlmostEqual(velocity[20, 10], 0.1, delta=0.01)
        config.write_text(config.read_text() + "pulse_repetition = 100e3\n")
        text = self.run_program(2, "image", self.path / "flow.uff", "--config", config, "--output", self.path / "no.npy")
        self.assertIn("[doppler] pulse_repetition: found 100000 Hz, an event each 10 us, beside A-scans that end 25.97 us after the pulse; expected at most 3.85e+04 Hz", text)
        make(self.path / "odd.uff", data, 3 * waves, probe=probe, change=lambda made: put(made, PRF=-5.0))
        self.assertIn("PRF: -5 Hz is no rate of transmit events: passed over", self.run_program(0, "inspect", self.path / "odd.uff"))

    def test_demodulated_samples_are_the_echoes(self):
        probe = geometry()
        waves = all_waves(probe)["plane waves"][:3]
        signals = analytic(waves, numpy.array([1e-3, 0.0, 12e-3]), probe, 1e-6, 1200)
        times = 1e-6 + numpy.arange(1200) / RATE
        base = signals * numpy.exp(-2j * numpy.pi * CENTRE * times)[:, None, None]
        make(self.path / "echoes.uff", signals.real, waves)
        # By as few samples as hold the echoes' band of 4 MHz: 5 MHz, which three of each make 15 MHz of.
        for every, factor in ((1, 1), (8, 3)):
            with self.subTest(every):
                with h5py.File(self.path / f"by{every}.uff", "w"):
                    pass
                make(self.path / f"by{every}.uff", base[::every], waves, modulation=CENTRE,
                     change=lambda made, every=every: put(made, sampling_frequency=RATE / every))
                found = self.inspect(self.path / f"by{every}.uff")
                self.assertAlmostEqual(found["sample_rate"], factor * RATE / every, delta=1.0)
                self.assertEqual(found["samples"], factor * len(base[::every]))
                samples = self.samples(self.path / f"by{every}.uff")[0]
                there = analytic(waves, numpy.array([1e-3, 0.0, 12e-3]), probe, 1e-6, 1200).real
                wanted = there.transpose(2, 1, 0).reshape(-1, 1200)
                if every == 8:
                    # The same moments are in both at every third of one and every eighth of the other.
                    samples, wanted = samples[:, ::3], wanted[:, ::8]
                self.assertLess(numpy.abs(samples - wanted).max(), 2e-4)
                if every == 8:
                    x, z = self.place_of(self.image(self.path / "by8.uff"))
                    self.assertAlmostEqual(z, 12e-3, delta=1e-4)
        make(self.path / "analytic.uff", signals, waves)
        numpy.testing.assert_allclose(self.samples(self.path / "analytic.uff"), self.samples(self.path / "echoes.uff"), atol=1e-7)

    def samples(self, file):
        """[frame, A-scan, sample], as MFMC has them."""
        out = self.path / "samples.mfmc"
        out.unlink(missing_ok=True)
        self.run_program(0, "convert", file, out)
        with h5py.File(out, "r") as made:
            found = []
            made.visititems(lambda name, item: found.append(item[...]) if name.endswith("MFMC_DATA") else None)
            return found[0]

    def test_every_field_that_is_read(self):
        probe = geometry(8)
        probe[:, 3:5] = 0.2, -0.1
        waves = [(PLANE, (0.1, 0.05), 1e-7), (SPHERICAL, (1e-3, 0.0, -5e-3), 0.0), (SPHERICAL, (0.0, 0.0, 9e-3), 0.0)]
        data = numpy.random.default_rng(1).normal(size=(30, 8, 3, 2)).astype(numpy.float32)
        flat = geometry(8)
        make(self.path / "in.uff", data, waves, probe=flat)
        found = self.inspect(self.path / "in.uff")
        self.assertEqual((found["elements"], found["a_scans"], found["samples"], found["frames"]), (8, 24, 30, 2))
        self.assertAlmostEqual(found["start_time"], 1e-6, delta=1e-12)
        self.assertEqual((found["longitudinal_velocity"], found["sample_rate"]), (C, RATE))
        self.assertIn("5 MHz probe", found["description"])
        plane, diverging, focused = (next(iter(event.items())) for event in found["events"])
        self.assertAlmostEqual(plane[1]["slowness_x"], numpy.sin(0.1) * numpy.cos(0.05) / C, delta=1e-11)
        self.assertAlmostEqual(plane[1]["slowness_y"], numpy.sin(0.05) / C, delta=1e-11)
        places = [[form[1][axis] for axis in "xyz"] for form in (diverging, focused)]
        numpy.testing.assert_allclose(places, [(1e-3, 0.0, -5e-3), (0.0, 0.0, 9e-3)], atol=1e-9)
        numpy.testing.assert_array_equal(self.samples(self.path / "in.uff"), data.transpose(3, 2, 1, 0).reshape(2, 24, 30))

    def test_matrices_counts_and_shapes_of_others(self):
        probe = geometry(4)
        waves = [(SPHERICAL, tuple(one[:3]), numpy.linalg.norm(one[:3]) / C) for one in probe]
        counts = numpy.random.default_rng(2).integers(-30000, 30000, (20, 4, 4)).astype("<i2")
        make(self.path / "fmc.uff", counts, waves, probe=probe)
        found = self.inspect(self.path / "fmc.uff")
        self.assertEqual((found["matrix"], found["frames"]), ("full", 1))
        self.assertAlmostEqual(found["start_time"], 1e-6, delta=1e-12)
        samples = self.samples(self.path / "fmc.uff")[0]
        self.assertEqual(samples.dtype, numpy.dtype("<i2"))
        numpy.testing.assert_array_equal(samples, counts.transpose(2, 1, 0).reshape(16, 20))
        # One wave and frame: MATLAB drops the axes, and the sequence is the wave itself.
        make(self.path / "one.uff", counts[:, :, 0], waves[:1], probe=probe[:, :3])
        found = self.inspect(self.path / "one.uff")
        self.assertEqual((found["a_scans"], found["frames"], found["elements"]), (4, 1, 4))
        # Elements 1 mm above the surface, where rounding decides on which side of USTB's limit of virtual sources they are.
        self.run_program(0, "convert", self.path / "fmc.uff", self.path / "high.mfmc")
        with h5py.File(self.path / "high.mfmc", "r+") as file:
            file["PROBES/P1/ELEMENT_POSITION"][:, 2] = -1e-3
        self.run_program(0, "convert", self.path / "high.mfmc", self.path / "high.uff")
        found = self.inspect(self.path / "high.uff")
        self.assertEqual(found["matrix"], "full")
        self.assertAlmostEqual(found["start_time"], 1e-6, delta=1e-12)
        # Light, and the second of two objects.
        light = [(LIGHT, None, 2e-6)]
        make(self.path / "one.uff", counts[:, :, :1] + 1, light, probe=probe, name="later")
        said = self.run_program(0, "convert", self.path / "one.uff", self.path / "light.uff", "--sequence", "1")
        self.assertIn("2 channel data, this is /later", said)
        found = self.inspect(self.path / "light.uff")
        self.assertEqual(found["events"], [{"passive": {}}])
        self.assertAlmostEqual(found["start_time"], 3e-6, delta=1e-12)
        with h5py.File(self.path / "light.uff", "r") as file:
            numpy.testing.assert_array_equal(file["channel_data/data"][0, 0], counts[:, :, 0].T + 1.0)
            self.assertEqual(file["channel_data/sequence"].attrs["class"], b"uff.wave", "one wave is no array")
        self.assertIn("found a request for sequence 2; expected 0 to 1", self.run_program(2, "convert", self.path / "one.uff", self.path / "none.uff", "--sequence", "2"))

    def test_what_is_written_arrives_as_it_did(self):
        """By the formulas of das.m, of which neither reader nor writer knows."""
        probe = geometry(middle=1.5e-3)
        for name, waves in all_waves(probe).items():
            with self.subTest(name):
                data = numpy.random.default_rng(3).normal(size=(25, len(probe), len(waves), 2)).astype(numpy.float32)
                make(self.path / f"{name}.uff", data, waves, probe=probe)
                out = self.path / f"{name}.out.uff"
                self.run_program(0, "convert", self.path / f"{name}.uff", out)
                with h5py.File(out, "r") as file:
                    self.assertEqual(file.attrs["version"].tolist(), [b"v1.2.0"])
                    self.assertEqual(list(file), ["channel_data"])
                    made = file["channel_data"]
                    self.check_object(made, "channel_data", b"uff.channel_data")
                    for field, value in dict(sampling_frequency=RATE, sound_speed=C, modulation_frequency=0.0).items():
                        self.assertEqual((made[field].shape, made[field][0, 0]), ((1, 1), value))
                        self.check_numbers(made[field], field)
                    self.check_numbers(made["data"], "data")
                    self.assertEqual(made["data"].dtype, numpy.dtype("<f4"))
                    numpy.testing.assert_array_equal(made["data"][...], data.transpose(3, 2, 1, 0))
                    self.check_object(made["probe"], "probe", b"uff.probe")
                    numpy.testing.assert_allclose(made["probe/geometry"][...], probe.T, atol=1e-9)
                    self.assertEqual(made["pulse/center_frequency"][0, 0], CENTRE)
                    self.assertAlmostEqual(made["pulse/fractional_bandwidth"][0, 0], 0.6, delta=1e-6)
                    sequence = made["sequence"]
                    self.assertEqual(sequence.attrs["size"].tolist(), [1.0, len(waves)])
                    self.assertEqual((sequence.attrs["array"].tolist(), sequence.attrs["class"]), ([1.0], b"uff.wave"))
                    self.assertEqual(list(sequence), [f"sequence_{k + 1:04d}" for k in range(len(waves))])
                    for wave, written in zip(waves, sequence.values()):
                        self.check_object(written, written.name.rpartition("/")[2], b"uff.wave")
                        self.check_object(written["source"], "source", b"uff.point")
                        distance, azimuth, elevation = (written["source"][field][0, 0] for field in ("distance", "azimuth", "elevation"))
                        kind = written["wavefront"][0, 0]
                        self.assertEqual(written["wavefront"].attrs["class"], b"uff.wavefront")
                        self.assertEqual(kind, PLANE if len(wave[1]) == 2 else SPHERICAL)
                        source = (azimuth, elevation) if kind == PLANE else distance * numpy.array(
                            (numpy.sin(azimuth) * numpy.cos(elevation), numpy.sin(elevation), numpy.cos(azimuth) * numpy.cos(elevation)))
                        for place in ((0.0, 0.0, 0.02), (4e-3, 1e-3, 0.03), (-5e-3, 0.0, 0.012)):
                            after = arrival(kind, source, written["delay"][0, 0], place) - made["initial_time"][0, 0]
                            self.assertAlmostEqual(after, arrival(*wave, place) - numpy.float32(1e-6), delta=2e-12)

    def check_object(self, made, name, of_class):
        self.assertEqual((made.attrs["class"], made.attrs["name"]), (of_class, name.encode()))
        self.assertEqual((made.attrs["size"].tolist(), made.attrs["array"].tolist()), ([1.0, 1.0], [0.0]))

    def check_numbers(self, made, name):
        self.assertEqual((made.attrs["class"] in (b"double", b"single"), made.attrs["name"]), (True, name.encode()))
        self.assertEqual((made.attrs["complex"].tolist(), made.attrs["imaginary"].tolist()), ([0.0], [0.0]))

    def test_images_as_beamformed_data(self):
        probe = geometry()
        waves = all_waves(probe)["plane waves"]
        make(self.path / "in.uff", analytic(waves, numpy.array([1e-3, 0.0, 12e-3]), probe, 1e-6, 1200).real, waves)
        image = self.image(self.path / "in.uff", "--output", self.path / "image.uff")
        with h5py.File(self.path / "image.uff", "r") as file:
            made = file["beamformed_data"]
            self.check_object(made, "beamformed_data", b"uff.beamformed_data")
            self.check_object(made["scan"], "scan", b"uff.linear_scan")
            self.check_numbers(made["data"], "data")
            numpy.testing.assert_allclose(made["scan/x_axis"][...], numpy.linspace(-4e-3, 8e-3, 121)[None], atol=1e-15)
            numpy.testing.assert_allclose(made["scan/z_axis"][...], numpy.linspace(8e-3, 20e-3, 121)[None], atol=1e-15)
            # MATLAB's reshape(data, [N_z N_x]) is the transpose of C's.
            numpy.testing.assert_array_equal(made["data"][...].reshape(121, 121).T, image)

    def test_without_room_for_it_nothing_is_written(self):
        """What HDF5 finds out on closing a file it cannot bear."""
        probe = geometry(8)
        waves = [(LIGHT, None, 0.0)]
        make(self.path / "light.uff", numpy.ones((2000, 8, 1, 30), "f4"), waves, probe=probe, first=0.0)
        waves = all_waves(probe)["plane waves"]
        make(self.path / "in.uff", numpy.ones((2000, 8, 9, 6), "f4"), waves, probe=probe)
        config = self.path / "config.toml"
        config.write_text('[imaging]\nbackend = "cpu"\n[grid]\nx = [-0.004, 0.008]\nz = [0.008, 0.02]\npixels = [21, 21]\n')
        for limit, arguments in ((2 << 20, ("convert", "in.uff", "out.uff")), (2 << 20, ("convert", "in.uff", "out.onde")),
                                 (2 << 20, ("convert", "light.uff", "out.hdf5")), (4096, ("convert", "in.uff", "out.onde")),
                                 (4096, ("image", "in.uff", "--config", "config.toml", "--output", "out.uff")),
                                 (4096, ("image", "in.uff", "--config", "config.toml", "--output", "out.onde")),
                                 (4096, ("image", "in.uff", "--config", "config.toml", "--output", "out.h5"))):
            with self.subTest(arguments):
                result = subprocess.run([PROGRAM, "--log-level", "error", *arguments], cwd=self.path, capture_output=True, text=True, timeout=120,
                                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertIn("cannot be written: File too large", result.stderr)
                self.assertEqual([file.name for file in self.path.iterdir() if "out." in file.name], [])

    def test_without_a_velocity_the_way_out_is_named(self):
        counts = numpy.random.default_rng(4).integers(-100, 100, (30, 8, 8, 1)).astype("i2")
        probe = geometry(8)
        make(self.path / "in.uff", counts, [(SPHERICAL, tuple(one[:3]), numpy.linalg.norm(one[:3]) / C) for one in probe], probe=probe)
        capture = self.path / "silent.efcap"  # which has no word for velocities
        self.run_program(0, "convert", self.path / "in.uff", capture)
        out = self.path / "out.uff"
        said = self.run_program(2, "convert", capture, out)
        self.assertIn(f"{out}: found no velocity of longitudinal waves; expected one", said)
        self.assertIn("`convert --longitudinal-velocity M/S`", said)
        self.assertEqual(sorted(file.name for file in self.path.iterdir()), ["in.uff", "silent.efcap"])
        self.run_program(0, "convert", capture, out, "--longitudinal-velocity", 2400)
        self.assertEqual(self.inspect(out)["longitudinal_velocity"], 2400)
        self.assertEqual(self.inspect(out)["matrix"], "full")
        self.run_program(0, "convert", capture, self.path / "out.mfmc", "--longitudinal-velocity", 2400)
        self.assertEqual(self.inspect(self.path / "out.mfmc")["longitudinal_velocity"], 2400)
        for value, name, line in ((0, "more.uff", "--longitudinal-velocity: found 0; expected 1 to 100000 m/s"), ("nan", "more.uff", "--longitudinal-velocity: found nan"),
                                  (2400, "more.efcap", "more.efcap; expected a file that states velocities")):
            self.assertIn(line, self.run_program(2, "convert", capture, self.path / name, "--longitudinal-velocity", value))
            self.assertFalse((self.path / name).exists())

    def test_what_is_wrong_is_one_line(self):
        waves = all_waves(geometry(4))["plane waves"][:3]
        good = numpy.ones((20, 4, 3))
        wave = "sequence/sequence_0002"
        cases = (
            (dict(data=numpy.ones((3, 5, 20))), "/channel_data/data: found shape 3 x 5 x 20; expected 3 x 4 before the samples, the waves and elements"),
            (dict(data=numpy.ones((2, 4, 20))), "found shape 2 x 4 x 20; expected 3 x 4"),
            (dict(data=numpy.ones((1, 1, 3, 4, 20))), "found shape 1 x 1 x 3 x 4 x 20; expected frames x waves x channels x samples"),
            (dict(data=numpy.ones((0, 3, 4, 20))), "expected at least one along each axis"),
            (dict(data=numpy.full((3, 4, 20), b"x")), "/channel_data/data: found something else than numbers; expected samples"),
            (dict(data=None), "/channel_data: found no data; expected"),
            (dict(probe=None), "/channel_data: found no group probe; expected what USTB's files have there"),
            ({"probe/geometry": None}, "/channel_data/probe: found no geometry"),
            ({"probe/geometry": numpy.ones((8, 4))}, "/probe/geometry: found shape 8 x 4; expected 3 to 7 fields x elements"),
            ({"probe/geometry": numpy.full((7, 4), numpy.nan)}, "/probe/geometry: found nan as value 1; expected finite numbers"),
            ({"probe/geometry": numpy.full((7, 4), 1e30)}, "expected metres, up to 1000"),
            ({"probe/geometry": numpy.zeros((7, 5000))}, "found 5000 elements; expected at most 4096"),
            (dict(sequence=None), "/channel_data: found no group sequence"),
            ({wave: None}, "/channel_data/data: found shape 3 x 4 x 20; expected 2 x 4"),
            ({wave + "/source": None}, "/sequence_0002: found no group source"),
            ({wave + "/source/distance": None}, "/sequence_0002/source: found no distance"),
            ({wave + "/source/azimuth": numpy.full((1, 1), numpy.nan)}, "/source/azimuth: found nan as value 1; expected finite numbers"),
            ({wave + "/source/distance": numpy.full((1, 1), numpy.nan)}, "/source/distance: found nan; expected a number"),
            ({wave + "/wavefront": numpy.full((1, 1), 7)}, "/wavefront: found 7; expected 0 (plane), 1 (spherical) or 2 (photoacoustic)"),
            ({wave + "/wavefront": numpy.full((1, 1), 2)}, "/sequence: found 1 photoacoustic waves beside others; expected those alone, or none"),
            ({wave + "/source/azimuth": numpy.full((1, 1), 3.0)}, "/sequence: found wave 2, a plane one that runs away from the part"),
            ({wave + "/delay": numpy.full((1, 1), 3.0)}, "event 1: found a delay of"),
            ({wave + "/sound_speed": numpy.zeros((1, 1))}, "/sound_speed: found 0; expected more than 0"),
            (dict(sampling_frequency=None), "/channel_data: found no sampling_frequency"),
            (dict(sampling_frequency=numpy.ones((2, 1))), "/sampling_frequency: found shape 2 x 1; expected one value"),
            (dict(sampling_frequency=numpy.full((1, 1), -1.0)), "/sampling_frequency: found -1; expected more than 0"),
            (dict(initial_time=None), "/channel_data: found no initial_time"),
            (dict(initial_time=numpy.full((1, 1), 9.0)), "start time: found 9 s; expected a finite time between -1 s and 1 s"),
            (dict(modulation_frequency=numpy.full((1, 1), 5e6)), "/modulation_frequency: found 5e+06 Hz of samples that are real; expected 0, or complex samples"),
        )
        for items, line in cases:
            with self.subTest(line):
                (self.path / "in.uff").unlink(missing_ok=True)
                make(self.path / "in.uff", good, waves, probe=geometry(4), change=lambda made, items=items: put(made, **items))
                self.refused(line)
        for shape in ((1 << 40, 3, 4, 20), (1 << 10, 3, 4, 1 << 40)):
            with self.subTest(shape):
                (self.path / "in.uff").unlink(missing_ok=True)
                make(self.path / "in.uff", good, waves, probe=geometry(4), change=lambda made: put(made, data=None))
                with h5py.File(self.path / "in.uff", "r+") as file:
                    file["channel_data"].create_dataset("data", shape, "f4", chunks=(1, 3, 4, 16))
                self.refused("samples: found" if shape[3] > 20 else "1099511627776 frames; expected at most 16777216")
        with self.subTest("NaN"):
            bad = good.copy()
            bad[4, 2, 1] = numpy.nan
            (self.path / "in.uff").unlink()
            make(self.path / "in.uff", bad, waves, probe=geometry(4))
            line = self.run_program(2, "convert", self.path / "in.uff", self.path / "out.uff")
            self.assertIn("/data, frame 0, A-scan 6: found nan as sample 4; expected finite numbers", line)
            self.assertFalse((self.path / "out.uff").exists())
        with self.subTest("truncated"):
            whole = (self.path / "in.uff").read_bytes()
            (self.path / "in.uff").write_bytes(whole[:len(whole) // 2])
            self.refused("in.uff: found a file that HDF5 cannot open (truncated or damaged)")
        with self.subTest("nothing of the kind"):
            with h5py.File(self.path / "in.uff", "w") as file:
                entity(file, "scan", "uff.linear_scan")
            self.refused("in.uff: found no object of class uff.channel_data; expected channel data as USTB writes it")

    def refused(self, line):
        text = self.run_program(2, "inspect", self.path / "in.uff")
        self.assertIn(line, text)
        self.assertEqual(text.strip().count("\n"), 0, text)


unittest.main(argv=sys.argv[:1], verbosity=2)
