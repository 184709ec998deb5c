// What the file of a scan holds, rather than its bytes: HDF5 itself writes the file, so it is whole, and it is read in this
// process, without the trial run in another that keeps a crash of HDF5 from being one of ours.
//
// Input: a list of changes to a scan of two cells, six bytes each: item, what to change, place, and a number.
#include <hdf5.h>

#include <array>
#include <vector>

#include "base/errors.hpp"
#include "formats/scan_file.hpp"
#include "tests/fuzz/hdf5_items.hpp"

namespace echoform {
namespace {

using fuzz::Item;
using fuzz::Kind;

constexpr std::array targets{"LL", "maximum", "/"};
constexpr std::size_t across = 3;
constexpr std::size_t down = 2;

std::vector<Item> scan() {
  const auto text = [](const char* name, const char* value) {
    return Item{.group = "/", .name = name, .attribute = true, .kind = Kind::text, .shape = {}, .values = {}, .text = value};
  };
  const auto bytes = [](const char* name) {
    return Item{.group = "/", .name = name, .attribute = false, .kind = Kind::int8, .shape = {4}, .values = {91, 97, 93, 10}};
  };
  return {text("TYPE", "ECHOFORM_SCAN"),
          text("VERSION", "1"),
          text("composition", "maximum"),
          text("acquisition", "16 elements"),
          bytes("settings"),
          bytes("hello"),
          {"/", "cells", false, Kind::uint64, {2}, {3, 4}},
          {"/", "counts", false, Kind::uint64, {4}, {1, 0, 0, 0}},
          {"/", "envelope.0", false, Kind::float32, {down, across}, {0, 1, 2, 3, 4, 5}},
          {"/", "x", false, Kind::float64, {across}, {-1e-3, 0, 1e-3}},
          {"/", "z", false, Kind::float64, {down}, {5e-3, 6e-3}}};
}

template <class Read>
void check(const Read& read) {
  try {
    read();
  } catch (const InputError& error) {
    fuzz::require_one_line(error.what());
  }
}

}  // namespace
}  // namespace echoform

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  static const fuzz::InputFile file(".h5");
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  fuzz::Input input(data, size);
  std::vector<Item> items = scan();
  for (int count = 0; count < 64 && !input.empty(); ++count) fuzz::change(items, input, targets);
  const hid_t made = H5Fcreate(file.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  fuzz::require(made >= 0, "HDF5 makes a file");
  for (const Item& item : items) fuzz::write_item(made, item, targets);
  H5Fclose(made);
  Grid grid;
  grid.x = {Metres(-1e-3), Metres(1e-3), across};
  grid.z = {Metres(5e-3), Metres(6e-3), down};
  const InputFile opened(file.path(), "a scan");
  check([&] {
    const ScanFileMakings makings = read_scan_makings(opened);
    for (const auto& other : {ScanFileMakings{}, makings}) {
      const ScanDifference differs = difference(makings, other);
      if (!differs.found.empty()) fuzz::require_one_line(differs.found + differs.expected);
    }
  });
  check([&] {
    ScanRecord record(grid, {"LL"}, Composition::maximum);
    ScanRecord::Contents contents = read_scan_contents(opened, record);
    fuzz::require(contents.images.size() == 1 && contents.images[0].envelope.size() == across * down, "an image of the grid");
    fuzz::require(std::is_sorted(contents.cells.begin(), contents.cells.end()), "cells in ascending order");
    const std::size_t cells = contents.cells.size();
    record.restore(std::move(contents));
    fuzz::require(record.counts().cells <= cells, "no more cells than the file has");
  });
  return 0;
}
