// Legs that the laws of one plan have in common.
#pragma once

#include <map>
#include <memory>
#include <string>

namespace echoform {

class Leg;

/// The transmit side of LT is the receive side of TL: one leg, made once. That both sides of a law are one object is how the
/// engines know that half the matrix suffices, and that two views are each other's mirror image.
class LegCache {
 public:
  /// The leg of the path `path`, its modes from the element to the pixel ("TL"), made by `make` where there is none yet.
  template <class Make>
  [[nodiscard]] std::shared_ptr<const Leg> get(const std::string& path, const Make& make) {
    std::shared_ptr<const Leg>& leg = legs_[path];
    if (leg == nullptr) leg = make(path);
    return leg;
  }

 private:
  std::map<std::string, std::shared_ptr<const Leg>, std::less<>> legs_;
};

}  // namespace echoform
