"""Files of k-Wave's programs, made by h5py alone as their sources write them: where a ball is imaged, field by field, and one line for
what is wrong."""
import sys
import unittest

try:
    import h5py
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

from program_case import ProgramCase

C = 1500.0


def scalar(file, name, value, kind):
    """As writeScalarValue has it: 1 x 1 x 1, with two attributes."""
    file[name] = numpy.full((1, 1, 1), value, kind)
    file[name].attrs["data_type"] = numpy.bytes_("long" if kind == "<u8" else "float")
    file[name].attrs["domain_type"] = numpy.bytes_("real")


def make(path, samples, indices, *, size=(201, 181, 1), steps=None, change=None):
    """`samples` [sensor, time], `indices` of sensors from 0 on, [sensor] as (x, y, z); `change` alters the open file."""
    with h5py.File(path, "w") as file:
        for name, text in dict(file_type="output", created_by="kspaceFirstOrder-CUDA v1.3", major_version="1", minor_version="2").items():
            file.attrs[name] = numpy.bytes_(text)
        for name, value in zip(("Nx", "Ny", "Nz", "Nt"), (*size, samples.shape[1] if steps is None else steps)):
            scalar(file, name, value, "<u8")
        for name, value in dict(dt=5e-8, dx=2.5e-4, dy=2.5e-4, c_ref=C).items():
            scalar(file, name, value, "<f4")
        if size[2] > 1:
            scalar(file, "dz", 2.5e-4, "<f4")
        scalar(file, "sensor_mask_type", 0, "<u8")
        x, y, z = numpy.transpose(indices)
        file["sensor_mask_index"] = (1 + x + size[0] * (y + size[1] * z)).reshape(1, 1, -1).astype("<u8")
        file.create_dataset("p", data=samples.T[None].astype("<f4"), chunks=(1, min(64, samples.shape[1]), samples.shape[0]), compression="gzip")
        if change:
            change(file)


def put(file, **items):
    for name, value in items.items():
        if name in file:
            del file[name]
        if value is not None:
            file[name] = value


def ring(size=(201, 181, 1)):
    """Grid points nearest to a circle of 20 mm about the grid's point N / 2, in the order of the mask: x fastest."""
    angles = 2 * numpy.pi * numpy.arange(128) / 128
    points = {(round(80 * numpy.cos(a)) + size[0] // 2, round(80 * numpy.sin(a)) + size[1] // 2, size[2] // 2) for a in angles}
    return numpy.array(sorted(points, key=lambda p: (p[2], p[1], p[0])))


def ball(places, centre, radius=1.5e-3, samples=600):
    """Pressure at `places` [sensor, 3] of a ball of pressure 1: (r - c t) / (2 r) while that is within the ball."""
    r = numpy.linalg.norm(places - centre, axis=1)[:, None]
    ahead = r - C * 5e-8 * numpy.arange(samples)
    return numpy.where(numpy.abs(ahead) < radius, ahead / (2 * r), 0.0)


class KWave(ProgramCase):
    def detectors(self, file):
        """Samples, places and normals, as an IPASC file has them."""
        out = self.path / "out.hdf5"
        out.unlink(missing_ok=True)
        self.run_program(0, "convert", file, out)
        with h5py.File(out, "r") as made:
            all_of = made["meta_data_device/detectors"].values()
            return (made["binary_time_series_data"][..., 0, 0], numpy.array([one["detector_position"][...] for one in all_of]),
                    numpy.array([one["detector_orientation"][...] for one in all_of]))

    def test_a_ball_is_imaged_where_it_is(self):
        points = ring()
        places = 2.5e-4 * (points - numpy.array([100, 90, 0]))
        make(self.path / "ring.h5", ball(places, (3e-3, -2e-3, 0.0)), points)
        config = self.path / "config.toml"
        config.write_text('[imaging]\nmethod = "tomography"\nbackend = "cpu"\n[filter]\nkind = "none"\n'
                          '[grid]\nx = [-0.008, 0.008]\nz = [-0.008, 0.008]\npixels = [81, 81]\n')
        self.run_program(0, "image", self.path / "ring.h5", "--config", config, "--output", self.path / "image.npy")
        image = numpy.load(self.path / "image.npy")
        self.assertEqual(image.shape, (81, 81))
        # k-Wave's x is z, its y is x; pixels are 0.2 mm, the ball's radius 1.5 mm.
        z, x = numpy.meshgrid(numpy.linspace(-8e-3, 8e-3, 81), numpy.linspace(-8e-3, 8e-3, 81), indexing="ij")
        bright = numpy.where(image > 0.5 * image.max(), image, 0.0)
        self.assertAlmostEqual((bright * z).sum() / bright.sum(), 3e-3, delta=2e-4)
        self.assertAlmostEqual((bright * x).sum() / bright.sum(), -2e-3, delta=2e-4)

    def test_every_field_in_a_plane(self):
        points = ring()
        samples = numpy.random.default_rng(1).normal(size=(len(points), 50)).astype(numpy.float32)
        make(self.path / "ring.hdf5", samples, points)
        found = self.inspect(self.path / "ring.hdf5")
        self.assertEqual((found["elements"], found["a_scans"], found["samples"], found["frames"]), (len(points), len(points), 50, 1))
        self.assertEqual(found["events"], [{"passive": {}}])
        self.assertEqual((found["start_time"], found["longitudinal_velocity"]), (0.0, C))
        self.assertAlmostEqual(found["sample_rate"], 2e7, delta=2e7 * 6e-8)  # dt is single precision
        self.assertIn("the velocity is c_ref", found["description"])
        read, places, normals = self.detectors(self.path / "ring.hdf5")
        numpy.testing.assert_array_equal(read, samples)
        x, y, _ = numpy.transpose(2.5e-4 * (points - numpy.array([100, 90, 0])))
        numpy.testing.assert_allclose(places, numpy.stack([y, 0 * x, x], axis=1), rtol=1e-6, atol=1e-15)
        inward = places.mean(axis=0) - places
        numpy.testing.assert_allclose(normals, inward / numpy.linalg.norm(inward, axis=1)[:, None], atol=1e-9)

    def test_sensors_of_a_line_or_plane_face_the_middle_of_the_grid(self):
        y, z = numpy.meshgrid(numpy.arange(2, 8), numpy.arange(3, 6))
        for at, size, faces in ((0, (20, 12, 10), 1.0), (19, (20, 12, 10), -1.0), (19, (20, 12, 1), -1.0)):
            with self.subTest((at, size)):
                points = numpy.stack([numpy.full(y.size, at), y.ravel(), z.ravel()], axis=1)
                if size[2] == 1:
                    points = numpy.array([(at, k, 0) for k in range(12)])
                samples = numpy.arange(len(points) * 5.0).reshape(-1, 5)
                make(self.path / "plane.h5", samples, points, size=size)
                read, places, normals = self.detectors(self.path / "plane.h5")
                numpy.testing.assert_array_equal(read, samples)
                numpy.testing.assert_array_equal(normals, numpy.tile([0.0, 0.0, faces], (len(points), 1)))
                middle = numpy.array([n // 2 for n in size])
                numpy.testing.assert_allclose(places, 2.5e-4 * (points - middle)[:, [1, 2, 0]], rtol=1e-6, atol=1e-15)

    def test_what_is_level_with_the_middle_does_not_say_where_sensors_face(self):
        """In a grid of three dimensions: a ring in its own plane faces its middle, a line at an end of the grid across that end."""
        around = ring() + numpy.array([0, 0, 32])
        make(self.path / "ring.h5", numpy.ones((len(around), 5)), around, size=(201, 181, 64))
        _, places, normals = self.detectors(self.path / "ring.h5")
        inward = places.mean(axis=0) - places
        numpy.testing.assert_allclose(normals, inward / numpy.linalg.norm(inward, axis=1)[:, None], atol=1e-9)
        line = numpy.array([(0, k, 32) for k in range(10, 40)])
        make(self.path / "line.h5", numpy.ones((len(line), 5)), line, size=(64, 50, 64))
        normals = self.detectors(self.path / "line.h5")[2]
        numpy.testing.assert_allclose(normals, numpy.tile([0.0, 0.0, 1.0], (len(line), 1)), atol=1e-12)

    def test_recordings_that_begin_later_and_maps_of_velocities(self):
        points = ring()
        make(self.path / "late.h5", numpy.ones((len(points), 30)), points, steps=42,
             change=lambda file: put(file, c0=numpy.array([1400.0, 1500.0, 1600.0, 1540.0]).reshape(1, 2, 2)))
        found = self.inspect(self.path / "late.h5")
        self.assertAlmostEqual(found["start_time"], 12 * 5e-8, delta=1e-13)
        self.assertEqual(found["longitudinal_velocity"], 1510.0)
        self.assertIn("a map of velocities from 1400 to 1600 m/s", found["description"])

    def test_long_recordings_come_in_strips(self):
        """More than are read at once: 2^22 samples."""
        points = numpy.array([(k, 0, 0) for k in range(200)])
        samples = numpy.random.default_rng(2).normal(size=(200, 21001)).astype(numpy.float32)
        make(self.path / "long.h5", samples, points)
        read, _, _ = self.detectors(self.path / "long.h5")
        numpy.testing.assert_array_equal(read, samples)

    def test_what_is_wrong_is_one_line(self):
        points = ring()
        count = len(points)
        good = numpy.ones((count, 20))
        nowhere = numpy.full((1, 1, count), 201 * 181 + 1, "<u8")
        cases = (
            (dict(sensor_mask_index=None), "found no sensor_mask_index; expected where the sensors are: run k-Wave's program with --copy_sensor_mask"),
            (dict(sensor_mask_type=numpy.ones((1, 1, 1), "<u8")), "/sensor_mask_type: found a mask of cuboids"),
            (dict(sensor_mask_index=nowhere), "/sensor_mask_index: found 36382 as value 1; expected whole numbers from 1 to 36381"),
            (dict(sensor_mask_index=0 * nowhere), "/sensor_mask_index: found 0 as value 1"),
            (dict(sensor_mask_index=nowhere[..., 1:]), f"/sensor_mask_index: found {count - 1} sensors; expected {count}"),
            (dict(p=None), "in.h5: found no p; expected what k-Wave's programs write"),
            (dict(p=numpy.ones((20, count))), f"/p: found shape 20 x {count}; expected 1 x times x sensors"),
            (dict(p=numpy.ones((1, 0, count))), f"/p: found shape 1 x 0 x {count}"),
            (dict(p=numpy.ones((1, 1, count))), "samples: found 1; expected 2 to"),
            (dict(p=numpy.ones((1, 21, count))), "/p: found 21 times; expected at most Nt = 20"),
            (dict(p=numpy.full((1, 20, count), b"x")), "/p: found something else than numbers"),
            (dict(Nx=None), "found none of binary_time_series_data"),
            (dict(Ny=None), "in.h5: found no Ny; expected"),
            (dict(Nx=numpy.full((1, 1, 1), 1 << 40, "<u8")), "/Nx: found 1.09951e+12; expected a whole number from 1 to 65536"),
            (dict(Nt=numpy.zeros((1, 1, 1), "<u8")), "/Nt: found 0; expected a whole number from 1 to"),
            (dict(Nt=numpy.ones((2, 1, 1))), "/Nt: found shape 2 x 1 x 1; expected one value"),
            (dict(dt=numpy.zeros((1, 1, 1))), "/dt: found 0; expected more than 0"),
            (dict(dx=numpy.full((1, 1, 1), numpy.nan)), "/dx: found nan as value 1; expected finite numbers"),
            (dict(dx=numpy.full((1, 1, 1), 1e30)), "expected metres, up to 1000"),
            (dict(c_ref=numpy.full((1, 1, 1), -1.0)), "/c_ref: found no velocity; expected more than 0 m/s"),
        )
        for items, line in cases:
            with self.subTest(line):
                make(self.path / "in.h5", good, points, change=lambda file, items=items: put(file, **items))
                self.refused(line)
        with self.subTest("an input"):
            make(self.path / "in.h5", good, points, change=lambda file: file.attrs.__setitem__("file_type", "input"))
            self.refused('/file_type: found "input"; expected "output": what a simulation recorded')
        for shape in ((1, 1 << 40, count), (1, 20, 1 << 40)):
            with self.subTest(shape):
                make(self.path / "in.h5", good, points, change=lambda file: put(file, p=None, Nt=numpy.full((1, 1, 1), 1 << 29)))
                with h5py.File(self.path / "in.h5", "r+") as file:
                    file.create_dataset("p", shape, "f4", chunks=(1, 16, 16))
                self.refused("expected at most" if shape[2] > count else "expected at most Nt")
        with self.subTest("NaN"):
            bad = good.copy()
            bad[7, 4] = numpy.nan
            make(self.path / "in.h5", bad, points)
            line = self.run_program(2, "convert", self.path / "in.h5", self.path / "out.efcap")
            self.assertIn("/p, A-scan 7: found nan as sample 4; expected finite numbers", line)
            self.assertFalse((self.path / "out.efcap").exists())
        with self.subTest("truncated"):
            make(self.path / "in.h5", good, points)
            whole = (self.path / "in.h5").read_bytes()
            (self.path / "in.h5").write_bytes(whole[:len(whole) // 2])
            self.refused("in.h5: found a file that HDF5 cannot open (truncated or damaged)")

    def refused(self, line):
        text = self.run_program(2, "inspect", self.path / "in.h5")
        self.assertIn(line, text)
        self.assertEqual(text.strip().count("\n"), 0, text)


unittest.main(argv=sys.argv[:1], verbosity=2)
