#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "acquisition/pair_source.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/queued_values.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/raw_rows/raw_row_reader.hpp"
#include "stages/scan_lines/adaptive_on_device.hpp"
#include "stages/scan_lines/line_sizes.hpp"
#include "stages/scan_lines/line_sum_launch.hpp"
#include "stages/scan_lines/line_tables.hpp"
#include "stages/scan_lines/line_tile_plan.hpp"
#include "stages/scan_lines/scan_lines.hpp"
#include "stages/scan_lines/tap_table.hpp"
#include "stages/time_gain/time_gain_launch.hpp"

namespace echoform {
namespace {

/// Whether samples have 16 bits each and stand by themselves, as the kernel of tiles reads them.
bool of_sixteen_bits(const EncodingFacts& facts) {
  return facts.counts() && facts.together == 1 && facts.bytes == sizeof(std::int16_t);
}

/// Lines are summed in tiles where the delay filter is a straight line between samples and the windows of the tiles are short
/// enough. Samples of int16 are then read as received. Everything else, and adaptive weights, are computed point by point.
/// Samples of other encodings first become floats in memory of the stage, by the kernel of pairing.
class ScanLinesCuda final : public Stage {
 public:
  ScanLinesCuda(ScanLinesOptions options, Backend& backend) : options_(std::move(options)), backend_(backend), tiles_(backend) {
    validate(options_);
    require_lines_on_cuda(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("scan-lines");
    output_ = scan_lines_output(options_, input, BackendKind::cuda);
    require_rows_of_a_launch(output_.rows * output_.row_stride / 16, "scan-lines");
    held_.clear();
    sums_ = {};
    sums_.complex = options_.demodulated.has_value();
    sums_.samples = static_cast<std::int32_t>(input.columns);
    sums_.row_stride = stride_of(input);
    sums_.out_stride = output_.row_stride;
    if (sums_.complex) sums_.cycles = static_cast<float>(options_.demodulated->value / options_.sample_rate.value);
    lead_ = (sums_.complex ? 2 : 1) * input.lead;
    choose_lookup();
    reader_.reset();
    rows_ = {};
    raw_ = input.type == ElementType::raw;
    if (raw_) prepare_facts();

    const scan_lines::LineTables tables = scan_lines::make_line_tables(options_);
    upload_tables(tables);
    const LineSet& set = *options_.lines;
    std::vector<std::uint32_t> first_rows;
    for (const ImageLine& line : set.lines) first_rows.push_back(static_cast<std::uint32_t>(set.events[line.event].first_row));
    const gpu::TiledRows received{true, stride_of(input), sums_.samples, first_rows};
    adaptive_.reset();
    const bool weighs = adaptive_kind(options_.adaptive.kind, "scan-lines stage").sums_of != ChannelSums::none;
    whole_numbers_ = raw_ && !weighs && of_sixteen_bits(facts_of(input.encoding));
    tiled_ = whole_numbers_ && tiles_.make(options_, sums_.set, tables, received);
    if (tiled_) return output_;
    whole_numbers_ = false;
    if (raw_) {
      const gpu::HeardRows heard = gpu::heard_rows(set);
      first_rows = heard.first_of_line;
      prepare_rows(input, heard);
    }
    sums_.set.first_rows = upload<std::uint32_t>(first_rows);
    if (weighs) {
      adaptive_.emplace(backend_);
      BlockSpec rows = raw_ ? gpu::float_rows(heard_, input.columns) : input;
      rows.lead = 0;
      adaptive_->prepare(options_, sums_.set.pitch, rows);
      return output_;
    }
    tiled_ = tiles_.make(options_, sums_.set, tables, {false, sums_.row_stride * sizeof(float), sums_.samples, first_rows});
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const cudaStream_t stream = gpu::stream_of(queue);
    gpu::LineFacts facts = sums_.facts;
    if (raw_) facts.facts = reinterpret_cast<FrameFacts*>(output.as<std::byte>() + (output_.bytes() - facts_trailer));
    if (reader_) reader_->process(input[0], {rows_.data()}, queue);
    const void* const rows = reader_ ? rows_.data() : whole_numbers_ ? input[0].data : input.as<float>() + lead_;
    if (tiled_) {
      gpu::LineTiles tiles = tiles_.tiles();
      tiles.rows = rows;
      tiles.scale = whole_numbers_ ? static_cast<float>(options_.sample_scale) : 1.0F;
      tiles.gain = static_cast<const float*>(gain_.data());
      tiles.out = output.as<float>();
      tiles.out_stride = output_.row_stride;
      tiles.facts = facts;
      tiles_.launch(tiles, stream);
      return;
    }
    if (gain_) amplify_rows(stream);
    gpu::LineSums sums = sums_;
    sums.rows = static_cast<const float*>(rows);
    sums.out = output.as<float>();
    sums.facts = facts;
    if (adaptive_) {
      adaptive_->process(sums, queue);
    } else {
      launch_line_sums(sums, stream);
    }
  }

  [[nodiscard]] StageFacts facts() const noexcept override {
    if (!raw_) return {};
    const auto& seen = *static_cast<const FrameFacts*>(readback_.data());
    return {.quality = SampleQuality{seen.clipped, seen.invalid}, .reference = {}};
  }
  [[nodiscard]] DeviceFacts device_facts() const noexcept override {
    if (!raw_) return {};
    return {.quality = output_.bytes() - facts_trailer + offsetof(FrameFacts, clipped), .reference = nullptr};
  }

  /// Accepts another gain: TGC sliders move while images are made.
  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    ScanLinesOptions wanted = options.as<ScanLinesOptions>();
    if ((wanted.time_gain == nullptr) != (options_.time_gain == nullptr)) return false;
    validate(wanted);
    wanted.time_gain = options_.time_gain;
    return wanted == options_;
  }
  void retune(const StageOptions& options, ExecutionQueue& queue) noexcept override {
    options_.time_gain = options.get<ScanLinesOptions>()->time_gain;
    if (!gain_) return;
    gpu::queue_values(*options_.time_gain, static_cast<float*>(gain_.data()), gpu::stream_of(queue));
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    std::size_t bytes = rows_.size() + gain_.size() + gathered_.size() + (reader_ ? reader_->bytes() : 0) + tiles_.bytes();
    if (adaptive_) bytes += adaptive_->bytes();
    for (const Buffer& buffer : held_) bytes += buffer.size();
    return bytes;
  }

 private:
  void choose_lookup() {
    const DelayFilter filter = make_delay_filter(options_.filter);
    const bool linear = filter.taps == 2 && filter.phases == 1;
    sums_.lookup = filter.taps == 1 ? scan_lines::Lookup::nearest
                   : linear         ? scan_lines::Lookup::linear
                                    : scan_lines::Lookup::taps;
    const scan_lines::TapTable table = scan_lines::make_tap_table(filter);
    sums_.set.taps = upload(std::span(&table, 1));
  }

  void prepare_facts() {
    gathered_ = backend_.allocate(sizeof(GatheredFacts), MemoryUse::working);
    readback_ = backend_.allocate(sizeof(FrameFacts), MemoryUse::readback);
    sums_.facts.gathered = static_cast<GatheredFacts*>(gathered_.data());
    sums_.facts.readback = static_cast<FrameFacts*>(readback_.data());
    if (options_.time_gain == nullptr) return;
    gain_ = backend_.allocate(options_.time_gain->size() * sizeof(float), MemoryUse::working);
    copy_now(gain_.data(), options_.time_gain->data(), gain_.size());
  }

  void prepare_rows(const BlockSpec& input, const gpu::HeardRows& heard) {
    std::vector<PairSource> sources;
    for (const std::size_t row : heard.rows) sources.push_back({row, row, static_cast<float>(options_.sample_scale)});
    reader_.emplace(backend_);
    const BlockSpec rows = reader_->prepare("scan-lines", input, gpu::float_rows(heard.rows.size(), input.columns),
                                            upload(std::span<const PairSource>(sources)));
    heard_ = static_cast<std::uint32_t>(rows.rows);
    rows_ = backend_.allocate(rows.bytes(), MemoryUse::working);
    sums_.row_stride = rows.row_stride;
    sums_.facts.of_rows = reinterpret_cast<const FrameFacts*>(rows_.bytes_begin() + (rows.bytes() - rows.trailer));
  }

  void upload_tables(const scan_lines::LineTables& tables) {
    const LineSet& set = *options_.lines;
    std::vector<std::uint32_t> first_receivers;
    for (const std::size_t first : tables.first_receivers) first_receivers.push_back(static_cast<std::uint32_t>(first));
    gpu::LineSetOnDevice& on_device = sums_.set;
    on_device.range = upload<float>(tables.range);
    on_device.whole = upload<std::int32_t>(tables.whole);
    on_device.rest = upload<float>(tables.rest);
    on_device.turn_re = upload<float>(options_.demodulated ? tables.turn_re : tables.divisor);
    if (options_.demodulated) on_device.turn_im = upload<float>(tables.turn_im);
    on_device.receivers = upload<scan_lines::PlacedReceiver>(tables.receivers);
    on_device.first_receivers = upload<std::uint32_t>(first_receivers);
    on_device.weights = upload<float>(set.weights);
    on_device.lines = static_cast<std::uint32_t>(set.lines.size());
    on_device.ranges = static_cast<std::uint32_t>(set.ranges.count);
    on_device.pitch = static_cast<std::uint32_t>(tables.range.size());
  }

  /// Copies to device memory that the stage holds. Returns null where there is nothing to copy.
  template <class T>
  const T* upload(std::span<const T> values) {
    if (values.empty()) return nullptr;
    held_.push_back(backend_.allocate(values.size_bytes(), MemoryUse::working));
    copy_now(held_.back().data(), values.data(), values.size_bytes());
    return static_cast<const T*>(held_.back().data());
  }

  void amplify_rows(cudaStream_t stream) const noexcept {
    auto* const rows = static_cast<float*>(rows_.data());
    const auto* const gain = static_cast<const float*>(gain_.data());
    launch_time_gain({rows, rows, gain, sums_.row_stride, sums_.row_stride}, heard_, static_cast<std::size_t>(sums_.samples),
                     stream);
  }

  ScanLinesOptions options_;
  Backend& backend_;
  BlockSpec output_;
  gpu::LineSums sums_;
  gpu::LineTilePlan tiles_;
  std::optional<gpu::AdaptiveLinesOnDevice> adaptive_;
  bool tiled_ = false;
  bool raw_ = false;
  bool whole_numbers_ = false;               // tiles of samples as received
  std::size_t lead_ = 0;                     // numbers before the first row
  std::vector<Buffer> held_;                 // tables
  std::optional<gpu::RawRowReader> reader_;  // for raw samples
  Buffer rows_;                              // the floats that the reader makes
  std::uint32_t heard_ = 0;                  // number of these rows
  Buffer gain_;
  Buffer gathered_;
  Buffer readback_;
};

}  // namespace

std::unique_ptr<Stage> make_scan_lines_cuda(ScanLinesOptions options, Backend& backend) {
  return std::make_unique<ScanLinesCuda>(std::move(options), backend);
}

}  // namespace echoform
