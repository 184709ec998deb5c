// BRAIN data in MATLAB files of version 7.3, made with HDF5's own interface: as MATLAB lays them out, and as h5py does.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <hdf5.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "formats/recording.hpp"
#include "tests/formats/mat73_maker.hpp"
#include "tests/formats/mat_maker.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class BrainMat73 : public ::testing::Test {
 protected:
  std::string error_of(const Mat73Maker& maker) {
    maker.save(file_);
    return input_error([&] {
      const auto recording = open_recording(file_);
      std::vector<float> samples(recording->acquisition().a_scans() * recording->acquisition().samples);
      recording->read_frame(0, samples);
    });
  }

  Scratch scratch_;
  std::filesystem::path file_ = scratch_ / "made.mat";
};

TEST_F(BrainMat73, ReadsEveryFieldWhoeverWroteIt) {
  for (const bool matlab : {true, false}) {
    for (const bool compressed : {false, true}) {
      for (const auto& [type, of_class] : {std::pair{H5T_IEEE_F64LE, "double"}, {H5T_IEEE_F32LE, "single"}}) {
        Mat73Maker maker;
        maker.matlab = matlab;
        maker.compressed = compressed;
        maker.sample_type = type;
        maker.sample_class = of_class;
        maker.save(file_);
        const auto recording = open_recording(file_);
        const Acquisition& a = recording->acquisition();
        EXPECT_EQ(a.elements(), 3U);
        EXPECT_EQ(a.samples, 5U);
        EXPECT_EQ(a.matrix, MatrixKind::full);
        EXPECT_EQ(recording->frames(), 1U);
        EXPECT_NEAR(a.sample_rate.value, 25e6, 1.0);  // rounding of the times
        EXPECT_DOUBLE_EQ(a.start_time.value, 1e-6);
        EXPECT_EQ(recording->material().longitudinal_velocity.value, 6300.0);
        EXPECT_EQ(a.probe.centre_frequency.value, 5e6);
        EXPECT_DOUBLE_EQ(a.probe.elements[2].centre.x.value, 1.2e-3);
        EXPECT_NEAR(a.probe.elements[2].width.value, 5e-4, 1e-12);
        std::vector<float> samples(9 * 5);
        recording->read_frame(0, samples);
        for (std::size_t i = 0; i < 3; ++i) {
          for (std::size_t j = 0; j < 3; ++j) {
            for (std::size_t n = 0; n < 5; ++n)
              EXPECT_EQ(samples[(3 * i + j) * 5 + n], static_cast<float>(brain_sample(i, j, n)));
          }
        }
        // Some A-scans, in no order of chunks.
        const std::vector<RowRange> some{{1, 2}, {7, 1}};
        std::vector<float> rows(3 * 5);
        recording->read_rows(0, some, std::as_writable_bytes(std::span(rows)));
        EXPECT_EQ(rows[0], static_cast<float>(brain_sample(0, 1, 0)));
        EXPECT_EQ(rows[9], static_cast<float>(brain_sample(0, 2, 4)));
        EXPECT_EQ(rows[10], static_cast<float>(brain_sample(2, 1, 0)));
        EXPECT_GT(recording->reading_bytes(), 0U);
      }
    }
  }
}

TEST_F(BrainMat73, TakesIntegersAndTheMaterialsVelocity) {
  Mat73Maker maker;
  maker.sample_type = H5T_STD_I16LE;
  maker.sample_class = "int16";
  maker.sample = [](std::size_t i, std::size_t j, std::size_t n) { return static_cast<double>(100 * i + 10 * j + n) - 100.0; };
  maker.without = "ph_velocity";
  maker.besides = [&](hid_t, hid_t data) {
    const hid_t material = maker.group(data, "material");
    maker.write(material, "vel_spherical_harmonic_coeffs", {1, 1}, {5900.0});
    H5Gclose(material);
  };
  maker.save(file_);
  const auto recording = open_recording(file_);
  EXPECT_EQ(recording->material().longitudinal_velocity.value, 5900.0);
  std::vector<float> samples(9 * 5);
  recording->read_frame(0, samples);
  EXPECT_EQ(samples[0], -100.0F);
  EXPECT_EQ(samples.back(), 124.0F);
}

TEST_F(BrainMat73, NamesWhatIsMissingOrOfTheWrongKind) {
  for (const char* field : {"time_data", "tx", "rx", "time", "array", "el_xc"}) {
    Mat73Maker maker;
    maker.without = field;
    EXPECT_THAT(error_of(maker), AllOf(HasSubstr(file_.string()), HasSubstr(fmt::format("found no field \"{}\"", field))))
        << field;
  }
  Mat73Maker maker;
  maker.without = "time_data";
  maker.besides = [&](hid_t, hid_t data) { H5Gclose(maker.group(data, "time_data")); };
  EXPECT_THAT(error_of(maker), HasSubstr("exp_data.time_data: found something else than numbers; expected a full numeric array"));
  maker.besides = [](hid_t, hid_t data) {  // complex numbers, as MATLAB has them
    const hid_t pair = H5Tcreate(H5T_COMPOUND, 16);
    H5Tinsert(pair, "real", 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(pair, "imag", 8, H5T_NATIVE_DOUBLE);
    const std::array<hsize_t, 2> shape{9, 5};
    const hid_t space = H5Screate_simple(2, shape.data(), nullptr);
    const hid_t dataset = H5Dcreate2(data, "time_data", pair, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    Mat73Maker::mark(dataset, "MATLAB_class", "double");
    H5Dclose(dataset);
    H5Sclose(space);
    H5Tclose(pair);
  };
  EXPECT_THAT(error_of(maker), HasSubstr("exp_data.time_data: found complex numbers; expected real numbers"));
  Mat73Maker text;
  text.sample_class = "char";
  EXPECT_THAT(error_of(text), HasSubstr("exp_data.time_data: found something else than numbers"));
  Mat73Maker cells;
  cells.without = "array";
  cells.besides = [](hid_t, hid_t data) {
    const hid_t group = H5Gcreate2(data, "array", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    Mat73Maker::mark(group, "MATLAB_class", "cell");
    H5Gclose(group);
  };
  EXPECT_THAT(error_of(cells), HasSubstr("exp_data.array: found something else; expected one structure"));
}

TEST_F(BrainMat73, OpensNoOtherFile) {
  Mat73Maker maker;
  maker.without = "time_data";
  maker.besides = [](hid_t, hid_t data) {
    H5Lcreate_external("/etc/other.mat", "/x", data, "time_data", H5P_DEFAULT, H5P_DEFAULT);
  };
  EXPECT_THAT(error_of(maker), HasSubstr("an external link to /x in the file \"/etc/other.mat\""));
  maker.without = "array";
  maker.besides = [](hid_t, hid_t data) { H5Lcreate_external("/etc/other.mat", "/x", data, "array", H5P_DEFAULT, H5P_DEFAULT); };
  EXPECT_THAT(error_of(maker), HasSubstr("exp_data.array: found something else; expected one structure"));
}

TEST_F(BrainMat73, NamesWrongShapesAndSamples) {
  Mat73Maker maker;
  maker.without = "tx";
  maker.besides = [&](hid_t, hid_t data) {
    Mat73Maker other;
    other.write(data, "tx", {1, 4}, {1, 1, 1, 1});
  };
  EXPECT_THAT(error_of(maker), HasSubstr("exp_data.tx: found 4 values; expected 9, one for each column of time_data"));
  Mat73Maker bad;
  bad.sample = [](std::size_t i, std::size_t j, std::size_t n) {
    return i == 1 && j == 2 && n == 3 ? std::numeric_limits<double>::infinity() : 0.0;
  };
  EXPECT_THAT(error_of(bad), HasSubstr("exp_data.time_data, A-scan 6 (transmit 2, receive 3), sample 4: found inf"));
  Mat73Maker none;
  none.without = "time_data";
  none.besides = [](hid_t, hid_t data) {
    Mat73Maker other;
    other.write(data, "time_data", {2, 1}, {0, 0});
    const hid_t dataset = H5Dopen2(data, "time_data", H5P_DEFAULT);
    Mat73Maker::mark(dataset, "MATLAB_empty", "1");
    H5Dclose(dataset);
  };
  EXPECT_THAT(error_of(none), HasSubstr("exp_data.time_data: found no data; expected numbers"));
}

TEST_F(BrainMat73, SaysOfDamagedFilesWhatTheyAre) {
  Mat73Maker maker;
  maker.compressed = true;
  maker.save(file_);
  const std::vector<std::uint8_t> whole = load(file_);
  // Cut anywhere, and single bytes turned: read or refused with one line, never anything else.
  std::size_t refused = 0;
  for (std::size_t at = 512; at < whole.size(); at += whole.size() / 40) {
    std::vector<std::uint8_t> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at));
    save(file_, cut);
    refused += input_error([&] { static_cast<void>(open_recording(file_)); }).empty() ? 0 : 1;
    std::vector<std::uint8_t> turned = whole;
    turned[at] ^= 0xFFU;
    save(file_, turned);
    try {
      const auto recording = open_recording(file_);
      std::vector<float> samples(recording->acquisition().a_scans() * recording->acquisition().samples);
      recording->read_frame(0, samples);
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(file_.string()));
    }
  }
  EXPECT_GT(refused, 30U);
}

}  // namespace
}  // namespace echoform::test
