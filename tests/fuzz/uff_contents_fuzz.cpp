// What a file of USTB holds, rather than its bytes: HDF5 itself writes the file, so it is whole, and it is read in this process,
// without the trial run in another that keeps a crash of HDF5 from being one of ours.
//
// Input: whether samples are complex (bit 0) and all waves light (bit 1), and a list of changes to a recording of three elements
// and three waves, six bytes each: item, what to change, place, and a number.
#include <hdf5.h>

#include <array>
#include <cmath>
#include <vector>

#include "formats/recording_formats.hpp"
#include "tests/fuzz/hdf5_items.hpp"
#include "tests/fuzz/recording_check.hpp"

namespace echoform {
namespace {

using fuzz::Item;
using fuzz::Kind;

constexpr std::array targets{"uff.channel_data", "uff.beamformed_data", "/channel_data"};
constexpr std::array groups{"/channel_data",
                            "/channel_data/probe",
                            "/channel_data/sequence",
                            "/channel_data/sequence/sequence_0001",
                            "/channel_data/sequence/sequence_0001/source",
                            "/channel_data/sequence/sequence_0002",
                            "/channel_data/sequence/sequence_0002/source",
                            "/channel_data/sequence/sequence_0003",
                            "/channel_data/sequence/sequence_0003/source",
                            "/channel_data/pulse"};
constexpr const char* parts = "/channel_data/data";

std::vector<Item> recording(bool complex, bool light) {
  const auto scalar = [](const char* group, const char* name, double value) {
    return Item{.group = group, .name = name, .attribute = false, .kind = Kind::float32, .shape = {1, 1}, .values = {value}};
  };
  const auto left_out = [](Item item) {
    item.left_out = true;
    return item;
  };
  std::vector<double> samples;
  for (int n = 0; n < 90; ++n) samples.push_back(n - 44.5);
  std::vector<Item> items{
      {"/channel_data", "class", true, Kind::text, {}, {}, "uff.channel_data"},
      scalar(groups[0], "sampling_frequency", 2e7),
      scalar(groups[0], "initial_time", 1e-6),
      scalar(groups[0], "sound_speed", 1540),
      scalar(groups[0], "modulation_frequency", complex ? 5e6 : 0.0),
      {groups[1], "geometry", false, Kind::float32, {7, 3}, {-3e-4, 0, 3e-4, 0, 0,    0,    0,    0,    0,    0,   0,
                                                             0,     0, 0,    0, 2e-4, 2e-4, 2e-4, 5e-3, 5e-3, 5e-3}},
      left_out(scalar(groups[2], "source", 0.0)),
      scalar(groups[9], "center_frequency", 5e6),
      scalar(groups[9], "fractional_bandwidth", 0.6)};
  if (complex) {
    items.push_back({parts, "real", false, Kind::float32, {2, 3, 3, 5}, samples});
    items.push_back({parts, "imag", false, Kind::float32, {2, 3, 3, 5}, samples});
  } else {
    items.push_back({groups[0], "data", false, Kind::float32, {2, 3, 3, 5}, samples});
  }
  // A plane wave, a virtual source and an element.
  const std::array distances{HUGE_VAL, 0.02, 3e-4};
  const std::array azimuths{0.1, 3.0, 1.5707963};
  for (std::size_t k = 0; k < 3; ++k) {
    const char* const wave = groups[3 + 2 * k];
    const char* const source = groups[4 + 2 * k];
    items.push_back(scalar(wave, "wavefront", light ? 2.0 : k == 0 ? 0.0 : 1.0));
    items.push_back(scalar(wave, "delay", 1e-7));
    items.push_back(scalar(wave, "sound_speed", 1540));
    items.push_back(scalar(source, "distance", distances[k]));
    items.push_back(scalar(source, "azimuth", azimuths[k]));
    items.push_back(scalar(source, "elevation", 0.0));
  }
  return items;
}

}  // namespace
}  // namespace echoform

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  static const fuzz::InputFile file(".uff");
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  fuzz::Input input(data, size);
  const auto kind = input.take<std::uint8_t>();
  const bool complex = (kind & 1U) != 0;
  std::vector<Item> items = recording(complex, (kind & 2U) != 0);
  for (int count = 0; count < 64 && !input.empty(); ++count) fuzz::change(items, input, targets);
  const hid_t made = H5Fcreate(file.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  fuzz::require(made >= 0, "HDF5 makes a file");
  for (const char* const group : groups) H5Gclose(H5Gcreate2(made, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  if (complex) H5Gclose(H5Gcreate2(made, parts, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  for (const Item& item : items) fuzz::write_item(made, item, targets);
  H5Fclose(made);
  RecordingOptions options = fuzz::small_recordings;
  options.detectors = options.limits.elements;
  fuzz::check_recording([&] { return formats::open_as(formats::uff_format, file.path(), options, formats::Trial::none); });
  return 0;
}
