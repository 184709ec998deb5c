// HDF5 files that are written in one go.
#pragma once

#include <string>
#include <vector>

#include "base/anatomical_axes.hpp"
#include "base/grid.hpp"
#include "formats/hdf5_maker.hpp"

namespace echoform::formats {

/// A new file. Every function throws RuntimeFault, naming `name`, where HDF5 cannot write. Within one Hdf5Session.
class Hdf5Output {
 public:
  /// `descriptor` is of an empty file that is open for writing, and outlives this.
  Hdf5Output(int descriptor, std::string name);

  /// Writes a dataset in C order, as it lies in memory.
  Hdf5Handle dataset(const char* name, const std::vector<hsize_t>& shape, hid_t type, const void* data) const;
  /// Centres of the pixels, in `unit`.
  Hdf5Handle axis(const char* name, const Axis& axis, const std::string& unit) const;
  /// An attribute of an object; that of the file for `root()`.
  void text(const Hdf5Handle& object, const char* name, const std::string& value) const;
  /// An attribute of 4 x 4 numbers.
  void matrix(const Hdf5Handle& object, const char* name, const RasMatrix& values) const;
  [[nodiscard]] Hdf5Handle root() const;
  /// Brings everything to the file, and closes it and what is open of it, so that a full disk is noticed here.
  void finish() { file_.close(); }

 private:
  hid_t require(hid_t result) const;

  std::string name_;
  Hdf5NewFile file_;
};

}  // namespace echoform::formats
