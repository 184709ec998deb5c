#include "apps/last_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace echoform {

void LastImage::plan_changed(std::shared_ptr<const ImagingPlan> plan) {
  const std::lock_guard lock(mutex_);
  plan_ = std::move(plan);
  envelopes_.assign(plan_->laws.size(), std::vector<float>(plan_->grid.pixels()));
  references_.assign(plan_->laws.size(), 1.0F);
  count_ = 0;
}

void LastImage::publish(const FinishedFrame& frame) noexcept {
  const std::lock_guard lock(mutex_);
  for (std::size_t view = 0; view < envelopes_.size(); ++view) {
    const ImageOutput& image = frame.slot.images[view];
    std::memcpy(envelopes_[view].data(), image.envelope.data(),
                std::min(image.envelope.size(), envelopes_[view].size() * sizeof(float)));
    references_[view] = image.reference;
  }
  compression_ = frame.plan.compression;
  sequence_ = frame.slot.sequence;
  if (count_ == 0) first_ = frame.now;
  last_ = frame.now;
  ++count_;
}

double LastImage::images_per_second() const {
  const std::lock_guard lock(mutex_);
  if (count_ < 2 || last_ <= first_) return 0.0;
  return static_cast<double>(count_ - 1) / std::chrono::duration<double>(last_ - first_).count();
}

bool LastImage::empty() const {
  const std::lock_guard lock(mutex_);
  return count_ == 0;
}

std::uint64_t LastImage::sequence() const {
  const std::lock_guard lock(mutex_);
  return sequence_;
}

ImageFile LastImage::file(std::size_t view) const {
  const std::lock_guard lock(mutex_);
  ImageFile file;
  file.grid = plan_->grid;
  file.envelope = envelopes_[view];
  file.title = fmt::format("sequence {}", sequence_);
  file.view = plan_->laws[view].view;
  file.dynamic_range_db = compression_.dynamic_range_db;
  file.gain_db = compression_.gain_db;
  if (references_[view] > 0.0F) file.reference = references_[view];
  return file;
}

}  // namespace echoform
