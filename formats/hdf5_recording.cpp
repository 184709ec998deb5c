// Recordings in HDF5 files whose extension says no more than that: what they hold tells which format it is.
#include <memory>

#include "base/errors.hpp"
#include "formats/guarded_trial.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/ipasc_fields.hpp"
#include "formats/mat5_check.hpp"
#include "formats/readers.hpp"

namespace echoform::formats {
namespace {

using Open = std::unique_ptr<Recording> (*)(const InputFile&, const RecordingOptions&);

Open reader_of(const InputFile& input) {
  const Hdf5Session session;
  const Hdf5Handle file = open_hdf5(input);
  if (H5Lexists(file.id(), ipasc_samples, H5P_DEFAULT) > 0) return open_ipasc;
  if (H5Lexists(file.id(), "exp_data", H5P_DEFAULT) > 0) return open_brain_mat;
  if (Hdf5Item::exists(file, "TYPE")) return open_mfmc;
  if (H5Lexists(file.id(), "Nx", H5P_DEFAULT) > 0 && H5Lexists(file.id(), "dt", H5P_DEFAULT) > 0) return open_kwave;
  return nullptr;
}

}  // namespace

std::unique_ptr<Recording> open_hdf5_recording(const InputFile& file, const RecordingOptions& options) {
  if (!is_hdf5_file(file)) throw InputError(file.name(), "no HDF5 signature", "an HDF5 file");
  // As open_mfmc() has it: HDF5 1.10 can crash on damaged files.
  try_in_child(file.name(), [&] { static_cast<void>(reader_of(file)); });
  if (const Open open = reader_of(file)) return open(file, options);
  throw InputError(file.name(), "none of binary_time_series_data, exp_data, TYPE, and Nx with dt",
                   "a recording: IPASC, BRAIN exp_data, MFMC, or k-Wave");
}

}  // namespace echoform::formats
