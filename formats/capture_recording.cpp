// Reads the frames of a capture as a recording.
#include <fmt/format.h>

#include <cmath>

#include "base/errors.hpp"
#include "formats/capture_scan.hpp"
#include "formats/recording_formats.hpp"
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
      notes_.emplace_back("damaged: what stands before is read");
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
    require_finite(frame, 0, samples);
  }

  void read_rows(std::size_t frame, std::span<const RowRange> rows, std::span<std::byte> bytes) override {
    check_rows(frame, rows, bytes.size());
    scan_.read_rows(*sequence_, frame, rows, bytes);
    if (facts_of(sequence_->acquisition.encoding).counts()) return;
    for (const RowRange& range : rows) {
      const std::size_t count = range.count * sequence_->acquisition.bytes_per_a_scan();
      require_finite(frame, range.first, {reinterpret_cast<const float*>(bytes.data()), count / sizeof(float)});
      bytes = bytes.subspan(count);
    }
  }
  void expect_rows(std::size_t frame, std::span<const RowRange> rows) override { scan_.expect_rows(*sequence_, frame, rows); }
  [[nodiscard]] std::size_t reading_bytes() const override { return 0; }

 private:
  /// Checks the rows from `first_row` on.
  void require_finite(std::size_t frame, std::size_t first_row, std::span<const float> samples) const {
    for (std::size_t n = 0; n < samples.size(); ++n) {
      if (std::isfinite(samples[n])) continue;
      throw InputError(fmt::format("{}, frame {}, A-scan {}, sample {}", path_.string(), frame,
                                   first_row + n / acquisition_.samples + 1, n % acquisition_.samples + 1),
                       fmt::format("{}", samples[n]), "finite samples");
    }
  }

  CaptureScan scan_;
  const CapturedSequence* sequence_ = nullptr;
  std::vector<std::byte> bytes_;
};

}  // namespace

constinit const RecordingFormat capture_format{
    .name = "capture",
    .meaning = "the bytes of acquisition connections",
    .extensions = {capture_extension},
    .packages = "libprotobuf-dev",
    .page = "../proto/CAPTURE.md",
    .fuzzers = {"capture"},
    .open = [](const InputFile& file, const RecordingOptions& options) -> std::unique_ptr<Recording> {
      return std::make_unique<CaptureRecording>(file.path(), options);
    },
    .writer = &capture_frames,
};

}  // namespace echoform::formats
