#include "jobs/filtered_model.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>
#include <vector>

#include "base/errors.hpp"

namespace echoform {
namespace {

class FilteredModel final : public LinearOperator, public AdjointOnDevice {
 public:
  FilteredModel(std::unique_ptr<LinearOperator> model, std::size_t samples, const FilterOptions& filter, ThreadTeam& team)
      : model_(std::move(model)),
        samples_(samples),
        filter_(filter, samples, team.size()),
        team_(&team),
        rows_(model_->data_size()) {}

  [[nodiscard]] std::size_t image_size() const noexcept override { return model_->image_size(); }
  [[nodiscard]] std::size_t data_size() const noexcept override { return model_->data_size(); }

  void apply(std::span<const float> image, std::span<float> data) override {
    model_->apply(image, rows_);
    for_rows([&](std::size_t at, std::size_t member) { filter_.apply(&rows_[at], &data[at], member); });
  }
  void adjoint(std::span<const float> data, std::span<float> image) override {
    transpose(data);
    model_->adjoint(rows_, image);
  }

  [[nodiscard]] AdjointOnDevice* on_device() noexcept override { return model_->on_device() == nullptr ? nullptr : this; }
  [[nodiscard]] float* device_image() noexcept override { return model_->on_device()->device_image(); }
  void begin_adjoint(std::span<const float> data) override {
    transpose(data);
    model_->on_device()->begin_adjoint(rows_);
  }
  void finish_adjoint(std::span<float> image) override { model_->on_device()->finish_adjoint(image); }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    return model_->bytes() + rows_.size() * sizeof(float) + filter_.bytes();
  }

 private:
  void transpose(std::span<const float> data) {
    for_rows([&](std::size_t at, std::size_t member) { filter_.transpose(&data[at], &rows_[at], member); });
  }

  /// Calls body(index of the row's first value, member) for each row.
  template <class Body>
  void for_rows(Body body) {
    team_->for_each(rows_.size() / samples_, 1, [&](std::size_t first, std::size_t last, std::size_t member) {
      for (std::size_t row = first; row < last; ++row) body(row * samples_, member);
    });
  }

  std::unique_ptr<LinearOperator> model_;
  std::size_t samples_;
  RowFilter filter_;
  ThreadTeam* team_;
  std::vector<float> rows_;
};

}  // namespace

std::unique_ptr<LinearOperator> make_filtered_model(std::unique_ptr<LinearOperator> model, std::size_t row_samples,
                                                    const FilterOptions& filter, ThreadTeam& team) {
  if (row_samples == 0 || model->data_size() % row_samples != 0) {
    throw InputError("filtered model, samples of a row", fmt::format("{}", row_samples),
                     fmt::format("a divisor of {}, the size of the data", model->data_size()));
  }
  return std::make_unique<FilteredModel>(std::move(model), row_samples, filter, team);
}

std::size_t filtered_model_bytes(std::size_t data_size, std::size_t row_samples, const FilterOptions& filter,
                                 std::size_t threads) {
  return data_size * sizeof(float) + row_filter_bytes(filter, row_samples, threads);
}

}  // namespace echoform
