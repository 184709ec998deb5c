// The envelope of an image, whether it is there or follows from the complex one.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include "formats/image_writer.hpp"

namespace echoform::formats {

/// The values of an image's envelope, one at a time: nothing is copied.
class EnvelopeView {
 public:
  explicit EnvelopeView(const ImageFile& image) : envelope_(image.envelope), analytic_(image.analytic) {}

  [[nodiscard]] std::size_t size() const { return envelope_.empty() ? analytic_.size() : envelope_.size(); }
  [[nodiscard]] float operator[](std::size_t index) const {
    return envelope_.empty() ? std::abs(analytic_[index]) : envelope_[index];
  }
  /// The magnitude at `index`, also of images with a sign.
  [[nodiscard]] float magnitude(std::size_t index) const { return std::abs((*this)[index]); }
  /// Values from `first` on, as many as `into` holds.
  void copy(std::size_t first, std::span<float> into) const {
    for (std::size_t k = 0; k < into.size(); ++k) into[k] = (*this)[first + k];
  }

 private:
  std::span<const float> envelope_;
  std::span<const std::complex<float>> analytic_;
};

/// The image with an envelope in memory where one is requested; an envelope that has yet to be computed is put into `room`.
inline ImageFile with_envelope(ImageFile image, std::vector<float>& room) {
  if (image.field == ImageField::analytic || !image.envelope.empty()) return image;
  room.resize(image.analytic.size());
  EnvelopeView(image).copy(0, room);
  image.envelope = room;
  return image;
}

}  // namespace echoform::formats
