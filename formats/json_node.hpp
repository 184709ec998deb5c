// JSON that a file holds, value by value: what is missing or of another kind is an InputError that says where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>

namespace echoform::formats {

/// A value and where it stands: "FILE: /Public/Setup.groups[0].name". As long as its document is there.
class JsonNode {
 public:
  JsonNode(const nlohmann::json& value, std::string where) : value_(&value), where_(std::move(where)) {}

  [[nodiscard]] const std::string& where() const { return where_; }
  /// A member; nothing where it is absent or null. Throws InputError unless this is an object, as all below unless this is what
  /// they ask for.
  [[nodiscard]] std::optional<JsonNode> find(const char* name) const;
  [[nodiscard]] JsonNode require(const char* name) const;
  /// Number of entries of a list.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] JsonNode at(std::size_t k) const;
  /// The object of a list whose member "id" is `id`; messages call it `what`.
  [[nodiscard]] JsonNode with_id(std::int64_t id, const char* what) const;

  [[nodiscard]] double number(double least, double greatest) const;
  [[nodiscard]] std::size_t count(std::size_t least, std::size_t most) const;
  /// Any whole number below 10^12.
  [[nodiscard]] std::int64_t id() const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool truth() const;

  [[nodiscard]] double number_or(const char* name, double otherwise, double least, double greatest) const;
  [[nodiscard]] std::string text_or(const char* name, const std::string& otherwise) const;

 private:
  [[nodiscard]] std::string found() const;

  const nlohmann::json* value_;
  std::string where_;
};

struct JsonLimits {
  int depth = 32;
  std::size_t values = std::size_t{1} << 22;  ///< with names of members
};

class JsonDocument {
 public:
  /// Throws InputError, naming `where`, for what is no JSON, nested deeper, or of more values.
  JsonDocument(const std::string& text, std::string where, const JsonLimits& limits = {});
  ~JsonDocument();
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  [[nodiscard]] JsonNode root() const { return {*value_, where_}; }

 private:
  std::unique_ptr<nlohmann::json> value_;
  std::string where_;
};

}  // namespace echoform::formats
