"""IPASC files by h5py alone: what `convert` writes, field by field, what it reads of files made here, and one line for what is wrong."""
import sys
import unittest

try:
    import h5py
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

from program_case import ProgramCase

RING = 8


def positions():
    angles = 2 * numpy.pi * numpy.arange(RING) / RING + 0.1
    return 0.04 * numpy.stack([numpy.cos(angles), numpy.sin(angles), numpy.zeros(RING)], axis=1)


def put(group, **items):
    """Each as a dataset; None is left out, as MATLAB and others have it the text is."""
    for name, value in items.items():
        if name in group:
            del group[name]
        if value is not None:
            group[name] = value


def make(path, samples, *, acquisition=None, detector=None, general=None, names=None):
    """A file as the consortium's tools write it; `detector(k)` has more items of a detector, or other ones."""
    with h5py.File(path, "w") as file:
        file["binary_time_series_data"] = samples
        about = file.create_group("meta_data")
        put(about, uuid="1-2-3", encoding="UTF-8", compression="raw", data_type=str(samples.dtype), dimensionality="time and space",
            sizes=numpy.array(samples.shape), ad_sampling_rate=40e6, acquisition_wavelengths=numpy.array([700e-9, 850e-9]),
            pulse_energy=numpy.array([0.011, 0.012]), speed_of_sound=1500.0, temperature_control="None")
        put(about, **(acquisition or {}))
        device = file.create_group("meta_data_device")
        put(device.create_group("general"), unique_identifier="x", num_detectors=RING, field_of_view=numpy.zeros(6))
        put(device["general"], **(general or {}))
        for k, place in enumerate(positions()):
            one = device.create_group(f"detectors/{names(k) if names else str(k).zfill(10)}")
            put(one, detector_position=place, detector_orientation=-place / 0.04, detector_geometry_type="CUBOID",
                detector_geometry=numpy.array([1e-3, 15e-3, 0.0]))
            put(one, **(detector(k) if detector else {}))


def of_shape(*shape):
    return numpy.random.default_rng(1).integers(-3000, 3000, shape).astype(numpy.float32)


class Ipasc(ProgramCase):
    def again(self, file):
        """Written anew by the program: (samples, as the file has them; /meta_data; detectors in order)."""
        out = self.path / f"{file.stem}.again.hdf5"
        self.run_program(0, "convert", file, out)
        return h5py.File(out, "r")

    def test_every_field_that_is_written(self):
        samples = of_shape(RING, 20, 2, 3)
        make(self.path / "in.hdf5", samples, acquisition=dict(measurement_timestamps=1.7e9 + numpy.arange(3) / 20))
        with self.again(self.path / "in.hdf5") as file:
            self.assertEqual(set(file), {"binary_time_series_data", "meta_data", "meta_data_device"})
            numpy.testing.assert_array_equal(file["binary_time_series_data"][...], samples)
            about = file["meta_data"]
            for name, text in dict(encoding="UTF-8", compression="raw", data_type="float32", dimensionality="time and space").items():
                self.assertEqual(about[name].asstr()[()], text)
            self.assertRegex(about["uuid"].asstr()[()], r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
            self.assertEqual(about["sizes"][...].tolist(), [RING, 20, 2, 3])
            self.assertEqual(about["ad_sampling_rate"][()], 40e6)
            self.assertEqual(about["acquisition_wavelengths"][...].tolist(), [700e-9, 850e-9])
            self.assertEqual(about["pulse_energy"][...].tolist(), [0.011, 0.012])
            self.assertEqual(about["speed_of_sound"][()], 1500.0)
            numpy.testing.assert_allclose(about["measurement_timestamps"][...], 1.7e9 + numpy.arange(3) / 20, rtol=0, atol=1e-6)
            device = file["meta_data_device"]
            self.assertEqual(device["general/num_detectors"][()], RING)
            self.assertEqual(about["photoacoustic_imaging_device_reference"][()], device["general/unique_identifier"][()])
            ends = numpy.stack([positions().min(axis=0), positions().max(axis=0)], axis=1).ravel()
            numpy.testing.assert_array_equal(device["general/field_of_view"][...], ends)
            self.assertEqual(list(device["detectors"]), [str(k).zfill(10) for k in range(RING)])
            for one, place in zip(device["detectors"].values(), positions()):
                numpy.testing.assert_array_equal(one["detector_position"][...], place)
                numpy.testing.assert_allclose(one["detector_orientation"][...], -place / 0.04, atol=1e-15)
                self.assertEqual(one["detector_geometry_type"].asstr()[()], "CUBOID")
                self.assertEqual(one["detector_geometry"][...].tolist(), [1e-3, 15e-3, 0.0])
            kinds = []
            file.visititems(lambda _, item: kinds.append(len(item.attrs)))
            self.assertEqual(set(kinds), {0}, "every item is a dataset, none an attribute")

    def test_inspect_says_what_is_there(self):
        make(self.path / "in.hdf5", of_shape(RING, 20, 2, 3), acquisition=dict(overall_gain=3.0))
        found = self.inspect(self.path / "in.hdf5")
        self.assertEqual((found["elements"], found["matrix"], found["a_scans"], found["samples"], found["frames"]), (RING, "events", 16, 20, 3))
        self.assertEqual(found["events"], [{"passive": {"wavelength": 700e-9, "pulse_energy": 0.011}},
                                           {"passive": {"wavelength": 850e-9, "pulse_energy": 0.012}}])
        self.assertEqual((found["sample_rate"], found["start_time"], found["longitudinal_velocity"]), (40e6, 0.0, 1500.0))
        self.assertIn("stated and not applied: overall_gain", found["description"])

    def test_other_writers_axes_names_and_words(self):
        samples = of_shape(RING, 20)
        plain = dict(acquisition_wavelengths="None", pulse_energy="None", speed_of_sound="None")
        cases = {
            "two axes": (samples, dict(acquisition=plain), samples[:, :, None, None]),
            "three axes": (of_shape(RING, 20, 2), {}, of_shape(RING, 20, 2)[..., None]),
            "one wavelength, measurements behind": (of_shape(RING, 20, 3), dict(acquisition=dict(acquisition_wavelengths=numpy.array([7e-7]), pulse_energy=0.01)),
                                                    of_shape(RING, 20, 3)[:, :, None, :]),
            "MATLAB's": (of_shape(RING, 20, 2, 3).T, dict(detector=lambda k: dict(detector_position=positions()[k][None]),
                                                       acquisition=dict(ad_sampling_rate=numpy.array([[40e6]]), acquisition_wavelengths=numpy.array([[7e-7], [8e-7]]))),
                         of_shape(RING, 20, 2, 3)),
            "numbers without zeros": (of_shape(RING, 20, 2, 1), dict(names=lambda k: f"detection_element_{k + 5}"), of_shape(RING, 20, 2, 1)),
            "as integers": (of_shape(RING, 20, 2, 1).astype(">i2"), {}, of_shape(RING, 20, 2, 1)),
            "doubles": (of_shape(RING, 20, 2, 1).astype(float), {}, of_shape(RING, 20, 2, 1)),
        }
        for name, (data, more, expected) in cases.items():
            with self.subTest(name):
                make(self.path / "in.hdf5", data, **more)
                (self.path / "in.again.hdf5").unlink(missing_ok=True)
                with self.again(self.path / "in.hdf5") as file:
                    numpy.testing.assert_array_equal(file["binary_time_series_data"][...], expected)
                    self.assertEqual("speed_of_sound" in file["meta_data"], "speed_of_sound" not in more.get("acquisition", {}))
                    for one, place in zip(file["meta_data_device/detectors"].values(), positions()):
                        numpy.testing.assert_array_equal(one["detector_position"][...], place)

    def test_what_files_leave_open(self):
        make(self.path / "in.hdf5", of_shape(RING, 20, 2, 3), acquisition=dict(
            acquisition_wavelengths=numpy.array([700.0, 850.0]), pulse_energy=numpy.arange(6.0).reshape(2, 3),
            speed_of_sound=numpy.array([1480.0, 1520.0]).reshape(2, 1, 1)),
            detector=lambda k: {0: dict(detector_orientation=None), 1: dict(detector_orientation=numpy.zeros(3)), 2: dict(detector_orientation="None"),
                                3: dict(detector_geometry_type="CIRCULAR", detector_geometry=1e-3), 4: dict(detector_geometry=None),
                                5: dict(detector_orientation=-5.0 * positions()[5])}.get(k, {}))
        line = self.run_program(0, "inspect", self.path / "in.hdf5")
        self.assertIn("acquisition_wavelengths: 700, 850 taken for nanometres", line)
        with self.again(self.path / "in.hdf5") as file:
            numpy.testing.assert_allclose(file["meta_data/acquisition_wavelengths"][...], [700e-9, 850e-9], rtol=1e-12)
            self.assertEqual(file["meta_data/pulse_energy"][...].tolist(), [1.0, 4.0])
            self.assertEqual(file["meta_data/speed_of_sound"][()], 1500.0)
            for one, place in zip(file["meta_data_device/detectors"].values(), positions()):
                # The middle of the ring is the origin to rounding.
                numpy.testing.assert_allclose(one["detector_orientation"][...], -place / 0.04, atol=1e-12)
            sides = file["meta_data_device/detectors/0000000003/detector_geometry"][...]
            numpy.testing.assert_allclose(sides, [numpy.sqrt(numpy.pi) * 1e-3] * 2 + [0.0], rtol=1e-12)
            self.assertNotIn("detector_geometry", file["meta_data_device/detectors/0000000004"])
        make(self.path / "away.hdf5", of_shape(RING, 20, 2, 3), detector=lambda k: dict(detector_orientation=positions()[k]))
        self.assertIn("all detectors look away from their middle", self.run_program(0, "inspect", self.path / "away.hdf5"))

    def line_of(self, scale=1.0, orientation=(0.0, 0.0, -1.0), wavelengths="acquisition_wavelengths", **more):
        """A file of a linear array as SIMPA has it: on x, tissue at z > 0, normals along -z; of a small ball at (2, 15) mm."""
        x = 0.4e-3 * (numpy.arange(48) - 23.5)
        late = numpy.arange(1000) / 40e6 - numpy.hypot(x - 2e-3, 15e-3)[:, None] / 1500.0
        samples = -late * numpy.exp(-(late / 1e-7) ** 2)
        path = self.path / "line.hdf5"
        with h5py.File(path, "w") as file:
            file["binary_time_series_data"] = (1e7 * samples).astype("f4")
            put(file.create_group("meta_data"), ad_sampling_rate=40e6, **{wavelengths: numpy.array([800e-9])}, **(dict(speed_of_sound=1500.0) | more))
            for k, place in enumerate(x):
                put(file.create_group(f"meta_data_device/detectors/{k:010d}"), detector_position=scale * numpy.array([place, 0.0, 0.0]),
                    detector_orientation=orientation)
        return path

    def tomogram(self, file, code=0, keys=""):
        config = self.path / "line.toml"
        config.write_text(f'[imaging]\nmethod = "tomography"\nbackend = "cpu"\n{keys}[grid]\nx = [-0.005, 0.008]\nz = [0.008, 0.02]\npixels = [66, 61]\n')
        out = self.path / "line.npy"
        out.unlink(missing_ok=True)
        text = self.run_program(code, "image", file, "--config", config, "--output", out)
        self.assertEqual(out.exists(), code == 0)
        return text, numpy.load(out) if code == 0 else None

    def expect_ball(self, image):
        z, x = numpy.unravel_index(numpy.abs(image).argmax(), image.shape)
        # Pixels are 0.2 mm apart, and the pulse is 0.15 mm long.
        self.assertAlmostEqual(-5e-3 + 2e-4 * x, 2e-3, delta=2.1e-4)
        self.assertAlmostEqual(8e-3 + 2e-4 * z, 15e-3, delta=2.1e-4)

    def test_detectors_that_look_away_are_turned_by_a_key(self):
        file = self.line_of()
        self.assertRegex(self.run_program(0, "inspect", file), r"detectors +look towards -z\n")
        text, _ = self.tomogram(file, 2)
        self.assertIn("found no detector that faces the image: they look towards -z; expected detectors that look towards it ([probe] reverse_normals = true "
                      "turns them round", text)
        for key, line in (("reverse_normals = true", "turns the directions of the data round"),
                          ("normal = [0, 0, 2]", "[probe] normal = [0, 0, 2] replaces the directions of the data")):
            with self.subTest(key):
                text, image = self.tomogram(file, keys=f"[probe]\n{key}\n")
                self.assertIn(line, text)
                self.expect_ball(image)
        for keys, line in (("reverse_normals = true\nnormal = [0, 0, 1]", "[probe] reverse_normals: found true and a normal; expected one of both"),
                           ("normal = [0, 0, 0]", "[probe] normal: found [0, 0, 0]; expected a direction")):
            self.assertIn(line, self.tomogram(file, 2, f"[probe]\n{keys}\n")[0])

    def test_a_line_without_orientations_looks_ahead(self):
        file = self.line_of(orientation=None)
        text, image = self.tomogram(file)
        self.assertIn("48 detectors without orientation face +z, across their line", text)
        self.assertNotIn("look away", text)
        self.expect_ball(image)

    def test_places_in_millimetres_are_guessed(self):
        file = self.line_of(scale=1e3, orientation=(0.0, 0.0, 1.0))
        text, _ = self.tomogram(file, 2)
        self.assertIn("data: places of detectors: found 9.4 m from the middle of all, and an image that none of them receives; expected metres: mm, for 0.0094 m?", text)
        self.assertNotIn("longitudinal_velocity", text)

    def test_names_of_the_first_tools_are_known(self):
        file = self.line_of(wavelengths="acquisition_optical_wavelengths", speed_of_sound=None, pulse_laser_energy=numpy.array([0.02]),
                            assumed_global_speed_of_sound=1510.0, frame_acquisition_timestamps=numpy.array([1.7e9]))
        found = self.inspect(file)
        self.assertEqual(found["events"], [{"passive": {"wavelength": 800e-9, "pulse_energy": 0.02}}])
        self.assertEqual(found["longitudinal_velocity"], 1510.0)
        with self.again(file) as again:
            self.assertEqual(again["meta_data/measurement_timestamps"][...].tolist(), [1.7e9])
        with h5py.File(file, "r+") as broken:
            put(broken["meta_data"], acquisition_optical_wavelengths=numpy.array([7e-7, 8e-7]))
        self.assertIn("/meta_data/acquisition_optical_wavelengths: found 2 values; expected 1", self.run_program(2, "inspect", file))

    def test_echoes_are_not_made_of_it(self):
        make(self.path / "in.hdf5", of_shape(RING, 20, 2, 1))
        for method in ("tfm", "beams"):
            config = self.path / "config.toml"
            config.write_text(f'[imaging]\nmethod = "{method}"\nbackend = "cpu"\n')
            line = self.run_program(2, "image", self.path / "in.hdf5", "--config", config, "--output", self.path / "x.npy")
            self.assertIn("found passive events in which nobody transmits; expected events that transmit, or the method for them", line)
            self.assertFalse((self.path / "x.npy").exists())

    def test_what_is_wrong_is_one_line(self):
        good = of_shape(RING, 20, 2, 3)
        bad = good.copy()
        bad[3, 4, 1, 2] = numpy.nan
        cases = (
            (dict(acquisition=dict(ad_sampling_rate=None)), "/meta_data: found no ad_sampling_rate; expected the rate of samples in Hz"),
            (dict(acquisition=dict(ad_sampling_rate=numpy.nan)), "/meta_data/ad_sampling_rate: found nan as value 1; expected finite numbers"),
            (dict(acquisition=dict(ad_sampling_rate=-4e7)), "sample rate: found -40000000 Hz"),
            (dict(acquisition=dict(ad_sampling_rate="fast")), "/meta_data/ad_sampling_rate: found something else than numbers"),
            (dict(acquisition=dict(acquisition_wavelengths=numpy.array([7e-7, 8e-7, 9e-7]))), "acquisition_wavelengths: found 3 values; expected 2"),
            (dict(acquisition=dict(acquisition_wavelengths=numpy.array([7e-7, -8e-7]))), "event 1: found light of -8e-07 m"),
            (dict(acquisition=dict(pulse_energy=numpy.ones(5))), "pulse_energy: found 5 values; expected 1, or one for each of 2 wavelengths"),
            (dict(acquisition=dict(pulse_energy=numpy.array([0.01, -1.0]))), "event 1: found a pulse of -1 J"),
            (dict(acquisition=dict(speed_of_sound=-1500.0)), "speed_of_sound: found -1500 m/s"),
            (dict(acquisition=dict(echoform_dead_detectors=numpy.array([8]))), "found detector 8; expected whole numbers from 0 to 7"),
            (dict(general=dict(num_detectors=7)), "num_detectors: found 7; expected 8, the detectors in"),
            (dict(detector=lambda k: dict(detector_position=numpy.full(3, numpy.nan)) if k == 2 else {}),
             "/meta_data_device/detectors/0000000002/detector_position: found nan as value 1; expected finite numbers"),
            (dict(detector=lambda k: dict(detector_position=None) if k == 2 else {}), "detectors/0000000002: found no detector_position"),
            (dict(detector=lambda k: dict(detector_position=numpy.zeros(2)) if k == 2 else {}), "detector_position: found 2 values; expected 3"),
            (dict(detector=lambda k: dict(detector_position=numpy.zeros((9, 3))) if k == 2 else {}), "detector_position: found shape 9 x 3; expected at most 3 values"),
            (dict(detector=lambda k: dict(detector_position=numpy.full(3, 1e30)) if k == 2 else {}), "expected metres, up to 1000"),
            (dict(detector=lambda k: dict(detector_geometry=numpy.array([-1e-3, 0.0, 0.0]))), "detector_geometry: found -0.001 m; expected sizes of at least 0"),
        )
        for more, line in cases:
            with self.subTest(line):
                make(self.path / "in.hdf5", good, **more)
                self.refused(line)
        for samples, line in ((of_shape(RING + 1, 20, 2), "found shape 9 x 20 x 2; expected 8 detectors along the first axis"),
                              (of_shape(RING), "found shape 8; expected detectors x samples x wavelengths x measurements"),
                              (of_shape(RING, 1, 2), "samples: found 1; expected 2 to"),
                              (of_shape(RING, 20, 2, 0), "found shape 8 x 20 x 2 x 0; expected at least one sample along each axis"),
                              (numpy.array(["a"], "S1"), "found something else than numbers; expected samples")):
            with self.subTest(line):
                make(self.path / "in.hdf5", samples)
                self.refused(line)
        with self.subTest("no detectors"):
            make(self.path / "in.hdf5", good)
            with h5py.File(self.path / "in.hdf5", "r+") as file:
                del file["meta_data_device/detectors"]
                file["meta_data_device"].create_group("detectors")
            self.refused("/meta_data_device/detectors: found 0 detectors; expected 1 to 65536")
        with self.subTest("no group of detectors"):
            with h5py.File(self.path / "in.hdf5", "r+") as file:
                del file["meta_data_device/detectors"]
            self.refused("/meta_data_device/detectors: found no group of this name; expected what IPASC files have there")
        with self.subTest("huge claims"):
            make(self.path / "in.hdf5", good)
            with h5py.File(self.path / "in.hdf5", "r+") as file:
                del file["binary_time_series_data"]
                file.create_dataset("binary_time_series_data", (RING, 1 << 40, 2, 1 << 15), "f4", chunks=(RING, 16, 2, 1))
            self.refused("samples: found 1099511627776; expected 2 to")
        with self.subTest("another file"):
            make(self.path / "in.hdf5", good)
            with h5py.File(self.path / "in.hdf5", "r+") as file:
                del file["binary_time_series_data"]
                file["binary_time_series_data"] = h5py.ExternalLink("/etc/passwd", "/x")
            self.refused("an external link to /x in the file")
        with self.subTest("NaN samples"):
            make(self.path / "in.hdf5", bad)
            line = self.run_program(2, "convert", self.path / "in.hdf5", self.path / "out.efcap")
            self.assertIn("frame 2, A-scan 11: found nan as sample 4; expected finite numbers", line)
            self.assertFalse((self.path / "out.efcap").exists())
        with self.subTest("neither"):
            h5py.File(self.path / "in.hdf5", "w").close()
            self.refused("found none of binary_time_series_data, exp_data, TYPE, and Nx with dt")

    def refused(self, line):
        text = self.run_program(2, "inspect", self.path / "in.hdf5")
        self.assertIn(line, text)
        self.assertEqual(text.strip().count("\n"), 0, text)


unittest.main(argv=sys.argv[:1], verbosity=2)
