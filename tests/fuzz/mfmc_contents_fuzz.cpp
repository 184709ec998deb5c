// What an MFMC file holds, rather than its bytes: HDF5 itself writes the file, so it is whole, and it is read in this process,
// without the trial run in another that keeps a crash of HDF5 from being one of ours.
//
// Input: a list of changes to a recording of two elements, six bytes each: item, what to change, place, and a number.
#include <hdf5.h>

#include <array>
#include <limits>
#include <vector>

#include "formats/readers.hpp"
#include "tests/fuzz/recording_check.hpp"

namespace echoform {
namespace {

enum class Kind : std::uint8_t { float64, float32, int32, int8, uint64, text, reference, compound };
constexpr std::size_t kinds = 8;

struct Item {
  const char* group;
  const char* name;
  bool attribute = false;
  Kind kind = Kind::float64;
  std::vector<hsize_t> shape;
  std::vector<double> values;  // of references: places in `targets`
  std::string text{};
  bool left_out = false;
};

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

double unusual(std::uint16_t number) {
  constexpr std::array values{std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity(),
                              -1.0,
                              -0.0,
                              1e308,
                              -1e308,
                              1e-308,
                              1e-13,
                              4294967296.0,
                              2147483648.0,
                              0.5,
                              1e40,
                              1.8446744073709552e19,
                              1e-5};
  return number < values.size() ? values[number] : static_cast<double>(static_cast<std::int16_t>(number));
}

void change(std::vector<Item>& items, fuzz::Input& input) {
  Item& item = items[input.take<std::uint8_t>() % items.size()];
  const auto what = input.take<std::uint8_t>();
  const auto place = input.take<std::uint16_t>();
  const auto number = input.take<std::uint16_t>();
  switch (what % 8) {
    case 0:
      item.left_out = !item.left_out;
      break;
    case 1:
      item.kind = static_cast<Kind>(number % kinds);
      break;
    case 2:
      item.attribute = !item.attribute;
      break;
    case 3:
      if (!item.values.empty()) item.values[place % item.values.size()] = unusual(number);
      break;
    case 4:
      if (!item.shape.empty()) item.shape[place % item.shape.size()] = number % 70;
      break;
    case 5:
      if (item.shape.size() < 4) item.shape.push_back(number % 5);
      break;
    case 6:
      if (!item.shape.empty()) item.shape.pop_back();
      break;
    default:
      item.text = number % 3 == 0   ? targets[place % targets.size()]
                  : number % 3 == 1 ? items[place % items.size()].text
                                    : std::string(number % 300, '\n');
  }
}

void write_item(hid_t file, const Item& item) {
  const hid_t group = H5Gopen2(file, item.group, H5P_DEFAULT);
  std::size_t points = 1;
  for (const hsize_t size : item.shape) points *= size;
  if (item.left_out || points > 100'000 || group < 0) {
    H5Gclose(group);
    return;
  }
  const hid_t space = item.shape.empty() ? H5Screate(H5S_SCALAR)
                                         : H5Screate_simple(static_cast<int>(item.shape.size()), item.shape.data(), nullptr);
  hid_t type = -1;
  hid_t memory = H5T_NATIVE_DOUBLE;
  std::vector<double> numbers(points);
  for (std::size_t k = 0; k < points && !item.values.empty(); ++k) numbers[k] = item.values[k % item.values.size()];
  std::vector<hobj_ref_t> references(points, 0);
  std::string text;
  const void* values = numbers.data();
  switch (item.kind) {
    case Kind::float64:
      type = H5Tcopy(H5T_IEEE_F64LE);
      break;
    case Kind::float32:
      type = H5Tcopy(H5T_IEEE_F32BE);
      break;
    case Kind::int32:
      type = H5Tcopy(H5T_STD_I32LE);
      break;
    case Kind::int8:
      type = H5Tcopy(H5T_STD_I8LE);
      break;
    case Kind::uint64:
      type = H5Tcopy(H5T_STD_U64BE);
      break;
    case Kind::text:
      type = H5Tcopy(H5T_C_S1);
      H5Tset_size(type, std::max<std::size_t>(item.text.size(), 1));
      H5Tset_strpad(type, H5T_STR_NULLPAD);
      for (std::size_t k = 0; k < points; ++k) text += item.text.empty() ? std::string(1, '\0') : item.text;
      memory = type;
      values = text.data();
      break;
    case Kind::reference:
      type = H5Tcopy(H5T_STD_REF_OBJ);
      for (std::size_t k = 0; k < points; ++k) {
        const double target = numbers[k];
        if (target >= 0.0 && target < static_cast<double>(targets.size())) {
          H5Rcreate(&references[k], file, targets[static_cast<std::size_t>(target)], H5R_OBJECT, -1);
        } else if (std::isfinite(target) && target > 0.0 && target < 1e6) {
          references[k] = static_cast<hobj_ref_t>(target);
        }
      }
      memory = type;
      values = references.data();
      break;
    case Kind::compound:
      type = H5Tcreate(H5T_COMPOUND, 8);
      H5Tinsert(type, "r", 0, H5T_IEEE_F64LE);
      memory = type;
      break;
  }
  if (item.attribute) {
    const hid_t id = H5Acreate2(group, item.name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (id >= 0) {
      H5Awrite(id, memory, values);
      H5Aclose(id);
    }
  } else {
    const hid_t id = H5Dcreate2(group, item.name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (id >= 0) {
      H5Dwrite(id, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
      H5Dclose(id);
    }
  }
  H5Tclose(type);
  H5Sclose(space);
  H5Gclose(group);
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
      if ((item.kind == Kind::reference) == references) write_item(file, item);
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
  for (int count = 0; count < 64 && !input.empty(); ++count) change(items, input);
  write_recording(file.path(), items);
  fuzz::check_recording([&] { return formats::open_mfmc_untried(file.path(), fuzz::small_recordings); });
  return 0;
}
