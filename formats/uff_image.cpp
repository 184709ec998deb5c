// Writes images as beamformed data of USTB's files: one object, /beamformed_data. Planes are a uff.linear_scan, lines that meet
// in a point a uff.sector_scan, volumes and steered lines a uff.scan of all pixels' places. Axes that are no places in the part
// are refused.
#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/errors.hpp"
#include "formats/atomic_file.hpp"
#include "formats/envelope_view.hpp"
#include "formats/image_formats.hpp"
#include "formats/shown_axes.hpp"
#include "formats/uff_output.hpp"

namespace echoform::formats {
namespace {

std::vector<double> places_along(const Axis& axis, double more = 0.0) {
  std::vector<double> centres(axis.count);
  for (std::size_t k = 0; k < axis.count; ++k) centres[k] = axis.at(k).value + more;
  return centres;
}

/// The order of the file's pixels.
struct PixelOrder {
  std::size_t fast = 1;       ///< number of pixels of the file before the next one on its slow axis
  std::size_t slow = 1;       ///< number of such groups
  std::size_t fast_step = 1;  ///< step in the image from one pixel of the file to the next
  std::size_t slow_step = 1;
  [[nodiscard]] std::size_t place(std::size_t k) const { return k % fast * fast_step + k / fast * slow_step; }
};

class UffImage {
 public:
  UffImage(const UffOutput& put, const Hdf5Handle& object, const std::string& name, const ImageFile& image)
      : put_(put), object_(object), name_(name), image_(image), grid_(image.grid) {}

  void write() {
    const bool plane = image_.x == Meaning{"x", "m"} && image_.z == Meaning{"z", "m"};
    if (plane && grid_.y.count > 1 && image_.y == Meaning{"y", "m"}) {
      put_volume();
    } else if (plane && grid_.y.count == 1) {
      put_plane();
    } else if (image_.lines && image_.z == Meaning{"angle", "rad"}) {
      put_sector();
    } else if (image_.lines) {
      put_parallel();
    } else {
      throw InputError(name_, fmt::format("axes {}", axes_text(shown_axes(image_))),
                       "planes and volumes of the part, and lines in a plane of it (.npy and .h5 hold others)");
    }
  }

 private:
  /// Writes the plane in the order of meshgrid of x and z, z fastest.
  void put_plane() {
    const Hdf5Handle scan = put_.object(object_, "scan", "uff.linear_scan");
    put_.column(scan, "x_axis", places_along(grid_.x));
    put_.column(scan, "z_axis", places_along(grid_.z));
    put_pixels({grid_.z.count, grid_.x.count, grid_.x.count, 1});
  }

  void put_sector() {
    const Hdf5Handle scan = put_.object(object_, "scan", "uff.sector_scan");
    put_.column(scan, "azimuth_axis", places_along(grid_.z));
    put_.column(scan, "depth_axis", places_along(grid_.x, image_.lines->radius.value));
    const double x = image_.lines->apex_x.value;
    const double z = image_.lines->apex_z.value;
    const double away = std::hypot(x, z);
    put_.point(scan, "origin", away > 0.0 ? point_towards({x / away, 0.0, z / away}, away) : UffPoint{});
    put_pixels({grid_.pixels(), 1, 1, 1});
  }

  /// Writes lines that begin at z of the apex, side by side.
  void put_parallel() {
    const double angle = image_.lines->angle;
    if (angle == 0.0) {
      const Hdf5Handle scan = put_.object(object_, "scan", "uff.linear_scan");
      put_.column(scan, "x_axis", places_along(grid_.z));
      put_.column(scan, "z_axis", places_along(grid_.x, image_.lines->apex_z.value));
      return put_pixels({grid_.pixels(), 1, 1, 1});
    }
    std::vector<double> x, y(grid_.pixels()), z;
    for (std::size_t line = 0; line < grid_.z.count; ++line) {
      for (std::size_t range = 0; range < grid_.x.count; ++range) {
        x.push_back(grid_.z.at(line).value + grid_.x.at(range).value * std::sin(angle));
        z.push_back(image_.lines->apex_z.value + grid_.x.at(range).value * std::cos(angle));
      }
    }
    put_places(x, y, z);
  }

  void put_volume() {
    std::vector<double> x, y, z;
    for (std::size_t k = 0; k < grid_.pixels(); ++k) {
      const Point at = grid_.at(k);
      x.push_back(at.x.value);
      y.push_back(at.y.value);
      z.push_back(at.z.value);
    }
    put_places(x, y, z);
  }

  void put_places(const std::vector<double>& x, const std::vector<double>& y, const std::vector<double>& z) {
    const Hdf5Handle scan = put_.object(object_, "scan", "uff.scan");
    put_.column(scan, "x", x);
    put_.column(scan, "y", y);
    put_.column(scan, "z", z);
    put_pixels({grid_.pixels(), 1, 1, 1});
  }

  /// Writes a column of all pixels.
  void put_pixels(const PixelOrder& order) {
    const std::size_t count = grid_.pixels();
    const EnvelopeView envelope(image_);
    const bool analytic = image_.field == ImageField::analytic;
    std::vector<float> real(count);
    std::vector<float> imaginary(analytic ? count : 0);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t from = order.place(k);
      real[k] = analytic ? image_.analytic[from].real() : envelope[from];
      if (analytic) imaginary[k] = image_.analytic[from].imag();
    }
    put_.samples(object_, "data", {1, count}, real, imaginary);
  }

  const UffOutput& put_;
  const Hdf5Handle& object_;
  const std::string& name_;
  const ImageFile& image_;
  const Grid& grid_;
};

void write_uff_image(const std::filesystem::path& path, const ImageFile& image) {
  const std::string name = path.string();
  AtomicFile aside(path);
  const Hdf5Session session;
  const UffOutput put(name);
  constexpr std::uint64_t numbers = 3 * sizeof(double) + 2 * sizeof(float);  // the pixel's place, if it is stated, and its parts
  put.require_room(aside.descriptor(), numbers * image.grid.pixels());
  errno = 0;
  Hdf5NewFile file(aside.descriptor(), name);
  put.version(file);
  const Hdf5Handle object = put.object(file.handle(), "beamformed_data", "uff.beamformed_data");
  UffImage(put, object, name, image).write();
  file.close();
  aside.commit();
}

}  // namespace

constinit const ImageFormat uff_image_format{
    .extension = ".uff",
    .meaning = "beamformed data of USTB",
    .packages = "libhdf5-dev",
    .page = "command-line.md#channel-data-of-the-ultrasound-toolbox-uff",
    .write = write_uff_image,
};

}  // namespace echoform::formats
