// A view that modes do not name: "H-T", the head wave of a longitudinal wave that creeps below the surface out, a shear wave
// back. An element on the part sends a wave along the surface at c_L, which sheds a shear wave into the part at the critical
// angle, sin(theta) = c_T / c_L. A pixel at depth z below the element and d beside it gets it after
//   t = (d - z tan(theta)) / c_L + z / (c_T cos(theta)) = d / c_L + z cos(theta) / c_T,   d >= z tan(theta),
// the least time over all places where the wave might leave the surface (Cerveny and Ravindra, Theory of Seismic Head Waves,
// 1971); nearer to the element there is no such wave. The way back is the enclosing law's own leg "T". One class, one function
// and one line of registration: the program then has all commands of `echoform`, and [imaging] views takes "H-T" beside "TT" or
// "LT".
#include <cmath>
#include <limits>
#include <memory>

#include "apps/program.hpp"
#include "delay_laws/view_kind.hpp"

using namespace echoform;

namespace {

class HeadWaveLeg final : public Leg {
 public:
  HeadWaveLeg(const Probe& probe, double longitudinal, double shear)
      : elements_(probe.elements), along_(1.0 / longitudinal), across_(std::sqrt(1.0 / (shear * shear) - along_ * along_)) {}

  [[nodiscard]] std::size_t sources() const noexcept override { return elements_.size(); }

  void travel_times(std::size_t source, std::span<const Point> pixels, std::span<double> seconds) const override {
    const Point from = elements_[source].centre;
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      const double d = std::hypot((pixels[k].x - from.x).value, (pixels[k].y - from.y).value);
      const double z = (pixels[k].z - from.z).value;
      // tan(theta) is the ratio of the slownesses; cos(theta) / c_T the one across.
      const bool reached = z >= 0.0 && d * across_ >= z * along_;
      seconds[k] = reached ? d * along_ + z * across_ : std::numeric_limits<double>::quiet_NaN();
    }
  }

 private:
  std::vector<Element> elements_;
  double along_;   // slowness along the surface, s/m
  double across_;  // and into the part
};

ViewKind head_wave_view() {
  return {
      "H-T", "Head wave of the creeping longitudinal wave out, shear wave back.",
      [](const DelayLawRequest& request, const LegMaker& leg) {
        const double longitudinal = velocity_of_mode('L', request.material).value;
        const double shear = velocity_of_mode('T', request.material).value;
        return DelayLaw{request.view, std::make_shared<HeadWaveLeg>(request.acquisition.probe, longitudinal, shear), leg("T")};
      }};
}

}  // namespace

int main(int argc, char** argv) {
  add_view_kind(head_wave_view());
  return run_program(argc, argv);
}
