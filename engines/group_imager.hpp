// Images a frame by groups of its A-scans: the next are read while one is imaged, and their complex images are added up.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pipeline/engine.hpp"
#include "pipeline/frame_groups.hpp"

namespace echoform {

/// The image of a view, [z, y, x].
struct SummedImage {
  std::string view;
  std::vector<std::complex<float>> analytic;
  std::vector<float> envelope;
};

class GroupImager {
 public:
  /// For setup->groups, which are there, on the CPU; A-scans of `read_ahead` groups are kept, at least two, and no more than
  /// there are: grouped_memory() is what it takes. Throws as make_engine().
  GroupImager(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice, std::size_t read_ahead);
  GroupImager(const GroupImager&) = delete;  // its engine reads by it
  GroupImager& operator=(const GroupImager&) = delete;

  /// Fills `bytes` with these rows of the frame, one after the other: a piece of a group, in the order of the groups and of their
  /// rows. Called between pieces of imaging by whichever thread is free, never by two at a time.
  using Read = std::function<void(std::span<const RowRange> rows, std::span<std::byte> bytes)>;
  /// Told some groups ahead, likewise, which rows will be read; may be empty.
  using Expect = std::function<void(std::span<const RowRange> rows)>;
  /// Told how many groups are in the sum, after each.
  using Progress = std::function<void(std::size_t groups)>;
  /// Images a frame. The groups are added in their order and in double precision, so that images have the same bits whatever is
  /// read ahead. Throws what `read` throws; RuntimeFault if the backend fails.
  void image(const Read& read, const Progress& progress, const Expect& expect = {});

  /// Of the last frame, by view.
  [[nodiscard]] const std::vector<SummedImage>& images() const noexcept { return images_; }
  /// Of it, NaN or infinite, replaced by 0.
  [[nodiscard]] std::uint64_t invalid_samples() const noexcept { return invalid_samples_; }

  [[nodiscard]] std::size_t groups() const noexcept { return groups_.count(); }
  [[nodiscard]] std::size_t read_ahead() const noexcept { return read_.size(); }

 private:
  class Reader;
  [[nodiscard]] std::unique_ptr<Engine> engine_of(std::shared_ptr<const ImagingSetup> group);
  void engine_for(std::size_t group);
  void add_group();
  void finish();

  const std::shared_ptr<const ImagingSetup> setup_;
  const FrameGroups& groups_;
  const BackendChoice choice_;
  Reader* reader_ = nullptr;  // of the frame that is imaged
  std::unique_ptr<Engine> engine_;
  FrameSlot slot_;
  std::vector<Buffer> read_;                             // A-scans of groups, in turn
  std::vector<std::vector<std::complex<double>>> sums_;  // by output of the groups' setups
  std::vector<SummedImage> images_;
  std::uint64_t invalid_samples_ = 0;
};

}  // namespace echoform
