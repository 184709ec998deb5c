#include <gmock/gmock.h>
#include <hdf5.h>
#include <pthread.h>

#include <atomic>

#include "formats/frame_writer.hpp"
#include "formats/mfmc_check.hpp"
#include "formats/recording.hpp"
#include "tests/formats/mfmc_maker.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"

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

std::atomic<int> forks{0};

TEST_F(MfmcCheck, OneTrialServesOpeningAndChecking) {
  static const int counted = ::pthread_atfork([] { ++forks; }, nullptr, nullptr);  // for good
  ASSERT_EQ(counted, 0);
  forks = 0;
  MfmcMaker{}.write(file_);
  const MfmcFindings good = check_mfmc(file_);
  EXPECT_EQ(forks, 1);
  EXPECT_THAT(good.violations, IsEmpty());
  ASSERT_NE(good.recording, nullptr);
  EXPECT_EQ(good.recording->frames(), 1U);
  EXPECT_EQ(good.not_imaged, "");
  // What keeps the rules and is not imaged.
  file_ = scratch_ / "sums.mfmc";
  MfmcMaker{.sums_of_receivers = true}.write(file_);
  const MfmcFindings sums = check_mfmc(file_);
  EXPECT_EQ(forks, 2);
  EXPECT_THAT(sums.violations, IsEmpty());
  EXPECT_EQ(sums.recording, nullptr);
  EXPECT_THAT(sums.not_imaged, HasSubstr("in a receive law"));
  // Damage is found once.
  auto bytes = load(file_);
  bytes.resize(bytes.size() / 2);
  save(file_, bytes);
  EXPECT_THAT(input_error([&] { static_cast<void>(check_mfmc(file_)); }), HasSubstr("truncated or damaged"));
  EXPECT_EQ(forks, 3);
}

TEST_F(MfmcCheck, EveryMandatoryNameIsMissed) {
  for (const char* const name :
       {"PROBE_PLACEMENT_INDEX", "PROBE_POSITION", "PROBE_X_DIRECTION", "PROBE_Y_DIRECTION", "TRANSMIT_LAW", "RECEIVE_LAW",
        "PROBE_LIST", "TIME_STEP", "START_TIME", "SPECIMEN_VELOCITY", "ELEMENT_POSITION", "ELEMENT_MAJOR", "ELEMENT_MINOR",
        "ELEMENT_SHAPE", "CENTRE_FREQUENCY", "PROBE", "ELEMENT"}) {
    MfmcMaker maker;
    maker.without = name;
    EXPECT_THAT(violations(maker), Contains(AllOf(HasSubstr("f.mfmc: /"), HasSubstr(std::string("found no ") + name),
                                                  HasSubstr(std::string("expected the mandatory ") + name))))
        << name;
  }
}

/// A recording of so many frames of 256 A-scans that takes hardly any room: nothing of it is written.
void make_long(const std::filesystem::path& path, hsize_t frames) {
  MfmcMaker{.elements = 16, .samples = 64}.write(path);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const auto put = [&](const char* name, hid_t type, const std::vector<hsize_t>& shape, hsize_t rows_in_chunk, int value) {
    H5Ldelete(file, name, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    std::vector<hsize_t> chunk = shape;
    chunk[0] = rows_in_chunk;
    H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
    H5Pset_fill_value(creation, H5T_NATIVE_INT, &value);
    H5Dclose(H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Pclose(creation);
    H5Sclose(space);
  };
  put("/SEQUENCE<1>/MFMC_DATA", H5T_STD_I16LE, {frames, 256, 64}, 1, 3);
  put("/SEQUENCE<1>/PROBE_PLACEMENT_INDEX", H5T_STD_I32LE, {frames, 256}, 1024, 1);
  H5Fclose(file);
}

TEST_F(MfmcCheck, LongRecordingsAreReadWhateverTheirTableOfPlacements) {
  constexpr std::size_t frames = (std::size_t{1} << 18) + 1;  // more values than an item that is read at once may have
  make_long(file_, frames);
  EXPECT_THAT(check_mfmc(file_).violations, IsEmpty());
  const auto recording = open_recording(file_);
  EXPECT_EQ(recording->frames(), frames);
  EXPECT_EQ(recording->probe(frames - 1), recording->acquisition().probe);
}

TEST_F(MfmcCheck, EveryPlacementOfATableThatIsReadInPiecesIsChecked) {
  constexpr std::size_t frames = (std::size_t{1} << 12) + 2;  // two pieces
  make_long(file_, frames);
  const hid_t file = H5Fopen(file_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t set = H5Dopen2(file, "/SEQUENCE<1>/PROBE_PLACEMENT_INDEX", H5P_DEFAULT);
  const hid_t space = H5Dget_space(set);
  const hsize_t place[] = {frames - 1, 7};
  const int value = 2;
  const hsize_t one = 1;
  H5Sselect_elements(space, H5S_SELECT_SET, 1, place);
  const hid_t memory = H5Screate_simple(1, &one, nullptr);
  EXPECT_GE(H5Dwrite(set, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, &value), 0);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(set);
  H5Fclose(file);
  const auto wrong = AllOf(HasSubstr("/PROBE_PLACEMENT_INDEX: found 2 as value 1048840"), HasSubstr("from 1 to 1"));
  EXPECT_THAT(check_mfmc(file_).violations, ::testing::ElementsAre(wrong));
  EXPECT_THAT(input_error([&] { static_cast<void>(open_recording(file_)); }), wrong);
}

TEST_F(MfmcCheck, ASequenceThatWaitsForItsFirstFrameNeedsNoFieldsOfFrames) {
  MfmcMaker maker;
  maker.without = "MFMC_DATA";
  EXPECT_THAT(violations(maker), IsEmpty());
  const hid_t file = H5Fopen(file_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete(file, "/SEQUENCE<1>/PROBE_PLACEMENT_INDEX", H5P_DEFAULT);
  H5Fclose(file);
  EXPECT_THAT(check_mfmc(file_).violations, IsEmpty());
}

TEST_F(MfmcCheck, ALawIsLookedAtForEverySequenceThatUsesIt) {
  MfmcMaker{.grouped = true, .sequences = 2}.write(file_);
  const hid_t file = H5Fopen(file_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const auto references = [&](const std::string& name) {
    const hid_t set = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
    const hid_t space = H5Dget_space(set);
    std::vector<hobj_ref_t> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    H5Dread(set, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Sclose(space);
    H5Dclose(set);
    return values;
  };
  const auto put = [&](const std::string& name, const std::vector<hobj_ref_t>& values) {
    const hid_t set = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
    H5Dwrite(set, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(set);
  };
  // The second sequence takes the laws of the first, and lists another probe than they name.
  H5Ocopy(file, "/PROBES/P1", file, "/PROBES/P2", H5P_DEFAULT, H5P_DEFAULT);
  hobj_ref_t other = 0;
  H5Rcreate(&other, file, "/PROBES/P2", H5R_OBJECT, -1);
  put("/SEQUENCES/S2/PROBE_LIST", {other});
  for (const std::string name : {"TRANSMIT_LAW", "RECEIVE_LAW"})
    put("/SEQUENCES/S2/" + name, references("/SEQUENCES/S1/" + name));
  H5Fclose(file);
  EXPECT_THAT(check_mfmc(file_).violations,
              Contains(AllOf(HasSubstr("a probe that is not listed"), HasSubstr("/SEQUENCES/S2/PROBE_LIST"))));
}

TEST_F(MfmcCheck, AttributesAndDatasetsAreNotTakenForEachOther) {
  MfmcMaker maker;
  maker.without = "TIME_STEP";
  maker.write(file_);
  const hid_t file = H5Fopen(file_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hsize_t one = 1;
  const double step = 4e-8;
  const hid_t space = H5Screate_simple(1, &one, nullptr);
  const hid_t set = H5Dcreate2(file, "/SEQUENCE<1>/TIME_STEP", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &step);
  H5Dclose(set);
  H5Sclose(space);
  H5Fclose(file);
  const MfmcFindings found = check_mfmc(file_);
  ASSERT_EQ(found.violations.size(), 1U);
  EXPECT_THAT(found.violations[0], AllOf(HasSubstr("/TIME_STEP: found a dataset"), HasSubstr("expected an attribute")));
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
      const auto writer = make_frame_writer(path, a);
      writer->append(std::vector<std::byte>(a.frame_bytes()));
      writer->close();
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
    const auto writer = make_frame_writer(path, a, {.recorded = WallTime(1'700'000'000'000'000'000)});
    const std::vector<std::byte> frame(a.frame_bytes());
    writer->append(frame);
    writer->append(frame);
    writer->close();
    const MfmcFindings found = check_mfmc(path);
    EXPECT_THAT(found.violations, IsEmpty());
    EXPECT_EQ(found.version, "2.0.0");
    EXPECT_EQ(found.date_and_time, "2023-11-14 22:13:20");
    EXPECT_EQ(found.sample_type, "int16");
  }
}

}  // namespace
}  // namespace echoform::test
