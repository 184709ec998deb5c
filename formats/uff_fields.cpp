#include "formats/uff_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.hpp"
#include "formats/hdf5_names.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::formats {
namespace {

constexpr std::size_t most_objects = 4096;  // in a file's root

std::optional<Hdf5Item> one_value(const UffObject& object, const char* name) {
  auto item = Hdf5Item::find(object.handle(), name, object.where());
  if (!item || item->points() == 0) return std::nullopt;
  if (item->points() != 1) throw InputError(item->where(), fmt::format("shape {}", shape_text(item->shape())), "one value");
  return item;
}

}  // namespace

std::optional<UffObject> UffObject::find(const std::string& name) const {
  Hdf5Handle found = open_own_group(group_, name);
  if (!found) return std::nullopt;
  return UffObject(std::move(found), fmt::format("{}/{}", where_, printable(name)));
}

UffObject UffObject::object(const std::string& name) const {
  auto found = find(name);
  if (!found) throw InputError(where_, fmt::format("no group {}", name), "what USTB's files have there");
  return std::move(*found);
}

std::string UffObject::class_name() const {
  if (H5Aexists(group_.id(), "class") <= 0) return {};
  return Hdf5Item::require(group_, "class", where_).text();
}

std::optional<double> UffObject::number(const char* name) const {
  const auto item = one_value(*this, name);
  return item ? std::optional(item->numbers().front()) : std::nullopt;
}

std::optional<double> UffObject::number_or_infinity(const char* name) const {
  const auto item = one_value(*this, name);
  return item ? std::optional(item->number_or_infinity()) : std::nullopt;
}

double UffObject::positive(const char* name) const {
  const auto value = number(name);
  if (!value) throw InputError(where_, fmt::format("no {}", name), "what USTB's files have there");
  if (!(*value > 0.0)) throw InputError(where(name), fmt::format("{:g}", *value), "more than 0");
  return *value;
}

std::vector<UffObject> UffObject::elements(std::initializer_list<const char*> members, std::size_t most,
                                           std::string_view what) && {
  std::vector<UffObject> found;
  if (std::ranges::any_of(members, [&](const char* member) { return Hdf5Item::exists(group_, member); })) {
    found.push_back(std::move(*this));
    return found;
  }
  for (const std::string& name : names_by_number(group_, most, what, where_)) found.push_back(object(name));
  return found;
}

std::vector<std::string> uff_objects_of(const Hdf5Handle& file, const std::string& uff_class, const std::string& where) {
  std::vector<std::string> found;
  for (const std::string& name : names_by_number(file, most_objects, "objects", where)) {
    const Hdf5Handle group = open_own_group(file, name);
    if (group && H5Aexists(group.id(), "class") > 0) {
      const Hdf5Item stated = Hdf5Item::require(group, "class", where + "/" + printable(name));
      if (stated.type_class() == Hdf5Class::text && stated.points() == 1 && stated.text() == uff_class) found.push_back(name);
    }
  }
  return found;
}

UffPoint read_uff_point(const UffObject& point) {
  const auto distance = point.number_or_infinity("distance");
  if (!distance) throw InputError(point.where(), "no distance", "distance, azimuth and elevation of a point");
  return {*distance, point.number("azimuth").value_or(0.0), point.number("elevation").value_or(0.0)};
}

}  // namespace echoform::formats
