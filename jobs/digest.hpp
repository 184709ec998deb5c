// What a job is made of, in 32 bytes: SHA-256.
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
  void add(std::string_view text);  ///< with its length, so that what follows cannot be taken for part of it
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void add(Number number) { add(std::as_bytes(std::span(&number, 1))); }
  /// Of all that was added. Once.
  [[nodiscard]] DigestValue value();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace echoform
