// What an HDF5 file holds, as a list of items that an input changes: HDF5 itself writes them, so that the file is whole.
#pragma once

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tests/fuzz/input.hpp"

namespace echoform::fuzz {

enum class Kind : std::uint8_t { float64, float32, int32, int8, uint64, text, reference, compound };
constexpr std::size_t kinds = 8;

struct Item {
  const char* group;
  const char* name;
  bool attribute = false;
  Kind kind = Kind::float64;
  std::vector<hsize_t> shape;
  std::vector<double> values;  // of references: places in the list of targets
  std::string text{};
  bool left_out = false;
};

/// Numbers that readers meet rarely, or the number itself.
inline double unusual(std::uint16_t number) {
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

/// Takes six bytes of the input: item, what to change, place, and a number. `targets` are texts and what references lead to.
inline void change(std::vector<Item>& items, Input& input, std::span<const char* const> targets) {
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

/// References lead to `targets` by their place.
inline void write_item(hid_t file, const Item& item, std::span<const char* const> targets) {
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

}  // namespace echoform::fuzz
