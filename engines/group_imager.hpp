// Images a frame by groups of its A-scans: the next groups are read while one is imaged, and their complex images are added
// up.
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
  GroupImager(const GroupImager&) = delete;  // its engine holds a pointer to it
  GroupImager& operator=(const GroupImager&) = delete;

  /// Fills `bytes` with these rows of the frame, one after the other. The rows are a piece of a group, and come in the
  /// order of the groups and of their rows. It is called while groups are imaged: on the CPU between pieces of imaging by
  /// whichever thread is free, on CUDA by a thread of the imager. Two threads never call it at a time.
  using Read = std::function<void(std::span<const RowRange> rows, std::span<std::byte> bytes)>;
  /// Is called in the same way, some groups ahead, with the rows that will be read. May be empty.
  using Expect = std::function<void(std::span<const RowRange> rows)>;
  /// Is called after each group, by the thread that images, with the number of groups that are in the sum, or on CUDA on
  /// their way there.
  using Progress = std::function<void(std::size_t groups)>;
  /// Images a frame. The groups are added in their order and in double precision, so that the images of a backend have the
  /// same bits however much is read ahead. Throws what `read` throws, and RuntimeFault if the backend fails.
  void image(const Read& read, const Progress& progress, const Expect& expect = {});

  /// Loads kernels, libraries and what the driver takes for them, before the first frame. On CUDA it images A-scans of
  /// zeros, up to two groups of them; these images are of no use. On the CPU it does nothing. Throws as image().
  virtual void load() {}
  /// Keeps A-scans of `read_ahead` groups from now on, and never fewer than before. The limits are those of
  /// make_group_imager(). Call it between frames.
  virtual void read_further_ahead(std::size_t read_ahead) = 0;

  [[nodiscard]] virtual BackendKind backend() const noexcept = 0;
  /// The images of the last frame, one a view: first those of the groups, then those that the setup's recipe makes of their
  /// envelopes.
  [[nodiscard]] const std::vector<SummedImage>& images() const noexcept { return images_; }
  /// The samples of the last frame that were NaN or infinite and were replaced by 0.
  [[nodiscard]] std::uint64_t invalid_samples() const noexcept { return invalid_samples_; }

  [[nodiscard]] std::size_t groups() const noexcept { return groups_.count(); }
  [[nodiscard]] std::size_t read_ahead() const noexcept { return read_.size(); }

 protected:
  GroupImager(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice);

  /// Fills the analytic images and the count of invalid samples.
  virtual void sum(const Read& read, const Progress& progress, const Expect& expect) = 0;
  /// Takes buffers for `read_ahead` groups in all, at least two and at most as many as there are groups. `allocate` makes
  /// one buffer of the given number of bytes.
  void take_buffers(std::size_t read_ahead, const std::function<Buffer(std::size_t bytes)>& allocate);

  const std::shared_ptr<const ImagingSetup> setup_;
  const FrameGroups& groups_;
  const BackendChoice choice_;
  std::vector<Buffer> read_;  // A-scans of groups, used in rotation
  std::vector<SummedImage> images_;
  std::uint64_t invalid_samples_ = 0;

 private:
  void finish();
  void make_of_others(std::string_view view, const std::vector<std::string>& summed, Backend& backend, ExecutionQueue& queue);
};

/// Makes the imager for setup->groups, which must not be null, on the backend of the choice. It keeps A-scans of
/// `read_ahead` groups: at least two, at most as many as there are, and on CUDA at most 16. grouped_memory() states what it
/// takes of the host's memory. Throws as make_engine().
[[nodiscard]] std::unique_ptr<GroupImager> make_group_imager(std::shared_ptr<const ImagingSetup> setup,
                                                             const BackendChoice& choice, std::size_t read_ahead);

}  // namespace echoform
