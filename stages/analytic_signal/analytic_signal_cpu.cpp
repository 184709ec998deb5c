#include <fftw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/errors.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/analytic_signal/analytic_signal_math.hpp"
#include "stages/analytic_signal/fftw_lock.hpp"
#include "stages/analytic_signal/spectrum_kernels.hpp"
#include "stages/block_checks.hpp"

namespace echoform {
namespace {

constexpr std::size_t sample_limit = std::size_t{1} << 28;  // twice this still fits FFTW's int

constexpr std::size_t attempts = 8;

struct FreeFftw {
  void operator()(void* memory) const noexcept { fftwf_free(memory); }
};
using RealArray = std::unique_ptr<float[], FreeFftw>;
using ComplexArray = std::unique_ptr<fftwf_complex[], FreeFftw>;

RealArray make_reals(std::size_t count) {
  RealArray array(fftwf_alloc_real(count));
  if (!array) throw RuntimeFault(fmt::format("no memory: {:.1f} MB wanted for transforms", 4e-6 * static_cast<double>(count)));
  std::fill_n(array.get(), count, 0.0F);
  return array;
}

ComplexArray make_complexes(std::size_t count) {
  ComplexArray array(fftwf_alloc_complex(count));
  if (!array) throw RuntimeFault(fmt::format("no memory: {:.1f} MB wanted for transforms", 8e-6 * static_cast<double>(count)));
  std::fill_n(&array[0][0], 2 * count, 0.0F);
  return array;
}

class Plan {
 public:
  Plan() = default;
  explicit Plan(fftwf_plan plan) : plan_(plan) {}
  Plan(Plan&& other) noexcept : plan_(std::exchange(other.plan_, nullptr)) {}
  Plan& operator=(Plan&& other) noexcept {
    std::swap(plan_, other.plan_);
    return *this;
  }
  ~Plan() {
    if (plan_ == nullptr) return;
    const std::lock_guard lock(fftw_lock());
    fftwf_destroy_plan(plan_);
  }
  [[nodiscard]] fftwf_plan get() const { return plan_; }

  /// Whether there is a plan, and none of its parts takes a buffer from the heap each time that it runs: FFTW's buffered
  /// parts do, and those for large primes. Its text names them.
  [[nodiscard]] bool needs_no_heap() const {
    if (plan_ == nullptr) return false;
    const std::unique_ptr<char, void (*)(void*)> text(fftwf_sprint_plan(plan_), std::free);
    const std::string_view parts = text ? text.get() : "";
    for (const std::string_view part : {"buf", "rader", "bluestein"}) {
      if (parts.find(part) != std::string_view::npos) return false;
    }
    return true;
  }

 private:
  fftwf_plan plan_ = nullptr;
};

/// What one member of the team works in. Transforms always run between these arrays, never on the caller's rows: FFTW's
/// arrays share the alignment for which the plans were made, so every row of every block goes through the same code.
struct Workspace {
  RealArray samples;      // transform length
  ComplexArray spectrum;  // length / 2 + 1
  RealArray hilbert;      // transform length
};

class AnalyticSignalCpu final : public Stage {
 public:
  AnalyticSignalCpu(std::size_t members, SimdLevel level)
      : members_(std::max<std::size_t>(1, members)), multiply_(spectrum_kernel(level)) {}

  [[nodiscard]] BlockSpec prepare(const BlockSpec& input) override {
    require_block(input, "analytic-signal", {ElementType::float32});
    if (input.columns < 2 || input.columns > sample_limit) {
      throw InputError("analytic-signal stage, input samples", fmt::format("{}", input.columns),
                       fmt::format("2 to {}", sample_limit));
    }
    input_stride_ = stride_of(input);
    output_ = input;
    output_.type = ElementType::planar_complex64;
    output_.row_stride = analytic_row_stride(input.columns);
    // Each attempt measures; one is enough but for long odd lengths.
    for (std::size_t attempt = 0; !plan_length(hilbert_transform_length(input.columns, attempt)); ++attempt) {
      if (attempt == attempts)
        throw RuntimeFault(fmt::format("FFTW has no plan without buffers for rows of {} samples", input.columns));
    }
    factors_ = hilbert_spectrum(input.columns, length_);
    return output_;
  }

  void process(ConstBlock input, Block output, ExecutionQueue& queue) noexcept override {
    const std::size_t grain = std::max<std::size_t>(1, 16384 / length_);
    team_of(queue).for_each(output_.rows, grain, [&](std::size_t first, std::size_t last, std::size_t member) {
      Workspace& work = workspaces_[member];
      for (std::size_t row = first; row < last; ++row) {
        float* const in_phase = output.as<float>() + 2 * row * output_.row_stride;
        transform_row(input.as<float>() + row * input_stride_, in_phase, in_phase + output_.row_stride, work);
      }
    });
  }

 private:
  /// Plans transforms of `length` and allocates for them. False if FFTW has only plans that allocate while they run.
  [[nodiscard]] bool plan_length(std::size_t length) {
    std::vector<Workspace> workspaces;
    for (std::size_t member = 0; member < members_; ++member) {
      workspaces.push_back({make_reals(length), make_complexes(length / 2 + 1), make_reals(length)});
    }
    Workspace& work = workspaces.front();
    Plan forward;
    Plan backward;
    {
      const std::lock_guard lock(fftw_lock());
      const int n = static_cast<int>(length);
      constexpr unsigned flags = FFTW_MEASURE | FFTW_NO_BUFFERING;
      forward = Plan(fftwf_plan_dft_r2c_1d(n, work.samples.get(), work.spectrum.get(), flags | FFTW_PRESERVE_INPUT));
      backward = Plan(fftwf_plan_dft_c2r_1d(n, work.spectrum.get(), work.hilbert.get(), flags | FFTW_DESTROY_INPUT));
    }
    if (!forward.needs_no_heap() || !backward.needs_no_heap()) return false;
    std::fill_n(work.samples.get(), length, 0.0F);  // measuring overwrote the padding
    length_ = length;
    workspaces_ = std::move(workspaces);
    forward_ = std::move(forward);
    backward_ = std::move(backward);
    return true;
  }

  void transform_row(const float* row, float* in_phase, float* quadrature, Workspace& work) const noexcept {
    const std::size_t samples = output_.columns;
    std::memcpy(work.samples.get(), row, samples * sizeof(float));  // beyond it: zeros, which no transform overwrites
    fftwf_execute_dft_r2c(forward_.get(), work.samples.get(), work.spectrum.get());
    multiply_(&work.spectrum[0][0], factors_.data(), factors_.size());
    fftwf_execute_dft_c2r(backward_.get(), work.spectrum.get(), work.hilbert.get());
    const std::size_t padding = (output_.row_stride - samples) * sizeof(float);
    std::memcpy(in_phase, row, samples * sizeof(float));
    std::memset(in_phase + samples, 0, padding);
    std::memcpy(quadrature, work.hilbert.get(), samples * sizeof(float));
    std::memset(quadrature + samples, 0, padding);
  }

  std::size_t members_;
  SpectrumKernel multiply_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  std::size_t length_ = 0;
  std::vector<float> factors_;
  std::vector<Workspace> workspaces_;
  Plan forward_;
  Plan backward_;
};

}  // namespace

std::mutex& fftw_lock() {
  static std::mutex mutex;
  return mutex;
}

std::unique_ptr<Stage> make_analytic_signal_cpu(std::size_t members, SimdLevel level) {
  return std::make_unique<AnalyticSignalCpu>(members, level);
}

std::unique_ptr<Stage> make_analytic_signal_cpu(const ImagingPlan& /*plan*/, std::size_t /*view*/, Backend& backend) {
  return make_analytic_signal_cpu(team_size(backend));
}

}  // namespace echoform
