// Recordings that name other files: nothing of these is read, and the message says which dataset names what.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <hdf5.h>

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

constexpr const char* data_name = "/SEQUENCE<1>/MFMC_DATA";

/// A whole recording, and beside it the same data as a dataset of another file and as bytes: what a reader that follows names
/// would read without noticing.
class MfmcElsewhere : public ::testing::Test {
 protected:
  MfmcElsewhere() {
    MfmcMaker{}.write(file_);
    MfmcMaker{}.write(other_);
    save(bytes_, std::vector<std::uint8_t>(16 * 6 * sizeof(float), 0));
  }

  /// Puts what `make` makes, given the open file, in the place of a dataset.
  template <class Make>
  void replace(const char* name, Make&& make) {
    const hid_t file = H5Fopen(file_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    ASSERT_GE(H5Ldelete(file, name, H5P_DEFAULT), 0);
    make(file);
    H5Fclose(file);
  }
  void link_outside(const char* name) {
    replace(name,
            [&](hid_t file) { EXPECT_GE(H5Lcreate_external(other_.c_str(), name, file, name, H5P_DEFAULT, H5P_DEFAULT), 0); });
  }
  static void make_dataset(hid_t file, const char* name, hid_t creation) {
    const hsize_t shape[] = {1, 16, 6};
    const hid_t space = H5Screate_simple(3, shape, nullptr);
    const hid_t set = H5Dcreate2(file, name, H5T_IEEE_F32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    EXPECT_GE(set, 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(creation);
  }

  /// What opening the file, and checking it, say.
  void expect_refused(const char* name, const std::string& found) {
    const auto line = AllOf(HasSubstr(fmt::format("{}: {}: found {}", file_.string(), name, found)),
                            HasSubstr("; expected data in the file itself"));
    EXPECT_THAT(input_error([&] { static_cast<void>(open_recording(file_)); }), line);
    EXPECT_THAT(check_mfmc(file_).violations, Contains(line));
  }

  Scratch scratch_;
  std::filesystem::path file_ = scratch_ / "made.mfmc";
  std::filesystem::path other_ = scratch_ / "other.h5";
  std::filesystem::path bytes_ = scratch_ / "bytes";
};

TEST_F(MfmcElsewhere, ExternalLinksAreRefusedWhereverTheyStand) {
  // Every dataset of the sequence, the probe and the laws that is read.
  for (const char* name :
       {data_name, "/SEQUENCE<1>/TRANSMIT_LAW", "/SEQUENCE<1>/PROBE_LIST", "/SEQUENCE<1>/PROBE_PLACEMENT_INDEX",
        "/SEQUENCE<1>/PROBE_POSITION", "/PROBE<1>/ELEMENT_POSITION", "/PROBE<1>/ELEMENT_SHAPE", "/SEQUENCE<1>/LAW<2>/ELEMENT"}) {
    MfmcMaker{}.write(file_);
    link_outside(name);
    expect_refused(name, fmt::format("an external link to {} in the file \"{}\"", name, other_.string()));
  }
}

TEST_F(MfmcElsewhere, SoftLinksLeadNoFurtherThanTheFile) {
  replace(data_name, [&](hid_t file) {
    EXPECT_GE(H5Lcreate_external(other_.c_str(), "/", file, "outside", H5P_DEFAULT, H5P_DEFAULT), 0);
    EXPECT_GE(H5Lcreate_soft("/outside/SEQUENCE<1>/MFMC_DATA", file, "within", H5P_DEFAULT, H5P_DEFAULT), 0);
    EXPECT_GE(H5Lcreate_soft("../within", file, data_name, H5P_DEFAULT, H5P_DEFAULT), 0);
  });
  expect_refused(data_name, "a link to nothing");  // HDF5 knows no ".."
  replace(data_name, [&](hid_t file) { EXPECT_GE(H5Lcreate_soft("/within", file, data_name, H5P_DEFAULT, H5P_DEFAULT), 0); });
  expect_refused(data_name, fmt::format("an external link to / in the file \"{}\"", other_.string()));
  replace(data_name, [&](hid_t file) { EXPECT_GE(H5Lcreate_soft("MFMC_DATA", file, data_name, H5P_DEFAULT, H5P_DEFAULT), 0); });
  expect_refused(data_name, "more than 16 soft links");
}

TEST_F(MfmcElsewhere, SoftLinksWithinTheFileAreFollowed) {
  const hid_t file = H5Fopen(file_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  EXPECT_GE(H5Lmove(file, data_name, file, "/samples", H5P_DEFAULT, H5P_DEFAULT), 0);
  EXPECT_GE(H5Lcreate_soft("/./PROBE<1>/alias", file, data_name, H5P_DEFAULT, H5P_DEFAULT), 0);
  EXPECT_GE(H5Lcreate_soft("/samples", file, "/PROBE<1>/alias", H5P_DEFAULT, H5P_DEFAULT), 0);
  H5Fclose(file);
  EXPECT_THAT(check_mfmc(file_).violations, IsEmpty());
  const auto recording = open_recording(file_);
  std::vector<float> samples(16 * 6);
  recording->read_frame(0, samples);
  EXPECT_EQ(samples[7], static_cast<float>(MfmcMaker::mfmc_sample(0, 0, 1, 1)));
}

TEST_F(MfmcElsewhere, ExternalStorageIsRefused) {
  replace(data_name, [&](hid_t file) {
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    EXPECT_GE(H5Pset_external(creation, bytes_.c_str(), 0, H5F_UNLIMITED), 0);
    make_dataset(file, data_name, creation);
  });
  expect_refused(data_name, fmt::format("external storage in the file \"{}\"", bytes_.string()));
}

TEST_F(MfmcElsewhere, VirtualDatasetsAreRefusedAlsoOfTheirOwnFile) {
  for (const std::string& source : {other_.string(), std::string(".")}) {
    replace(data_name, [&](hid_t file) {
      const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
      const hsize_t shape[] = {1, 16, 6};
      const hid_t space = H5Screate_simple(3, shape, nullptr);
      EXPECT_GE(H5Pset_virtual(creation, space, source.c_str(), data_name, space), 0);
      H5Sclose(space);
      make_dataset(file, data_name, creation);
    });
    expect_refused(data_name, fmt::format("a virtual dataset of the file \"{}\"", source));
  }
}

TEST_F(MfmcElsewhere, NamesOfOtherFilesCannotSteerATerminal) {
  replace(data_name, [&](hid_t file) {
    EXPECT_GE(H5Lcreate_external("a\x1b[2J\xff", "/x\n", file, data_name, H5P_DEFAULT, H5P_DEFAULT), 0);
  });
  expect_refused(data_name, "an external link to /x? in the file \"a?[2J?\"");
}

}  // namespace
}  // namespace echoform::test
