// The readers behind open_recording(), one function a format. Private to formats/.
#pragma once

#include <filesystem>
#include <memory>

#include "formats/input_file.hpp"
#include "formats/recording.hpp"

namespace echoform::formats {

/// BRAIN `exp_data` in MATLAB version 5 and 7 files.
[[nodiscard]] std::unique_ptr<Recording> open_brain_mat(const InputFile& file, const RecordingOptions& options);
/// The frames of a capture of acquisition connections.
[[nodiscard]] std::unique_ptr<Recording> open_capture(const InputFile& file, const RecordingOptions& options);
/// MFMC 2.0 in HDF5.
[[nodiscard]] std::unique_ptr<Recording> open_mfmc(const InputFile& file, const RecordingOptions& options);
/// Throws InputError unless the file has HDF5's signature.
void require_hdf5(const InputFile& file);
/// What may crash HDF5: opens the file and reads frames of all of it, in this process. Throws InputError where it cannot be
/// opened.
void read_mfmc_on_trial(const InputFile& file, const RecordingOptions& options);
/// The same as open_mfmc() without the trial run in a process of its own, for files that HDF5 is known to survive.
[[nodiscard]] std::unique_ptr<Recording> open_mfmc_untried(const InputFile& file, const RecordingOptions& options);

/// IPASC optoacoustic time series in HDF5, as passive events: one a wavelength, a frame each measurement.
[[nodiscard]] std::unique_ptr<Recording> open_ipasc(const InputFile& file, const RecordingOptions& options);
/// The same without the trial run in a process of its own.
[[nodiscard]] std::unique_ptr<Recording> open_ipasc_untried(const InputFile& file, const RecordingOptions& options);
/// What k-Wave's programs simulate, in HDF5: one frame of one passive event.
[[nodiscard]] std::unique_ptr<Recording> open_kwave(const InputFile& file, const RecordingOptions& options);
/// The same without the trial run in a process of its own.
[[nodiscard]] std::unique_ptr<Recording> open_kwave_untried(const InputFile& file, const RecordingOptions& options);
/// A scan of iThera's MSOT, its description and the .bin file of samples beside it: one passive event a wavelength, a frame each
/// sweep through them.
[[nodiscard]] std::unique_ptr<Recording> open_msot(const InputFile& file, const RecordingOptions& options);
/// FMC data of Evident's .nde, version 4: HDF5 with a Setup in JSON.
[[nodiscard]] std::unique_ptr<Recording> open_nde(const InputFile& file, const RecordingOptions& options);
/// The same without the trial run in a process of its own.
[[nodiscard]] std::unique_ptr<Recording> open_nde_untried(const InputFile& file, const RecordingOptions& options);
/// A-scans of ONDE 0.9, in HDF5.
[[nodiscard]] std::unique_ptr<Recording> open_onde(const InputFile& file, const RecordingOptions& options);
/// The same without the trial run in a process of its own.
[[nodiscard]] std::unique_ptr<Recording> open_onde_untried(const InputFile& file, const RecordingOptions& options);
/// FMC data of M2M's instruments: a folder of descriptions and samples.
[[nodiscard]] std::unique_ptr<Recording> open_m2k(const std::filesystem::path& folder, const RecordingOptions& options);
/// Channel data of USTB's files: of each wave all elements.
[[nodiscard]] std::unique_ptr<Recording> open_uff(const InputFile& file, const RecordingOptions& options);
/// The same without the trial run in a process of its own.
[[nodiscard]] std::unique_ptr<Recording> open_uff_untried(const InputFile& file, const RecordingOptions& options);
/// IPASC, k-Wave, MFMC or BRAIN, as what the HDF5 file holds tells.
[[nodiscard]] std::unique_ptr<Recording> open_hdf5_recording(const InputFile& file, const RecordingOptions& options);

}  // namespace echoform::formats
