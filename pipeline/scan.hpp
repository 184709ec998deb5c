// A scan: the probe goes along a path, each frame is imaged from where it was, and one image of the part grows of them.
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

/// What the encoder's counts mean: s = origin + count * per_count, in m along the path. Cells are `step` long, and cell k is that
/// of all s nearest to k * step. On a path that closes s and s + around are one place, and cells those of the s from -around / 2
/// up to around / 2: of the last one to either side there is what is left.
struct EncoderScale {
  Metres origin;
  Metres per_count{1e-3};  ///< not 0; negative where counts fall as s grows
  Metres step{1e-3};       ///< above 0
  Metres around{};         ///< of a path that closes its length; 0: it does not close

  [[nodiscard]] Metres position(std::int64_t count) const { return origin + static_cast<double>(count) * per_count; }
  /// The s of the same place above -around / 2 and up to around / 2.
  [[nodiscard]] Metres place(Metres s) const;
  [[nodiscard]] std::int64_t cell(Metres s) const;

  bool operator==(const EncoderScale&) const = default;
};

/// Where pixels of a position's image lie in the scan's: the first one, and how many pixels from one to the next along the
/// position's own x, y and z, which may be the scan's others, and backwards.
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
  Acquisition acquisition;            ///< as the data state it
  std::vector<std::string> settings;  ///< a line each; empty where nobody has to find the scan again
};

/// What a scan has come to: its image and what has been counted. One thread adds to it, and outlives frames, engines and senders:
/// it is there until another scan begins or it is cleared.
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
    std::uint64_t cells = 0;             ///< that have contributed since the scan was cleared; what follows since it began
    std::uint64_t repeated = 0;          ///< frames of cells that had contributed already
    std::uint64_t outside = 0;           ///< frames from where no pixel is covered
    std::uint64_t without_position = 0;  ///< frames whose sender states no encoder count
    std::uint64_t refused = 0;           ///< frames whose position cannot be imaged from
  };
  /// All that it has come to between two frames.
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
  /// That of a record before it is made.
  [[nodiscard]] static std::size_t bytes(const Grid& grid, std::size_t views, Composition composition);

  // By the thread that images.
  /// Clears where somebody has asked for it.
  void begin_frame();
  /// From a frame's first add() to its close(): contents() waits meanwhile.
  [[nodiscard]] std::unique_lock<std::mutex> whole_frame() { return std::unique_lock(frame_mutex_); }
  [[nodiscard]] bool has(std::int64_t cell) const { return cells_.contains(cell); }
  /// Whether no further cell is taken: a sender's counts may go on for ever, and the memory may not.
  [[nodiscard]] bool full() const { return cells_.size() >= most_scan_cells; }
  /// Adds image `view` of `part`, whose pixels lie at `places`: float32 envelopes, or complex64 images of coherent scans.
  void add(std::size_t view, const Grid& part, const ScanPlaces& places, const void* pixels);
  /// The cell has contributed.
  void close(std::int64_t cell);

  // From any thread.
  void clear() noexcept { clear_.store(true); }
  /// A copy, as after the last frame; that of a cleared scan where somebody has asked for it. The thread that images waits for as
  /// long as the copy takes, if it has a frame to add.
  [[nodiscard]] Contents contents() const;
  /// Goes on from there. Before the first frame, of a record that is the only thread's. Images are of its views and its grid.
  void restore(Contents contents);
  [[nodiscard]] Counts counts() const noexcept;
  void count_repeated() noexcept { ++repeated_; }
  void count_outside() noexcept { ++outside_; }
  void count_without_position() noexcept { ++without_position_; }
  void refuse(const char* why) noexcept;
  /// Why a position was refused last; empty: none was.
  [[nodiscard]] std::string refusal() const;

 private:
  [[nodiscard]] std::vector<Image> empty_images() const;

  const Grid grid_;
  const Composition composition_;
  const ScanMakings makings_;
  const std::vector<std::string> views_;
  mutable std::mutex frame_mutex_;  // guards images_ and cells_, but for the thread that images
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
  /// Throws InputError where the probe cannot be there.
  std::function<ScanPosition(Metres s)> position;
  /// Where a count puts the probe's coordinates, which are the part's at s = 0; for recordings.
  std::function<Pose(EncoderCount)> pose;
  std::shared_ptr<ScanRecord> record;
};

/// Finds the record of a scan again when its sender comes again, and where settings change how images are shown alone. It is
/// there for as long as anybody holds it.
class ScanRecords {
 public:
  /// Told of each scan that begins, before anybody sees it. What it throws, of() throws, and nothing has begun.
  using Begin = std::function<void(ScanRecord& record)>;
  /// Before the first scan.
  void set_begin(Begin begin) { begin_ = std::move(begin); }

  /// The record of the same acquisition, `revision` of what images are made of, and images; else a new one.
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
