#include "formats/ipasc_fields.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/errors.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::formats {
namespace {

bool is_none(const Hdf5Item& item) {
  return item.type_class() == Hdf5Class::text && item.points() == 1 && item.text() == "None";
}

}  // namespace

IpascGroup IpascGroup::require(const Hdf5Handle& parent, const std::string& name, const std::string& where) {
  Hdf5Handle group = open_own_group(parent, name);
  std::string place = fmt::format("{}/{}", where, printable(name));
  if (!group) throw InputError(place, "no group of this name", "what IPASC files have there");
  return {std::move(group), std::move(place)};
}

std::optional<std::vector<double>> IpascGroup::numbers(const char* name, std::size_t most) const {
  const auto item = Hdf5Item::find(group_, name, where_);
  if (!item || is_none(*item) || item->points() == 0) return std::nullopt;
  if (item->points() > most) {
    throw InputError(item->where(), fmt::format("shape {}", shape_text(item->shape())), fmt::format("at most {} values", most));
  }
  return item->numbers();
}

std::optional<double> IpascGroup::number(const char* name) const {
  const auto values = numbers(name, 1);
  return values ? std::optional(values->front()) : std::nullopt;
}

std::optional<std::string> IpascGroup::text(const char* name) const {
  const auto item = Hdf5Item::find(group_, name, where_);
  if (!item || item->type_class() != Hdf5Class::text || item->points() != 1 || is_none(*item)) return std::nullopt;
  return item->text();
}

bool IpascGroup::states(const char* name) const {
  const auto item = Hdf5Item::find(group_, name, where_);
  return item && item->points() > 0 && !is_none(*item);
}

}  // namespace echoform::formats
