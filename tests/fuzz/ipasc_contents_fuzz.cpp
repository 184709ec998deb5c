// What an IPASC file holds, rather than its bytes: HDF5 itself writes the file, so it is whole, and it is read in this process,
// without the trial run in another that keeps a crash of HDF5 from being one of ours.
//
// Input: a list of changes to a recording of three detectors, six bytes each: item, what to change, place, and a number.
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

constexpr std::array targets{"None", "CUBOID", "CIRCULAR", "SPHERE", "MESH", "/meta_data"};
constexpr std::array groups{"/meta_data",
                            "/meta_data_device",
                            "/meta_data_device/general",
                            "/meta_data_device/detectors",
                            "/meta_data_device/detectors/0000000000",
                            "/meta_data_device/detectors/0000000001",
                            "/meta_data_device/detectors/detection_element_2"};

std::vector<Item> recording() {
  constexpr const char* about = groups[0];
  constexpr const char* general = groups[2];
  const auto text = [](const char* group, const char* name, const char* value) {
    return Item{.group = group, .name = name, .kind = Kind::text, .shape = {}, .values = {}, .text = value};
  };
  const auto left_out = [](Item item) {
    item.left_out = true;
    return item;
  };
  std::vector<double> samples;
  for (int n = 0; n < 36; ++n) samples.push_back(n - 17.5);
  std::vector<Item> items{{"/", "binary_time_series_data", false, Kind::float32, {3, 3, 2, 2}, samples},
                          {about, "ad_sampling_rate", false, Kind::float64, {}, {4e7}},
                          {about, "acquisition_wavelengths", false, Kind::float64, {2}, {7e-7, 8.5e-7}},
                          {about, "pulse_energy", false, Kind::float64, {2}, {0.01, 0.02}},
                          {about, "speed_of_sound", false, Kind::float64, {}, {1500}},
                          {about, "measurement_timestamps", false, Kind::float64, {2}, {1.7e9, 1.7e9}},
                          {about, "measurement_spatial_poses", false, Kind::float64, {2, 6}, {0}},
                          {general, "num_detectors", false, Kind::int32, {}, {3}},
                          text(general, "unique_identifier", "a"),
                          left_out({about, "echoform_dead_detectors", false, Kind::int32, {2}, {0, 2}}),
                          left_out({"/", "TYPE", true, Kind::text, {}, {}, "MFMC"})};
  for (std::size_t k = 0; k < 3; ++k) {
    const char* const group = groups[4 + k];
    const auto place = static_cast<double>(k) - 1.0;
    items.push_back({group, "detector_position", false, Kind::float64, {3}, {0.01 * place, 0.0, 0.04}});
    items.push_back({group, "detector_orientation", false, Kind::float64, {3}, {0.0, 0.0, -1.0}});
    items.push_back({group, "detector_geometry", false, Kind::float64, {3}, {1e-3, 2e-3, 0.0}});
    items.push_back(text(group, "detector_geometry_type", "CUBOID"));
  }
  return items;
}

void write_recording(const std::filesystem::path& path, const std::vector<Item>& items) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  fuzz::require(file >= 0, "HDF5 makes a file");
  for (const char* const group : groups) H5Gclose(H5Gcreate2(file, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  for (const Item& item : items) fuzz::write_item(file, item, targets);
  H5Fclose(file);
}

}  // namespace
}  // namespace echoform

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  static const fuzz::InputFile file(".hdf5");
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  fuzz::Input input(data, size);
  std::vector<Item> items = recording();
  for (int count = 0; count < 64 && !input.empty(); ++count) fuzz::change(items, input, targets);
  write_recording(file.path(), items);
  RecordingOptions options = fuzz::small_recordings;
  options.detectors = options.limits.elements;
  fuzz::check_recording([&] { return formats::open_as(formats::ipasc_format, file.path(), options, formats::Trial::none); });
  return 0;
}
