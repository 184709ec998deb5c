// Scans in files: they go on bit by bit, and what is not the same is told.
#include <gtest/gtest.h>

#include <complex>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/image_writer.hpp"
#include "formats/scan_file.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

Grid volume() {
  Grid grid;
  grid.x = {Metres(-2e-3), Metres(2e-3), 5};
  grid.y = {Metres(0.0), Metres(1e-3), 2};
  grid.z = {Metres(1e-3), Metres(4e-3), 4};
  return grid;
}

ScanMakings makings() {
  ScanMakings makings;
  makings.acquisition.probe = make_linear_probe(4, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(0.0));
  makings.acquisition.samples = 64;
  makings.acquisition.sample_rate = Hertz(40e6);
  makings.settings = {"[material] longitudinal_velocity = 6320", "[scan] path = \"line\""};
  return makings;
}

/// Some positions' images, all different.
void grow(ScanRecord& record, int from, int to) {
  Grid part = volume();
  part.x = {Metres(-1e-3), Metres(1e-3), 3};
  for (int k = from; k < to; ++k) {
    std::vector<std::complex<float>> sums(part.pixels());
    std::vector<float> envelopes(part.pixels());
    for (std::size_t p = 0; p < sums.size(); ++p) {
      sums[p] = {static_cast<float>(p) / static_cast<float>(k + 3), 0.1F * static_cast<float>(k)};
      envelopes[p] = std::abs(sums[p]);
    }
    const bool coherent = record.composition() == Composition::coherent;
    const auto whole = record.whole_frame();
    for (std::size_t view = 0; view < record.images().size(); ++view) {
      record.add(view, part, {static_cast<std::size_t>(k % 3), 1, 5, 10},
                 coherent ? static_cast<const void*>(sums.data()) : envelopes.data());
    }
    record.close(3 * k - 7);
  }
}

template <class Value>
bool same_bits(const std::vector<Value>& a, const std::vector<Value>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Value)) == 0);
}

class ScanFiles : public testing::TestWithParam<Composition> {};

TEST_P(ScanFiles, GoOnAsIfNothingHadHappened) {
  const Scratch folder;
  const auto path = folder / "scan.h5";
  const std::vector<std::string> views{"LL", "TT"};
  ScanRecord through(volume(), views, GetParam(), makings());
  grow(through, 0, 9);
  ScanRecord before(volume(), views, GetParam(), makings());
  before.count_repeated();
  before.refuse("why not");
  grow(before, 0, 4);
  write_scan_file(path, makings_of(before.makings()), GetParam(), volume(), before.contents());

  try_scan_file(path);
  const ScanFileMakings found = read_scan_makings(path);
  EXPECT_EQ(found.settings, makings().settings);
  EXPECT_TRUE(difference(found, makings_of(makings())).found.empty());
  ScanRecord after(volume(), views, GetParam(), makings());
  after.restore(read_scan_contents(path, after));
  EXPECT_EQ(after.counts().cells, 4U);
  EXPECT_EQ(after.counts().repeated, 1U);
  EXPECT_EQ(after.counts().refused, 1U);
  EXPECT_TRUE(after.has(-7));
  EXPECT_FALSE(after.has(5));
  grow(after, 4, 9);
  for (std::size_t k = 0; k < views.size(); ++k) {
    EXPECT_TRUE(same_bits(after.images()[k].envelope, through.images()[k].envelope));
    EXPECT_TRUE(same_bits(after.images()[k].sum, through.images()[k].sum));
    EXPECT_TRUE(same_bits(after.images()[k].covered, through.images()[k].covered));
  }
  // Written over, whole.
  write_scan_file(path, makings_of(after.makings()), GetParam(), volume(), after.contents());
  EXPECT_EQ(read_scan_contents(path, before).cells.size(), 9U);
  // As a clear that somebody has asked for will leave it.
  after.clear();
  EXPECT_EQ(after.contents().cells.size(), 0U);
  EXPECT_EQ(after.counts().cells, 9U) << "until the next frame";
}

INSTANTIATE_TEST_SUITE_P(, ScanFiles, testing::Values(Composition::maximum, Composition::coherent),
                         [](const auto& of) { return of.param == Composition::coherent ? "coherent" : "maximum"; });

// HDF5 holds the errors of each thread, and cannot close at the program's end while those of one that has ended are left.
TEST(ScanFile, LeavesNoErrorsOfHdf5ToItsThread) {
  const Scratch folder;
  ScanRecord record(volume(), {"LL"}, Composition::coherent, makings());
  grow(record, 0, 2);
  write_scan_file(folder / "scan.h5", makings_of(record.makings()), record.composition(), volume(), record.contents());
  EXPECT_EQ(H5Eget_num(H5E_DEFAULT), 0);
  {
    const formats::Hdf5Session session;
    EXPECT_LT(H5Fopen((folder / "no such file").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), 0);
    EXPECT_GT(H5Eget_num(H5E_DEFAULT), 0);
  }
  EXPECT_EQ(H5Eget_num(H5E_DEFAULT), 0);
}

TEST(ScanFile, TellsWhatDiffers) {
  const ScanFileMakings here = makings_of(makings());
  const auto differ = [&](const std::function<void(ScanMakings&)>& change) {
    ScanMakings other = makings();
    change(other);
    const ScanDifference differs = difference(makings_of(other), here);
    return differs.found + " | " + differs.expected;
  };
  EXPECT_EQ(differ([](ScanMakings& m) { m.settings[0] = "[material] longitudinal_velocity = 6300"; }),
            "[material] longitudinal_velocity = 6300 | [material] longitudinal_velocity = 6320");
  EXPECT_EQ(differ([](ScanMakings& m) { m.settings.pop_back(); }), "no [scan] path | [scan] path = \"line\"");
  EXPECT_EQ(differ([](ScanMakings& m) { m.settings.emplace_back("[probe] angle = 3"); }), "[probe] angle = 3 | no [probe] angle");
  EXPECT_EQ(differ([](ScanMakings& m) { m.acquisition.samples = 65; }), acquisition_text([] {
                                                                          Acquisition a = makings().acquisition;
                                                                          a.samples = 65;
                                                                          return a;
                                                                        }()) +
                                                                            " | " + acquisition_text(makings().acquisition));
  EXPECT_EQ(differ([](ScanMakings& m) { m.acquisition.probe.elements[2].centre.z = Metres(-1e-6); }),
            acquisition_text(makings().acquisition) + ", of other elements, events or times | those of the sender");
}

TEST(ScanFile, WhatIsNoneIsOneLine) {
  const Scratch folder;
  const auto path = folder / "scan.h5";
  ScanRecord record(volume(), {"LL"}, Composition::maximum, makings());
  EXPECT_NE(input_error([&] { static_cast<void>(read_scan_makings(path)); }), "");
  std::ofstream(path) << "no HDF5";
  EXPECT_NE(input_error([&] { static_cast<void>(read_scan_makings(path)); }).find(path.string()), std::string::npos);
  write_scan_file(path, makings_of(makings()), Composition::maximum, volume(), record.contents());
  EXPECT_EQ(read_scan_contents(path, record).cells.size(), 0U) << "an empty one";
  const ScanRecord coherent(volume(), {"LL"}, Composition::coherent, makings());
  EXPECT_EQ(input_error([&] { static_cast<void>(read_scan_contents(path, coherent)); }),
            path.string() + ": found composition maximum; expected coherent");
  const ScanRecord other(volume(), {"TT"}, Composition::maximum, makings());
  EXPECT_EQ(input_error([&] { static_cast<void>(read_scan_contents(path, other)); }),
            path.string() + ": found view LL; expected TT");
  const ScanRecord of_two(volume(), {"LL", "TT"}, Composition::maximum, makings());
  const auto two = folder / "two.h5";
  write_scan_file(two, makings_of(makings()), Composition::maximum, volume(), of_two.contents());
  EXPECT_EQ(input_error([&] { static_cast<void>(read_scan_contents(two, record)); }),
            two.string() + ": found more views than that; expected 1");
  const auto image = folder / "image.h5";
  const std::vector<float> values(volume().pixels(), 1.0F);
  make_image_writer(image)->write({.grid = volume(), .envelope = values});
  EXPECT_EQ(input_error([&] { static_cast<void>(read_scan_makings(image)); }),
            image.string() + ": found no TYPE; expected a file of TYPE ECHOFORM_SCAN");
  Grid wider = volume();
  wider.x.count = 6;
  const ScanRecord larger(wider, {"LL"}, Composition::maximum, makings());
  EXPECT_NE(input_error([&] { static_cast<void>(read_scan_contents(path, larger)); }).find("4 x 2 x 5"), std::string::npos);
  // Cut anywhere: HDF5 notices, or the numbers do.
  std::ifstream whole(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(whole)), {});
  for (std::size_t part = 1; part < 8; ++part) {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size() * part / 8));
    EXPECT_NE(input_error([&] { try_scan_file(path); }), "") << part;
  }
}

}  // namespace
}  // namespace echoform::test
