// Tells the system which bytes of a file will be read soon.
#pragma once

#include <cstdint>
#include <utility>

#include "formats/input_file.hpp"

namespace echoform::formats {

/// Pieces that lie apart take a disk's latency each where they are asked for one by one; those that are announced come together,
/// into the system's own cache. Where the system does not listen, nothing is different but the time.
class ReadAhead {
 public:
  explicit ReadAhead(InputFile file) : file_(std::move(file)) {}

  void expect(std::uint64_t offset, std::uint64_t bytes) const noexcept;

 private:
  InputFile file_;
};

}  // namespace echoform::formats
