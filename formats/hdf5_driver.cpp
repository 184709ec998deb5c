// The class of functions that HDF5 calls for a file. They work like those of its own driver for POSIX files (H5FDsec2.c), by the
// interface for external drivers (H5FDpublic.h).
#include "formats/hdf5_driver.hpp"

#include <hdf5.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/errors.hpp"
#include "base/file_descriptor.hpp"

namespace echoform::formats {
namespace {

constexpr haddr_t most_address = static_cast<haddr_t>(std::numeric_limits<off_t>::max());

/// The driver's properties in a property list. HDF5 copies them by the functions below.
struct Target {
  int descriptor = -1;
  std::shared_ptr<Hdf5Access> access;
};

/// HDF5's own part comes first; HDF5 fills it in.
struct OpenFile {
  H5FD_t library{};
  FileDescriptor descriptor;
  std::shared_ptr<Hdf5Access> access;
  haddr_t end = 0;        // end of the file as HDF5 sees it
  haddr_t allocated = 0;  // end of what HDF5 has allocated
  dev_t device = 0;
  ino_t number = 0;
  bool locked = false;
};

OpenFile& file_of(H5FD_t* file) {
  return *reinterpret_cast<OpenFile*>(file);
}
const OpenFile& file_of(const H5FD_t* file) {
  return *reinterpret_cast<const OpenFile*>(file);
}

bool is_place(haddr_t address, std::size_t size) {
  return address <= most_address && size <= most_address - address;
}

void* copy_target(const void* target) noexcept {
  return new (std::nothrow) Target(*static_cast<const Target*>(target));
}
herr_t free_target(void* target) noexcept {
  delete static_cast<Target*>(target);
  return 0;
}
void* target_of(H5FD_t* file) noexcept {
  return new (std::nothrow) Target{file_of(file).descriptor.get(), file_of(file).access};
}

H5FD_t* open_file(const char* /*name*/, unsigned flags, hid_t access_list, haddr_t /*most*/) noexcept {
  const auto* const target = static_cast<const Target*>(H5Pget_driver_info(access_list));
  if (target == nullptr) return nullptr;
  std::unique_ptr<OpenFile> file(new (std::nothrow) OpenFile);
  if (file == nullptr) return nullptr;
  file->descriptor = duplicate(target->descriptor);
  file->access = target->access;
  struct stat status {};
  if (!file->descriptor || ((flags & H5F_ACC_TRUNC) != 0 && ::ftruncate(file->descriptor.get(), 0) != 0) ||
      ::fstat(file->descriptor.get(), &status) != 0) {
    return nullptr;
  }
  file->end = static_cast<haddr_t>(status.st_size);
  file->device = status.st_dev;
  file->number = status.st_ino;
  return &file.release()->library;
}

herr_t close_file(H5FD_t* library) noexcept {
  const std::unique_ptr<OpenFile> file(&file_of(library));
  // The lock would outlive this descriptor, since other descriptors of the same open file exist.
  if (file->locked) ::flock(file->descriptor.get(), LOCK_UN);
  // Some file systems report only here that something was not written.
  if (!file->descriptor.close() && file->access->write_error == 0) file->access->write_error = errno;
  return 0;
}

int compare_files(const H5FD_t* a, const H5FD_t* b) noexcept {
  const auto key = [](const H5FD_t* file) { return std::tuple(file_of(file).device, file_of(file).number); };
  return key(a) < key(b) ? -1 : key(b) < key(a) ? 1 : 0;
}

herr_t query(const H5FD_t* /*file*/, unsigned long* flags) noexcept {
  if (flags != nullptr) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
             H5FD_FEAT_SUPPORTS_SWMR_IO | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  }
  return 0;
}

haddr_t get_allocated(const H5FD_t* file, H5FD_mem_t /*type*/) noexcept {
  return file_of(file).allocated;
}
herr_t set_allocated(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t address) noexcept {
  file_of(file).allocated = address;
  return 0;
}
haddr_t get_end(const H5FD_t* file, H5FD_mem_t /*type*/) noexcept {
  return file_of(file).end;
}

herr_t get_handle(H5FD_t* file, hid_t /*access_list*/, void** handle) noexcept {
  static_assert(std::is_standard_layout_v<FileDescriptor>);
  *handle = &file_of(file).descriptor;  // a class of one int: HDF5's users expect a pointer to int
  return 0;
}

herr_t read_bytes(H5FD_t* library, H5FD_mem_t type, hid_t /*transfer*/, haddr_t address, std::size_t size,
                  void* buffer) noexcept {
  OpenFile& file = file_of(library);
  if (!is_place(address, size)) return -1;
  if (type == H5FD_MEM_DRAW) {
    file.access->last_raw_bytes = size;
    if (size > file.access->most_raw_bytes) return -1;
  }
  auto* to = static_cast<char*>(buffer);
  while (size > 0) {
    const ssize_t count = ::pread(file.descriptor.get(), to, size, static_cast<off_t>(address));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    if (count == 0) {
      // This is the end of the file, not of what the format has allocated.
      std::memset(to, 0, size);
      break;
    }
    to += count;
    address += static_cast<haddr_t>(count);
    size -= static_cast<std::size_t>(count);
  }
  return 0;
}

herr_t write_bytes(H5FD_t* library, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t address, std::size_t size,
                   const void* buffer) noexcept {
  OpenFile& file = file_of(library);
  if (!is_place(address, size)) return -1;
  const haddr_t end = address + size;
  const auto* from = static_cast<const char*>(buffer);
  while (size > 0 && file.access->write_error == 0) {
    const ssize_t count = ::pwrite(file.descriptor.get(), from, size, static_cast<off_t>(address));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      file.access->write_error = count < 0 ? errno : ENOSPC;
      break;
    }
    from += count;
    address += static_cast<haddr_t>(count);
    size -= static_cast<std::size_t>(count);
  }
  file.end = std::max(file.end, end);
  return 0;
}

herr_t truncate_file(H5FD_t* library, hid_t /*transfer*/, hbool_t /*closing*/) noexcept {
  OpenFile& file = file_of(library);
  if (file.allocated == file.end) return 0;
  if (file.access->write_error == 0 && ::ftruncate(file.descriptor.get(), static_cast<off_t>(file.allocated)) != 0)
    file.access->write_error = errno;
  file.end = file.allocated;
  return 0;
}

herr_t lock_file(H5FD_t* file, hbool_t to_write) noexcept {
  file_of(file).locked = ::flock(file_of(file).descriptor.get(), (to_write ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0;
  if (file_of(file).locked) return 0;
  if (errno != ENOSYS) return -1;
  errno = 0;  // the file system has no locks
  return 0;
}
herr_t unlock_file(H5FD_t* file) noexcept {
  if (!std::exchange(file_of(file).locked, false)) return 0;
  return ::flock(file_of(file).descriptor.get(), LOCK_UN) == 0 ? 0 : -1;
}

H5FD_class_t driver_class() {
  H5FD_class_t driver{};
#ifdef H5FD_CLASS_VERSION  // HDF5 1.14
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(H5_VFD_RESERVED + 17);
#endif
  driver.name = "echoform";
  driver.maxaddr = most_address;
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = sizeof(Target);
  driver.fapl_get = target_of;
  driver.fapl_copy = copy_target;
  driver.fapl_free = free_target;
  driver.open = open_file;
  driver.close = close_file;
  driver.cmp = compare_files;
  driver.query = query;
  driver.get_eoa = get_allocated;
  driver.set_eoa = set_allocated;
  driver.get_eof = get_end;
  driver.get_handle = get_handle;
  driver.read = read_bytes;
  driver.write = write_bytes;
  driver.truncate = truncate_file;
  driver.lock = lock_file;
  driver.unlock = unlock_file;
  constexpr H5FD_mem_t map[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(map), std::end(map), std::begin(driver.fl_map));
  return driver;
}

/// The driver is registered once, and again if the library was closed meanwhile.
hid_t driver() {
  static hid_t id = H5I_INVALID_HID;
  if (H5Iget_type(id) == H5I_VFL) return id;
  static const H5FD_class_t of_descriptors = driver_class();
  id = H5FDregister(&of_descriptors);
  return id;
}

}  // namespace

std::shared_ptr<Hdf5Access> use_descriptor(const Hdf5Handle& access_list, int descriptor) {
  const Target target{descriptor, std::make_shared<Hdf5Access>()};
  if (H5Pset_driver(access_list.id(), driver(), &target) < 0) throw RuntimeFault("HDF5 takes no driver for files");
  return target.access;
}

std::shared_ptr<Hdf5Access> access_of(const Hdf5Handle& object) {
  const Hdf5Handle file(H5Iget_file_id(object.id()));
  const Hdf5Handle access_list(file ? H5Fget_access_plist(file.id()) : H5I_INVALID_HID);
  if (!access_list || H5Pget_driver(access_list.id()) != driver()) return nullptr;
  const auto* const target = static_cast<const Target*>(H5Pget_driver_info(access_list.id()));
  return target != nullptr ? target->access : nullptr;
}

}  // namespace echoform::formats
