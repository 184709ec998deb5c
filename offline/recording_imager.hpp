// Images of a recording, for any program: nothing here knows a command line, a terminal or a log of its own. Three things are the
// process's all the same: a GPU that no longer answers ends it (gpu/fault.hpp); the most memory that it held is forgotten where a
// GPU images (forget_most_held()); and formats that are tried on a copy first start a process for that.
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
  bool complex_images = false;  ///< beside envelopes, where the method has them
  /// Images as figures show them, beside envelopes whose axes are not those of the part: the sector of scan lines.
  bool figures = false;
  GroupWish groups = GroupWish::needed;      ///< whether frames are imaged by groups of A-scans, which less memory holds
  std::vector<std::size_t> positions{};      ///< of frames that state positions of the probe, those alone; empty: all
  std::string positions_name = "positions";  ///< what messages call them
  std::size_t writing_bytes = 0;             ///< of memory, left for what the caller does with images
  /// Of several processes, which this is. Each images its part of the planes along z, where the method can do that; which GPU
  /// each uses is the caller's to say (take_device_of_host()).
  std::size_t process = 0;
  std::size_t processes = 1;
  /// Asked before anything is made for a setup; may throw.
  std::function<void(const ImagingSetup&)> accept{};
  ImagingMessages messages{};
};

/// One thread at a time; the threads that image are its own. Several may live beside each other.
class RecordingImager {
 public:
  /// Opens the recording. Throws InputError where it cannot be read, for settings that are refused, for positions that it does
  /// not have, for a backend that is not there, and for what several processes cannot do together.
  RecordingImager(const std::filesystem::path& path, Configuration configuration, RecordingImagerOptions options = {});
  ~RecordingImager();
  RecordingImager(const RecordingImager&) = delete;
  RecordingImager& operator=(const RecordingImager&) = delete;

  [[nodiscard]] const Recording& recording() const noexcept { return *recording_; }
  /// As it is used: its backend is settled.
  [[nodiscard]] const Configuration& configuration() const noexcept { return configuration_; }
  /// Names of the images that are made of each frame.
  [[nodiscard]] const std::vector<std::string>& views() const noexcept { return views_; }
  /// Whether frames are taken along a path ([scan] path): then all of them make one image, each adds what is new.
  [[nodiscard]] bool scans() const noexcept { return scan_; }

  /// Makes what imaging of the frame needs, tables of travel times among it; nothing where it is there from the frame before.
  /// Returns the grid of the first view's image, of all processes. Throws InputError where the settings and the data are refused,
  /// or memory does not hold what they need, and PlanningEnded where `stop` ended it between two pieces of work.
  const Grid& prepare(std::size_t frame, const std::stop_token& stop = {});

  /// Told how many of the frame's bytes are imaged, while it is imaged by groups.
  using Progress = std::function<void(std::size_t bytes)>;
  /// Images the frame, which is prepared if it was not. Throws as prepare() and Recording::read_frame(), PlanningEnded where
  /// `stop` came before the frame or between two groups, and RuntimeFault if the backend fails. It may be called again after any
  /// of these.
  void image(std::size_t frame, const Progress& progress = {}, const std::stop_token& stop = {});

  /// Of the frame that was prepared last.
  [[nodiscard]] const ImagingSetup& setup() const;
  /// What the image of a view is. Throws InputError for a name that is none of views().
  [[nodiscard]] const OutputDescription& description(std::string_view view) const;

  /// Of the last frame that was imaged, in C order [z, x] or [z, y, x]; valid until the next is prepared. Empty where there is
  /// none.
  [[nodiscard]] std::span<const float> envelope(std::string_view view) const;
  [[nodiscard]] std::span<const std::complex<float>> analytic(std::string_view view) const;
  /// Levels that figures show of the view instead of its envelope; empty where they show the envelope.
  [[nodiscard]] std::span<const std::byte> display(std::string_view view) const;
  /// What these show as 0 dB, or as the end of a scale of numbers; 0 where there is none.
  [[nodiscard]] double display_reference(std::string_view view) const;
  /// Copies the envelope into memory of the caller. Throws InputError for a name that is none of views(), and unless `to` has as
  /// many pixels; std::logic_error where no frame was imaged.
  void copy_envelope(std::string_view view, std::span<float> to) const;
  /// Samples of the last frame that were not finite and counted as 0.
  [[nodiscard]] std::uint64_t invalid_samples() const;
  /// "36 groups of A-scans, 5 at a time on the CPU"; empty where frames are imaged whole.
  [[nodiscard]] std::string groups_text() const;

  /// How far the crop to the needed samples moves the images of a frame, which is prepared if it was not: a line for each view.
  /// For frames that are imaged whole, by one process.
  [[nodiscard]] std::vector<std::string> crop_distance(std::size_t frame);
  /// Of the host's memory, what the program holds itself, and what a GPU's driver took besides.
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
  /// What is said of the whole image, by every process.
  struct Said {
    std::vector<std::string> notes, warnings, of_images;
  };
  Said said_;
};

}  // namespace echoform
