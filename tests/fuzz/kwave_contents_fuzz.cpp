// What a file of k-Wave holds, rather than its bytes: HDF5 itself writes the file, so it is whole, and it is read in this
// process, without the trial run in another that keeps a crash of HDF5 from being one of ours.
//
// Input: a list of changes to a recording of four sensors, six bytes each: item, what to change, place, and a number.
#include <hdf5.h>

#include <array>
#include <vector>

#include "formats/recording_formats.hpp"
#include "tests/fuzz/hdf5_items.hpp"
#include "tests/fuzz/recording_check.hpp"

namespace echoform {
namespace {

using fuzz::Item;
using fuzz::Kind;

constexpr std::array targets{"output", "input", "/"};

std::vector<Item> recording() {
  const auto scalar = [](const char* name, Kind kind, double value) {
    return Item{.group = "/", .name = name, .attribute = false, .kind = kind, .shape = {1, 1, 1}, .values = {value}};
  };
  Item velocities{"/", "c0", false, Kind::float32, {1, 2, 2}, {1500, 1510, 1520, 1530}};
  velocities.left_out = true;
  std::vector<double> samples;
  for (int n = 0; n < 20; ++n) samples.push_back(n - 9.5);
  return {
      Item{.group = "/", .name = "file_type", .attribute = true, .kind = Kind::text, .shape = {}, .values = {}, .text = "output"},
      scalar("Nx", Kind::uint64, 6),
      scalar("Ny", Kind::uint64, 5),
      scalar("Nz", Kind::uint64, 1),
      scalar("Nt", Kind::uint64, 5),
      scalar("dt", Kind::float32, 5e-8),
      scalar("dx", Kind::float32, 1e-4),
      scalar("dy", Kind::float32, 1e-4),
      scalar("dz", Kind::float32, 1e-4),
      scalar("c_ref", Kind::float32, 1500),
      velocities,
      scalar("sensor_mask_type", Kind::uint64, 0),
      {"/", "sensor_mask_index", false, Kind::uint64, {1, 1, 4}, {1, 6, 25, 30}},
      {"/", "p", false, Kind::float32, {1, 5, 4}, samples}};
}

}  // namespace
}  // namespace echoform

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  static const fuzz::InputFile file(".h5");
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  fuzz::Input input(data, size);
  std::vector<Item> items = recording();
  for (int count = 0; count < 64 && !input.empty(); ++count) fuzz::change(items, input, targets);
  const hid_t made = H5Fcreate(file.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  fuzz::require(made >= 0, "HDF5 makes a file");
  for (const Item& item : items) fuzz::write_item(made, item, targets);
  H5Fclose(made);
  RecordingOptions options = fuzz::small_recordings;
  options.detectors = options.limits.elements;
  fuzz::check_recording([&] { return formats::open_as(formats::kwave_format, file.path(), options, formats::Trial::none); });
  return 0;
}
