// The delay law: the one thing in which imaging modes differ.
//
//   image(p) = (1 / N^2) * sum over (tx, rx) of w_tx(tx, p) * w_rx(rx, p) * s_tx,rx(tau_tx(p) + tau_rx(p))
//
// A law is two legs. A leg gives, for each of its sources (transmit events, or elements that receive) and each pixel, the
// time that the wave takes on that side. The beamformer takes any pair of legs and asks nothing else.
//
// Shape     travel_times() fills one row: the times of one source to a run of pixels, in the order given.
// Units     seconds after the pulse's emission at the transmitting element (t = 0; for laws with firing delays, DELAY = 0).
//           Receive legs count from the pixel to the element. The beamformer turns the sum into a sample by
//           u = (tau_tx + tau_rx - start_time + time_offset) * sample_rate.
// Validity  A time is finite and may be negative (a plane wave's is, before its origin), |time| < 1 s. NaN marks a pixel
//           that the source cannot reach (shadow, beyond a critical angle, outside the part): its weight is then zero for
//           every pair with that source, and the pair still counts in N^2. Infinities are an error in the law.
// Threads   travel_times() is called from several threads at once and at set-up only, never per frame.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "base/geometry.hpp"
#include "base/grid.hpp"
#include "delay_laws/leg_cache.hpp"
#include "delay_laws/part_bounds.hpp"
#include "delay_laws/revolution.hpp"
#include "rays/ray_field.hpp"
#include "rays/scene.hpp"

namespace echoform {

/// A leg whose times are |pixel - origin| / velocity + offset. A backend may compute these on the fly instead of keeping tables.
struct PointSourceForm {
  Point origin;
  MetresPerSecond velocity;
  Seconds offset;
};

/// A leg whose times are slowness . pixel + offset, for every pixel; as with point sources, a backend needs no tables of them.
struct PlaneWaveForm {
  Direction slowness;  ///< s/m, global axes
  Seconds offset;

  /// The time at `p`, in seconds.
  [[nodiscard]] double time_to(const Point& p) const {
    return offset.value + slowness.x * p.x.value + slowness.y * p.y.value + slowness.z * p.z.value;
  }
};

/// A leg whose times, for every pixel, are those of a simpler form to the point rotated about a line: the wave of elements
/// on that line.
struct RevolvedForm {
  Revolution about;
  std::variant<PointSourceForm, PlaneWaveForm> in_plane;
};

/// The rays behind a leg. A backend may find them by itself instead of calling for times one by one.
struct LegRays {
  std::shared_ptr<const RayField> field;  ///< its sources are the leg's
  PartPixels pixels;                      ///< of the leg's grid; pixels outside the part have no rays, whatever `field` gives
  std::size_t found = 0;  ///< rays that were found for the table of the leg's times, whose other entries are interpolated
};

/// The angles at which the waves of a leg leave its elements, where these do not leave straight towards the pixels.
class Departures {
 public:
  virtual ~Departures() = default;

  /// Velocity of the medium into which the waves leave.
  [[nodiscard]] virtual MetresPerSecond velocity() const noexcept = 0;
  /// Cosines of the angles between the normal of source `source`'s element and its waves to `pixels`, into `cosines` (same
  /// length); NaN where the source does not reach. Called as Leg::travel_times() is.
  virtual void cosines(std::size_t source, std::span<const Point> pixels, std::span<double> cosines) const = 0;
};

/// One side of a delay law.
class Leg {
 public:
  /// Some sources of a leg, in this order.
  struct Selection {
    const Leg* leg;
    std::span<const std::uint32_t> sources;
  };

  virtual ~Leg() = default;

  /// The selection from which select_sources() made this leg; empty for all other legs.
  [[nodiscard]] virtual std::optional<Selection> selection() const { return std::nullopt; }
  /// Whether both legs are one object, or the same selection of one object. Their times are not compared.
  [[nodiscard]] bool is(const Leg& other) const;

  /// The leg of single elements from which a leg of events of several elements is made (event_leg.hpp); null for all other
  /// legs.
  [[nodiscard]] virtual std::shared_ptr<const Leg> of_elements() const { return nullptr; }
  /// Does the same as tabulated(), for a leg of events; `elements` is of_elements() or its table for the same grid.
  [[nodiscard]] virtual std::shared_ptr<const Leg> tabulated_over(const Leg& /*elements*/, const Grid& /*grid*/,
                                                                  std::size_t /*threads*/) const {
    return nullptr;
  }

  /// Number of sources: transmit events, or receiving elements.
  [[nodiscard]] virtual std::size_t sources() const noexcept = 0;

  /// Times of source `source` (0 <= source < sources()) to `pixels`, into `seconds` (same length), by the rules above.
  virtual void travel_times(std::size_t source, std::span<const Point> pixels, std::span<double> seconds) const = 0;

  /// The small analytic form, where the leg has one for every pixel.
  [[nodiscard]] virtual std::optional<PointSourceForm> point_source(std::size_t /*source*/) const { return std::nullopt; }
  /// The same for another form; a source has at most one form.
  [[nodiscard]] virtual std::optional<PlaneWaveForm> plane_wave(std::size_t /*source*/) const { return std::nullopt; }
  [[nodiscard]] virtual std::optional<RevolvedForm> revolved(std::size_t /*source*/) const { return std::nullopt; }
  /// The same for the pixels of a grid, such as one in the plane of a linear array: there some sources have a form that have
  /// none, or another, for all pixels.
  [[nodiscard]] virtual std::optional<PointSourceForm> point_source_on(std::size_t source, const Grid& /*grid*/) const {
    return point_source(source);
  }
  [[nodiscard]] virtual std::optional<PlaneWaveForm> plane_wave_on(std::size_t source, const Grid& /*grid*/) const {
    return plane_wave(source);
  }
  /// Whether it is known without evaluating times that the source reaches no pixel: all of them are NaN.
  [[nodiscard]] virtual bool reaches_nothing(std::size_t /*source*/) const { return false; }

  /// The same leg with the times to a grid's pixels precomputed, on `threads` threads (0: as many as processors): for legs
  /// whose times are too expensive to be computed more than once. Null for other legs, which are used as they are. Times may
  /// be off by `tolerance`, if that saves work; a tolerance changes no NaN. With `with_departures` the departures are
  /// precomputed too.
  [[nodiscard]] virtual std::shared_ptr<const Leg> tabulated(const Grid& /*grid*/, std::size_t /*threads*/,
                                                             Seconds /*tolerance*/ = Seconds(0.0),
                                                             bool /*with_departures*/ = false) const {
    return nullptr;
  }
  /// The rays of a leg that is the table for `grid`; null for all others.
  [[nodiscard]] virtual const LegRays* rays(const Grid& /*grid*/) const { return nullptr; }

  /// The departures, which weights by angle use; null if waves leave straight towards the pixels.
  [[nodiscard]] virtual const Departures* departures() const { return nullptr; }

  /// Bytes that tabulated() takes; 0 where it gives none.
  [[nodiscard]] virtual std::size_t table_bytes(const Grid& /*grid*/, bool /*with_departures*/ = false) const { return 0; }
};

inline bool Leg::is(const Leg& other) const {
  if (this == &other) return true;
  const auto mine = selection();
  const auto its = other.selection();
  return mine && its && mine->leg->is(*its->leg) && std::ranges::equal(mine->sources, its->sources);
}

struct DelayLaw {
  std::string view;  ///< "LL", "TT-T": transmit path - receive path
  std::shared_ptr<const Leg> transmit;
  std::shared_ptr<const Leg> receive;

  /// Whether both sides are the same leg. If so, tau(i, j) = tau(j, i), and a half matrix needs one lookup per pair.
  [[nodiscard]] bool reciprocal() const { return transmit == receive; }

  /// Laws are equal if they have the same view and the same legs. Legs are compared by identity or by is(), not by the times
  /// that they state.
  [[nodiscard]] friend bool operator==(const DelayLaw& a, const DelayLaw& b) {
    const auto same = [](const std::shared_ptr<const Leg>& one, const std::shared_ptr<const Leg>& other) {
      return one == other || (one && other && one->is(*other));
    };
    return a.view == b.view && same(a.transmit, b.transmit) && same(a.receive, b.receive);
  }
};

/// What a law may be built from.
struct DelayLawRequest {
  const Acquisition& acquisition;
  Material material;
  std::string view = "LL";
  Scene scene{};  ///< surfaces and couplant, for laws whose rays meet them
  /// Laws that are made with the same cache share the legs that they have in common.
  std::shared_ptr<LegCache> legs = std::make_shared<LegCache>();
  /// Indices of the events that are imaged; empty: all. Waves of the others reach no pixel, and no work is done for them.
  std::vector<std::uint32_t> chosen{};
};

/// Builds a law of single elements on both sides, whatever fires, or throws InputError: unknown view, velocity missing or not
/// positive.
using DelayLawFactory = std::function<DelayLaw(const DelayLawRequest&)>;

/// Laws by name ("contact"). In-tree laws are one line each in registry.cpp; a program may add its own before it builds a plan.
/// add_delay_law throws InputError if the name is taken. Not thread-safe against concurrent additions.
void add_delay_law(std::string name, DelayLawFactory factory);
/// make_delay_law: of the sides that the factory makes; where an event of the acquisition is a wave of several elements, the
/// transmit side is the leg of its events (event_leg.hpp).
[[nodiscard]] DelayLaw make_delay_law(std::string_view name, const DelayLawRequest& request);
[[nodiscard]] std::vector<std::string> delay_law_names();

}  // namespace echoform
