#include "stages/back_projection_term/back_projection_term.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/errors.hpp"
#include "stages/back_projection_term/term_kernels_body.hpp"
#include "stages/back_projection_term/term_tables.hpp"
#include "stages/block_checks.hpp"

namespace echoform {
namespace {

constexpr std::size_t most_columns = std::size_t{1} << 28;

static_assert(derivative_reach == DerivativeWeights::reach);

TermFactors factors_at(const BackProjectionTermOptions& options, std::size_t column) {
  const double rate = options.sample_rate.value;
  const double t = options.start_time.value + static_cast<double>(column) / rate;
  if (!(t > 0.5 / rate)) return {};
  if (options.term == ProjectedTerm::universal) return {2.0F, static_cast<float>(-2.0 * t * rate)};
  const double c = options.velocity.value;
  return {static_cast<float>(2.0 / (c * t)), static_cast<float>(rate / c)};
}

/// Number of floats of a row with its continuation on both sides.
std::size_t extended(std::size_t columns) {
  return padded_columns(columns + 2 * derivative_reach);
}

std::size_t host_bytes(std::size_t columns, std::size_t members) {
  return (2 * columns + members * extended(columns)) * sizeof(float);
}

class BackProjectionTermCpu final : public Stage {
 public:
  BackProjectionTermCpu(const BackProjectionTermOptions& options, std::size_t members, SimdLevel level)
      : options_(options), members_(std::max<std::size_t>(1, members)), kernel_(term_kernel(level)) {
    validate(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("back-projection-term");
    output_ = back_projection_term_output(input);
    input_stride_ = stride_of(input);
    const std::size_t columns = output_.columns;
    tables_ = term_tables(options_, columns);
    extended_.resize(members_ * extended(columns));
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const std::size_t columns = output_.columns;
    const std::size_t grain = std::max<std::size_t>(1, 16384 / columns);
    team_of(queue).for_each(output_.rows, grain, [&](std::size_t first, std::size_t last, std::size_t member) {
      float* const wide = extended_.data() + member * extended(columns);
      for (std::size_t row = first; row < last; ++row) {
        const float* const in = input.as<float>() + row * input_stride_;
        float* const out = output.as<float>() + row * output_.row_stride;
        std::fill_n(wide, derivative_reach, in[0]);
        std::memcpy(wide + derivative_reach, in, columns * sizeof(float));
        std::fill_n(wide + derivative_reach + columns, derivative_reach, in[columns - 1]);
        kernel_(wide + derivative_reach, tables_.value.data(), tables_.slope.data(), weights_, out, columns);
        std::fill(out + columns, out + output_.row_stride, 0.0F);
      }
    });
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    return (tables_.value.size() + tables_.slope.size() + extended_.size()) * sizeof(float);
  }

 private:
  BackProjectionTermOptions options_;
  std::size_t members_;
  TermKernel kernel_;
  DerivativeWeights weights_ = derivative_weights();
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  TermTables tables_;
  std::vector<float> extended_;  // one row per member
};

}  // namespace

DerivativeWeights derivative_weights() {
  DerivativeWeights weights{};
  constexpr int reach = DerivativeWeights::reach;
  double ratio = 1.0;  // reach!^2 / ((reach - k)! (reach + k)!)
  for (int k = 1; k <= reach; ++k) {
    ratio *= static_cast<double>(reach - k + 1) / static_cast<double>(reach + k);
    weights.of[k - 1] = static_cast<float>((k % 2 == 1 ? ratio : -ratio) / k);
  }
  return weights;
}

TermTables term_tables(const BackProjectionTermOptions& options, std::size_t columns) {
  TermTables tables;
  tables.value.resize(columns);
  tables.slope.resize(columns);
  for (std::size_t n = 0; n < columns; ++n) {
    const TermFactors factors = factors_at(options, n);
    tables.value[n] = factors.value;
    tables.slope[n] = factors.slope;
  }
  return tables;
}

TermKernel term_kernel(SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return &term_row_avx512;
  if (level == SimdLevel::avx2) return &term_row_avx2;
#endif
  return &term_row_portable;
}

void term_row_portable(const float* p, const float* value, const float* slope, const DerivativeWeights& weights, float* out,
                       std::size_t count) {
  term_row(p, value, slope, weights, out, count);
}

void validate(const BackProjectionTermOptions& options) {
  const auto require = [](double value, const char* what, const char* unit) {
    if (value > 0.0 && std::isfinite(value)) return;
    throw InputError(fmt::format("back-projection-term stage, {}", what), fmt::format("{} {}", value, unit), "above 0");
  };
  require(options.sample_rate.value, "sample rate", "Hz");
  if (options.term == ProjectedTerm::filtered) require(options.velocity.value, "velocity", "m/s");
  if (!std::isfinite(options.start_time.value)) {
    throw InputError("back-projection-term stage, start time", fmt::format("{} s", options.start_time.value), "a finite one");
  }
}

BlockSpec back_projection_term_output(const BlockSpec& input) {
  require_block(input, "back-projection-term", {ElementType::float32});
  if (input.columns < 2 || input.columns > most_columns) {
    throw InputError("back-projection-term stage, input samples", fmt::format("{}", input.columns),
                     fmt::format("2 to {}", most_columns));
  }
  BlockSpec output = input;
  output.row_stride = padded_columns(input.columns);
  output.lead = 0;
  output.trailer = 0;
  return output;
}

std::unique_ptr<Stage> make_back_projection_term_cpu(const BackProjectionTermOptions& options, std::size_t members,
                                                     SimdLevel level) {
  return std::make_unique<BackProjectionTermCpu>(options, members, level);
}

constinit const StageKind back_projection_term_stage{
    .name = "back-projection-term",
    .cpu =
        [](const StageOptions& options, Backend& backend) {
          return make_back_projection_term_cpu(options.as<BackProjectionTermOptions>(), team_size(backend));
        },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_back_projection_term_cuda(options.as<BackProjectionTermOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          validate(options.as<BackProjectionTermOptions>());
          StageStatement statement{back_projection_term_output(inputs.only("back-projection-term")), {}};
          const std::size_t columns = statement.output.columns;
          if (site.backend == BackendKind::cuda) {
            statement.memory.device = 2 * columns * sizeof(float);
          } else {
            statement.memory.host = host_bytes(columns, team_size(site));
          }
          return statement;
        },
};

}  // namespace echoform
