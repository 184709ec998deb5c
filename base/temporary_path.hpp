// Files and folders that must not outlive the work on them, also where a signal ends the process in the middle of it.
#pragma once

#include <filesystem>
#include <list>

#include "base/function_ref.hpp"

namespace echoform {

/// A file or folder that is no result yet. If a signal ends the process while this object lives, the file or folder is
/// removed. The destructor does not remove it: its owner decides, as it may have become a result.
class TemporaryPath {
 public:
  /// The constructor for a name of this process's own, at which there is nothing yet.
  explicit TemporaryPath(std::filesystem::path path);
  /// The constructor for a name that may be another process's. `create` returns whether it has made the file, and must not
  /// throw. If it returns false, nothing is ever removed. No signal is handled between creation and registration.
  TemporaryPath(std::filesystem::path path, FunctionRef<bool()> create);
  ~TemporaryPath();
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;

  /// Whether `create` has made the file.
  [[nodiscard]] bool created() const noexcept { return created_; }

 private:
  std::list<std::filesystem::path>::iterator place_;  // if created
  bool created_ = true;
};

/// Removes all temporary paths, for a process that ends next. From here on a thread that would construct or destroy a
/// TemporaryPath waits for ever, and no file can be opened any more, so that none comes back.
void remove_temporary_paths() noexcept;

}  // namespace echoform
