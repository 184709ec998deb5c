// What an MFMC file holds, rather than its bytes: HDF5 itself writes the file, so it is whole, and it is read in this process,
// without the trial run in another that keeps a crash of HDF5 from being one of ours.
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

constexpr std::array targets{"/PROBE<1>",           "/SEQUENCE<1>",           "/SEQUENCE<1>/LAW<1>",
                             "/SEQUENCE<1>/LAW<2>", "/SEQUENCE<1>/MFMC_DATA", "/",
                             "/SEQUENCE<1>/LAW<3>", "/SEQUENCE<1>/LAW<4>"};

std::vector<Item> recording() {
  constexpr const char* probe = "/PROBE<1>";
  constexpr const char* sequence = "/SEQUENCE<1>";
  constexpr const char* first = "/SEQUENCE<1>/LAW<1>";
  constexpr const char* second = "/SEQUENCE<1>/LAW<2>";
  // Of both elements; nobody transmits by them unless a change says so.
  constexpr const char* third = "/SEQUENCE<1>/LAW<3>";
  constexpr const char* fourth = "/SEQUENCE<1>/LAW<4>";
  const auto text = [](const char* group, const char* name, const char* value) {
    return Item{.group = group, .name = name, .attribute = true, .kind = Kind::text, .shape = {}, .values = {}, .text = value};
  };
  std::vector<double> samples;
  for (int n = 0; n < 24; ++n) samples.push_back(n - 11.5);
  const auto left_out = [](Item item) {
    item.left_out = true;
    return item;
  };
  return {text("/", "TYPE", "MFMC"),
          text("/", "VERSION", "2.0.0"),
          text(probe, "TYPE", "PROBE"),
          text(sequence, "TYPE", "SEQUENCE"),
          text(first, "TYPE", "LAW"),
          text(second, "TYPE", "LAW"),
          {probe, "ELEMENT_POSITION", false, Kind::float64, {2, 3}, {0, 0, 0, 6e-4, 0, 0}},
          {probe, "ELEMENT_MAJOR", false, Kind::float64, {2, 3}, {0, 5e-3, 0, 0, 5e-3, 0}},
          {probe, "ELEMENT_MINOR", false, Kind::float64, {2, 3}, {-2e-4, 0, 0, -2e-4, 0, 0}},
          {probe, "ELEMENT_SHAPE", false, Kind::int32, {2}, {1, 1}},
          {probe, "DEAD_ELEMENT", false, Kind::int8, {2}, {0, 0}},
          {probe, "CENTRE_FREQUENCY", true, Kind::float64, {1}, {5e6}},
          {probe, "BANDWIDTH", true, Kind::float64, {1}, {3e6}},
          {first, "ELEMENT", false, Kind::int32, {1}, {1}},
          {second, "ELEMENT", false, Kind::int32, {1}, {2}},
          {first, "PROBE", false, Kind::reference, {1}, {0}},
          {second, "PROBE", false, Kind::reference, {1}, {0}},
          {first, "DELAY", false, Kind::float64, {1}, {0}},
          {second, "WEIGHTING", false, Kind::float64, {1}, {1}},
          {sequence, "MFMC_DATA", false, Kind::float32, {2, 4, 3}, samples},
          {sequence, "TIME_STEP", true, Kind::float64, {1}, {4e-8}},
          {sequence, "START_TIME", true, Kind::float64, {1}, {1e-6}},
          {sequence, "SPECIMEN_VELOCITY", true, Kind::float64, {2}, {3100, 6300}},
          {sequence, "PROBE_LIST", true, Kind::reference, {1}, {0}},
          {sequence, "TRANSMIT_LAW", false, Kind::reference, {4}, {2, 2, 3, 3}},
          {sequence, "RECEIVE_LAW", false, Kind::reference, {4}, {2, 3, 2, 3}},
          {sequence, "PROBE_PLACEMENT_INDEX", false, Kind::int32, {2, 4}, {1, 1, 1, 1, 1, 1, 1, 1}},
          {sequence, "PROBE_POSITION", false, Kind::float64, {1, 1, 3}, {0, 0, 0}},
          {sequence, "PROBE_X_DIRECTION", false, Kind::float64, {1, 1, 3}, {1, 0, 0}},
          {sequence, "PROBE_Y_DIRECTION", false, Kind::float64, {1, 1, 3}, {0, 1, 0}},
          {sequence, "WEDGE_VELOCITY", true, Kind::float64, {2}, {1100, 2300}},
          {probe, "WEDGE_SURFACE_POINT", true, Kind::float64, {3}, {0, 0, 0.01}},
          {probe, "WEDGE_SURFACE_NORMAL", true, Kind::float64, {3}, {0.5, 0, 0.8}},
          text(third, "TYPE", "LAW"),
          text(fourth, "TYPE", "LAW"),
          {third, "ELEMENT", false, Kind::int32, {2}, {1, 2}},
          {fourth, "ELEMENT", false, Kind::int32, {2}, {1, 2}},
          {third, "PROBE", false, Kind::reference, {2}, {0}},
          {fourth, "PROBE", false, Kind::reference, {2}, {0}},
          {third, "DELAY", false, Kind::float64, {2}, {0, 3e-8}},
          {fourth, "WEIGHTING", false, Kind::float64, {2}, {1, -1}},
          left_out({sequence, "TRANSMIT_LAW", false, Kind::reference, {4}, {6, 6, 7, 7}}),
          left_out({third, "ECHOFORM_PLANE_WAVE", true, Kind::float64, {3}, {5e-5, 0, 1.5e-8}}),
          left_out({third, "ECHOFORM_POINT_WAVE", true, Kind::float64, {5}, {0, 0, -0.01, 6300, 0}}),
          left_out({fourth, "ECHOFORM_CODE", true, Kind::int32, {1}, {1}}),
          left_out({sequence, "ECHOFORM_EVENTS", true, Kind::int32, {1}, {2}}),
          left_out({sequence, "ECHOFORM_ENCODER_COUNT", false, Kind::int32, {2, 1}, {-41, 1200}})};
}

void write_recording(const std::filesystem::path& path, const std::vector<Item>& items) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  fuzz::require(file >= 0, "HDF5 makes a file");
  for (const char* group : {"/PROBE<1>", "/SEQUENCE<1>", "/SEQUENCE<1>/LAW<1>", "/SEQUENCE<1>/LAW<2>", "/SEQUENCE<1>/LAW<3>",
                            "/SEQUENCE<1>/LAW<4>"}) {
    H5Gclose(H5Gcreate2(file, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
  // References last: they may point at any item.
  for (const bool references : {false, true}) {
    for (const Item& item : items) {
      if ((item.kind == Kind::reference) == references) fuzz::write_item(file, item, targets);
    }
  }
  H5Fclose(file);
}

}  // namespace
}  // namespace echoform

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  static const fuzz::InputFile file(".mfmc");
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  fuzz::Input input(data, size);
  std::vector<Item> items = recording();
  for (int count = 0; count < 64 && !input.empty(); ++count) fuzz::change(items, input, targets);
  write_recording(file.path(), items);
  fuzz::check_recording(
      [&] { return formats::open_as(formats::mfmc_format, file.path(), fuzz::small_recordings, formats::Trial::none); });
  return 0;
}
