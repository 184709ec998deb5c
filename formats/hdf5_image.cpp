#include "formats/hdf5_image.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"
#include "formats/hdf5_file.hpp"

namespace echoform::formats {
namespace {

class Hdf5ImageFile {
 public:
  Hdf5ImageFile(const std::filesystem::path& path, std::string name) : name_(std::move(name)) {
    file_ = Hdf5Handle(require(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)));
  }

  Hdf5Handle dataset(const char* name, const std::vector<hsize_t>& shape, hid_t type, const void* data) const {
    const Hdf5Handle space(require(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr)));
    Hdf5Handle set(require(H5Dcreate2(file_.id(), name, type, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
    require(H5Dwrite(set.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    return set;
  }

  void axis(const char* name, const Axis& axis, const Meaning& meaning) const {
    std::vector<double> centres(axis.count);
    for (std::size_t k = 0; k < axis.count; ++k) centres[k] = axis.at(k).value;
    const Hdf5Handle set = dataset(name, {axis.count}, H5T_NATIVE_DOUBLE, centres.data());
    text(set, "units", meaning.unit);
    if (meaning.name != name) text(set, "name", meaning.name);
  }

  void text(const Hdf5Handle& object, const char* name, const std::string& value) const {
    const Hdf5Handle type(require(H5Tcopy(H5T_C_S1)));
    require(H5Tset_size(type.id(), value.size() + 1));
    const Hdf5Handle space(require(H5Screate(H5S_SCALAR)));
    const Hdf5Handle attribute(require(H5Acreate2(object.id(), name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT)));
    require(H5Awrite(attribute.id(), type.id(), value.c_str()));
  }

  /// Brings everything to the file, so that a full disk is noticed here.
  void finish() const { require(H5Fflush(file_.id(), H5F_SCOPE_LOCAL)); }

 private:
  hid_t require(hid_t result) const {
    if (result < 0) throw RuntimeFault(fmt::format("{}: cannot be written (disk full or not writable)", name_));
    return result;
  }
  std::string name_;
  Hdf5Handle file_;
};

}  // namespace

void write_hdf5_image(const std::filesystem::path& path, const std::string& name, const ImageFile& image) {
  const Hdf5Session session;
  const Hdf5ImageFile file(path, name);
  const Grid& grid = image.grid;
  std::vector<hsize_t> shape{grid.z.count};
  if (grid.y.count > 1) shape.push_back(grid.y.count);
  shape.push_back(grid.x.count);
  const bool analytic = image.field == ImageField::analytic;
  // A compound of r and i is what NumPy's users read as complex numbers.
  const Hdf5Handle complex_type(H5Tcreate(H5T_COMPOUND, sizeof(std::complex<float>)));
  H5Tinsert(complex_type.id(), "r", 0, H5T_NATIVE_FLOAT);
  H5Tinsert(complex_type.id(), "i", sizeof(float), H5T_NATIVE_FLOAT);
  const auto set = analytic ? file.dataset("image", shape, complex_type.id(), image.analytic.data())
                            : file.dataset("image", shape, H5T_NATIVE_FLOAT, image.envelope.data());
  file.text(set, "field", analytic ? "analytic" : "envelope");
  file.text(set, "axes", grid.y.count > 1 ? "z y x" : "z x");
  file.text(set, "view", image.view);
  file.text(set, "title", image.title);
  file.text(set, "quantity", image.pixels.name);
  if (!image.pixels.unit.empty()) file.text(set, "units", image.pixels.unit);
  file.text(set, "software", "Echoform");
  file.axis("x", grid.x, image.x);
  file.axis("z", grid.z, image.z);
  if (grid.y.count > 1) file.axis("y", grid.y, image.y);
  file.finish();
}

}  // namespace echoform::formats
