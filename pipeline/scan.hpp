// A scan: the probe moves along a path, each frame is imaged from the place where it was taken, and these images form one image
// of the part.
#pragma once

#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/frame_stamp.hpp"
#include "acquisition/pose.hpp"
#include "base/grid.hpp"
#include "pipeline/recipe.hpp"

namespace echoform {

struct ImagingSetup;

/// How images from several positions become one.
enum class Composition : std::uint8_t {
  maximum,   ///< of envelopes, pixel by pixel
  coherent,  ///< the sum of complex images over the number of positions that cover the pixel, then the envelope
};

/// What the encoder's counts mean: s = origin + count * per_count, in m along the path. Cells are `step` long, and cell k
/// holds all s that are nearest to k * step. On a path that closes, s and s + around are one place, and cells are those of
/// the s from -around / 2 up to around / 2: the last cell on either side is what is left.
struct EncoderScale {
  Metres origin;
  Metres per_count{1e-3};  ///< not 0; negative where counts fall as s grows
  Metres step{1e-3};       ///< above 0
  Metres around{};         ///< length of a path that closes; 0: it does not close

  [[nodiscard]] Metres position(std::int64_t count) const { return origin + static_cast<double>(count) * per_count; }
  /// The s of the same place above -around / 2 and up to around / 2.
  [[nodiscard]] Metres place(Metres s) const;
  [[nodiscard]] std::int64_t cell(Metres s) const;

  bool operator==(const EncoderScale&) const = default;
};

/// Where pixels of a position's image lie in the scan's image: the first one, and how many pixels lie from one to the next
/// along the position's own x, y and z. These may be other axes of the scan's image, and may run backwards.
struct ScanPlaces {
  std::size_t first = 0;
  std::ptrdiff_t along_x = 1;
  std::ptrdiff_t along_y = 0;
  std::ptrdiff_t along_z = 0;
};

/// Images of one position: a part of the scan's grid.
struct ScanPosition {
  std::shared_ptr<const ImagingSetup> setup;  ///< null: no pixel of the grid is covered from there
  ScanPlaces places;
};

inline constexpr std::size_t most_scan_cells = 1'000'000;

/// What images of a scan are made of.
struct ScanMakings {
  Acquisition acquisition;            ///< as stated by the data
  std::vector<std::string> settings;  ///< a line each; empty where the scan need not be found again
};

/// The state of a scan: its image and its counts. One thread adds to it. It outlives frames, engines and senders: it exists
/// until another scan begins or it is cleared.
class ScanRecord {
 public:
  /// An image of the scan, [z, y, x]; NaN where no position has covered the pixel yet.
  struct Image {
    std::string view;
    std::vector<float> envelope;
    std::vector<std::complex<float>> sum;  ///< of coherent scans
    std::vector<std::uint32_t> covered;    ///< of coherent scans: positions that cover the pixel
  };

  struct Counts {
    std::uint64_t cells = 0;             ///< that have contributed since the scan was cleared; the other counts: since it began
    std::uint64_t repeated = 0;          ///< frames of cells that had contributed already
    std::uint64_t outside = 0;           ///< frames from where no pixel is covered
    std::uint64_t without_position = 0;  ///< frames whose sender states no encoder count
    std::uint64_t refused = 0;           ///< frames whose position cannot be imaged from
  };
  /// Everything that a record holds between two frames.
  struct Contents {
    std::vector<Image> images;
    std::vector<std::int64_t> cells;  ///< ascending
    Counts counts;
  };

  ScanRecord(const Grid& grid, const std::vector<std::string>& views, Composition composition, ScanMakings makings = {});

  [[nodiscard]] const ScanMakings& makings() const noexcept { return makings_; }
  [[nodiscard]] const Grid& grid() const noexcept { return grid_; }
  [[nodiscard]] Composition composition() const noexcept { return composition_; }
  [[nodiscard]] const std::vector<Image>& images() const noexcept { return images_; }
  [[nodiscard]] std::size_t bytes() const noexcept;
  /// The bytes of a record, before it is made.
  [[nodiscard]] static std::size_t bytes(const Grid& grid, std::size_t views, Composition composition);

  // Called by the thread that images.
  /// Clears the scan if clear() was called.
  void begin_frame();
  /// Held from a frame's first add() to its close(); contents() waits meanwhile.
  [[nodiscard]] std::unique_lock<std::mutex> whole_frame() { return std::unique_lock(frame_mutex_); }
  [[nodiscard]] bool has(std::int64_t cell) const { return cells_.contains(cell); }
  /// Whether no further cell is accepted: a sender's counts may grow without limit, and the memory may not.
  [[nodiscard]] bool full() const { return cells_.size() >= most_scan_cells; }
  /// Adds image `view` of `part`, whose pixels lie at `places`: float32 envelopes, or complex64 images of coherent scans.
  void add(std::size_t view, const Grid& part, const ScanPlaces& places, const void* pixels);
  /// The cell has contributed.
  void close(std::int64_t cell);

  // Called from any thread.
  void clear() noexcept { clear_.store(true); }
  /// A copy of the state after the last frame, or of a cleared scan if clear() was called. A thread that images waits for
  /// as long as the copy takes, if it has a frame to add.
  [[nodiscard]] Contents contents() const;
  /// Goes on from these contents. Called before the first frame, while no other thread uses the record. Images are of the
  /// record's views and grid.
  void restore(Contents contents);
  [[nodiscard]] Counts counts() const noexcept;
  void count_repeated() noexcept { ++repeated_; }
  void count_outside() noexcept { ++outside_; }
  void count_without_position() noexcept { ++without_position_; }
  void refuse(const char* why) noexcept;
  /// The reason for which a position was refused last; empty: none was.
  [[nodiscard]] std::string refusal() const;

 private:
  [[nodiscard]] std::vector<Image> empty_images() const;

  const Grid grid_;
  const Composition composition_;
  const ScanMakings makings_;
  const std::vector<std::string> views_;
  mutable std::mutex frame_mutex_;  // guards images_ and cells_; the thread that images reads without it
  std::vector<Image> images_;
  std::set<std::int64_t> cells_;
  std::atomic<bool> clear_{false};
  std::atomic<std::uint64_t> cell_count_{0};
  std::atomic<std::uint64_t> repeated_{0};
  std::atomic<std::uint64_t> outside_{0};
  std::atomic<std::uint64_t> without_position_{0};
  std::atomic<std::uint64_t> refused_{0};
  mutable std::mutex mutex_;  // guards refusal_
  std::string refusal_;
};

/// How frames of a setup become one image. The setup's outputs are on the scan's grid; its recipe is that of one position,
/// `model`.
struct Scan {
  EncoderScale encoder;
  Composition composition = Composition::maximum;
  Grid grid;
  std::shared_ptr<const ImagingSetup> model;
  Metres model_position;  ///< s of the model
  /// The images at s. Throws InputError where the probe cannot be there.
  std::function<ScanPosition(Metres s)> position;
  /// The pose of the probe's coordinates at a count. At s = 0 they are those of the part. For recordings.
  std::function<Pose(EncoderCount)> pose;
  std::shared_ptr<ScanRecord> record;
};

/// Finds the record of a scan again when its sender returns, and where settings change only how images are shown. A record
/// exists for as long as a caller holds it.
class ScanRecords {
 public:
  /// Called with each scan that begins, before any other code sees it. If it throws, of() throws the same, and no scan has
  /// begun.
  using Begin = std::function<void(ScanRecord& record)>;
  /// Sets the function; called before the first scan.
  void set_begin(Begin begin) { begin_ = std::move(begin); }

  /// The record of the same acquisition, the same `revision` of the settings that images are made of, and the same images;
  /// otherwise a new record.
  [[nodiscard]] std::shared_ptr<ScanRecord> of(const ScanMakings& makings, std::uint64_t revision, const Grid& grid,
                                               const std::vector<std::string>& views, Composition composition);

 private:
  struct Entry {
    std::uint64_t revision = 0;
    std::weak_ptr<ScanRecord> record;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
  Begin begin_;
};

}  // namespace echoform
