#include "offline/process_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>

namespace echoform {

HeldMemory held_memory() {
  std::size_t pages = 0;
  std::size_t held = 0;
  std::ifstream("/proc/self/statm") >> pages >> held;
  HeldMemory memory;
  memory.now = static_cast<double>(held) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  memory.most = memory.now;
  // getrusage() would also count the process that started this one.
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) memory.most = std::max(memory.now, 1024.0 * std::strtod(line.c_str() + 6, nullptr));
  }
  return memory;
}

void forget_most_held() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

void MemoryShares::loaded(const HeldMemory& before, const HeldMemory& after, double own) {
  most_before_ = this->own(before).most;
  driver_ += std::max(0.0, after.now - before.now - own);
}

HeldMemory MemoryShares::own(const HeldMemory& held) const {
  return {std::max(0.0, held.now - driver_), std::max(most_before_, held.most - driver_)};
}

}  // namespace echoform
