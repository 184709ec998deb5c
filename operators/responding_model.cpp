#include "operators/responding_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "operators/real_transform.hpp"

namespace echoform {
namespace {

/// The period is even, and at least as long as a row and a response together, so that no wrapped values fall on the samples.
std::size_t period_of(std::size_t samples, const ImpulseResponse& response) {
  return quick_transform_length(samples + response.samples.size());
}

std::size_t bytes_beside(std::size_t data_size, std::size_t period, std::size_t threads) {
  return data_size * sizeof(float) + (period / 2 + 1) * sizeof(std::complex<float>) + threads * (2 * period + 2) * sizeof(float);
}

/// Memory of one member of the team.
struct RowWorkspace {
  explicit RowWorkspace(std::size_t period) : row(transform_reals(period)), spectrum(transform_reals(period + 2)) {}
  TransformReals row;
  TransformReals spectrum;
};

class RespondingModel final : public LinearOperator, public AdjointOnDevice {
 public:
  RespondingModel(std::unique_ptr<LinearOperator> model, std::size_t samples, const ImpulseResponse& response, ThreadTeam& team)
      : model_(std::move(model)),
        samples_(samples),
        period_(period_of(samples, response)),
        transform_(period_),
        team_(&team),
        pressure_(model_->data_size()) {
    for (std::size_t member = 0; member < team.size(); ++member) workspaces_.emplace_back(period_);
    // Samples of the response before its time zero are at the period's end.
    RowWorkspace& work = workspaces_.front();
    for (std::size_t k = 0; k < response.samples.size(); ++k) {
      const std::size_t at = (k + period_ - response.zero) % period_;
      work.row.get()[at] = static_cast<float>(response.samples[k]);
    }
    transform_.forward(work.row.get(), work.spectrum.get());
    // The inverse transform is unscaled.
    const float scale = 1.0F / static_cast<float>(period_);
    for (std::size_t k = 0; k < period_ / 2 + 1; ++k)
      spectrum_.emplace_back(scale * work.spectrum.get()[2 * k], scale * work.spectrum.get()[2 * k + 1]);
  }

  [[nodiscard]] std::size_t image_size() const noexcept override { return model_->image_size(); }
  [[nodiscard]] std::size_t data_size() const noexcept override { return model_->data_size(); }

  void apply(std::span<const float> image, std::span<float> data) override {
    model_->apply(image, pressure_);
    convolve(pressure_, data, false);
  }

  void adjoint(std::span<const float> data, std::span<float> image) override {
    convolve(data, pressure_, true);
    model_->adjoint(pressure_, image);
  }

  [[nodiscard]] AdjointOnDevice* on_device() noexcept override { return model_->on_device() == nullptr ? nullptr : this; }
  [[nodiscard]] float* device_image() noexcept override { return model_->on_device()->device_image(); }
  void begin_adjoint(std::span<const float> data) override {
    convolve(data, pressure_, true);
    model_->on_device()->begin_adjoint(pressure_);
  }
  void finish_adjoint(std::span<float> image) override { model_->on_device()->finish_adjoint(image); }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    return model_->bytes() + bytes_beside(model_->data_size(), period_, workspaces_.size());
  }

 private:
  /// Convolves rows of `from` into those of `to` with the response. The transpose uses the response reversed in time.
  void convolve(std::span<const float> from, std::span<float> to, bool turned) noexcept {
    team_->for_each(from.size() / samples_, 1, [&](std::size_t first, std::size_t last, std::size_t member) {
      RowWorkspace& work = workspaces_[member];
      for (std::size_t r = first; r < last; ++r) {
        float* const row = work.row.get();
        float* const spectrum = work.spectrum.get();
        std::copy_n(from.data() + r * samples_, samples_, row);
        std::fill(row + samples_, row + period_, 0.0F);
        transform_.forward(row, spectrum);
        for (std::size_t k = 0; k < spectrum_.size(); ++k) {
          const std::complex<float> by = turned ? std::conj(spectrum_[k]) : spectrum_[k];
          const std::complex<float> value = by * std::complex<float>(spectrum[2 * k], spectrum[2 * k + 1]);
          spectrum[2 * k] = value.real();
          spectrum[2 * k + 1] = value.imag();
        }
        transform_.backward(spectrum, row);
        std::copy_n(row, samples_, to.data() + r * samples_);
      }
    });
  }

  std::unique_ptr<LinearOperator> model_;
  std::size_t samples_;
  std::size_t period_;
  RealTransform transform_;
  ThreadTeam* team_;
  std::vector<float> pressure_;
  std::vector<std::complex<float>> spectrum_;
  std::vector<RowWorkspace> workspaces_;
};

}  // namespace

std::unique_ptr<LinearOperator> make_responding_model(std::unique_ptr<LinearOperator> model, std::size_t row_samples,
                                                      const ImpulseResponse& response, ThreadTeam& team) {
  if (row_samples == 0 || model->data_size() % row_samples != 0) {
    throw InputError("responding model, samples of a row", fmt::format("{}", row_samples),
                     fmt::format("a divisor of {}, the size of the data", model->data_size()));
  }
  if (response.zero >= response.samples.size()) {
    throw InputError("responding model, time of the pressure", fmt::format("sample {}", response.zero),
                     fmt::format("one of {}", response.samples.size()));
  }
  if (!std::ranges::all_of(response.samples, [](double value) { return std::isfinite(value); }))
    throw InputError("responding model, response", "samples that are not finite", "finite ones");
  return std::make_unique<RespondingModel>(std::move(model), row_samples, response, team);
}

std::size_t responding_model_bytes(std::size_t data_size, std::size_t row_samples, const ImpulseResponse& response,
                                   std::size_t threads) {
  return bytes_beside(data_size, period_of(row_samples, response), threads);
}

}  // namespace echoform
