// Writes images as HDF5: datasets image, x and z (and y for volumes).
#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "base/anatomical_axes.hpp"
#include "formats/atomic_file.hpp"
#include "formats/envelope_view.hpp"
#include "formats/hdf5_maker.hpp"
#include "formats/hdf5_output.hpp"
#include "formats/image_formats.hpp"

namespace echoform::formats {
namespace {

void write_contents(const Hdf5Output& file, const ImageFile& image) {
  const Grid& grid = image.grid;
  std::vector<hsize_t> shape{grid.z.count};
  if (grid.y.count > 1) shape.push_back(grid.y.count);
  shape.push_back(grid.x.count);
  const bool analytic = image.field == ImageField::analytic;
  // NumPy's users read a compound of r and i as complex numbers.
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
  // The places belong to pixels along x, y and z, whichever order the array has.
  const auto places = image.lines ? std::nullopt : pixel_places(grid, image.x, image.y, image.z);
  if (places) file.matrix(set, "ras_of_pixels", ras_of_pixels(*places));
  const auto axis = [&](const char* called, const Axis& along, const Meaning& meaning) {
    const auto centres = file.axis(called, along, meaning.unit);
    if (meaning.name != called) file.text(centres, "name", meaning.name);
  };
  axis("x", grid.x, image.x);
  axis("z", grid.z, image.z);
  if (grid.y.count > 1) axis("y", grid.y, image.y);
}

void write_hdf5_image(const std::filesystem::path& path, const ImageFile& image) {
  std::vector<float> room;
  const ImageFile whole = with_envelope(image, room);
  AtomicFile aside(path);
  const Hdf5Session session;
  Hdf5Maker(path.string()).require_room(aside.descriptor(), sizeof(std::complex<float>) * whole.grid.pixels());
  Hdf5Output file(aside.descriptor(), path.string());
  write_contents(file, whole);
  file.finish();
  aside.commit();
}

}  // namespace

constinit const ImageFormat hdf5_image_format{
    .extension = ".h5",
    .meaning = "datasets of HDF5: the image as in .npy, and its axes",
    .packages = "libhdf5-dev",
    .page = "command-line.md#image",
    .write = write_hdf5_image,
};

}  // namespace echoform::formats
