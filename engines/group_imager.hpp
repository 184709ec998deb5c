// Images a frame by groups of its A-scans: the next are read while one is imaged, and their complex images are added up.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/engine.hpp"
#include "pipeline/frame_groups.hpp"

namespace echoform {

/// The image of a view, [z, y, x].
struct SummedImage {
  std::string view;
  std::vector<std::complex<float>> analytic;  ///< empty where the image is made of other views' envelopes
  std::vector<float> envelope;
};

class GroupImager {
 public:
  virtual ~GroupImager() = default;
  GroupImager(const GroupImager&) = delete;  // its engine reads by it
  GroupImager& operator=(const GroupImager&) = delete;

  /// Fills `bytes` with these rows of the frame, one after the other: a piece of a group, in the order of the groups and of their
  /// rows. Called while groups are imaged: on the CPU between pieces of imaging by whichever thread is free, on CUDA by a thread
  /// of the imager; never by two at a time.
  using Read = std::function<void(std::span<const RowRange> rows, std::span<std::byte> bytes)>;
  /// Told some groups ahead, likewise, which rows will be read; may be empty.
  using Expect = std::function<void(std::span<const RowRange> rows)>;
  /// Told how many groups are in the sum, or on CUDA on their way there, after each; by who images.
  using Progress = std::function<void(std::size_t groups)>;
  /// Images a frame. The groups are added in their order and in double precision, so that images of a backend have the same bits
  /// whatever is read ahead. Throws what `read` throws; RuntimeFault if the backend fails.
  void image(const Read& read, const Progress& progress, const Expect& expect = {});

  /// On CUDA images A-scans of zeros, up to two groups of them, so that kernels, libraries and what the driver takes for them are
  /// loaded from now on; the images are of no use. Nothing on the CPU. Before the first frame; throws as image().
  virtual void load() {}
  /// From now on A-scans of `read_ahead` groups are kept; never fewer than before. Limits as of make_group_imager(). Between
  /// frames.
  virtual void read_further_ahead(std::size_t read_ahead) = 0;

  [[nodiscard]] virtual BackendKind backend() const noexcept = 0;
  /// Of the last frame, by view: those of the groups, then those that the setup's recipe makes of their envelopes.
  [[nodiscard]] const std::vector<SummedImage>& images() const noexcept { return images_; }
  /// Of it, NaN or infinite, replaced by 0.
  [[nodiscard]] std::uint64_t invalid_samples() const noexcept { return invalid_samples_; }

  [[nodiscard]] std::size_t groups() const noexcept { return groups_.count(); }
  [[nodiscard]] std::size_t read_ahead() const noexcept { return read_.size(); }

 protected:
  GroupImager(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice);

  /// Fills the analytic images and the count of invalid samples.
  virtual void sum(const Read& read, const Progress& progress, const Expect& expect) = 0;
  /// Buffers for `read_ahead` groups in all, at least two and no more than there are; `allocate` makes one of so many bytes.
  void take_buffers(std::size_t read_ahead, const std::function<Buffer(std::size_t bytes)>& allocate);

  const std::shared_ptr<const ImagingSetup> setup_;
  const FrameGroups& groups_;
  const BackendChoice choice_;
  std::vector<Buffer> read_;  // A-scans of groups, in turn
  std::vector<SummedImage> images_;
  std::uint64_t invalid_samples_ = 0;

 private:
  void finish();
  void make_of_others(std::string_view view, const std::vector<std::string>& summed, Backend& backend, ExecutionQueue& queue);
};

/// For setup->groups, which are there, on the backend of the choice; A-scans of `read_ahead` groups are kept, at least two, and
/// no more than there are, nor on CUDA more than 16: grouped_memory() is what it takes of the host's memory. Throws as
/// make_engine().
[[nodiscard]] std::unique_ptr<GroupImager> make_group_imager(std::shared_ptr<const ImagingSetup> setup,
                                                             const BackendChoice& choice, std::size_t read_ahead);

}  // namespace echoform
