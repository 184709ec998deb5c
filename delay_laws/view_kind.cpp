#include "delay_laws/view_kind.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.hpp"
#include "delay_laws/view.hpp"

// The kinds of view that the modes do not name. KIND(NAME) is `ViewKind NAME_view()` of delay_laws/NAME.cpp.
#define ECHOFORM_VIEW_KINDS(KIND)

namespace echoform {

#define ECHOFORM_DECLARE(NAME) ViewKind NAME##_view();
ECHOFORM_VIEW_KINDS(ECHOFORM_DECLARE)
#undef ECHOFORM_DECLARE

namespace {

constexpr std::size_t longest_name = 32;

bool named_by_modes(const std::string& name) {
  try {
    static_cast<void>(parse_view(name));
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// Names become parts of the names of streams and files.
bool fit_for_a_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

std::vector<ViewKind>& registered_views() {
#define ECHOFORM_MAKE(NAME) NAME##_view(),
  static std::vector<ViewKind> kinds{ECHOFORM_VIEW_KINDS(ECHOFORM_MAKE)};
#undef ECHOFORM_MAKE
  return kinds;
}

}  // namespace

const std::vector<ViewKind>& view_kinds() {
  return registered_views();
}

void add_view_kind(ViewKind kind) {
  const std::string& name = kind.name;
  const auto refuse = [](const std::string& found) { throw InputError("view", found, "a name of its own"); };
  if (name.empty() || name.size() > longest_name || !std::all_of(name.begin(), name.end(), fit_for_a_name)) {
    throw InputError("view", fmt::format("the name \"{}\"", name.substr(0, 2 * longest_name)),
                     fmt::format("letters, digits, - and _, 1 to {} of them", longest_name));
  }
  if (named_by_modes(name)) refuse(fmt::format("a view named \"{}\", which names it by modes", name));
  if (find_view_kind(name) != nullptr) refuse(fmt::format("a second view named \"{}\"", name));
  registered_views().push_back(std::move(kind));
}

const ViewKind* find_view_kind(std::string_view name) {
  const auto& kinds = registered_views();
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const ViewKind& kind) { return kind.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace echoform
