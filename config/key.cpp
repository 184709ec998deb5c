#include "config/key.hpp"

#include <fmt/format.h>

namespace echoform {

std::string Key::path() const {
  return fmt::format("{}.{}", section, name);
}

std::string Key::expected() const {
  std::string text = type;
  if (type == "number" || type == "text") text = "a " + text;
  if (type == "integer") text = "an " + text;
  if (type.starts_with("list")) text = "a " + text;
  if (!unit.empty()) text += fmt::format(" in {}", unit);
  if (!range.empty()) text += ", " + range;
  return text;
}

}  // namespace echoform
