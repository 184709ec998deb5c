#include "base/temporary_path.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/sanitizers.hpp"

namespace echoform {
namespace {

struct Registry {
  std::timed_mutex mutex;
  std::list<std::filesystem::path> paths;
};

Registry& registry() {
  static auto& one = *new Registry;  // never destroyed: a thread that takes signals may be the last
  return one;
}

std::list<std::filesystem::path>::iterator enter(std::filesystem::path path) {
  std::list<std::filesystem::path>& paths = registry().paths;
  return paths.insert(paths.end(), std::move(path));
}

/// Forbids new file descriptors; the open ones stay. A limit of 0 would do, but poll() refuses more descriptors than the limit.
/// The threads of libzmq, which still poll, would abort the program.
void open_no_more() noexcept {
  const int next = ::dup(STDERR_FILENO);
  if (next < 0) return;
  ::close(next);
  const rlimit present{static_cast<rlim_t>(next), static_cast<rlim_t>(next)};
  ::setrlimit(RLIMIT_NOFILE, &present);
}

}  // namespace

TemporaryPath::TemporaryPath(std::filesystem::path path) {
  const std::lock_guard lock(registry().mutex);
  place_ = enter(std::move(path));
}

TemporaryPath::TemporaryPath(std::filesystem::path path, FunctionRef<bool()> create) {
  const std::lock_guard lock(registry().mutex);
  place_ = enter(std::move(path));
  created_ = create();
  if (!created_) registry().paths.erase(place_);
}

TemporaryPath::~TemporaryPath() {
  if (!created_) return;
  const std::lock_guard lock(registry().mutex);
  registry().paths.erase(place_);
}

void remove_temporary_paths() noexcept {
  Registry& all = registry();
  // The mutex is never unlocked. Its holder may be stuck in a system call, on a remote disk: the process ends all the same.
  if (!all.mutex.try_lock_for(std::chrono::seconds(1))) return;
  for (const std::filesystem::path& path : all.paths) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  // Other threads still run: one of them may be about to open a removed file, and would create it anew.
  if constexpr (!ECHOFORM_ADDRESS_SANITIZER && !ECHOFORM_THREAD_SANITIZER) {  // sanitizers open pipes to probe memory
    if (!all.paths.empty()) open_no_more();
  }
  for (const std::filesystem::path& path : all.paths) ::unlink(path.c_str());
}

}  // namespace echoform
