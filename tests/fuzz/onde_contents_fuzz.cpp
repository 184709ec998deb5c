// What an ONDE file holds, rather than its bytes: HDF5 itself writes the file, so it is whole, and it is read in this process.
//
// Input: a list of changes to a recording of two elements, six bytes each: item, what to change, place, and a number.
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

constexpr std::array groups{"/law1",        "/law2",  "/probe", "/way",  "/geometry",
                            "/electronics", "/setup", "/part",  "/scan", "/amplitude"};
// What references lead to, by their place here, and texts.
constexpr std::array targets{"/law1",  "/law2", "/probe",     "/way",    "/geometry", "/electronics",
                             "/setup", "/part", "/amplitude", "ONDE_UT", "FULL_WAVE", "ONDE_DATASET_UT_ASCAN"};

Item type_of(const char* group, const char* type) {
  return {.group = group, .name = "ONDE:TYPE", .attribute = true, .kind = Kind::text, .shape = {1}, .values = {}, .text = type};
}

Item refer(const char* group, const char* name, bool attribute, std::vector<double> to) {
  return {group, name, attribute, Kind::reference, {to.size()}, to};
}

std::vector<Item> recording() {
  const auto text = [](const char* group, const char* name, const char* value) {
    return Item{.group = group, .name = name, .attribute = true, .kind = Kind::text, .shape = {}, .values = {}, .text = value};
  };
  std::vector<double> samples;
  for (int n = 0; n < 64; ++n) samples.push_back(n - 31.5);
  std::vector<Item> items{
      text("/", "ONDE:FILETYPE", "ONDE_UT"),
      text("/", "ONDE:VERSION", "0.9.0"),
      type_of("/scan", "ONDE_DATASET_UT_ASCAN"),
      refer("/scan", "ONDE_DATASET:SETUP", true, {6}),
      refer("/scan", "ONDE_DATASET:AMPLITUDE_DIMENSION", true, {8}),
      {"/scan", "ONDE_DATASET:DATA", false, Kind::float32, {2, 4, 8}, samples},
      refer("/setup", "ONDE_SETUP:GEOMETRIC_SETUP", true, {4}),
      refer("/setup", "ONDE_SETUP_UT:ULTRASONIC_SETUP", true, {5}),
      refer("/geometry", "ONDE_GEOMETRIC_SETUP:PROBE_LIST", false, {2}),
      refer("/geometry", "ONDE_GEOMETRIC_SETUP:ACQUISITION_TRAJECTORY", false, {3}),
      refer("/geometry", "ONDE_GEOMETRIC_SETUP:COMPONENT", false, {7}),
      {"/geometry", "ONDE_GEOMETRIC_SETUP:PROBE_COORDINATE_FRAME", false, Kind::float64, {1, 7}, {0, 0, -0.01, 1, 0, 0, 0}},
      {"/way", "ONDE_SPATIAL_TRAJECTORY:TRAJECTORY", false, Kind::float64, {1, 7}, {0, 0, 0, 1, 0, 0, 0}},
      {"/part", "ONDE_COMPONENT:VELOCITIES", true, Kind::float64, {2}, {5900, 3240}},
      {"/amplitude", "ONDE_DIMENSION:SCALE", true, Kind::float64, {1}, {0.5}},
      {"/amplitude", "ONDE_DIMENSION:OFFSET", true, Kind::float64, {1}, {0}},
      text("/electronics", "ONDE_ULTRASONIC_SETUP:RECTIFICATION", "FULL_WAVE"),
      {"/electronics", "ONDE_ULTRASONIC_SETUP:ASCAN_SAMPLE_RATE", true, Kind::float64, {1}, {5e7}},
      {"/electronics", "ONDE_ULTRASONIC_SETUP:ASCAN_START", false, Kind::float64, {1}, {1e-6}},
      {"/electronics", "ONDE_ULTRASONIC_SETUP:GAIN", false, Kind::float64, {4}, {1, 1, 1, 1}},
      refer("/electronics", "ONDE_ULTRASONIC_SETUP:TRANSMIT_LAW", false, {0, 0, 1, 1}),
      refer("/electronics", "ONDE_ULTRASONIC_SETUP:RECEIVE_LAW", false, {0, 1, 0, 1}),
      refer("/probe", "ONDE_UT_PROBE:COUPLING", true, {7}),
      {"/probe", "ONDE_UT_PROBE:FREQUENCY", true, Kind::float64, {1}, {5e6}},
      {"/probe", "ONDE_UT_ELEMENTS:FRAME", false, Kind::float64, {2, 7}, {0, 0, 0, 1, 0, 0, 0, 1e-3, 0, 0, 1, 0, 0, 0}},
      {"/probe", "ONDE_UT_ELEMENTS:SIZE", false, Kind::float64, {1, 6}, {5e-4, 1e-2, 0, 0, 0, 0}},
      {"/probe", "ONDE_UT_ELEMENTS:DEAD_ELEMENT", false, Kind::int32, {2}, {0, 1}}};
  for (const auto& [law, element] : {std::pair{"/law1", 1.0}, std::pair{"/law2", 2.0}}) {
    items.push_back(refer(law, "ONDE_UT_LAW:PROBE", false, {2}));
    items.push_back({law, "ONDE_UT_LAW:ELEMENT", false, Kind::int32, {1}, {element}});
    items.push_back({law, "ONDE_UT_LAW:DELAY", false, Kind::float64, {1}, {0}});
    items.push_back({law, "ONDE_UT_LAW:WEIGHTING", false, Kind::float64, {1}, {1}});
    Item index{law, "ONDE_PROBE_SELECT:PROBE_INDEX", false, Kind::int32, {1}, {0}};
    index.left_out = true;
    items.push_back(index);
  }
  return items;
}

}  // namespace
}  // namespace echoform

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  static const fuzz::InputFile file(".onde");
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  fuzz::Input input(data, size);
  std::vector<Item> items = recording();
  for (int count = 0; count < 64 && !input.empty(); ++count) fuzz::change(items, input, targets);
  const hid_t made = H5Fcreate(file.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  fuzz::require(made >= 0, "HDF5 makes a file");
  for (const char* const group : groups) H5Gclose(H5Gcreate2(made, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  for (const Item& item : items) fuzz::write_item(made, item, targets);
  H5Fclose(made);
  fuzz::check_recording(
      [&] { return formats::open_as(formats::onde_format, file.path(), fuzz::small_recordings, formats::Trial::none); });
  return 0;
}
