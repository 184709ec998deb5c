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

// Of a line or a range: what rounding puts beyond the outermost one counts as on it.
constexpr double on_the_edge = 1e-6;

void require_of_compound(bool right, const char* option, std::size_t found, const std::string& expected) {
  if (!right) throw InputError(fmt::format("line-compound stage, {}", option), fmt::format("{}", found), expected);
}

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

/// Where a range of the image lies among a set's: the same for all lines but for how many lines further on it is.
struct RangePlace {
  std::uint32_t whole = 0;
  float part = 0.0F;    // below 0: not covered
  double across = 0.0;  // lines of the set, of line 0 of the image
};

std::size_t compound_bytes(const LineCompoundOptions& options) {
  return options.sets.size() * options.ranges.count * sizeof(RangePlace);
}

class LineCompoundCpu final : public Stage {
 public:
  explicit LineCompoundCpu(LineCompoundOptions options) : options_(std::move(options)) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("line-compound");
    output_ = line_compound_output(options_, input);
    input_stride_ = stride_of(input);
    places_.clear();
    places_.reserve(options_.sets.size() * options_.ranges.count);
    for (const SteeredLines& set : options_.sets) tabulate(set);
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

  [[nodiscard]] std::size_t bytes() const noexcept override { return places_.size() * sizeof(RangePlace); }

  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    LineCompoundOptions wanted = options.as<LineCompoundOptions>();
    wanted.all = options_.all;
    return wanted == options_;
  }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override {
    options_.all = options.get<LineCompoundOptions>()->all;
  }

 private:
  void tabulate(const SteeredLines& set) {
    const SteeredLines& image = options_.sets[options_.image];
    const LineRanges& ranges = options_.ranges;
    const auto last = static_cast<double>(ranges.count - 1);
    for (std::size_t k = 0; k < ranges.count; ++k) {
      const Metres along = ranges.at(k);
      const Metres range = (along * std::cos(image.angle) + image.z - set.z) / std::cos(set.angle);
      const Metres origin = image.x + along * std::sin(image.angle) - range * std::sin(set.angle);
      const double place = (range - ranges.first) / ranges.spacing;
      RangePlace entry;
      entry.across = (origin - set.x) / set.pitch;
      if (place < -on_the_edge || place > last + on_the_edge) {
        entry.part = -1.0F;
      } else {
        entry.whole = static_cast<std::uint32_t>(std::clamp(std::floor(place), 0.0, last - 1.0));
        entry.part = static_cast<float>(std::clamp(place - static_cast<double>(entry.whole), 0.0, 1.0));
      }
      places_.push_back(entry);
    }
  }

  /// Makes the envelope of the image's own set in `out` the mean over all sets.
  void add_others(const float* input, std::size_t line, float* out) const noexcept {
    const std::size_t ranges = output_.columns;
    const SteeredLines& image = options_.sets[options_.image];
    for (std::size_t k = 0; k < ranges; ++k) {
      float sum = out[k];
      float covering = 1.0F;
      for (std::size_t s = 0; s < options_.sets.size(); ++s) {
        const SteeredLines& set = options_.sets[s];
        const RangePlace& place = places_[s * ranges + k];
        if (s == options_.image || place.part < 0.0F) continue;
        const double across = place.across + static_cast<double>(line) * (image.pitch / set.pitch);
        const auto last = static_cast<double>(set.lines - 1);
        if (across < -on_the_edge || across > last + on_the_edge) continue;
        const auto lower = static_cast<std::size_t>(std::clamp(std::floor(across), 0.0, last - 1.0));
        const auto share = static_cast<float>(std::clamp(across - static_cast<double>(lower), 0.0, 1.0));
        const float* const a = input + (set.first_row + lower) * input_stride_ + place.whole;
        const float* const b = a + input_stride_;
        const float of_a = a[0] + place.part * (a[1] - a[0]);
        const float of_b = b[0] + place.part * (b[1] - b[0]);
        sum += of_a + share * (of_b - of_a);
        covering += 1.0F;
      }
      out[k] = sum / covering;
    }
  }

  LineCompoundOptions options_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  std::vector<RangePlace> places_;  // [set, range]
};

}  // namespace

std::unique_ptr<Stage> make_line_compound_cpu(LineCompoundOptions options) {
  return std::make_unique<LineCompoundCpu>(std::move(options));
}

constinit const StageKind line_compound_stage{
    .name = "line-compound",
    .cpu = [](const StageOptions& options, Backend&) { return make_line_compound_cpu(options.as<LineCompoundOptions>()); },
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite&) {
          const auto& wanted = options.as<LineCompoundOptions>();
          StageStatement statement{line_compound_output(wanted, inputs.only("line-compound")), {}};
          statement.memory.host = compound_bytes(wanted);
          return statement;
        },
};

}  // namespace echoform
