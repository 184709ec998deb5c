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

Json parse(const std::string& text, const std::string& where, const JsonLimits& limits) {
  std::size_t values = 0;
  const auto watch = [&](int depth, Json::parse_event_t /*event*/, Json& /*parsed*/) {
    if (depth > limits.depth)
      throw InputError(where, "JSON that is nested deeper", fmt::format("at most {} levels", limits.depth));
    if (++values > limits.values) throw InputError(where, "JSON of more values", fmt::format("at most {}", limits.values));
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::parse_error& error) {
    throw InputError(where, fmt::format("no JSON from byte {} on", error.byte), "a JSON document");
  } catch (const Json::exception&) {  // numbers beyond all others
    throw InputError(where, "JSON that cannot be read", "a JSON document");
  }
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
