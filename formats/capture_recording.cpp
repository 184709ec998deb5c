// A capture's frames as a recording.
#include <fmt/format.h>

#include <cmath>

#include "base/errors.hpp"
#include "formats/capture_scan.hpp"
#include "formats/readers.hpp"
#include "formats/samples.hpp"

namespace echoform::formats {
namespace {

class CaptureRecording final : public Recording {
 public:
  CaptureRecording(const std::filesystem::path& path, const RecordingOptions& options)
      : Recording(path, "capture"), scan_(path, options.limits) {
    const std::string file = path.string();
    const auto& sequences = scan_.sequences();
    if (sequences.empty()) throw InputError(file, "no Hello of a sender", "a capture with at least one");
    if (options.sequence >= sequences.size()) {
      throw InputError(file, fmt::format("a request for sequence {}", options.sequence),
                       fmt::format("0 to {}", sequences.size() - 1));
    }
    sequence_ = &sequences[options.sequence];
    if (sequence_->frames.empty()) throw InputError(file, "no whole frame", "a capture with at least one");
    acquisition_ = sequence_->acquisition;
    acquisition_.encoding = SampleEncoding::float32;
    acquisition_.sample_scale = 1.0;
    validate(acquisition_, options.limits, file);
    if (sequences.size() > 1)
      notes_.push_back(fmt::format("{} acquisitions, of which this is number {}", sequences.size(), options.sequence));
    if (sequence_->incomplete > 0) notes_.push_back(fmt::format("{} incomplete frames are left out", sequence_->incomplete));
    if (sequence_->gaps > 0) notes_.push_back(fmt::format("{} sequences are missing", sequence_->gaps));
    if (!scan_.damage().empty()) {
      notes_.push_back("damaged: what stands before is read");
    } else if (!scan_.finished()) {
      notes_.emplace_back("not closed by its writer: still growing, or interrupted");
    }
  }

  [[nodiscard]] std::size_t frames() const noexcept override { return sequence_->frames.size(); }
  [[nodiscard]] Acquisition stored() const override { return sequence_->acquisition; }
  [[nodiscard]] FrameStamp stamp(std::size_t frame) const override { return sequence_->frames.at(frame).stamp; }

  void read_stored(std::size_t frame, std::span<std::byte> bytes) override {
    if (frame >= frames())
      throw InputError(path_.string(), fmt::format("a request for frame {}", frame), fmt::format("0 to {}", frames() - 1));
    if (bytes.size() != stored().frame_bytes())
      throw InputError(path_.string(), fmt::format("room for {} bytes", bytes.size()),
                       fmt::format("{} a frame", stored().frame_bytes()));
    scan_.read_frame(*sequence_, frame, bytes);
  }

  void read_frame(std::size_t frame, std::span<float> samples) override {
    check_request(frame, samples.size());
    bytes_.resize(stored().frame_bytes());
    scan_.read_frame(*sequence_, frame, bytes_);
    frame_amplitudes(sequence_->acquisition, bytes_, samples);
    for (std::size_t n = 0; n < samples.size(); ++n) {
      if (std::isfinite(samples[n])) continue;
      throw InputError(fmt::format("{}, frame {}, A-scan {}, sample {}", path_.string(), frame, n / acquisition_.samples + 1,
                                   n % acquisition_.samples + 1),
                       fmt::format("{}", samples[n]), "finite samples");
    }
  }

 private:
  CaptureScan scan_;
  const CapturedSequence* sequence_ = nullptr;
  std::vector<std::byte> bytes_;
};

}  // namespace

std::unique_ptr<Recording> open_capture(const std::filesystem::path& path, const RecordingOptions& options) {
  return std::make_unique<CaptureRecording>(path, options);
}

}  // namespace echoform::formats
