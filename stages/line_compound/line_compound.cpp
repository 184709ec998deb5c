#include "stages/line_compound/line_compound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "stages/block_checks.hpp"

namespace echoform {
namespace {

void require_of_compound(bool right, const char* option, std::size_t found, const std::string& expected) {
  if (!right) throw InputError(fmt::format("line-compound stage, {}", option), fmt::format("{}", found), expected);
}

class LineCompoundCpu final : public Stage {
 public:
  explicit LineCompoundCpu(LineCompoundOptions options) : options_(std::move(options)) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("line-compound");
    output_ = line_compound_output(options_, input);
    input_stride_ = stride_of(input);
    tables_ = line_compound_tables(options_);
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const std::size_t ranges = output_.columns;
    team_of(queue).for_each(output_.rows, 1, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
      for (std::size_t line = first; line < last; ++line) {
        float* const out = output.as<float>() + line * ranges;
        const SteeredLines& own = options_.sets[options_.image];
        std::copy_n(input.as<float>() + (own.first_row + line) * input_stride_, ranges, out);
        if (options_.all) add_others(input.as<float>(), line, out);
      }
    });
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return line_compound_table_bytes(options_); }

  [[nodiscard]] bool accepts(const StageOptions& options) const override { return accepts_line_compound(options, options_); }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override {
    options_.all = options.get<LineCompoundOptions>()->all;
  }

 private:
  /// Replaces the envelope of the image's own set in `out` by the mean over all sets.
  void add_others(const float* input, std::size_t line, float* out) const noexcept {
    const std::size_t ranges = output_.columns;
    for (std::size_t k = 0; k < ranges; ++k) {
      float sum = out[k];
      float covering = 1.0F;
      for (std::size_t s = 0; s < tables_.sets.size(); ++s) {
        if (s == options_.image) continue;
        if (add_covering(input, input_stride_, tables_.sets[s], tables_.places[s * ranges + k], line, sum)) covering += 1.0F;
      }
      out[k] = sum / covering;
    }
  }

  LineCompoundOptions options_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  LineCompoundTables tables_;
};

}  // namespace

BlockSpec line_compound_output(const LineCompoundOptions& options, const BlockSpec& input) {
  require_block(input, "line-compound", {ElementType::float32});
  require_of_compound(options.image < options.sets.size(), "image", options.image,
                      fmt::format("one of {} sets", options.sets.size()));
  require_of_compound(options.ranges.count == input.columns && input.columns > 1, "ranges", options.ranges.count,
                      fmt::format("{}, those of the input, at least 2", input.columns));
  for (const SteeredLines& set : options.sets) {
    require_of_compound(set.lines > 1, "lines of a set", set.lines, "at least 2");
    require_of_compound(set.first_row + set.lines <= input.rows, "last row of a set", set.first_row + set.lines,
                        fmt::format("at most {}", input.rows));
    if (!(set.pitch.value > 0.0) || !(std::abs(set.angle) < 0.5 * std::numbers::pi)) {
      throw InputError("line-compound stage, lines of a set", fmt::format("{} m apart at {} rad", set.pitch.value, set.angle),
                       "a distance above 0, less than a quarter turn");
    }
  }
  BlockSpec output = input;
  output.rows = options.sets[options.image].lines;
  output.row_stride = output.columns;
  output.sub_blocks = 1;
  output.lead = 0;
  output.trailer = 0;
  return output;
}

LineCompoundTables line_compound_tables(const LineCompoundOptions& options) {
  LineCompoundTables tables;
  const SteeredLines& image = options.sets[options.image];
  const LineRanges& ranges = options.ranges;
  const auto last = static_cast<double>(ranges.count - 1);
  tables.places.reserve(options.sets.size() * ranges.count);
  for (const SteeredLines& set : options.sets) {
    tables.sets.push_back(
        {static_cast<std::uint32_t>(set.first_row), static_cast<std::uint32_t>(set.lines), image.pitch / set.pitch});
    for (std::size_t k = 0; k < ranges.count; ++k) {
      const Metres along = ranges.at(k);
      const Metres range = (along * std::cos(image.angle) + image.z - set.z) / std::cos(set.angle);
      const Metres origin = image.x + along * std::sin(image.angle) - range * std::sin(set.angle);
      const double place = (range - ranges.first) / ranges.spacing;
      RangePlace entry;
      entry.across = (origin - set.x) / set.pitch;
      if (place < -compound_edge || place > last + compound_edge) {
        entry.part = -1.0F;
      } else {
        entry.whole = static_cast<std::uint32_t>(std::clamp(std::floor(place), 0.0, last - 1.0));
        entry.part = static_cast<float>(std::clamp(place - static_cast<double>(entry.whole), 0.0, 1.0));
      }
      tables.places.push_back(entry);
    }
  }
  return tables;
}

std::size_t line_compound_table_bytes(const LineCompoundOptions& options) {
  return options.sets.size() * (sizeof(CompoundSet) + options.ranges.count * sizeof(RangePlace));
}

bool accepts_line_compound(const StageOptions& options, const LineCompoundOptions& before) {
  LineCompoundOptions wanted = options.as<LineCompoundOptions>();
  wanted.all = before.all;
  return wanted == before;
}

std::unique_ptr<Stage> make_line_compound_cpu(LineCompoundOptions options) {
  return std::make_unique<LineCompoundCpu>(std::move(options));
}

constinit const StageKind line_compound_stage{
    .name = "line-compound",
    .cpu = [](const StageOptions& options, Backend&) { return make_line_compound_cpu(options.as<LineCompoundOptions>()); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_line_compound_cuda(options.as<LineCompoundOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<LineCompoundOptions>();
          StageStatement statement{line_compound_output(wanted, inputs.only("line-compound")), {}};
          if (site.backend == BackendKind::cuda) {
            statement.memory.device = line_compound_table_bytes(wanted) + sizeof(float);
          } else {
            statement.memory.host = line_compound_table_bytes(wanted);
          }
          return statement;
        },
};

}  // namespace echoform
