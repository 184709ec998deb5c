#include "delay_laws/view.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"
#include "delay_laws/view_kind.hpp"

namespace echoform {
namespace {

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  std::string registered;
  for (const ViewKind& kind : view_kinds()) registered += fmt::format(", or {}", kind.name);
  throw InputError(
      "[imaging] views", fmt::format("\"{}\"{}", text, why),
      fmt::format("LL, LT, TL or TT, or the legs of both sides with a hyphen between them, such as TT-T, up to {} a side{}",
                  most_legs, registered));
}

void check_side(std::string_view side, std::string_view text) {
  if (side.empty()) refuse(text, ", a side without legs");
  if (side.find_first_not_of("LT") != std::string_view::npos) refuse(text, "");
  if (side.size() > most_legs) refuse(text, fmt::format(", {} legs on a side", side.size()));
}

}  // namespace

std::string View::name() const {
  const std::string back(receive.rbegin(), receive.rend());
  return skips() ? transmit + "-" + back : transmit + back;
}

View parse_view(std::string_view text) {
  const std::size_t hyphen = text.find('-');
  std::string_view transmit = text.substr(0, hyphen);
  std::string_view receive;
  if (hyphen != std::string_view::npos) {
    receive = text.substr(hyphen + 1);
  } else {
    if (text.size() != 2) refuse(text, "");
    transmit = text.substr(0, 1);
    receive = text.substr(1);
  }
  check_side(transmit, text);
  check_side(receive, text);
  return {std::string(transmit), std::string(receive.rbegin(), receive.rend())};
}

std::string canonical_view_name(std::string_view text) {
  try {
    return parse_view(text).name();
  } catch (const InputError&) {
    return std::string(text);
  }
}

bool names_skip(std::string_view text) {
  try {
    return parse_view(text).skips();
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace echoform
