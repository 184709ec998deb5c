#include "pipeline/scan.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

namespace echoform {

std::int64_t EncoderScale::cell(Metres s) const {
  // A count times a length may be any number: cells at the ends take what lies beyond them.
  constexpr double most = 9e15;
  return std::llround(std::clamp(s / step, -most, most));
}

ScanRecord::ScanRecord(const Grid& grid, const std::vector<std::string>& views, Composition composition)
    : grid_(grid), composition_(composition) {
  for (const std::string& view : views) {
    Image image{view, std::vector<float>(grid.pixels(), std::numeric_limits<float>::quiet_NaN()), {}, {}};
    if (composition == Composition::coherent) {
      image.sum.resize(grid.pixels());
      image.covered.resize(grid.pixels());
    }
    images_.push_back(std::move(image));
  }
}

std::size_t ScanRecord::bytes(const Grid& grid, std::size_t views, Composition composition) {
  const std::size_t coherent = composition == Composition::coherent ? sizeof(std::complex<float>) + sizeof(std::uint32_t) : 0;
  return grid.pixels() * views * (sizeof(float) + coherent);
}

std::size_t ScanRecord::bytes() const noexcept {
  return bytes(grid_, images_.size(), composition_);
}

void ScanRecord::begin_frame() {
  if (!clear_.exchange(false)) return;
  for (Image& image : images_) {
    std::fill(image.envelope.begin(), image.envelope.end(), std::numeric_limits<float>::quiet_NaN());
    std::fill(image.sum.begin(), image.sum.end(), std::complex<float>{});
    std::fill(image.covered.begin(), image.covered.end(), 0U);
  }
  cells_.clear();
  cell_count_ = 0;
}

void ScanRecord::add(std::size_t view, const Grid& part, const std::array<std::size_t, 3>& first, const void* pixels) {
  Image& image = images_.at(view);
  std::size_t from = 0;
  for (std::size_t z = 0; z < part.z.count; ++z) {
    for (std::size_t y = 0; y < part.y.count; ++y, from += part.x.count) {
      const std::size_t row = ((first[2] + z) * grid_.y.count + first[1] + y) * grid_.x.count + first[0];
      float* const envelope = image.envelope.data() + row;
      if (composition_ == Composition::maximum) {
        const float* const added = static_cast<const float*>(pixels) + from;
        for (std::size_t x = 0; x < part.x.count; ++x) {
          if (!(envelope[x] >= added[x])) envelope[x] = added[x];
        }
        continue;
      }
      const std::complex<float>* const added = static_cast<const std::complex<float>*>(pixels) + from;
      for (std::size_t x = 0; x < part.x.count; ++x) {
        const std::complex<float> sum = image.sum[row + x] += added[x];
        envelope[x] = std::abs(sum) / static_cast<float>(++image.covered[row + x]);
      }
    }
  }
}

void ScanRecord::close(std::int64_t cell) {
  cells_.insert(cell);
  cell_count_ = cells_.size();
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
    // Without memory for the words it is counted alone.
  }
}

std::string ScanRecord::refusal() const {
  const std::lock_guard lock(mutex_);
  return refusal_;
}

std::shared_ptr<ScanRecord> ScanRecords::of(const Acquisition& acquisition, std::uint64_t revision, const Grid& grid,
                                            const std::vector<std::string>& views, Composition composition) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [](const Entry& entry) { return entry.record.expired(); });
  for (const Entry& entry : entries_) {
    if (entry.acquisition != acquisition || entry.revision != revision) continue;
    const auto record = entry.record.lock();
    const auto same_view = [](const std::string& view, const ScanRecord::Image& image) { return view == image.view; };
    if (record != nullptr && record->grid() == grid && record->composition() == composition &&
        std::equal(views.begin(), views.end(), record->images().begin(), record->images().end(), same_view)) {
      return record;
    }
  }
  auto record = std::make_shared<ScanRecord>(grid, views, composition);
  entries_.push_back({acquisition, revision, record});
  return record;
}

}  // namespace echoform
