#include "formats/uff_output.hpp"

#include <fmt/format.h>

#include <array>

namespace echoform::formats {
namespace {

constexpr const char* uff_version = "v1.2.0";

}  // namespace

void UffOutput::version(const Hdf5NewFile& file) const {
  // MATLAB reads an array of one string as a cell, and USTB's reader expects a cell here.
  const std::string version(uff_version);
  const Hdf5Handle type = made(H5Tcopy(H5T_C_S1));
  done(H5Tset_size(type.id(), version.size() + 1));
  const hsize_t one = 1;
  const Hdf5Handle space = made(H5Screate_simple(1, &one, nullptr));
  const Hdf5Handle attribute = made(H5Acreate2(file.handle().id(), "version", type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT));
  done(H5Awrite(attribute.id(), type.id(), version.c_str()));
}

Hdf5Handle UffOutput::object(const Hdf5Handle& parent, const std::string& name, const std::string& uff_class) const {
  Hdf5Handle made = group(parent, name);
  text(made, "class", uff_class);
  text(made, "name", name);
  values(made, "size", std::array{1.0, 1.0});
  values(made, "array", std::array{0.0});
  return made;
}

Hdf5Handle UffOutput::array(const Hdf5Handle& parent, const std::string& name, const std::string& uff_class,
                            std::size_t count) const {
  Hdf5Handle made = group(parent, name);
  text(made, "class", uff_class);
  text(made, "name", name);
  values(made, "size", std::array{1.0, static_cast<double>(count)});
  values(made, "array", std::array{1.0});
  return made;
}

void UffOutput::number(const Hdf5Handle& parent, const char* name, double value) const {
  numbers(parent, name, {1, 1}, std::array{value});
}

void UffOutput::numbers(const Hdf5Handle& parent, const char* name, const std::vector<hsize_t>& shape,
                        std::span<const double> values) const {
  describe(dataset(parent, name, shape, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data()), name, "double");
}

void UffOutput::column(const Hdf5Handle& parent, const char* name, std::span<const double> values) const {
  numbers(parent, name, {1, values.size()}, values);
}

void UffOutput::samples(const Hdf5Handle& parent, const std::string& name, const std::vector<hsize_t>& shape,
                        std::span<const float> real, std::span<const float> imaginary) const {
  if (imaginary.empty()) {
    describe(dataset(parent, name, shape, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, real.data()), name, "single");
    return;
  }
  const Hdf5Handle parts = group(parent, name);
  text(parts, "class", "single");
  text(parts, "name", name);
  values(parts, "complex", std::array{1.0});
  describe(dataset(parts, "real", shape, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, real.data()), name, "single");
  describe(dataset(parts, "imag", shape, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, imaginary.data()), name, "single", true);
}

void UffOutput::word(const Hdf5Handle& parent, const char* name, const std::string& uff_class, int value) const {
  const Hdf5Handle made = dataset(parent, name, {1, 1}, H5T_STD_I32LE, H5T_NATIVE_INT, &value);
  text(made, "class", uff_class);
  text(made, "name", name);
}

void UffOutput::point(const Hdf5Handle& parent, const char* name, const UffPoint& point) const {
  const Hdf5Handle made = object(parent, name, "uff.point");
  number(made, "distance", point.distance);
  number(made, "azimuth", point.azimuth);
  number(made, "elevation", point.elevation);
}

void UffOutput::describe(const Hdf5Handle& numbers, const std::string& name, const std::string& matlab_class,
                         bool imaginary) const {
  text(numbers, "class", matlab_class);
  text(numbers, "name", name);
  values(numbers, "imaginary", std::array{imaginary ? 1.0 : 0.0});
  values(numbers, "complex", std::array{0.0});
}

void UffOutput::text(const Hdf5Handle& object, const char* name, const std::string& value) const {
  const Hdf5Handle type = made(H5Tcopy(H5T_C_S1));
  done(H5Tset_size(type.id(), value.size() + 1));
  const Hdf5Handle space = made(H5Screate(H5S_SCALAR));
  const Hdf5Handle attribute = made(H5Acreate2(object.id(), name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT));
  done(H5Awrite(attribute.id(), type.id(), value.c_str()));
}

void UffOutput::values(const Hdf5Handle& object, const char* name, std::span<const double> values) const {
  const hsize_t size = values.size();
  const Hdf5Handle space = made(H5Screate_simple(1, &size, nullptr));
  const Hdf5Handle attribute = made(H5Acreate2(object.id(), name, H5T_IEEE_F64LE, space.id(), H5P_DEFAULT, H5P_DEFAULT));
  done(H5Awrite(attribute.id(), H5T_NATIVE_DOUBLE, values.data()));
}

Hdf5Handle UffOutput::dataset(const Hdf5Handle& parent, const std::string& name, const std::vector<hsize_t>& shape, hid_t in_file,
                              hid_t in_memory, const void* values) const {
  const Hdf5Handle space = made(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
  Hdf5Handle set = made(H5Dcreate2(parent.id(), name.c_str(), in_file, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  done(H5Dwrite(set.id(), in_memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  return set;
}

std::string element_name(const std::string& array, std::size_t place) {
  return fmt::format("{}_{:04}", array, place + 1);
}

}  // namespace echoform::formats
