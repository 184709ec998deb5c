// What reads received samples on CUDA: the kernel, and the facts of a frame on their way to the host.
// For *_cuda.cpp files.
#pragma once

#include <cstddef>

#include "gpu/stream_queue.hpp"
#include "pipeline/backend.hpp"
#include "pipeline/block.hpp"
#include "pipeline/stage.hpp"
#include "stages/block_checks.hpp"
#include "stages/raw_rows/frame_facts.hpp"
#include "stages/raw_rows/raw_row_kernels.hpp"

namespace echoform::gpu {

class RawRowReader {
 public:
  explicit RawRowReader(Backend& backend)
      : gathered_(backend.allocate(sizeof(GatheredFacts), MemoryUse::working)),
        pinned_(backend.allocate(sizeof(FrameFacts), MemoryUse::readback)) {}

  /// From raw rows `input` to float32 rows `output`, behind which it puts the facts; returns `output` with that trailer.
  /// `sources` as in RawRows. Throws InputError, naming `stage`, if there are too many rows.
  [[nodiscard]] BlockSpec prepare(std::string_view stage, const BlockSpec& input, const BlockSpec& output,
                                  const PairSource* sources) {
    require_rows_of_a_launch(output.rows, stage);
    output_ = output;
    output_.trailer = facts_trailer;
    rows_.input_row_bytes = stride_of(input);
    rows_.encoding = input.encoding;
    rows_.sources = sources;
    rows_.output_row_stride = output.row_stride;
    rows_.rows = output.rows;
    rows_.samples = output.columns;
    rows_.gathered = static_cast<GatheredFacts*>(gathered_.data());
    rows_.readback = static_cast<FrameFacts*>(pinned_.data());
    return output_;
  }

  void process(ConstBlock input, Block output, ExecutionQueue& queue) const noexcept {
    RawRows rows = rows_;
    rows.input = input.data;
    rows.output = output.as<float>();
    rows.facts = reinterpret_cast<FrameFacts*>(output.as<std::byte>() + (output_.bytes() - output_.trailer));
    launch_raw_rows(rows, stream_of(queue));
  }

  /// Once the queue has finished the frame.
  [[nodiscard]] SampleQuality quality() const noexcept {
    const auto& facts = *static_cast<const FrameFacts*>(pinned_.data());
    return {facts.clipped, facts.invalid};
  }

  /// Device memory.
  [[nodiscard]] std::size_t bytes() const noexcept { return gathered_.size(); }

  /// Behind the rows.
  [[nodiscard]] DeviceFacts device_facts() const noexcept {
    static_assert(offsetof(FrameFacts, invalid) == offsetof(FrameFacts, clipped) + offsetof(SampleQuality, invalid),
                  "counts are copied as SampleQuality");
    return {.quality = output_.bytes() - output_.trailer + offsetof(FrameFacts, clipped), .reference = nullptr};
  }

 private:
  Buffer gathered_;
  Buffer pinned_;
  BlockSpec output_;
  RawRows rows_;
};

}  // namespace echoform::gpu
