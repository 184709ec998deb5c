// Travel times through and off surfaces in space by brute force: Fermat's least time over samples of each surface, narrowed down
// over all of them at once (space_search.hpp). What least_time.hpp is for the plane of x and z, and as that it shares nothing
// with the solvers in rays/. At set-up only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "simulators/interface_waves.hpp"
#include "simulators/sampled_shape.hpp"
#include "simulators/simulated_scene.hpp"
#include "simulators/space_search.hpp"
#include "simulators/ways.hpp"

namespace echoform::simulated {

/// All the rays of one probe in one scene. Least times are those of LeastTimes: none at a surface's end, those at corners of a
/// profile count, and the earliest counts whose legs keep to their sides of the surfaces.
class SpaceTimes final : public Ways {
 public:
  /// `places`: all that rays will be asked to. Tables: 8 bytes for each element and sample of the surface (4096), of the
  /// backwall a mode (2304), and with scene.skips of 2 of the front surface a pair of modes.
  SpaceTimes(const SimulatedScene& scene, const Material& material, std::vector<Spot> elements, const std::vector<Spot>& places);

  [[nodiscard]] Way side(std::size_t element, const std::string& modes, const Spot& to) const override;
  [[nodiscard]] std::optional<WallWay> front_echo(std::size_t transmit, std::size_t receive) const override;
  [[nodiscard]] std::optional<WallWay> backwall_echo(std::size_t transmit, std::size_t receive, char down,
                                                     char up) const override;

 private:
  /// The event at which one leg of a path ends and the next begins.
  enum class Event : std::uint8_t { enters, leaves, off_front, off_backwall, off_underside };
  /// Events in their order, and the sample of their shape where a search begins; modes of the legs, 'C' in the couplant.
  struct Route {
    std::size_t count = 0;
    std::array<Event, most_shapes> events{};
    std::array<std::size_t, most_shapes> samples{};
    std::string modes;

    void add(Event event, std::size_t sample) {
      events[count] = event;
      samples[count++] = sample;
    }
  };
  /// A way found, with the amplitude that its events leave one by one.
  struct Found {
    double time = std::numeric_limits<double>::quiet_NaN();
    std::array<Spot, most_shapes + 2> places;
    std::array<double, most_shapes> shares{};
  };
  using Table = std::vector<std::vector<double>>;  // [element][sample]

  [[nodiscard]] double velocity(char mode) const;
  [[nodiscard]] const SampledShape& shape_of(Event event) const;
  [[nodiscard]] Found follow(const Route& route, const Spot& from, const Spot& to) const;
  [[nodiscard]] double share_of(Event event, char before, char after, const Spot& normal, const Spot& arrives,
                                const Spot& leaves) const;
  [[nodiscard]] bool free(char mode, const Spot& from, const Spot& to) const;
  [[nodiscard]] Way straight(std::size_t element, char mode, const Spot& to) const;
  /// The sample of the front surface by which a place in the part is reached first, and of the backwall by which a place above
  /// is.
  [[nodiscard]] std::size_t entry_before(std::size_t element, char mode, const Spot& to) const;
  [[nodiscard]] std::size_t turn_before(std::size_t element, char first, char second, const Spot& to) const;
  void reach(const SampledShape& from, const Table& known, const SampledShape& to, double slowness, Table& least) const;

  SimulatedScene scene_;
  Material material_;
  FluidSolid front_waves_;
  SolidFree back_waves_;
  std::vector<Spot> elements_;
  std::unique_ptr<const SampledShape> surface_;    // null without a couplant
  std::unique_ptr<const SampledShape> backwall_;   // null without one
  std::unique_ptr<const SampledShape> underside_;  // the front surface, where ways skip twice; also without a couplant
  Table above_;                                    // times in the couplant to the samples of the surface
  std::map<char, Table> down_;                     // by mode: to those of the backwall
  std::map<std::string, Table> from_below_;        // by two modes: to those of the underside
};

}  // namespace echoform::simulated
