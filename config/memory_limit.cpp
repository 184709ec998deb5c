#include "config/memory_limit.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace echoform {

double default_memory_limit() {
  double bytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  // The file holds "max" where the control group sets no limit. Reading a number then fails and leaves the machine's memory as
  // the limit.
  double group = 0.0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> group && group > 0.0) bytes = std::min(bytes, group);
  return 0.75 * bytes;
}

double memory_limit(const ImagingSettings& settings) {
  return settings.imaging.memory_limit.value_or(default_memory_limit());
}

}  // namespace echoform
