#include "formats/read_ahead.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace echoform::formats {

ReadAhead::ReadAhead(const std::filesystem::path& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

ReadAhead::~ReadAhead() {
  if (file_ >= 0) ::close(file_);
}

void ReadAhead::expect(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  if (file_ >= 0) ::posix_fadvise(file_, static_cast<off_t>(offset), static_cast<off_t>(bytes), POSIX_FADV_WILLNEED);
}

}  // namespace echoform::formats
