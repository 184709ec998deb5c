// Files and folders that must not outlive the work on them, also where a signal ends the process in the middle of it.
#pragma once

#include <filesystem>
#include <list>

#include "base/function_ref.hpp"

namespace echoform {

/// A file or folder that is no result yet: it goes when the process is ended by a signal, as long as this lives. Whether it goes
/// when this does is for its owner, as it may have become a result.
class TemporaryPath {
 public:
  /// For a name of this process's own, at which there is nothing yet.
  explicit TemporaryPath(std::filesystem::path path);
  /// For a name that may be somebody else's: `create` says whether it has made the file, and must not throw. Where it says no,
  /// nothing is ever removed. No signal comes between the two.
  TemporaryPath(std::filesystem::path path, FunctionRef<bool()> create);
  ~TemporaryPath();
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;

  /// Whether `create` has made it.
  [[nodiscard]] bool created() const noexcept { return created_; }

 private:
  std::list<std::filesystem::path>::iterator place_;  // if created
  bool created_ = true;
};

/// Removes all that there are, for a process that ends next. Who would make or forget one waits from here on for ever, and no
/// file can be opened any more, so that none comes back.
void remove_temporary_paths() noexcept;

}  // namespace echoform
