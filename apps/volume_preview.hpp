// `echoform reconstruct --preview`: shows iterates by the same sinks of images as the server's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/doors.hpp"
#include "base/grid.hpp"
#include "config/configuration.hpp"
#include "methods/optoacoustic_images.hpp"
#include "pipeline/frame_slot.hpp"
#include "pipeline/imaging_setup.hpp"

namespace echoform {

class VolumePreview {
 public:
  /// Maximum number of volumes held for viewers: the iterate shown, messages that wait for subscribers, and those of the web
  /// page.
  static constexpr double most_volumes = 12.0;

  /// Shows the part `shown` of each iterate; `quantity` describes that part. Opens the web page ([server] web) and the
  /// publisher of images ([server] images). Throws InputError for invalid addresses, RuntimeFault for a port in use.
  VolumePreview(const Configuration& configuration, const Grid& grid, ImageQuantity quantity, ShownPart shown);

  /// Instructions to the user on how to see iterates, a line each.
  [[nodiscard]] std::vector<std::string> invitations() const;

  /// Iterates from now on are those of another volume, whose name comes before iteration and residual. Their sequence counts on.
  void begin(std::string name);

  /// Hands an iterate, [z, y, x] of the grid, to those who look now: as the image of that sequence, whose view says iteration and
  /// residual. Nothing is copied where nobody does. Waits for nobody: who is slower than the solver misses iterates.
  void show(std::span<const float> volume, std::size_t iteration, double residual);

 private:
  [[nodiscard]] bool looked_at() const;
  void announce(std::string view);

  const Grid grid_;
  const ImageQuantity quantity_;
  const ShownPart part_;
  std::vector<OpenSink> sinks_;
  std::shared_ptr<const ImagingSetup> setup_;
  FrameSlot slot_;
  std::vector<float> pixels_;
  std::uint64_t shown_ = 0;
  std::string name_;             // of the volume, where there are several
  std::uint64_t of_others_ = 0;  // the last sequence of the volumes before it
  std::uint64_t last_ = 0;
};

}  // namespace echoform
