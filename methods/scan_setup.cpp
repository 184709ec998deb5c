#include "methods/scan_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "acquisition/probe_frame.hpp"
#include "base/directions.hpp"
#include "base/errors.hpp"
#include "methods/display_settings.hpp"
#include "methods/host_memory.hpp"
#include "methods/overrides.hpp"
#include "methods/scan_settings.hpp"

namespace echoform {
namespace {

Grid grid_of(const GridSection& section) {
  const auto axis = [](const std::optional<std::array<Metres, 2>>& ends, std::size_t count) {
    return ends ? Axis{(*ends)[0], (*ends)[1], count} : Axis{Metres(0.0), Metres(0.0), count};
  };
  Grid grid;
  grid.x = axis(section.x, section.pixels.x);
  grid.y = axis(section.y, section.pixels.y);
  grid.z = axis(section.z, section.pixels.z);
  return grid;
}

/// Pixels of one axis, from `first` on.
struct Part {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Where `offset + slope * coordinate + [low, high]` comes within `coverage` of 0.
Part covered_part(const Axis& axis, double offset, double slope, double low, double high, double coverage) {
  // Of pixels at the very edge rounding decides neither way.
  const double margin = coverage * (1.0 + 1e-9) + 1e-12;
  Part part;
  for (std::size_t i = 0; i < axis.count; ++i) {
    const double along = offset + slope * axis.at(i).value;
    if (along + low > margin || along + high < -margin) continue;
    if (part.count == 0) part.first = i;
    part.count = i + 1 - part.first;
  }
  return part;
}

/// What positions are resolved from, for as long as somebody images them.
class Positions {
 public:
  Positions(const Method& method, const ImagingRequest& request)
      : method_(method),
        configuration_(request.configuration),
        acquisition_(request.acquisition),
        placed_(request.acquisition),
        stated_(request.stated),
        frames_in_flight_(request.frames_in_flight),
        use_(request.use),
        revision_(request.settings_revision),
        crop_(request.crop),
        section_(section<ScanSection>(configuration_)),
        grid_(grid_of(configuration_.grid)) {
    Material material = stated_.material;
    std::vector<std::string> notes;
    apply_overrides(configuration_, placed_, material, notes);
    validate(grid_, configuration_.place("[grid]"));
  }

  [[nodiscard]] const Grid& grid() const { return grid_; }
  /// The acquisition by [probe] and the like, at s = 0.
  [[nodiscard]] const Acquisition& placed() const { return placed_; }

  /// A position that stands for all: where a pixel in the middle of the grid is straight before the probe, or s = 0 where that
  /// cannot be imaged from: `where` is told which. InputError where neither can.
  [[nodiscard]] std::shared_ptr<const ImagingSetup> model(const OutputWish& wish, Metres& where) const {
    std::optional<InputError> why;
    try {
      where = middle();
      if (auto position = at(where, wish); position.setup != nullptr) return position.setup;
    } catch (const InputError& error) {
      why = error;
    }
    try {
      where = Metres(0.0);
      if (auto position = at(where, wish); position.setup != nullptr) return position.setup;
    } catch (const InputError&) {
      if (!why) throw;
    }
    if (why) throw InputError(*why);
    throw InputError(configuration_.place("[scan] coverage"), "no pixel of [grid] that is covered where [probe] places the probe",
                     "a grid that the probe goes along");
  }

  [[nodiscard]] ScanPosition at(Metres s, const OutputWish& wish) const {
    Configuration configuration = configuration_;
    const RigidMotion motion = scan_motion(configuration_, placed_.probe, s);
    configuration.probe.motion = motion;
    section<ScanSection>(configuration).path = ScanPath::none;
    section<ScanSection>(configuration).whole = grid_;
    ScanPosition position;
    if (!cut_grid(motion, configuration.grid, position.first)) return position;
    position.setup = method_.resolve({.configuration = configuration,
                                      .acquisition = acquisition_,
                                      .stated = stated_,
                                      .frames_in_flight = frames_in_flight_,
                                      .use = use_,
                                      .settings_revision = revision_,
                                      .wish = wish,
                                      .crop = crop_});
    return position;
  }

  /// The position, which may cover more than the one that stands for all; InputError where the limit does not hold it and
  /// `besides` bytes, which are the scan's.
  [[nodiscard]] ScanPosition beside(std::size_t besides, ScanPosition position) const {
    if (position.setup == nullptr) return position;
    ImagingSetup all = *position.setup;
    all.tables_bytes += besides;
    require_host_memory(configuration_, all, frames_in_flight_);
    return position;
  }

 private:
  /// s from where a pixel in the middle of the grid is straight before the probe. A pixel, since less than one may be covered.
  [[nodiscard]] Metres middle() const {
    const auto of = [](const Axis& axis) { return axis.at(axis.count / 2); };
    const Point centre{of(grid_.x), of(grid_.y), of(grid_.z)};
    const Point origin = frame_of(placed_.probe).origin;
    if (section_.path == ScanPath::line) return Metres(dot(between(origin, centre), scan_direction(section_)));
    const RigidMotion still = scan_motion(configuration_, placed_.probe, Metres(0.0));
    const Direction a = across(between(still.pivot, origin), still.axis);
    const Direction b = across(between(still.pivot, centre), still.axis);
    return Metres(length(a) * std::atan2(dot(cross(a, b), still.axis), dot(a, b)));
  }

  /// The part of the grid that is covered from there; false where there is none.
  bool cut_grid(const RigidMotion& motion, GridSection& part, std::array<std::size_t, 3>& first) const {
    const std::array<const Axis*, 3> axes{&grid_.x, &grid_.y, &grid_.z};
    std::array<Part, 3> parts{Part{0, grid_.x.count}, Part{0, grid_.y.count}, Part{0, grid_.z.count}};
    if (section_.coverage) {
      const Point origin = motion.of(frame_of(placed_.probe).origin);
      const Direction way = tangent(motion, origin);
      const std::array<double, 3> slopes{way.x, way.y, way.z};
      const std::array<double, 3> from{origin.x.value, origin.y.value, origin.z.value};
      for (std::size_t a = 0; a < 3; ++a) {
        double low = 0.0;
        double high = 0.0;
        for (std::size_t b = 0; b < 3; ++b) {
          if (b == a) continue;
          const auto [least, most] = std::minmax(
              {slopes[b] * (axes[b]->first.value - from[b]), slopes[b] * (axes[b]->at(axes[b]->count - 1).value - from[b])});
          low += least;
          high += most;
        }
        parts[a] = covered_part(*axes[a], -slopes[a] * from[a], slopes[a], low, high, section_.coverage->value);
      }
    }
    for (std::size_t a = 0; a < 3; ++a) {
      if (parts[a].count == 0) return false;
      first[a] = parts[a].first;
    }
    const auto ends = [&](std::size_t a) {
      return std::array<Metres, 2>{axes[a]->at(parts[a].first), axes[a]->at(parts[a].first + parts[a].count - 1)};
    };
    part.x = ends(0);
    part.y = ends(1);
    part.z = ends(2);
    part.pixels = {parts[0].count, parts[1].count, parts[2].count};
    return true;
  }

  /// Of length 1.
  [[nodiscard]] Direction tangent(const RigidMotion& motion, const Point& origin) const {
    if (section_.path == ScanPath::line) return scan_direction(section_);
    return unit(cross(motion.axis, between(motion.pivot, origin)));
  }

  const Method& method_;
  const Configuration configuration_;
  const Acquisition acquisition_;  // as the data state it
  Acquisition placed_;
  const StatedByData stated_;
  const std::size_t frames_in_flight_;
  const ImagingUse use_;
  const std::uint64_t revision_;
  const std::optional<bool> crop_;
  const ScanSection section_;
  const Grid grid_;
};

void check_outputs(const ImagingRequest& request) {
  const Configuration& configuration = request.configuration;
  const DisplaySection& display = section<DisplaySection>(configuration);
  if (display.x || display.z || display.pixels) {
    throw InputError(configuration.place("[display]"), "a grid of its own for a scan",
                     "no x, z and pixels there: scans are shown on [grid]");
  }
  if (request.wish.complex_images && section<ScanSection>(configuration).composition != Composition::coherent) {
    throw InputError(configuration.place("[scan] composition"), "\"maximum\" for a complex image",
                     "\"coherent\": the maximum of envelopes has no phase");
  }
}

}  // namespace

std::shared_ptr<ImagingSetup> resolve_scan(const Method& method, const ImagingRequest& request) {
  const Configuration& configuration = request.configuration;
  check_scan(configuration);
  check_outputs(request);
  if (!request.acquisition.positions.empty()) {
    throw InputError(
        configuration.place("[scan] path"),
        fmt::format("a scan of frames that have {} positions of the probe each", request.acquisition.positions.size()),
        "no path, or frames of one position");
  }
  const ScanSection& wanted = section<ScanSection>(configuration);
  const auto positions = std::make_shared<const Positions>(method, request);
  const Grid& grid = positions->grid();

  auto scan = std::make_shared<Scan>();
  scan->encoder = encoder_scale(configuration);
  scan->composition = wanted.composition;
  scan->grid = grid;
  scan->model = positions->model(request.wish, scan->model_position);
  const OutputWish wish{.complex_images = wanted.composition == Composition::coherent, .display = false};
  auto setup = std::make_shared<ImagingSetup>(*scan->model);
  setup->acquisition = positions->placed();
  // It is drawn where the probe is of no frame in particular.
  std::erase_if(setup->outlines, [](const Outline& line) { return line.name == "probe"; });
  std::vector<std::string> views;
  for (const std::string_view view : setup->recipe.views()) views.emplace_back(view);
  std::size_t besides = ScanRecord::bytes(grid, views.size(), wanted.composition);
  for (RecipeOutput& output : setup->recipe.outputs) {
    output.description.grid = grid;
    besides += request.frames_in_flight * output.description.bytes();
  }
  setup->tables_bytes += besides;
  require_host_memory(configuration, *setup, request.frames_in_flight);
  scan->position = [positions, wish, besides](Metres s) { return positions->beside(besides, positions->at(s, wish)); };
  scan->record = request.scans != nullptr
                     ? request.scans->of(request.acquisition, request.imaging_revision, grid, views, wanted.composition)
                     : std::make_shared<ScanRecord>(grid, views, wanted.composition);
  setup->scan = std::move(scan);
  return setup;
}

}  // namespace echoform
