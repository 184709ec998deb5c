#include "tests/support/places.hpp"

namespace echoform::test {

std::filesystem::path source_directory() {
  return environment_or("ECHOFORM_SOURCE_DIR", ECHOFORM_SOURCE_DIR);
}

}  // namespace echoform::test
