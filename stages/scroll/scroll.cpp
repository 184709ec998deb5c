#include "stages/scroll/scroll.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/errors.hpp"
#include "stages/block_checks.hpp"
#include "stages/row_map.hpp"
#include "stages/scroll/scroll_math.hpp"

namespace echoform {
namespace {

class ScrollCpu final : public Stage {
 public:
  explicit ScrollCpu(const ScrollOptions& options) : options_(options) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    input_ = inputs.only("scroll");
    output_ = scroll_output(options_, input_);
    ring_.resize(output_.rows * output_.columns);
    forget();
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const std::size_t columns = output_.columns;
    const std::size_t kept = options_.kept;
    const std::size_t stays = kept - options_.count;
    const float* const rows = input.as<float>() + input_.lead + options_.first * stride_of(input_);
    for_each_row(queue, kept, columns, [&](std::size_t row) {
      float* const place = ring_.data() + ring_place(head_, options_.count, row, kept) * columns;
      if (row >= stays) std::copy_n(rows + (row - stays) * stride_of(input_), columns, place);
      std::copy_n(place, columns, output.as<float>() + row * columns);
    });
    head_ = ring_place(head_, options_.count, 0, kept);
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return ring_.size() * sizeof(float); }

  void restart(ExecutionQueue& /*queue*/) noexcept override { forget(); }

  [[nodiscard]] bool accepts(const StageOptions& options) const override { return accepts_scroll(options, options_, input_); }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override {
    options_ = *options.get<ScrollOptions>();
  }

 private:
  void forget() noexcept {
    std::fill(ring_.begin(), ring_.end(), 0.0F);
    head_ = 0;
  }

  ScrollOptions options_;
  BlockSpec input_;
  BlockSpec output_;
  std::vector<float> ring_;
  std::size_t head_ = 0;  // place of the next row
};

}  // namespace

BlockSpec scroll_output(const ScrollOptions& options, const BlockSpec& input) {
  require_block(input, "scroll", {ElementType::float32});
  if (options.count < 1 || options.count > input.rows || options.first > input.rows - options.count) {
    throw InputError("scroll stage, rows", fmt::format("{} from {} on", options.count, options.first),
                     fmt::format("some of {}", input.rows));
  }
  if (options.kept < options.count || options.kept > ScrollOptions::most_kept) {
    throw InputError("scroll stage, kept", fmt::format("{}", options.kept),
                     fmt::format("{} to {}", options.count, ScrollOptions::most_kept));
  }
  BlockSpec output;
  output.rows = options.kept;
  output.columns = input.columns;
  output.row_stride = input.columns;
  return output;
}

bool accepts_scroll(const StageOptions& options, const ScrollOptions& before, const BlockSpec& input) {
  const auto& wanted = options.as<ScrollOptions>();
  (void)scroll_output(wanted, input);
  return wanted.count == before.count && wanted.kept == before.kept;
}

std::unique_ptr<Stage> make_scroll_cpu(const ScrollOptions& options) {
  return std::make_unique<ScrollCpu>(options);
}

constinit const StageKind scroll_stage{
    .name = "scroll",
    .cpu = [](const StageOptions& options, Backend&) { return make_scroll_cpu(options.as<ScrollOptions>()); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options, Backend& backend) { return make_scroll_cuda(options.as<ScrollOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          StageStatement statement{scroll_output(options.as<ScrollOptions>(), inputs.only("scroll")), {}};
          if (site.backend == BackendKind::cuda) {
            statement.memory.device = statement.output.bytes() + scroll_number_bytes;
          } else {
            statement.memory.host = statement.output.bytes();
          }
          return statement;
        },
};

}  // namespace echoform
