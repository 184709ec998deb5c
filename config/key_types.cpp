#include "config/key_types.hpp"

#include <sstream>

namespace echoform::keys {

std::string Range::text() const {
  const bool has_low = std::isfinite(low);
  const bool has_high = std::isfinite(high);
  const std::string_view beyond = infinite ? ", or inf" : "";
  if (!has_low && !has_high) return infinite ? "finite or inf" : "finite";
  if (!has_high) return fmt::format("{} {}{}", low_open ? "more than" : "at least", low, beyond);
  if (!has_low) return fmt::format("up to {}{}", high, beyond);
  return low_open ? fmt::format("more than {}, up to {}{}", low, high, beyond) : fmt::format("{} to {}{}", low, high, beyond);
}

void any_text(const std::string& /*text*/, std::string_view /*where*/, std::string_view /*expected*/) {}

void not_empty(const std::string& text, std::string_view where, std::string_view expected) {
  if (text.empty()) throw InputError(where, "an empty text", expected);
}

void address_port(const std::string& text, std::string_view where, std::string_view /*expected*/) {
  static_cast<void>(parse_host_port(text, where));
}

void address_port_or_none(const std::string& text, std::string_view where, std::string_view expected) {
  if (!text.empty()) address_port(text, where, expected);
}

std::string describe(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array: {
      const auto& array = *node.as_array();
      std::string list;
      for (const toml::node& item : array) list += (list.empty() ? "" : ", ") + describe(item);
      if (list.size() > 60) return fmt::format("an array of {}", array.size());
      return "[" + list + "]";
    }
    case toml::node_type::string:
      if (const std::string& text = node.as_string()->get(); text.size() > 200)
        return fmt::format("a text of {} bytes", text.size());
      return fmt::format("\"{}\"", node.as_string()->get());
    case toml::node_type::integer:
      return fmt::format("{}", node.as_integer()->get());
    case toml::node_type::floating_point: {
      // 256.0 is not the integer 256; the text shows the difference.
      std::string text = fmt::format("{}", node.as_floating_point()->get());
      if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
      return text;
    }
    case toml::node_type::boolean:
      return node.as_boolean()->get() ? "true" : "false";
    case toml::node_type::date:
    case toml::node_type::time:
    case toml::node_type::date_time:
      return "a date or time";
    case toml::node_type::none:
      break;
  }
  return "nothing";
}

void refuse(std::string_view where, const toml::node& node, std::string_view expected) {
  throw InputError(where, describe(node), expected);
}

double read_number(const toml::node& node, std::string_view where, std::string_view expected, Range range) {
  double value = 0.0;
  if (const auto* real = node.as_floating_point()) {
    value = real->get();
  } else if (const auto* whole = node.as_integer()) {
    value = static_cast<double>(whole->get());
  } else {
    refuse(where, node, expected);
  }
  if (range.infinite && std::isinf(value)) return value;
  if (!std::isfinite(value) || !range.holds(value)) refuse(where, node, expected);
  return value == 0.0 ? 0.0 : value;  // -0.0 would be shown as -0, which reads as 0
}

std::int64_t read_integer(const toml::node& node, std::string_view where, std::string_view expected, Range range) {
  const auto* whole = node.as_integer();
  if (whole == nullptr || !range.holds(static_cast<double>(whole->get()))) refuse(where, node, expected);
  return whole->get();
}

std::string read_text(const toml::node& node, std::string_view where, std::string_view expected) {
  const auto* text = node.as_string();
  if (text == nullptr) refuse(where, node, expected);
  return text->get();
}

bool read_boolean(const toml::node& node, std::string_view where, std::string_view expected) {
  const auto* value = node.as_boolean();
  if (value == nullptr) refuse(where, node, expected);
  return value->get();
}

const toml::array& read_array(const toml::node& node, std::string_view where, std::string_view expected, std::size_t least,
                              std::size_t most) {
  const auto* array = node.as_array();
  if (array == nullptr || array->size() < least || array->size() > most) refuse(where, node, expected);
  return *array;
}

std::string show(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      text += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      text += c;
    }
  }
  return text + '"';
}

const Configuration& defaults() {
  static const Configuration untouched;
  return untouched;
}

Key make_key(const Entry& entry, std::string type, std::string range, std::string default_text) {
  Key key;
  key.section = entry.section;
  key.name = entry.name;
  key.type = std::move(type);
  key.unit = entry.unit;
  key.range = std::move(range);
  key.default_text = default_text.empty() ? std::string(entry.otherwise) : std::move(default_text);
  key.help = entry.help;
  key.live = entry.live;
  return key;
}

}  // namespace echoform::keys
