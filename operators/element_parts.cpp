#include "operators/element_parts.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "base/directions.hpp"

namespace echoform {
namespace {

constexpr double tolerable = 0.03;

/// Distance from the detector to the nearest place in the box of voxels.
double distance_to(const Grid& grid, const Point& from) {
  const double half = 0.5 * voxel_spacing(grid).value;
  const auto beside = [half](Metres place, const Axis& axis) {
    return std::max({(axis.first - place).value - half, (place - axis.last).value - half, 0.0});
  };
  const double x = beside(from.x, grid.x);
  const double y = beside(from.y, grid.y);
  const double z = beside(from.z, grid.z);
  return std::max(std::sqrt(x * x + y * y + z * z), half);
}

class ModelOfParts final : public LinearOperator, public AdjointOnDevice {
 public:
  ModelOfParts(std::unique_ptr<LinearOperator> model, const ElementParts& parts, std::size_t samples, const OperatorSite& site)
      : model_(std::move(model)),
        parts_(parts.count()),
        samples_(samples),
        elements_(model_->data_size() / (parts_ * samples)),
        team_(site.team),
        rows_(model_->data_size()) {}

  [[nodiscard]] std::size_t image_size() const noexcept override { return model_->image_size(); }
  [[nodiscard]] std::size_t data_size() const noexcept override { return elements_ * samples_; }
  [[nodiscard]] std::size_t bytes() const noexcept override { return model_->bytes() + rows_.size() * sizeof(float); }

  void apply(std::span<const float> image, std::span<float> data) override {
    model_->apply(image, rows_);
    over_elements([&](std::size_t element) {
      const float* const from = rows_.data() + element * parts_ * samples_;
      float* const to = data.data() + element * samples_;
      for (std::size_t k = 0; k < samples_; ++k) {
        double sum = 0.0;
        for (std::size_t part = 0; part < parts_; ++part) sum += static_cast<double>(from[part * samples_ + k]);
        to[k] = static_cast<float>(sum / static_cast<double>(parts_));
      }
    });
  }

  void adjoint(std::span<const float> data, std::span<float> image) override {
    share_out(data);
    model_->adjoint(rows_, image);
  }

  [[nodiscard]] AdjointOnDevice* on_device() noexcept override { return model_->on_device() != nullptr ? this : nullptr; }
  void begin_adjoint(std::span<const float> data) override {
    share_out(data);
    model_->on_device()->begin_adjoint(rows_);
  }
  [[nodiscard]] float* device_image() noexcept override { return model_->on_device()->device_image(); }
  void finish_adjoint(std::span<float> image) override { model_->on_device()->finish_adjoint(image); }

 private:
  template <class Body>
  void over_elements(const Body& body) {
    team_->for_each(elements_, 1, [&](std::size_t first, std::size_t last, std::size_t) {
      for (std::size_t element = first; element < last; ++element) body(element);
    });
  }

  void share_out(std::span<const float> data) {
    const double share = 1.0 / static_cast<double>(parts_);
    over_elements([&](std::size_t element) {
      const float* const from = data.data() + element * samples_;
      for (std::size_t part = 0; part < parts_; ++part) {
        float* const to = rows_.data() + (element * parts_ + part) * samples_;
        for (std::size_t k = 0; k < samples_; ++k) to[k] = static_cast<float>(share * static_cast<double>(from[k]));
      }
    });
  }

  std::unique_ptr<LinearOperator> model_;
  std::size_t parts_;
  std::size_t samples_;
  std::size_t elements_;
  ThreadTeam* team_;
  std::vector<float> rows_;  // [element, part, sample]
};

}  // namespace

double far_field_error(const ModelGeometry& geometry, Hertz highest, const ElementParts& parts) {
  const double turns = std::numbers::pi * (highest / geometry.velocity).value;  // radians a metre, at half of `highest`
  double worst = 0.0;
  for (const Detector& detector : geometry.detectors) {
    if (detector.dead) continue;
    const double w = std::pow(detector.width.value / static_cast<double>(parts.across), 2);
    const double l = std::pow(detector.length.value / static_cast<double>(parts.along), 2);
    const double phase =
        0.5 * turns / distance_to(geometry.grid, detector.centre) * std::sqrt(w * w / 80.0 + w * l / 72.0 + l * l / 80.0);
    worst = std::max(worst, phase);
  }
  return worst;
}

ElementParts parts_for_far_field(const ModelGeometry& geometry, Hertz highest) {
  double width = 0.0;
  double length = 0.0;
  for (const Detector& detector : geometry.detectors) {
    if (detector.dead) continue;
    width = std::max(width, detector.width.value);
    length = std::max(length, detector.length.value);
  }
  ElementParts parts;
  while (far_field_error(geometry, highest, parts) > tolerable) {
    const bool across = width / static_cast<double>(parts.across) >= length / static_cast<double>(parts.along);
    std::size_t& side = across ? parts.across : parts.along;
    if (side == ElementParts::maximum) break;
    ++side;
  }
  return parts;
}

ModelGeometry divided(const ModelGeometry& geometry, const ElementParts& parts) {
  ModelGeometry all = geometry;
  all.detectors.clear();
  for (const Detector& whole : geometry.detectors) {
    if (whole.dead) {
      // The sizes of dead detectors do not matter.
      all.detectors.insert(all.detectors.end(), parts.count(), whole);
      continue;
    }
    const Direction along = cross(whole.normal, whole.across);
    for (std::size_t a = 0; a < parts.across; ++a) {
      for (std::size_t b = 0; b < parts.along; ++b) {
        const auto place = [](Metres size, std::size_t part, std::size_t count) {
          return size.value * ((static_cast<double>(part) + 0.5) / static_cast<double>(count) - 0.5);
        };
        const double u = place(whole.width, a, parts.across);
        const double v = place(whole.length, b, parts.along);
        Detector part = whole;
        part.width = whole.width / static_cast<double>(parts.across);
        part.length = whole.length / static_cast<double>(parts.along);
        part.centre = {whole.centre.x + Metres(u * whole.across.x + v * along.x),
                       whole.centre.y + Metres(u * whole.across.y + v * along.y),
                       whole.centre.z + Metres(u * whole.across.z + v * along.z)};
        all.detectors.push_back(part);
      }
    }
  }
  return all;
}

std::unique_ptr<LinearOperator> make_model_of_parts(std::unique_ptr<LinearOperator> model, const ElementParts& parts,
                                                    std::size_t samples, const OperatorSite& site) {
  return std::make_unique<ModelOfParts>(std::move(model), parts, samples, site);
}

std::size_t model_of_parts_bytes(std::size_t elements, const ElementParts& parts, std::size_t samples) {
  return elements * parts.count() * samples * sizeof(float);
}

}  // namespace echoform
