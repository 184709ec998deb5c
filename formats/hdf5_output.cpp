#include "formats/hdf5_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/errors.hpp"

namespace echoform::formats {

Hdf5Output::Hdf5Output(int descriptor, std::string name) : name_(std::move(name)), file_(descriptor, name_) {}

Hdf5Handle Hdf5Output::dataset(const char* name, const std::vector<hsize_t>& shape, hid_t type, const void* data) const {
  const Hdf5Handle space(require(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr)));
  Hdf5Handle set(require(H5Dcreate2(file_.handle().id(), name, type, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
  // HDF5 requires a pointer to data even if there are none.
  const bool any = std::find(shape.begin(), shape.end(), hsize_t{0}) == shape.end();
  if (any) require(H5Dwrite(set.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
  return set;
}

Hdf5Handle Hdf5Output::axis(const char* name, const Axis& axis, const std::string& unit) const {
  std::vector<double> centres(axis.count);
  for (std::size_t k = 0; k < axis.count; ++k) centres[k] = axis.at(k).value;
  Hdf5Handle set = dataset(name, {axis.count}, H5T_NATIVE_DOUBLE, centres.data());
  text(set, "units", unit);
  return set;
}

void Hdf5Output::text(const Hdf5Handle& object, const char* name, const std::string& value) const {
  const Hdf5Handle type(require(H5Tcopy(H5T_C_S1)));
  require(H5Tset_size(type.id(), value.size() + 1));
  const Hdf5Handle space(require(H5Screate(H5S_SCALAR)));
  const Hdf5Handle attribute(require(H5Acreate2(object.id(), name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT)));
  require(H5Awrite(attribute.id(), type.id(), value.c_str()));
}

void Hdf5Output::matrix(const Hdf5Handle& object, const char* name, const RasMatrix& values) const {
  const std::array<hsize_t, 2> shape{values.size(), values.front().size()};
  const Hdf5Handle space(require(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr)));
  const Hdf5Handle attribute(require(H5Acreate2(object.id(), name, H5T_NATIVE_DOUBLE, space.id(), H5P_DEFAULT, H5P_DEFAULT)));
  require(H5Awrite(attribute.id(), H5T_NATIVE_DOUBLE, values.data()));
}

Hdf5Handle Hdf5Output::root() const {
  return Hdf5Handle(require(H5Gopen2(file_.handle().id(), "/", H5P_DEFAULT)));
}

hid_t Hdf5Output::require(hid_t result) const {
  if (result < 0) throw RuntimeFault(fmt::format("{}: cannot be written (disk full or not writable)", name_));
  return result;
}

}  // namespace echoform::formats
