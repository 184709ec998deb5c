// Reader of received samples on CUDA: the kernel, and the transfer of a frame's facts to the host. For *_cuda.cpp files.
#pragma once

#include <cstddef>

#include "gpu/stream_queue.hpp"
#include "pipeline/backend.hpp"
#include "pipeline/block.hpp"
#include "pipeline/stage.hpp"
#include "stages/block_checks.hpp"
#include "stages/raw_rows/raw_facts.hpp"
#include "stages/raw_rows/raw_row_kernels.hpp"

namespace echoform::gpu {

class RawRowReader {
 public:
  explicit RawRowReader(Backend& backend) : facts_(backend) {}

  /// Prepares to convert raw rows `input` to float32 rows `output`, which the facts will follow. Returns `output` with that
  /// trailer. `sources` is that of RawRows. Throws InputError, naming `stage`, if there are too many rows.
  [[nodiscard]] BlockSpec prepare(std::string_view stage, const BlockSpec& input, const BlockSpec& output,
                                  const PairSource* sources) {
    require_rows_of_a_launch(output.rows, stage);
    rows_.input_row_bytes = stride_of(input);
    rows_.encoding = input.encoding;
    rows_.sources = sources;
    rows_.output_row_stride = output.row_stride;
    rows_.rows = output.rows;
    rows_.samples = output.columns;
    return facts_.with_trailer(output);
  }

  void process(ConstBlock input, Block output, ExecutionQueue& queue) const noexcept {
    RawRows rows = rows_;
    rows.input = input.data;
    rows.output = output.as<float>();
    rows.places = facts_.places(output);
    launch_raw_rows(rows, stream_of(queue));
  }

  /// The functions of the same names in RawFacts.
  [[nodiscard]] SampleQuality quality() const noexcept { return facts_.quality(); }
  [[nodiscard]] DeviceFacts device_facts() const noexcept { return facts_.device_facts(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return facts_.bytes(); }

 private:
  RawFacts facts_;
  RawRows rows_;
};

}  // namespace echoform::gpu
