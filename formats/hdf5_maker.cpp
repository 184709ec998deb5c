#include "formats/hdf5_maker.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/descriptors.hpp"
#include "base/errors.hpp"

namespace echoform::formats {

std::optional<std::string> why_no_room(const std::filesystem::path& file, std::uint64_t bytes) {
  std::error_code error;
  const bool there = std::filesystem::exists(file, error);
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  struct statvfs disk {};
  if (::statvfs((there ? file : folder).c_str(), &disk) == 0) {
    const std::uint64_t left = std::uint64_t{disk.f_bavail} * disk.f_frsize;
    if (left < bytes) {
      return fmt::format("the disk is full ({:.1f} MB needed, {:.1f} MB left)", 1e-6 * static_cast<double>(bytes),
                         1e-6 * static_cast<double>(left));
    }
  }
  struct rlimit limit {};
  const std::uint64_t size = there ? std::filesystem::file_size(file, error) : 0;
  if (!error && ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && size + bytes > limit.rlim_cur)
    return std::strerror(EFBIG);
  return std::nullopt;
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

void Hdf5Maker::require_room(const std::filesystem::path& file, std::uint64_t bytes) const {
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
  // Chunks are written whole.
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
