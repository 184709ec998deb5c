#include "formats/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <string_view>

#include "base/descriptors.hpp"
#include "base/errors.hpp"

namespace echoform {
namespace {

std::filesystem::path directory_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// Whether a link may be followed, by the rule of fs.protected_symlinks. The kernel applies that rule only to links that it
/// follows itself. Another user who puts a link where everybody may write, such as /tmp, would choose what this user overwrites.
bool is_safe_link(const std::filesystem::path& link) {
  struct stat of_link {
  }, of_directory{};
  if (::lstat(link.c_str(), &of_link) != 0 || ::stat(directory_of(link).c_str(), &of_directory) != 0) return true;
  const bool shared = (of_directory.st_mode & S_ISVTX) != 0 && (of_directory.st_mode & S_IWOTH) != 0;
  return !shared || of_link.st_uid == ::geteuid() || of_link.st_uid == of_directory.st_uid;
}

/// The path that a symbolic link leads to, whether or not it exists. Renaming onto the link itself would replace the link.
std::filesystem::path behind_links(std::filesystem::path path) {
  constexpr int most_links = 40;
  std::error_code error;
  for (int link = 0; std::filesystem::is_symlink(std::filesystem::symlink_status(path, error)); ++link) {
    if (link == most_links) throw InputError(path.string(), "symbolic links that lead in a circle", "a file to write");
    if (!is_safe_link(path))
      throw InputError(path.string(), "a symbolic link of another user in a directory that everybody may write to",
                       "a file to write");
    const auto target = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = target.is_absolute() ? target : directory_of(path) / target;
  }
  return path;
}

// The maximum number of bytes by which the temporary name of a file is longer than its own: two dots, 16 random digits and
// ".part".
constexpr std::size_t aside_bytes = 32;
constexpr int most_names = 100;  // names to try; the first one is taken only if somebody else knows it

/// The result is empty, and errno is set, if the system gives no random numbers.
std::string random_name(const std::string& name) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) return {};
  return fmt::format(".{}.{:016x}.part", name, number);
}

/// Calls use(name) with random names until one is not taken. False, with errno set, on any other failure.
template <class Use>
bool with_random_name(const std::string& name, const Use& use) {
  for (int k = 0; k < most_names; ++k) {
    const std::string random = random_name(name);
    if (random.empty()) return false;
    if (use(random)) return true;
    if (errno != EEXIST) return false;
  }
  return false;
}

/// Whether the name has the form ".NAME.0123456789abcdef.part", which random_name() makes.
bool is_random_name(std::string_view name) {
  constexpr std::string_view ending = ".part";
  constexpr std::size_t digits = 16;
  if (name.size() < ending.size() + digits + 3 || !name.starts_with('.') || !name.ends_with(ending)) return false;
  name.remove_suffix(ending.size());
  const std::string_view number = name.substr(name.size() - digits);
  return name[name.size() - digits - 1] == '.' && number.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// The lock belongs to the open file description, so it excludes threads as well as processes. It is independent of flock(),
/// which HDF5 uses between the readers of a file. False, with errno set, if somebody else holds a lock on the file or the file
/// system has no locks.
bool set_lock(int file, short kind) {
  struct flock whole {};
  whole.l_type = kind;
  whole.l_whence = SEEK_SET;
  return ::fcntl(file, F_OFD_SETLK, &whole) == 0;
}

/// The lock lasts as long as the file is written under its temporary name. False if another process is removing the file because
/// it takes it for left behind.
bool lock_while_written(int file) {
  return set_lock(file, F_WRLCK) || (errno != EAGAIN && errno != EACCES);
}

/// Whether the file belongs to this user and nobody is writing it.
bool is_left_behind(int file) {
  struct stat found {};
  return ::fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == ::geteuid() && set_lock(file, F_RDLCK);
}

/// Removes the files that killed processes have left in the directory. It does so once for each directory in the life of this
/// process.
void remove_what_was_left_behind(int directory, const std::filesystem::path& path) {
  static std::mutex mutex;
  static auto& seen = *new std::set<std::filesystem::path>;
  std::error_code error;
  {
    const std::lock_guard lock(mutex);
    if (!seen.insert(std::filesystem::absolute(path, error)).second) return;
  }
  for (auto entry = std::filesystem::directory_iterator(path, error); !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!is_random_name(name)) continue;
    const FileDescriptor file(::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file && is_left_behind(file.get())) ::unlinkat(directory, name.c_str(), 0);
  }
}

void check_name_fits(const std::filesystem::path& path, const std::filesystem::path& directory) {
  const long longest_name = ::pathconf(directory.c_str(), _PC_NAME_MAX),
             longest_path = ::pathconf(directory.c_str(), _PC_PATH_MAX);
  const auto check = [&](long longest, std::size_t bytes, std::string_view what) {
    if (longest <= 0 || bytes + aside_bytes <= static_cast<std::size_t>(longest)) return;
    throw InputError(path.string(), fmt::format("a {} of {} bytes", what, bytes),
                     fmt::format("at most {}: {} that the system takes, less {} for its name while it is written",
                                 static_cast<std::size_t>(longest) - aside_bytes, longest, aside_bytes));
  };
  check(longest_name, path.filename().string().size(), "file name");
  check(longest_path, path.string().size() + 1, "path");
}

}  // namespace

void check_output_place(const std::filesystem::path& path) {
  std::error_code error;
  const auto directory = directory_of(path);
  if (!path.has_filename()) throw InputError(path.string(), "no file name", "a file to write");
  if (!std::filesystem::is_directory(directory, error))
    throw InputError(path.string(), fmt::format("no directory {}", directory.string()), "an existing directory");
  if (std::filesystem::is_directory(path, error)) throw InputError(path.string(), "a directory", "a file to write");
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    throw InputError(path.string(), fmt::format("that {} may not be written to ({})", directory.string(), std::strerror(errno)),
                     "write permission");
  }
  check_name_fits(path, directory);
}

void require_absent(const std::filesystem::path& path, const std::string& name) {
  if (std::error_code error; std::filesystem::exists(std::filesystem::symlink_status(path, error)))
    throw InputError(name, "a file that is there already", "a new one (recordings are not overwritten)");
}

void require_other_file(const std::filesystem::path& output, const std::filesystem::path& input, std::string_view option) {
  if (std::error_code error; std::filesystem::equivalent(output, input, error))
    throw InputError(option, fmt::format("{}, the file that is read", output.string()), "another one");
}

void check_disk_takes(const std::filesystem::path& directory) {
  constexpr std::array<std::byte, 4096> block{};
  const AtomicFile trial(directory / ".echoform-trial");  // it never gets this name, which is no name of a recording
  if (!write_all(trial.descriptor(), block))
    throw RuntimeFault(fmt::format("{}: cannot be written: {}", directory.string(), std::strerror(errno)));
}

AtomicFile::AtomicFile(std::filesystem::path path, IfThere if_there)
    : path_(behind_links(path)), given_(path.string()), if_there_(if_there) {
  check_output_place(path_);
  directory_ = FileDescriptor(::open(directory_of(path_).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (directory_) remove_what_was_left_behind(directory_.get(), directory_of(path_));
  if (!directory_ || (!make_unnamed() && !make_named())) fail();
}

bool AtomicFile::make_unnamed() {
  file_ = FileDescriptor(::openat(directory_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
  // A link through /proc gives the file its name later, and libraries open the file through /proc too.
  if (file_ && ::access(aside().c_str(), F_OK) != 0) file_ = FileDescriptor();
  return static_cast<bool>(file_);
}

bool AtomicFile::make_named() {
  return with_random_name(path_.filename().string(), [this](const std::string& name) {
    const auto make = [&] {
      file_ = FileDescriptor(::openat(directory_.get(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
      if (!file_) return false;
      // Before the lock was set, another process may have removed the file because it took it for left behind.
      struct stat made {};
      if (lock_while_written(file_.get()) && ::fstat(file_.get(), &made) == 0 && made.st_nlink > 0) return true;
      file_ = FileDescriptor();
      errno = EEXIST;
      return false;
    };
    temporary_.emplace(directory_of(path_) / name, make);
    if (file_) aside_name_ = name;
    return static_cast<bool>(file_);
  });
}

AtomicFile::~AtomicFile() {
  if (!committed_ && !aside_name_.empty()) ::unlinkat(directory_.get(), aside_name_.c_str(), 0);
}

void AtomicFile::fail() const {
  const int error = errno;
  throw_system_fault(error, fmt::format("{}: cannot be written: {}", given_, std::strerror(error)));
}

bool AtomicFile::put_in_place() {
  const std::string name = path_.filename().string();
  const int in = directory_.get();
  if (if_there_ == IfThere::replace) {
    if (aside_name_.empty()) {
      if (::linkat(AT_FDCWD, aside().c_str(), in, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
      if (errno != EEXIST) return false;
      // Making a link never replaces a file, but renaming does.
      static_cast<void>(lock_while_written(file_.get()));
      if (!with_random_name(name, [&](const std::string& random) {
            const auto link = [&] { return ::linkat(AT_FDCWD, aside().c_str(), in, random.c_str(), AT_SYMLINK_FOLLOW) == 0; };
            temporary_.emplace(directory_of(path_) / random, link);
            if (temporary_->created()) aside_name_ = random;
            return temporary_->created();
          }))
        return false;
    }
    return ::renameat(in, aside_name_.c_str(), in, name.c_str()) == 0;
  }
  const int linked = aside_name_.empty() ? ::linkat(AT_FDCWD, aside().c_str(), in, name.c_str(), AT_SYMLINK_FOLLOW)
                                         : ::linkat(in, aside_name_.c_str(), in, name.c_str(), 0);
  if (linked == 0) {
    if (!aside_name_.empty()) ::unlinkat(in, aside_name_.c_str(), 0);
    return true;
  }
  // The file system has no links.
  if (!aside_name_.empty() && (errno == EPERM || errno == EOPNOTSUPP))
    return ::renameat2(in, aside_name_.c_str(), in, name.c_str(), RENAME_NOREPLACE) == 0;
  return false;
}

void AtomicFile::commit() {
  if (committed_) return;
  if (!put_in_place()) {
    if (errno == EEXIST && if_there_ == IfThere::refuse)
      throw InputError(given_, "a file that is there already", "a new one (recordings are not overwritten)");
    fail();
  }
  committed_ = true;
  static_cast<void>(set_lock(file_.get(), F_UNLCK));
  temporary_.reset();
  directory_ = FileDescriptor();
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  write_stream(path, [bytes](std::ostream& out) {
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  });
}

void write_stream(const std::filesystem::path& path, FunctionRef<void(std::ostream&)> put) {
  AtomicFile file(path);
  std::ofstream out(file.aside(), std::ios::binary | std::ios::trunc);
  put(out);
  out.close();
  if (!out) throw RuntimeFault(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
  file.commit();
}

}  // namespace echoform
