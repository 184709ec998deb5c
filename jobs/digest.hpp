// A fingerprint of what a job is made of: SHA-256, 32 bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

namespace echoform {

using DigestValue = std::array<std::byte, 32>;

class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void add(std::span<const std::byte> bytes);
  void add(std::string_view text);  ///< adds the length too, so that what follows cannot be taken for part of the text
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void add(Number number) { add(std::as_bytes(std::span(&number, 1))); }
  /// The digest of everything that was added. Call it once.
  [[nodiscard]] DigestValue value();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace echoform
