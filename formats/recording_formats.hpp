// The formats of recordings. Everything that the program says of one is its entry, which stands in the format's own file: how it
// is read and written, by which extensions, and what help, documentation and tests say of it.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/frame_writer.hpp"
#include "formats/guarded_trial.hpp"
#include "formats/input_file.hpp"
#include "formats/recording.hpp"

// A line each: FORMAT(NAME) is `const RecordingFormat NAME_format`, which may have `const FrameFormat NAME_frames`, its writer.
// Messages list extensions in this order.
#define ECHOFORM_RECORDING_FORMATS(FORMAT) \
  FORMAT(brain_mat)                        \
  FORMAT(mfmc)                             \
  FORMAT(capture)                          \
  FORMAT(ipasc)                            \
  FORMAT(kwave)                            \
  FORMAT(msot)                             \
  FORMAT(nde)                              \
  FORMAT(onde)                             \
  FORMAT(m2k)                              \
  FORMAT(uff)

namespace echoform::formats {

class Hdf5Handle;

/// How frames are written.
struct FrameFormat {
  /// Throws InputError, naming `where`, unless a file can hold frames of `acquisition`.
  void (*check)(const Acquisition& acquisition, const std::string& where) = nullptr;
  /// As make_frame_writer(). Calls check().
  std::unique_ptr<FrameWriter> (*make)(const std::filesystem::path& path, const Acquisition& acquisition,
                                       const FrameWriterOptions& options) = nullptr;
  std::uint64_t most_frames = 0;  ///< 0: any number
  /// The file has its name from the first frame on, unless it is to be whole, and can be read while it grows. Such formats are
  /// listed first.
  bool grows = false;
  std::string_view velocity_of{};  ///< whose definition wants the velocity of longitudinal waves; empty: nobody's
  /// What samples become, "float64 amplitudes"; null: they stay what they are.
  std::string_view (*samples_as)(const Acquisition& acquisition) = nullptr;
};

/// How an HDF5 file tells its format where several have its extension. A file with marks of several is of the lowest `rank`.
struct Hdf5Mark {
  std::string_view called;  ///< for messages
  unsigned rank = 0;        ///< of its own
  bool (*in)(const Hdf5Handle& file) = nullptr;
};

using OpenRecording = std::unique_ptr<Recording> (*)(const InputFile& file, const RecordingOptions& options);

struct RecordingFormat {
  std::string_view name;     ///< "MFMC"
  std::string_view meaning;  ///< "Multi-Frame Matrix Capture 2.0"
  /// Lower case with the dot. Several formats may share one. Frames are written under the first.
  std::array<std::string_view, 2> extensions;
  std::string_view packages{};              ///< of the libraries that it needs, as tools/install-packages names them
  std::string_view page;                    ///< "file_formats.md#onde": where docs/ says more
  std::array<std::string_view, 2> fuzzers;  ///< NAME of tests/fuzz/NAME_fuzz.cpp

  /// Throws InputError, with one line that names the file and the place in it, for what it does not take.
  OpenRecording open = nullptr;
  /// Instead of open(), of a format whose recordings are folders.
  std::unique_ptr<Recording> (*open_folder)(const std::filesystem::path& folder, const RecordingOptions& options) = nullptr;
  std::string_view always_hdf5{};  ///< "an ONDE file (HDF5)", for the message; empty: files may be something else
  std::optional<Hdf5Mark> mark{};
  /// What may crash HDF5: opens the file and reads of all of it. Runs first, in a process of its own, where the file is HDF5.
  void (*try_reading)(const InputFile& file, const RecordingOptions& options) = nullptr;
  TrialLimits (*trial_limits)(const InputFile& file) = nullptr;  ///< null: TrialLimits{}

  const FrameFormat* writer = nullptr;  ///< null: it is read alone

  /// Those that there are.
  [[nodiscard]] std::span<const std::string_view> its_extensions() const;
  [[nodiscard]] std::span<const std::string_view> its_fuzzers() const;
};

#define ECHOFORM_DECLARE(NAME)            \
  extern const FrameFormat NAME##_frames; \
  extern const RecordingFormat NAME##_format;
ECHOFORM_RECORDING_FORMATS(ECHOFORM_DECLARE)
#undef ECHOFORM_DECLARE

/// All of them, in the order of the table.
[[nodiscard]] std::span<const RecordingFormat* const> recording_formats();

/// Whether HDF5, which can crash on damaged files, reads a file first in a process of its own.
enum class Trial : bool { none, first };

/// Opens a file of that format, whatever its extension. Throws InputError as open_recording(). Without a trial it is for files
/// that HDF5 is known to survive.
[[nodiscard]] std::unique_ptr<Recording> open_as(const RecordingFormat& format, const InputFile& file,
                                                 const RecordingOptions& options, Trial trial = Trial::first);

/// Throws InputError, which expects `expected`, unless the file has HDF5's signature.
void require_hdf5(const InputFile& file, std::string_view expected);
/// Which of `candidates` the HDF5 file is by its marks. Throws InputError where it is none of them.
[[nodiscard]] const RecordingFormat& format_by_mark(const InputFile& file, std::span<const RecordingFormat* const> candidates);

/// Opens a recording; for the table entry of a reader `Reader(file, options)`, or of one that has try_reading().
template <class Reader>
std::unique_ptr<Recording> open_by(const InputFile& file, const RecordingOptions& options) {
  return std::make_unique<Reader>(file, options);
}
template <class Reader>
void try_by(const InputFile& file, const RecordingOptions& options) {
  Reader(file, options).try_reading();
}
/// Makes a writer; for the table entry of a writer.
template <class Writer>
std::unique_ptr<FrameWriter> write_by(const std::filesystem::path& path, const Acquisition& acquisition,
                                      const FrameWriterOptions& options) {
  return std::make_unique<Writer>(path, acquisition, options);
}

}  // namespace echoform::formats
