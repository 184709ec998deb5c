#include "formats/read_ahead.hpp"

#include <fcntl.h>

namespace echoform::formats {

void ReadAhead::expect(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  ::posix_fadvise(file_.descriptor(), static_cast<off_t>(offset), static_cast<off_t>(bytes), POSIX_FADV_WILLNEED);
}

}  // namespace echoform::formats
