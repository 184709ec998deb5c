// Images of a recording, for any program: nothing here knows a command line, a terminal or a log of its own. Three things
// concern the whole process all the same:
// - a GPU that no longer answers ends the process (gpu/fault.hpp),
// - the maximum of the memory that the process held is forgotten where a GPU images (forget_most_held()),
// - formats that are tried on a copy first start a process for that.
//
//   Configuration configuration = load_configuration("inspection.toml");
//   RecordingImager imager("scan.mfmc", configuration);
//   std::vector<float> image(imager.prepare(0).pixels());
//   imager.image(0);
//   imager.copy_envelope(imager.views().front(), image);
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/grid.hpp"
#include "config/configuration.hpp"
#include "formats/recording.hpp"
#include "methods/method.hpp"
#include "offline/imaging_messages.hpp"
#include "offline/process_memory.hpp"
#include "pipeline/imaging_setup.hpp"
#include "pipeline/recipe.hpp"

namespace echoform {

class FrameImager;

struct RecordingImagerOptions {
  bool complex_images = false;  ///< in addition to envelopes, where the method has them
  /// Whether images as figures show them are made too, where the axes of envelopes are not those of the part: the sector of
  /// scan lines.
  bool figures = false;
  GroupWish groups = GroupWish::needed;      ///< whether frames are imaged by groups of A-scans, which takes less memory
  std::vector<std::size_t> positions{};      ///< the only positions of the probe that are imaged; empty: all
  std::string positions_name = "positions";  ///< what messages call them
  std::size_t writing_bytes = 0;             ///< memory that is left for what the caller does with images
  /// Which of several processes this is. Each images its part of the planes along z, where the method supports that. The
  /// caller decides which GPU each process uses (take_device_of_host()).
  std::size_t process = 0;
  std::size_t processes = 1;
  /// Asked before anything is made for a setup; may throw.
  std::function<void(const ImagingSetup&)> accept{};
  ImagingMessages messages{};
};

/// Used by one thread at a time; it starts the threads that image itself. Several objects may exist at once.
class RecordingImager {
 public:
  /// Opens the recording. Throws InputError where it cannot be read, for settings that are refused, for positions that it
  /// does not have, for a backend that is not available, and for what several processes cannot do together.
  RecordingImager(const std::filesystem::path& path, Configuration configuration, RecordingImagerOptions options = {});
  ~RecordingImager();
  RecordingImager(const RecordingImager&) = delete;
  RecordingImager& operator=(const RecordingImager&) = delete;

  [[nodiscard]] const Recording& recording() const noexcept { return *recording_; }
  /// The configuration as it is used: its backend is settled.
  [[nodiscard]] const Configuration& configuration() const noexcept { return configuration_; }
  /// Names of the images that are made of each frame.
  [[nodiscard]] const std::vector<std::string>& views() const noexcept { return views_; }
  /// Whether frames are taken along a path ([scan] path). Then all frames make one image, and each adds what is new.
  [[nodiscard]] bool scans() const noexcept { return scan_; }

  /// Makes what imaging of the frame needs, for example tables of travel times, unless it is there from the previous frame.
  /// Returns the grid of the first view's image, of all processes. Throws InputError where the settings and the data are
  /// refused, or memory does not hold what they need. Throws PlanningEnded where `stop` ended it between two pieces of
  /// work.
  const Grid& prepare(std::size_t frame, const std::stop_token& stop = {});

  /// Is called with the number of the frame's bytes that are imaged, while the frame is imaged by groups.
  using Progress = std::function<void(std::size_t bytes)>;
  /// Images the frame, and prepares it first if that was not done. Throws as prepare() and Recording::read_frame(),
  /// PlanningEnded where `stop` came before the frame or between two groups, and RuntimeFault if the backend fails. It may
  /// be called again after any of these.
  void image(std::size_t frame, const Progress& progress = {}, const std::stop_token& stop = {});

  /// The setup of the frame that was prepared last.
  [[nodiscard]] const ImagingSetup& setup() const;
  /// Describes the image of a view. Throws InputError for a name that is not in views().
  [[nodiscard]] const OutputDescription& description(std::string_view view) const;

  /// The envelope of the view in the last frame that was imaged, in C order [z, x] or [z, y, x]. It is valid until the next
  /// frame is prepared, and empty where there is none. The same holds for the complex image, analytic().
  [[nodiscard]] std::span<const float> envelope(std::string_view view) const;
  [[nodiscard]] std::span<const std::complex<float>> analytic(std::string_view view) const;
  /// The levels that figures show of the view instead of its envelope; empty where they show the envelope.
  [[nodiscard]] std::span<const std::byte> display(std::string_view view) const;
  /// The value that these levels show as 0 dB, or as the end of a scale of numbers; 0 where there is none.
  [[nodiscard]] double display_reference(std::string_view view) const;
  /// Copies the envelope into memory of the caller. Throws InputError for a name that is not in views(), and if the size of
  /// `to` is not the number of pixels; std::logic_error where no frame was imaged.
  void copy_envelope(std::string_view view, std::span<float> to) const;
  /// Samples of the last frame that were not finite and counted as 0.
  [[nodiscard]] std::uint64_t invalid_samples() const;
  /// "36 groups of A-scans, 5 at a time on the CPU"; empty where frames are imaged whole.
  [[nodiscard]] std::string groups_text() const;

  /// How far the crop to the needed samples moves the images of a frame, a line for each view. The frame is prepared if
  /// that was not done. Only for frames that are imaged whole, by one process.
  [[nodiscard]] std::vector<std::string> crop_distance(std::size_t frame);
  /// The host's memory that the program holds itself, and the memory that a GPU's driver took in addition, in bytes.
  [[nodiscard]] HeldMemory held() const { return memory_.own(held_memory()); }
  [[nodiscard]] double held_by_driver() const { return memory_.driver(); }

 private:
  [[nodiscard]] std::shared_ptr<const ImagingSetup> resolve();
  [[nodiscard]] RowRange own_planes() const;
  void check_processes() const;

  Configuration configuration_;
  const RecordingImagerOptions options_;
  const Method* method_;
  std::vector<std::string> views_;
  bool scan_ = false;
  MemoryShares memory_;
  std::optional<double> besides_;  // ImagingRequest::besides
  std::unique_ptr<Recording> recording_;
  StatedByData stated_;
  Acquisition acquisition_;
  std::unique_ptr<FrameImager> imager_;
  std::optional<std::size_t> prepared_;  // the frame
  bool imaged_ = false;
  Grid whole_;  // of all processes
  /// What every process reports of the whole image.
  struct Said {
    std::vector<std::string> notes, warnings, of_images;
  };
  Said said_;
};

}  // namespace echoform
