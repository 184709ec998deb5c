#include "formats/hdf5_maker.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/descriptors.hpp"
#include "base/errors.hpp"

namespace echoform::formats {

std::optional<std::string> why_no_room(int file, std::uint64_t bytes) {
  struct statvfs disk {};
  if (::fstatvfs(file, &disk) == 0) {
    const std::uint64_t left = std::uint64_t{disk.f_bavail} * disk.f_frsize;
    if (left < bytes) {
      return fmt::format("the disk is full ({:.1f} MB needed, {:.1f} MB left)", 1e-6 * static_cast<double>(bytes),
                         1e-6 * static_cast<double>(left));
    }
  }
  struct rlimit limit {};
  struct stat status {};
  if (::fstat(file, &status) == 0 && ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      static_cast<std::uint64_t>(status.st_size) + bytes > limit.rlim_cur)
    return std::strerror(EFBIG);
  return std::nullopt;
}

Hdf5NewFile::Hdf5NewFile(int descriptor, std::string name, const Options& options) : name_(std::move(name)) {
  const Hdf5Maker make(name_);
  errno = 0;
  const Hdf5Handle access_list =
      make.made(options.access_list != nullptr ? H5Pcopy(options.access_list->id()) : H5Pcreate(H5P_FILE_ACCESS), "access");
  const bool creates = (options.flags & H5F_ACC_TRUNC) != 0;
  // Objects of the file that are still open do not keep it from being written. (Programs that open it for reading meanwhile would
  // have to set this option too.)
  if (creates) make.done(H5Pset_fclose_degree(access_list.id(), H5F_CLOSE_STRONG), "access");
  access_ = use_descriptor(access_list, descriptor);
  file_ = make.made(creates ? H5Fcreate(name_.c_str(), options.flags, H5P_DEFAULT, access_list.id())
                            : H5Fopen(name_.c_str(), options.flags, access_list.id()),
                    "file");
  require_written();
}

void Hdf5NewFile::require_written() const {
  if (const int error = write_error(); error != 0)
    throw_system_fault(error, fmt::format("{}: cannot be written: {}", name_, std::strerror(error)));
}

void Hdf5NewFile::abandon() noexcept {
  if (access_ != nullptr && access_->write_error == 0) access_->write_error = ECANCELED;
}

void Hdf5NewFile::flush() const {
  errno = 0;
  Hdf5Maker(name_).done(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL), "flush");
  require_written();
}

void Hdf5NewFile::close() {
  if (!file_) return;
  flush();
  file_ = Hdf5Handle();
  require_written();
}

Hdf5Handle Hdf5Maker::made(hid_t id, std::string_view what) const {
  Hdf5Handle handle(id);
  if (!handle) fail(what);
  return handle;
}

void Hdf5Maker::done(herr_t status, std::string_view what) const {
  if (status < 0) fail(what);
}

void Hdf5Maker::fail(std::string_view what) const {
  const int error = errno;
  throw_system_fault(error, fmt::format("{}: cannot be written: {}{}", name_, error != 0 ? std::strerror(error) : "HDF5 refuses",
                                        what.empty() ? std::string() : fmt::format(" ({})", what)));
}

void Hdf5Maker::require_room(int file, std::uint64_t bytes) const {
  if (const auto why = why_no_room(file, bytes + room_for_the_rest))
    throw RuntimeFault(fmt::format("{}: cannot be written: {}", name_, *why));
}

void Hdf5Maker::add_chunk(const Hdf5Handle& dataset, std::span<const hsize_t> before, std::span<const hsize_t> after,
                          std::span<const hsize_t> place, std::span<const std::byte> chunk) const {
  if (H5Dset_extent(dataset.id(), after.data()) >= 0 &&
      H5Dwrite_chunk(dataset.id(), H5P_DEFAULT, 0, place.data(), chunk.size(), chunk.data()) >= 0 &&
      H5Dflush(dataset.id()) >= 0) {
    return;
  }
  const int error = errno;
  H5Dset_extent(dataset.id(), before.data());
  errno = error;
  fail();
}

Hdf5Handle Hdf5Maker::group(const Hdf5Handle& parent, const std::string& name) const {
  return made(H5Gcreate2(parent.id(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), name);
}

void Hdf5Maker::text(const Hdf5Handle& object, const char* name, std::string_view value) const {
  const std::string terminated(value);
  const Hdf5Handle type = made(H5Tcopy(H5T_C_S1), name);
  done(H5Tset_size(type.id(), H5T_VARIABLE), name);
  const Hdf5Handle space = made(H5Screate(H5S_SCALAR), name);
  const Hdf5Handle attribute = made(H5Acreate2(object.id(), name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT), name);
  const char* const at = terminated.c_str();
  done(H5Awrite(attribute.id(), type.id(), static_cast<const void*>(&at)), name);
}

void Hdf5Maker::texts(const Hdf5Handle& object, const char* name, const std::vector<std::string>& values) const {
  const Hdf5Handle type = made(H5Tcopy(H5T_C_S1), name);
  done(H5Tset_size(type.id(), H5T_VARIABLE), name);
  const hsize_t size = values.size();
  const Hdf5Handle space = made(H5Screate_simple(1, &size, nullptr), name);
  const Hdf5Handle attribute = made(H5Acreate2(object.id(), name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT), name);
  std::vector<const char*> at;
  for (const std::string& value : values) at.push_back(value.c_str());
  done(H5Awrite(attribute.id(), type.id(), static_cast<const void*>(at.data())), name);
}

void Hdf5Maker::numbers(const Hdf5Handle& object, const char* name, const std::vector<double>& values) const {
  const hsize_t size = values.size();
  const Hdf5Handle space = made(H5Screate_simple(1, &size, nullptr), name);
  const Hdf5Handle attribute = made(H5Acreate2(object.id(), name, H5T_IEEE_F64LE, space.id(), H5P_DEFAULT, H5P_DEFAULT), name);
  done(H5Awrite(attribute.id(), H5T_NATIVE_DOUBLE, values.data()), name);
}

void Hdf5Maker::refer(const Hdf5Handle& object, const char* name, hobj_ref_t to) const {
  const Hdf5Handle space = made(H5Screate(H5S_SCALAR), name);
  const Hdf5Handle attribute = made(H5Acreate2(object.id(), name, H5T_STD_REF_OBJ, space.id(), H5P_DEFAULT, H5P_DEFAULT), name);
  done(H5Awrite(attribute.id(), H5T_STD_REF_OBJ, &to), name);
}

void Hdf5Maker::write(const Hdf5Handle& group, const char* name, hid_t file_type, hid_t memory_type,
                      const std::vector<hsize_t>& shape, const void* values) const {
  const Hdf5Handle space = made(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), name);
  const Hdf5Handle dataset =
      made(H5Dcreate2(group.id(), name, file_type, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), name);
  done(H5Dwrite(dataset.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), name);
}

void Hdf5Maker::growing(const Hdf5Handle& group, const char* name, hid_t type, std::vector<hsize_t> shape, hsize_t rows,
                        std::optional<std::int64_t> fill) const {
  shape.insert(shape.begin(), rows);
  const Hdf5Handle creation = made(H5Pcreate(H5P_DATASET_CREATE), name);
  done(H5Pset_chunk(creation.id(), static_cast<int>(shape.size()), shape.data()), name);
  // Chunks are written whole, so they need no fill value.
  if (!fill) done(H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER), name);
  if (fill) done(H5Pset_fill_value(creation.id(), H5T_NATIVE_INT64, &*fill), name);
  std::vector<hsize_t> most = shape;
  most[0] = most[1] = H5S_UNLIMITED;
  shape[0] = 0;
  const Hdf5Handle space = made(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), most.data()), name);
  static_cast<void>(made(H5Dcreate2(group.id(), name, type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), name));
}

hobj_ref_t Hdf5Maker::reference(const Hdf5Handle& group) const {
  hobj_ref_t reference = 0;
  done(H5Rcreate(&reference, group.id(), ".", H5R_OBJECT, -1), "a reference");
  return reference;
}

}  // namespace echoform::formats
