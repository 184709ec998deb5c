#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "pipeline/errors.hpp"
#include "pipeline/words.hpp"
#include "stages/block_checks.hpp"
#include "stages/half_matrix/half_matrix.hpp"
#include "stages/half_matrix/half_matrix_math.hpp"
#include "stages/unpack/quality_counter.hpp"
#include "stages/unpack/raw_samples.hpp"
#include "stages/unpack/sample_kernels.hpp"

namespace echoform {
namespace {

constexpr std::size_t element_limit = 1u << 16;

std::size_t rows_of(MatrixKind kind, std::size_t elements) {
  return kind == MatrixKind::full ? elements * elements : elements * (elements + 1) / 2;
}

class HalfMatrixCpu final : public Stage, public SampleQualitySource {
 public:
  HalfMatrixCpu(HalfMatrixOptions options, SimdLevel level) : options_(std::move(options)), level_(level) {
    if (options_.elements == 0 || options_.elements > element_limit) {
      throw InputError("half-matrix stage, elements", fmt::format("{}", options_.elements),
                       fmt::format("1 to {}", element_limit));
    }
    require_sample_scale(options_.sample_scale, "half-matrix");
    for (const std::size_t element : options_.dead) {
      if (element >= options_.elements) {
        throw InputError("half-matrix stage, dead element", fmt::format("{}", element),
                         fmt::format("0 to {}", options_.elements - 1));
      }
    }
  }

  [[nodiscard]] BlockSpec prepare(const BlockSpec& input) override {
    require_block(input, "half-matrix", {ElementType::int16, ElementType::packed12, ElementType::float32});
    const std::size_t wanted = rows_of(input.matrix, options_.elements);
    if (input.rows != wanted) {
      throw InputError(
          "half-matrix stage, input A-scans", fmt::format("{}", input.rows),
          fmt::format("{}, a {} matrix of {} elements", wanted, words::matrix_kind.of(input.matrix), options_.elements));
    }
    output_ = input;
    output_.type = ElementType::float32;
    output_.matrix = reduced_matrix(input.matrix, options_.reciprocal);
    output_.rows = rows_of(output_.matrix, options_.elements);
    output_.row_stride = padded_columns(input.columns);
    input_row_bytes_ = raw_row_bytes(input);
    const RowStore store = output_.bytes() > streaming_bytes ? RowStore::streaming : RowStore::cached;
    kernel_ = row_kernel(encoding_of(input.type), store, level_);
    list_sources(input);
    return output_;
  }

  void process(ConstBlock input, Block output, ExecutionQueue& queue) noexcept override {
    quality_.reset();
    const std::size_t grain = std::max<std::size_t>(1, 16384 / output_.columns);
    team_of(queue).for_each(output_.rows, grain, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
      SampleQuality seen;
      for (std::size_t row = first; row < last; ++row) {
        const PairSource& source = sources_[row];
        float* const out = output.as<float>() + row * output_.row_stride;
        if (source.weight == 0.0F) {
          std::memset(out, 0, output_.columns * sizeof(float));
          continue;
        }
        const std::byte* const one = input.as<std::byte>() + source.first * input_row_bytes_;
        const std::byte* const other =
            source.second != source.first ? input.as<std::byte>() + source.second * input_row_bytes_ : nullptr;
        kernel_(one, other, out, output_.columns, source.weight, seen);
      }
      quality_.add(seen);
    });
  }

  [[nodiscard]] SampleQuality quality() const noexcept override { return quality_.read(); }

 private:
  void list_sources(const BlockSpec& input) {
    const std::size_t n = options_.elements;
    const auto scale = static_cast<float>(amplitude_scale(input.type, options_.sample_scale));
    std::vector<bool> dead(n, false);
    for (const std::size_t element : options_.dead) dead[element] = true;
    sources_.clear();
    sources_.reserve(output_.rows);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = output_.matrix == MatrixKind::full ? 0 : i; j < n; ++j) {
        sources_.push_back(dead[i] || dead[j] ? PairSource{} : pair_source(input.matrix, output_.matrix, i, j, n, scale));
      }
    }
  }

  HalfMatrixOptions options_;
  SimdLevel level_;
  BlockSpec output_;
  std::size_t input_row_bytes_ = 0;
  RowKernel kernel_ = nullptr;
  std::vector<PairSource> sources_;  // one an output row
  QualityCounter quality_;
};

}  // namespace

MatrixKind reduced_matrix(MatrixKind input, bool reciprocal) {
  if (reciprocal) return MatrixKind::half_summed;
  return input == MatrixKind::full ? MatrixKind::full : MatrixKind::half;
}

HalfMatrixOptions half_matrix_options(const ImagingPlan& plan) {
  HalfMatrixOptions options;
  options.elements = plan.acquisition.elements();
  options.reciprocal = plan.reciprocal();
  options.sample_scale = plan.acquisition.sample_scale;
  for (std::size_t i = 0; i < options.elements; ++i) {
    if (plan.acquisition.probe.elements[i].dead) options.dead.push_back(i);
  }
  return options;
}

std::unique_ptr<Stage> make_half_matrix_cpu(HalfMatrixOptions options, SimdLevel level) {
  return std::make_unique<HalfMatrixCpu>(std::move(options), level);
}

std::unique_ptr<Stage> make_half_matrix_cpu(const ImagingPlan& plan, std::size_t /*view*/, Backend& /*backend*/) {
  return make_half_matrix_cpu(half_matrix_options(plan));
}

}  // namespace echoform
