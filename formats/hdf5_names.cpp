#include "formats/hdf5_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/errors.hpp"

namespace echoform::formats {
namespace {

std::uint64_t number_of(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const std::string_view digits = last == std::string_view::npos ? name : name.substr(last + 1);
  if (digits.empty() || digits.size() > 18) return UINT64_MAX;
  std::uint64_t number = 0;
  for (const char digit : digits) number = 10 * number + static_cast<std::uint64_t>(digit - '0');
  return number;
}

}  // namespace

std::vector<std::string> names_by_number(const Hdf5Handle& group, std::size_t most, std::string_view what,
                                         const std::string& where) {
  H5G_info_t info{};
  if (H5Gget_info(group.id(), &info) < 0) throw InputError(where, "a damaged group", fmt::format("{}, one by one", what));
  if (info.nlinks == 0 || info.nlinks > most)
    throw InputError(where, fmt::format("{} {}", info.nlinks, what), fmt::format("1 to {}", most));
  std::vector<std::string> names;
  const auto visit = [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  if (H5Literate(group.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, visit, &names) < 0 || names.size() != info.nlinks)
    throw InputError(where, "a damaged group", fmt::format("{}, one by one", what));
  std::ranges::stable_sort(names, {}, [](const std::string& name) { return std::pair(number_of(name), name); });
  return names;
}

std::vector<std::string> names_of_groups(const Hdf5Handle& file) {
  std::vector<std::string> groups;
  const auto visit = [](hid_t, const char* name, const H5O_info_t* info, void* to) -> herr_t {
    if (info->type == H5O_TYPE_GROUP) static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  if (H5Ovisit2(file.id(), H5_INDEX_NAME, H5_ITER_INC, visit, &groups, H5O_INFO_BASIC) < 0) return {};
  return groups;
}

}  // namespace echoform::formats
