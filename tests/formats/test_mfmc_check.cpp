#include <gmock/gmock.h>
#include <hdf5.h>

#include "formats/mfmc_check.hpp"
#include "formats/mfmc_writer.hpp"
#include "tests/formats/mfmc_maker.hpp"
#include "tests/formats/scratch.hpp"

namespace echoform::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MfmcCheck : public ::testing::Test {
 protected:
  std::vector<std::string> violations(const MfmcMaker& maker) {
    maker.write(file_);
    auto found = check_mfmc(file_);
    EXPECT_EQ(found.not_shown, 0U);
    return found.violations;
  }
  Scratch scratch_;
  std::filesystem::path file_ = scratch_ / "f.mfmc";
};

TEST_F(MfmcCheck, FilesOfSeveralWritersKeepTheRules) {
  EXPECT_THAT(violations({}), IsEmpty());
  EXPECT_THAT(violations({.grouped = true, .fixed_strings = true, .root_type = false, .one_hot = true, .extras = true}),
              IsEmpty());
  EXPECT_THAT(violations({.scalar_element = true, .scalar_attributes = true, .sequences = 2}), IsEmpty());
  // Plane waves keep the rules, whatever this version images.
  EXPECT_THAT(violations({.delay = 1e-6, .plane_waves = true}), IsEmpty());
}

TEST_F(MfmcCheck, SaysWhatTheFirstSequenceIs) {
  MfmcMaker maker{.sequences = 2, .data_type = H5T_IEEE_F32BE};
  maker.write(file_);
  const MfmcFindings found = check_mfmc(file_);
  EXPECT_EQ(found.sequences, 2U);
  EXPECT_EQ(found.sample_type, "big-endian float32");
  EXPECT_FALSE(found.unfinished);
}

TEST_F(MfmcCheck, EveryMandatoryNameIsMissed) {
  for (const char* const name :
       {"MFMC_DATA", "PROBE_PLACEMENT_INDEX", "PROBE_POSITION", "PROBE_X_DIRECTION", "PROBE_Y_DIRECTION", "TRANSMIT_LAW",
        "RECEIVE_LAW", "PROBE_LIST", "TIME_STEP", "START_TIME", "SPECIMEN_VELOCITY", "ELEMENT_POSITION", "ELEMENT_MAJOR",
        "ELEMENT_MINOR", "ELEMENT_SHAPE", "CENTRE_FREQUENCY", "PROBE", "ELEMENT"}) {
    MfmcMaker maker;
    maker.without = name;
    EXPECT_THAT(violations(maker), Contains(AllOf(HasSubstr("f.mfmc: /"), HasSubstr(std::string("found no ") + name),
                                                  HasSubstr(std::string("expected the mandatory ") + name))))
        << name;
  }
}

TEST_F(MfmcCheck, ClassesShapesReferencesAndIndices) {
  EXPECT_THAT(violations({.text_time_step = true}),
              Contains(AllOf(HasSubstr("/TIME_STEP: found a string"), HasSubstr("floating"))));
  EXPECT_THAT(violations({.flat_data = true}),
              Contains(AllOf(HasSubstr("/MFMC_DATA: found shape"), HasSubstr("frames x A-scans x samples"))));
  EXPECT_THAT(violations({.laws_are_probes = true}), Contains(HasSubstr("expected groups of TYPE \"LAW\"")));
  EXPECT_THAT(violations({.null_laws = true}), Contains(HasSubstr("a reference to nothing")));
  // An element beyond the probe: a line for the law that names it.
  EXPECT_THAT(violations({.element_offset = 1}), Contains(AllOf(HasSubstr("/ELEMENT: found 5"), HasSubstr("from 1 to 4"))));
  EXPECT_THAT(violations({.frames = 2, .frame_placement = {1, 2}}),
              Contains(AllOf(HasSubstr("/PROBE_PLACEMENT_INDEX: found 2"), HasSubstr("from 1 to 1"))));
  EXPECT_THAT(violations({.index_type = H5T_IEEE_F64LE}),
              Contains(AllOf(HasSubstr("/PROBE_PLACEMENT_INDEX: found floating"), HasSubstr("expected integers"))));
  EXPECT_THAT(violations({.dead = {0, 2, 0, 0}}),
              Contains(AllOf(HasSubstr("/DEAD_ELEMENT: found 2 as value 2"), HasSubstr("from 0 to 1"))));
}

TEST_F(MfmcCheck, ParametersOfFiltersBelongToTheirType) {
  Acquisition a;
  a.probe = make_linear_probe(2, Metres(1e-3), Metres{}, Hertz{}, Hertz{});
  a.samples = 4;
  a.sample_rate = Hertz(25e6);
  const auto filtered = [&](int type, const std::vector<hsize_t>& shape) {
    const auto path = scratch_ / "filter.mfmc";
    std::filesystem::remove(path);
    {
      MfmcWriter writer(path, a);
      writer.append(std::vector<std::byte>(a.frame_bytes()));
      writer.close();
    }
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const auto put = [&](const char* name, hid_t of, const std::vector<hsize_t>& sizes, const void* values) {
      const hid_t space = H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
      const hid_t at = H5Acreate_by_name(file, "/SEQUENCES/S1", name, of, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      EXPECT_GE(H5Awrite(at, of, values), 0);
      H5Aclose(at);
      H5Sclose(space);
    };
    const std::vector<double> values(12, 1e6);
    put("FILTER_TYPE", H5T_NATIVE_INT, {1}, &type);
    put("FILTER_PARAMETERS", H5T_NATIVE_DOUBLE, shape, values.data());
    H5Fclose(file);
    return check_mfmc(path).violations;
  };
  using Case = std::pair<int, std::vector<hsize_t>>;
  for (const auto& [type, shape] : {Case{0, {5}}, Case{1, {1}}, Case{2, {1}}, Case{3, {2}}, Case{4, {4, 3}}})
    EXPECT_THAT(filtered(type, shape), IsEmpty()) << type;
  EXPECT_THAT(filtered(1, {2}), Contains(AllOf(HasSubstr("/FILTER_PARAMETERS: found shape 2"), HasSubstr("expected shape 1"))));
  EXPECT_THAT(filtered(3, {1}), Contains(HasSubstr("expected shape 2")));
  EXPECT_THAT(filtered(4, {3}), Contains(HasSubstr("expected shape N x 3")));
}

TEST_F(MfmcCheck, OtherFilesAreNamed) {
  EXPECT_THAT(violations({.sequences = 0}), Contains(HasSubstr("no group of TYPE")));
  save(file_, std::vector<std::uint8_t>(1000, 0));
  EXPECT_THAT(input_error([&] { static_cast<void>(check_mfmc(file_)); }), HasSubstr("no HDF5 signature"));
}

TEST_F(MfmcCheck, WhatIsWrittenHereKeepsTheRules) {
  for (const MatrixKind matrix : {MatrixKind::full, MatrixKind::half}) {
    Acquisition a;
    a.probe = make_linear_probe(4, Metres(1e-3), Metres{}, Hertz{}, Hertz{});
    a.probe.elements[1].dead = true;
    a.matrix = matrix;
    a.samples = 10;
    a.sample_rate = Hertz(25e6);
    const auto path = scratch_ / (matrix == MatrixKind::full ? "full.mfmc" : "half.mfmc");
    MfmcWriter writer(path, a, {.recorded = WallTime(1'700'000'000'000'000'000)});
    const std::vector<std::byte> frame(a.frame_bytes());
    writer.append(frame);
    writer.append(frame);
    writer.close();
    const MfmcFindings found = check_mfmc(path);
    EXPECT_THAT(found.violations, IsEmpty());
    EXPECT_EQ(found.version, "2.0.0");
    EXPECT_EQ(found.date_and_time, "2023-11-14 22:13:20");
    EXPECT_EQ(found.sample_type, "int16");
  }
}

}  // namespace
}  // namespace echoform::test
