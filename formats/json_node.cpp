#include "formats/json_node.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/errors.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::formats {
namespace {

using Json = nlohmann::json;

constexpr double most_id = 1e12;

/// Goes through a text once and keeps nothing. Throws InputError if the text is not a JSON document or exceeds the limits. The
/// library's own callback would do the same, but at the end of each object it searches the whole list that contains the object.
class Watch final : public nlohmann::json_sax<Json> {
 public:
  Watch(const std::string& where, const JsonLimits& limits) : where_(where), limits_(limits) {}

  bool null() override { return count(); }
  bool boolean(bool /*value*/) override { return count(); }
  bool number_integer(number_integer_t /*value*/) override { return count(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return count(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return count(); }
  bool string(string_t& /*value*/) override { return count(); }
  bool binary(binary_t& /*value*/) override { return count(); }
  bool key(string_t& /*value*/) override { return count(); }
  bool start_object(std::size_t /*elements*/) override { return begin(); }
  bool start_array(std::size_t /*elements*/) override { return begin(); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool parse_error(std::size_t byte, const std::string& /*token*/, const nlohmann::detail::exception& error) override {
    if (dynamic_cast<const Json::parse_error*>(&error) != nullptr)
      throw InputError(where_, fmt::format("no JSON from byte {} on", byte), "a JSON document");
    throw InputError(where_, "JSON that cannot be read", "a JSON document");  // a number beyond the range of double
  }

 private:
  bool count() {
    if (++values_ > limits_.values) throw InputError(where_, "JSON of too many values", fmt::format("at most {}", limits_.values));
    return true;
  }
  bool begin() {
    if (++open_ > limits_.depth)
      throw InputError(where_, "JSON that is nested too deeply", fmt::format("at most {} levels", limits_.depth));
    return count();
  }
  bool end() {
    --open_;
    return true;
  }

  const std::string& where_;
  const JsonLimits& limits_;
  int open_ = 0;  // number of lists and objects that have begun and not ended
  std::size_t values_ = 0;
};

Json parse(const std::string& text, const std::string& where, const JsonLimits& limits) {
  Watch watch(where, limits);
  Json::sax_parse(text, &watch);
  return Json::parse(text);
}

}  // namespace

std::optional<JsonNode> JsonNode::find(const char* name) const {
  if (!value_->is_object()) throw InputError(where_, found(), fmt::format("an object with {}", name));
  const auto member = value_->find(name);
  if (member == value_->end() || member->is_null()) return std::nullopt;
  return JsonNode(*member, fmt::format("{}.{}", where_, name));
}

JsonNode JsonNode::require(const char* name) const {
  auto member = find(name);
  if (!member) throw InputError(where_, fmt::format("no {}", name), fmt::format("{}, which is required", name));
  return std::move(*member);
}

std::size_t JsonNode::size() const {
  if (!value_->is_array()) throw InputError(where_, found(), "a list");
  return value_->size();
}

JsonNode JsonNode::at(std::size_t k) const {
  if (k >= size()) throw InputError(where_, fmt::format("{} values", size()), fmt::format("more than {}", k));
  return {(*value_)[k], fmt::format("{}[{}]", where_, k)};
}

JsonNode JsonNode::with_id(std::int64_t id, const char* what) const {
  for (std::size_t k = 0; k < size(); ++k) {
    if (JsonNode one = at(k); one.require("id").id() == id) return one;
  }
  throw InputError(where_, fmt::format("no {} with id {}", what, id), "the one that is referred to");
}

double JsonNode::number(double least, double greatest) const {
  const double value = value_->is_number() ? value_->get<double>() : std::nan("");
  if (!(value >= least && value <= greatest))
    throw InputError(where_, found(), fmt::format("a number from {:g} to {:g}", least, greatest));
  return value;
}

std::size_t JsonNode::count(std::size_t least, std::size_t most) const {
  const double value = number(static_cast<double>(least), static_cast<double>(most));
  if (value != std::floor(value)) throw InputError(where_, found(), "a whole number");
  return static_cast<std::size_t>(value);
}

std::int64_t JsonNode::id() const {
  const double value = number(-most_id, most_id);
  if (value != std::floor(value)) throw InputError(where_, found(), "a whole number");
  return static_cast<std::int64_t>(value);
}

std::string JsonNode::text() const {
  if (!value_->is_string()) throw InputError(where_, found(), "text");
  return value_->get<std::string>();
}

bool JsonNode::truth() const {
  if (!value_->is_boolean()) throw InputError(where_, found(), "true or false");
  return value_->get<bool>();
}

double JsonNode::number_or(const char* name, double otherwise, double least, double greatest) const {
  const auto stated = find(name);
  return stated ? stated->number(least, greatest) : otherwise;
}

std::string JsonNode::text_or(const char* name, const std::string& otherwise) const {
  const auto stated = find(name);
  return stated ? stated->text() : otherwise;
}

std::string JsonNode::found() const {
  if (value_->is_number()) return fmt::format("{:g}", value_->get<double>());
  if (value_->is_string()) return fmt::format("\"{}\"", printable(value_->get_ref<const std::string&>(), 40));
  return fmt::format("JSON's {}", value_->type_name());
}

JsonDocument::JsonDocument(const std::string& text, std::string where, const JsonLimits& limits)
    : value_(std::make_unique<Json>(parse(text, where, limits))), where_(std::move(where)) {}

JsonDocument::~JsonDocument() = default;

}  // namespace echoform::formats
