// HDF5's access to a file that is open already, by its descriptor: no path is opened, so that no name can lead to another
// file, and what fails while writing is kept instead of being reported to HDF5, which crashes on closing a file that it
// could not write.
#pragma once

#include <cstddef>
#include <memory>

#include "formats/hdf5_file.hpp"

namespace echoform::formats {

/// What became of one file.
struct Hdf5Access {
  /// errno of the first write that failed; 0: none has. Nothing is written from then on: the file stays as if the program
  /// had been killed there. To HDF5 all writes seem to succeed.
  int write_error = 0;
  /// Maximum bytes that one read of raw data may request (a larger read fails), and the bytes that the last read requested.
  std::size_t most_raw_bytes = SIZE_MAX;
  std::size_t last_raw_bytes = 0;
};

/// Makes files that are opened with `access_list`, of class H5P_FILE_ACCESS, those of `descriptor`, whatever name HDF5 is given.
/// HDF5 has a duplicate of the descriptor. Returns what becomes of the file. Throws RuntimeFault if HDF5 refuses. Within a
/// session.
[[nodiscard]] std::shared_ptr<Hdf5Access> use_descriptor(const Hdf5Handle& access_list, int descriptor);

/// The access to the file that holds an open object; null if another driver has the file open.
[[nodiscard]] std::shared_ptr<Hdf5Access> access_of(const Hdf5Handle& object);

}  // namespace echoform::formats
