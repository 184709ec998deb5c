// USTB's files: waves that come back as they were written, what is refused, and images. tests/system/uff_test.py makes and reads
// channel data by h5py alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "acquisition/firings.hpp"
#include "acquisition/probe_frame.hpp"
#include "formats/frame_writer.hpp"
#include "formats/image_writer.hpp"
#include "formats/recording.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/every_form.hpp"
#include "tests/support/input_error.hpp"
#include "tests/support/places.hpp"

namespace echoform::test {
namespace {

using ::testing::HasSubstr;

const FrameWriterOptions options_with_velocity{.material = {MetresPerSecond(1540.0), MetresPerSecond(0.0)}};

/// An array beside the origin of coordinates, behind z = 0, and tilted.
Acquisition tilted(std::size_t samples) {
  Acquisition acquisition = testing_support::acquisition_of_elements(5, samples);
  for (Element& element : acquisition.probe.elements) {
    element.centre = {Metres(3e-3 + 0.8 * element.centre.x.value), Metres(-1e-3), Metres(-4e-3 - 0.6 * element.centre.x.value)};
    element.normal = {0.6, 0.0, 0.8};
    element.length = Metres(0.01);
  }
  acquisition.probe.x_axis = {0.8, 0.0, -0.6};
  acquisition.encoding = SampleEncoding::float32;
  acquisition.start_time = Seconds(2e-6);
  acquisition.time_offset = Seconds(0.5e-6);
  return acquisition;
}

Acquisition written_and_read(const Acquisition& acquisition, const Scratch& scratch) {
  const auto path = scratch / "waves.uff";
  std::filesystem::remove(path);
  const auto writer = make_frame_writer(path, acquisition, options_with_velocity);
  const std::vector<std::byte> frame(acquisition.frame_bytes());
  writer->append(frame);
  writer->append(frame);
  writer->close();
  const auto recording = open_recording(path);
  EXPECT_EQ(recording->frames(), 2u);
  return recording->acquisition();
}

TEST(Uff, WavesOfATiltedArrayComeBack) {
  const Scratch scratch;
  Acquisition acquisition = tilted(6);
  acquisition.events = {
      {PlaneWaveEvent{1.5e-4, -2e-5, Seconds(-3e-7), {}}, {}},
      {plane_wave(-0.2, MetresPerSecond(1540.0)), {}},
      {PointWaveEvent{{Metres(1e-3), Metres(2e-3), Metres(-0.03)}, MetresPerSecond(1480.0), Seconds(1e-6), {}}, {}},
      {PointWaveEvent{{Metres(0.0), Metres(0.0), Metres(0.04)}, MetresPerSecond(1540.0), std::nullopt, {}}, {}},
      {PointWaveEvent{{Metres(2e-3), Metres(0.0), Metres(0.002)}, MetresPerSecond(1540.0), Seconds(0.0), {}}, {}},
      {LawEvent{{3}, {2e-7F}, {}}, {}},
      {ElementEvent{2}, {}},
  };
  const Acquisition read = written_and_read(acquisition, scratch);
  EXPECT_NEAR(read.start_time.value, 1.5e-6, 1e-15);
  ASSERT_EQ(read.events.size(), acquisition.events.size());
  for (std::size_t k = 0; k < read.elements(); ++k) {
    EXPECT_NEAR(read.probe.elements[k].normal.x, 0.6, 1e-12);
    EXPECT_NEAR(read.probe.elements[k].centre.z.value, acquisition.probe.elements[k].centre.z.value, 1e-15);
  }
  for (std::size_t event = 0; event < read.events.size(); ++event) {
    SCOPED_TRACE(event);
    EXPECT_EQ(read.events[event].form.index(), acquisition.events[event].form.index());
    const auto was = firings_of(acquisition, event);
    const auto is = firings_of(read, event);
    ASSERT_EQ(is.size(), was.size());
    for (std::size_t k = 0; k < is.size(); ++k) {
      EXPECT_EQ(is[k].element, was[k].element);
      EXPECT_NEAR(is[k].delay, was[k].delay, 1e-13);
    }
  }
}

TEST(Uff, PlaneWavesOfACurvedArrayComeBack) {
  const Scratch scratch;
  Acquisition acquisition = tilted(6);
  acquisition.probe = make_curvilinear_probe(5, Metres(3e-3), Metres(15e-3), Metres(2e-3), Hertz(5e6), Hertz(3e6));
  PlaneWaveEvent wave = plane_wave(-0.2, MetresPerSecond(1480.0));  // not the velocity that the file states of the medium
  wave.slowness_z = std::cos(-0.2) / 1480.0;
  acquisition.events = {{wave, {}}};
  const Acquisition read = written_and_read(acquisition, scratch);
  ASSERT_EQ(read.events.size(), 1u);
  const auto& back = std::get<PlaneWaveEvent>(read.events[0].form);
  EXPECT_NEAR(back.slowness_x, wave.slowness_x, 1e-16);
  EXPECT_NEAR(back.slowness_z, wave.slowness_z, 1e-16);
  const auto was = firings_of(acquisition, 0);
  const auto is = firings_of(read, 0);
  for (std::size_t k = 0; k < is.size(); ++k) EXPECT_NEAR(is[k].delay, was[k].delay, 1e-13);
}

TEST(Uff, AMatrixStaysOne) {
  const Scratch scratch;
  const Acquisition read = written_and_read(tilted(6), scratch);
  EXPECT_TRUE(read.events.empty());
  EXPECT_NEAR(read.start_time.value, 1.5e-6, 1e-15);
}

TEST(Uff, HalfAMatrixIsWrittenWhole) {
  const Scratch scratch;
  Acquisition half = tilted(2);
  half.matrix = MatrixKind::half;
  std::vector<float> samples(half.a_scans() * 2);
  for (std::size_t k = 0; k < samples.size(); ++k) samples[k] = static_cast<float>(k);
  const auto writer = make_frame_writer(scratch / "half.uff", half, options_with_velocity);
  writer->append(std::as_bytes(std::span(samples)));
  writer->close();
  const auto recording = open_recording(scratch / "half.uff");
  EXPECT_EQ(recording->acquisition().matrix, MatrixKind::full);
  std::vector<float> full(5 * 5 * 2);
  recording->read_frame(0, full);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 5; ++j)
      EXPECT_EQ(full[(i * 5 + j) * 2 + 1], samples[half_matrix_index(std::min(i, j), std::max(i, j), 5) * 2 + 1]);
  }
}

TEST(Uff, RefusesWhatItHasNoWordFor) {
  const Scratch scratch;
  const auto refused = [&](const Acquisition& acquisition, const FrameWriterOptions& options = options_with_velocity) {
    return input_error([&] { static_cast<void>(make_frame_writer(scratch / "refused.uff", acquisition, options)); });
  };
  Acquisition half = tilted(6);
  half.matrix = MatrixKind::half_summed;
  EXPECT_THAT(refused(half), HasSubstr("found half a matrix of sums; expected full and half matrices, and events (.mfmc and"));
  EXPECT_THAT(refused(testing_support::acquisition_of_positions(6)), HasSubstr("found 3 positions of the probe"));
  EXPECT_THAT(refused(testing_support::acquisition_of_waves(6)), HasSubstr("found events that some elements record"));
  Acquisition coded = testing_support::acquisition_of_elements(4, 6);
  coded.events = hadamard_events(4);
  EXPECT_THAT(refused(coded), HasSubstr("event 0: found a row of a code; expected plane, diverging and focused waves"));
  Acquisition laws = tilted(6);
  laws.events = {{LawEvent{{1, 2}, {}, {}}, {}}};
  EXPECT_THAT(refused(laws), HasSubstr("event 0: found a law of delays and weights"));
  Acquisition grazing = tilted(6);
  grazing.events = {{PlaneWaveEvent{1e-3, 0.0, {}, {}}, {}}};
  EXPECT_THAT(refused(grazing), HasSubstr("found a plane wave of 0.001 s/m along the probe; expected at most 0.0006494"));
  EXPECT_THAT(refused(tilted(6), {}), testing::AllOf(HasSubstr("found no velocity of longitudinal waves; expected one"),
                                                     HasSubstr("`convert --longitudinal-velocity M/S`, or `[material] ")));
  EXPECT_EQ(scratch.files(), 0u);
}

/// What h5py finds in `file`: `checks` are Python, with b the object, s its scan, and p(name) a column.
int python_of_image(const std::filesystem::path& file, const std::string& checks) {
  return run_python(
      {"-c", "import h5py, numpy as n\nb = h5py.File('" + file.string() +
                 "')['beamformed_data']\ns = b['scan']\np = lambda name: s[name][0]\nnear = n.testing.assert_allclose\n" +
                 checks});
}

TEST(UffImage, Sector) {
  ECHOFORM_REQUIRE_PYTHON("h5py");
  const Scratch scratch;
  std::vector<float> values(12);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k);
  ImageFile image{.grid = {{Metres(0.0), Metres(0.03), 4}, {Metres(-0.5), Metres(0.5), 3}, {}}, .envelope = values};
  image.x = {"range", "m"};
  image.z = {"angle", "rad"};
  image.lines = LineGeometry{Metres(1e-3), Metres(-0.04), Metres(0.042), 0.0};
  make_image_writer(scratch / "sector.uff")->write(image);
  // Depth is fastest in a column of MATLAB's meshgrid(azimuth, depth).
  EXPECT_EQ(python_of_image(scratch / "sector.uff", R"(
assert s.attrs['class'] == b'uff.sector_scan'
near(p('azimuth_axis'), [-.5, 0, .5]); near(p('depth_axis'), [.042, .052, .062, .072])
o = {k: s['origin'][k][0, 0] for k in ('distance', 'azimuth', 'elevation')}
near(o['distance'] * n.sin(o['azimuth']), 1e-3); near(o['distance'] * n.cos(o['azimuth']), -.04); assert o['elevation'] == 0
assert b['data'].shape == (1, 12) and (b['data'][0].reshape(3, 4) == n.arange(12).reshape(3, 4)).all()
)"),
            0);
}

TEST(UffImage, LinesSideBySideSteeredAndNot) {
  ECHOFORM_REQUIRE_PYTHON("h5py");
  const Scratch scratch;
  const std::vector<std::complex<float>> values{{1, 0}, {2, -1}, {3, 0}, {4, 0}, {5, 0}, {6, 6}};
  ImageFile image{.grid = {{Metres(0.0), Metres(0.02), 3}, {Metres(-1e-3), Metres(1e-3), 2}, {}},
                  .analytic = values,
                  .field = ImageField::analytic};
  image.x = {"range", "m"};
  image.lines = LineGeometry{Metres(-1e-3), Metres(-0.002), Metres(0.0), 0.0};
  image.z = {"x", "m"};
  make_image_writer(scratch / "lines.uff")->write(image);
  image.lines->angle = std::numbers::pi / 6.0;
  make_image_writer(scratch / "steered.uff")->write(image);
  EXPECT_EQ(python_of_image(scratch / "lines.uff", R"(
assert s.attrs['class'] == b'uff.linear_scan'
near(p('x_axis'), [-1e-3, 1e-3]); near(p('z_axis'), [-.002, .008, .018])
d = b['data']; assert d.attrs['complex'][0] == 1 and d['imag'].attrs['imaginary'][0] == 1
assert d['real'][0].tolist() == [1, 2, 3, 4, 5, 6] and d['imag'][0].tolist() == [0, -1, 0, 0, 0, 6]
)"),
            0);
  EXPECT_EQ(python_of_image(scratch / "steered.uff", R"(
assert s.attrs['class'] == b'uff.scan'
near(p('x'), [-1e-3, 4e-3, 9e-3, 1e-3, 6e-3, 11e-3], atol=1e-15); near(p('z'), 2 * [-.002, -.002 + .01 * n.cos(n.pi / 6), -.002 + .02 * n.cos(n.pi / 6)])
assert (p('y') == 0).all() and b['data/real'].shape == (1, 6)
)"),
            0);
}

TEST(UffImage, VolumesAndTheEnvelopeOfAnAnalyticImage) {
  ECHOFORM_REQUIRE_PYTHON("h5py");
  const Scratch scratch;
  const std::vector<std::complex<float>> values(24, {3.0F, -4.0F});
  const Grid grid{{Metres(0.0), Metres(1e-3), 2}, {Metres(1e-3), Metres(4e-3), 4}, {Metres(0.0), Metres(2e-3), 3}};
  make_image_writer(scratch / "volume.uff")->write({.grid = grid, .analytic = values});
  EXPECT_EQ(python_of_image(scratch / "volume.uff", R"(
z, y, x = n.meshgrid(n.linspace(1e-3, 4e-3, 4), n.linspace(0, 2e-3, 3), n.linspace(0, 1e-3, 2), indexing='ij')
for name, values in dict(x=x, y=y, z=z).items(): near(p(name), values.ravel())
assert (b['data'][0] == 5).all()
)"),
            0);
}

TEST(UffImage, AxesThatAreNoPlacesAreRefused) {
  const Scratch scratch;
  const std::vector<float> values(6);
  ImageFile image{.grid = {{Metres(0.0), Metres(1.0), 3}, {Metres(0.0), Metres(1.0), 2}, {}}, .envelope = values};
  image.z = {"time", "s"};
  EXPECT_THAT(input_error([&] { make_image_writer(scratch / "time.uff")->write(image); }),
              HasSubstr("found axes x (mm), y (mm), time (s); expected planes and volumes of the part"));
  EXPECT_EQ(scratch.files(), 0u);
}

}  // namespace
}  // namespace echoform::test
