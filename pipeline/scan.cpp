#include "pipeline/scan.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>

namespace echoform {

std::int64_t EncoderScale::cell(Metres s) const {
  // A count times a length may be any number: the cells at the ends take the places beyond them.
  constexpr double most = 9e15;
  return std::llround(std::clamp(place(s) / step, -most, most));
}

Metres EncoderScale::place(Metres s) const {
  if (!(around.value > 0.0)) return s;
  const Metres turned(std::remainder(s.value, around.value));
  return turned.value <= -0.5 * around.value ? 0.5 * around : turned;
}

ScanRecord::ScanRecord(const Grid& grid, const std::vector<std::string>& views, Composition composition, ScanMakings makings)
    : grid_(grid), composition_(composition), makings_(std::move(makings)), views_(views), images_(empty_images()) {}

std::vector<ScanRecord::Image> ScanRecord::empty_images() const {
  std::vector<Image> images;
  for (const std::string& view : views_) {
    Image image{view, std::vector<float>(grid_.pixels(), std::numeric_limits<float>::quiet_NaN()), {}, {}};
    if (composition_ == Composition::coherent) {
      image.sum.resize(grid_.pixels());
      image.covered.resize(grid_.pixels());
    }
    images.push_back(std::move(image));
  }
  return images;
}

std::size_t ScanRecord::bytes(const Grid& grid, std::size_t views, Composition composition) {
  const std::size_t coherent = composition == Composition::coherent ? sizeof(std::complex<float>) + sizeof(std::uint32_t) : 0;
  return grid.pixels() * views * (sizeof(float) + coherent);
}

std::size_t ScanRecord::bytes() const noexcept {
  return bytes(grid_, images_.size(), composition_);
}

void ScanRecord::begin_frame() {
  if (!clear_.load()) return;
  const auto whole = whole_frame();
  clear_ = false;
  for (Image& image : images_) {
    std::fill(image.envelope.begin(), image.envelope.end(), std::numeric_limits<float>::quiet_NaN());
    std::fill(image.sum.begin(), image.sum.end(), std::complex<float>{});
    std::fill(image.covered.begin(), image.covered.end(), 0U);
  }
  cells_.clear();
  cell_count_ = 0;
}

void ScanRecord::add(std::size_t view, const Grid& part, const ScanPlaces& places, const void* pixels) {
  Image& image = images_.at(view);
  std::size_t from = 0;
  for (std::size_t z = 0; z < part.z.count; ++z) {
    for (std::size_t y = 0; y < part.y.count; ++y, from += part.x.count) {
      auto at = static_cast<std::ptrdiff_t>(places.first) + static_cast<std::ptrdiff_t>(z) * places.along_z +
                static_cast<std::ptrdiff_t>(y) * places.along_y;
      if (composition_ == Composition::maximum) {
        const float* const added = static_cast<const float*>(pixels) + from;
        for (std::size_t x = 0; x < part.x.count; ++x, at += places.along_x) {
          float& envelope = image.envelope[static_cast<std::size_t>(at)];
          if (!(envelope >= added[x])) envelope = added[x];
        }
        continue;
      }
      const std::complex<float>* const added = static_cast<const std::complex<float>*>(pixels) + from;
      for (std::size_t x = 0; x < part.x.count; ++x, at += places.along_x) {
        const auto pixel = static_cast<std::size_t>(at);
        const std::complex<float> sum = image.sum[pixel] += added[x];
        image.envelope[pixel] = std::abs(sum) / static_cast<float>(++image.covered[pixel]);
      }
    }
  }
}

void ScanRecord::close(std::int64_t cell) {
  cells_.insert(cell);
  cell_count_ = cells_.size();
}

ScanRecord::Contents ScanRecord::contents() const {
  const std::lock_guard whole(frame_mutex_);
  Counts now = counts();
  if (!clear_.load()) return {images_, {cells_.begin(), cells_.end()}, now};
  now.cells = 0;
  return {empty_images(), {}, now};
}

void ScanRecord::restore(Contents contents) {
  images_ = std::move(contents.images);
  cells_ = {contents.cells.begin(), contents.cells.end()};
  cell_count_ = cells_.size();
  repeated_ = contents.counts.repeated;
  outside_ = contents.counts.outside;
  without_position_ = contents.counts.without_position;
  refused_ = contents.counts.refused;
}

ScanRecord::Counts ScanRecord::counts() const noexcept {
  return {cell_count_, repeated_, outside_, without_position_, refused_};
}

void ScanRecord::refuse(const char* why) noexcept {
  ++refused_;
  try {
    const std::lock_guard lock(mutex_);
    refusal_ = why;
  } catch (const std::exception&) {
    // Without memory for the text, the refusal is only counted.
  }
}

std::string ScanRecord::refusal() const {
  const std::lock_guard lock(mutex_);
  return refusal_;
}

std::shared_ptr<ScanRecord> ScanRecords::of(const ScanMakings& makings, std::uint64_t revision, const Grid& grid,
                                            const std::vector<std::string>& views, Composition composition) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [](const Entry& entry) { return entry.record.expired(); });
  for (const Entry& entry : entries_) {
    const auto record = entry.record.lock();
    if (record == nullptr || entry.revision != revision || record->makings().acquisition != makings.acquisition) continue;
    const auto same_view = [](const std::string& view, const ScanRecord::Image& image) { return view == image.view; };
    if (record->grid() == grid && record->composition() == composition &&
        std::equal(views.begin(), views.end(), record->images().begin(), record->images().end(), same_view)) {
      return record;
    }
  }
  auto record = std::make_shared<ScanRecord>(grid, views, composition, makings);
  if (begin_) begin_(*record);
  entries_.push_back({revision, record});
  return record;
}

}  // namespace echoform
