#include "methods/scan_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <optional>
#include <utility>

#include "acquisition/probe_frame.hpp"
#include "base/directions.hpp"
#include "base/errors.hpp"
#include "methods/display_settings.hpp"
#include "methods/host_memory.hpp"
#include "methods/overrides.hpp"
#include "methods/scan_part.hpp"
#include "methods/scan_settings.hpp"
#include "methods/scan_turns.hpp"
#include "methods/shown_images.hpp"

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

/// The values from which positions are resolved. They exist for as long as positions are imaged.
class Positions {
 public:
  Positions(const Method& method, ImagingTask task)
      : method_(method),
        task_(std::move(task)),
        section_(section<ScanSection>(task_)),
        grid_(grid_of(task_.grid)),
        around_(turns_around(task_)) {
    validate(grid_, task_.place("[grid]"));
  }

  [[nodiscard]] const Grid& grid() const { return grid_; }
  /// The acquisition with the settings of [probe] and similar sections, at s = 0.
  [[nodiscard]] const Acquisition& placed() const { return task_.acquired; }

  /// A position that represents all positions, and its place in `where`. There, a pixel in the middle of the grid lies straight
  /// before the probe; if it cannot be imaged from there, the place is s = 0. Throws InputError where neither is possible.
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
    throw InputError(task_.place("[scan] coverage"), "no pixel of [grid] that is covered where [probe] places the probe",
                     "a grid that the probe goes along");
  }

  [[nodiscard]] ScanPosition at(Metres s, const OutputWish& wish) const {
    const RigidMotion motion = scan_motion(task_, task_.acquired.probe, s);
    const auto part = part_within(grid_, covered(motion));
    ScanPosition position;
    if (!part) return position;
    const int quarters = quarters_at(motion);
    const TurnedGrid turned = turned_back(grid_, *part, motion, quarters);
    position.places = turned.places;
    ImagingTask task =
        task_at(task_, turned_back(motion, quarters), turned.grid, turned_back(grid_, all(), motion, quarters).grid);
    task.wish = wish;
    position.setup = method_.resolve(task);
    return position;
  }
  /// The number of quarter revolutions by which the part is rotated back there.
  [[nodiscard]] int quarters_at(Metres s) const { return quarters_at(scan_motion(task_, task_.acquired.probe, s)); }
  /// Whether the probe moves all the way around.
  [[nodiscard]] bool around() const { return around_; }

  /// The position, which may cover more than the representative one. Throws InputError where it and the scan's `besides` bytes
  /// exceed the limit.
  [[nodiscard]] ScanPosition beside(std::size_t besides, ScanPosition position) const {
    if (position.setup == nullptr) return position;
    ImagingSetup all = *position.setup;
    all.tables_bytes += besides;
    require_host_memory(task_, all, task_.frames_in_flight, task_.besides);
    return position;
  }

 private:
  /// The place s at which a pixel in the middle of the grid lies straight before the probe. It is a pixel because less than a
  /// pixel may be covered.
  [[nodiscard]] Metres middle() const {
    const auto of = [](const Axis& axis) { return axis.at(axis.count / 2); };
    const Point centre{of(grid_.x), of(grid_.y), of(grid_.z)};
    const Point origin = frame_of(task_.acquired.probe).origin;
    if (section_.path == ScanPath::line) return Metres(dot(between(origin, centre), scan_direction(section_)));
    const RigidMotion still = scan_motion(task_, task_.acquired.probe, Metres(0.0));
    const Direction a = across(between(still.pivot, origin), still.axis);
    const Direction b = across(between(still.pivot, centre), still.axis);
    return Metres(length(a) * std::atan2(dot(cross(a, b), still.axis), dot(a, b)));
  }

  /// The slabs that are imaged from there.
  [[nodiscard]] std::vector<Slab> covered(const RigidMotion& motion) const {
    const ProbeFrame frame = frame_of(task_.acquired.probe);
    const Point origin = motion.of(frame.origin);
    std::vector<Slab> slabs;
    if (section_.coverage) {
      slabs.push_back({origin, tangent(motion, origin), -section_.coverage->value, section_.coverage->value});
    }
    if (section_.depth) slabs.push_back({origin, motion.of(frame.z), 0.0, section_.depth->value});
    return slabs;
  }

  [[nodiscard]] int quarters_at(const RigidMotion& motion) const { return around_ ? quarters_of(motion.angle) : 0; }
  [[nodiscard]] GridPart all() const { return {{}, {grid_.x.count, grid_.y.count, grid_.z.count}}; }

  /// A vector of length 1.
  [[nodiscard]] Direction tangent(const RigidMotion& motion, const Point& origin) const {
    if (section_.path == ScanPath::line) return scan_direction(section_);
    return unit(cross(motion.axis, between(motion.pivot, origin)));
  }

  const Method& method_;
  const ImagingTask task_;  // at s = 0
  const ScanSection section_;
  const Grid grid_;
  const bool around_;
};

/// Outlines of surfaces. The setup has them for the part rotated back by `quarters`; the result has them for the part as it lies,
/// and on the other side of the axis.
std::vector<Outline> all_around(const std::vector<Outline>& lines, const RigidMotion& motion, int quarters) {
  std::vector<Outline> all;
  for (const int back : {(4 - quarters) % 4, (6 - quarters) % 4}) {
    for (const Outline& line : lines) {
      Outline& turned = all.emplace_back(line);
      for (std::size_t k = 0; k < line.x.size(); ++k) {
        const Point at = turned_back(Point{Metres(line.x[k]), Metres(0.0), Metres(line.z[k])}, motion, back);
        turned.x[k] = static_cast<float>(at.x.value);
        turned.z[k] = static_cast<float>(at.z.value);
      }
    }
  }
  all.resize(std::min(all.size(), most_outlines));
  return all;
}

void check_outputs(const ImagingRequest& request) {
  const ImagingSettings& settings = request.configuration;
  const DisplaySection& display = section<DisplaySection>(settings);
  if (display.x || display.z || display.pixels) {
    throw InputError(settings.place("[display]"), "a grid of its own for a scan",
                     "no x, z and pixels there: scans are shown on [grid]");
  }
  if (request.wish.complex_images && section<ScanSection>(settings).composition != Composition::coherent) {
    throw InputError(settings.place("[scan] composition"), "\"maximum\" for a complex image",
                     "\"coherent\": the maximum of envelopes has no phase");
  }
}

}  // namespace

std::shared_ptr<ImagingSetup> resolve_scan(const Method& method, const ImagingRequest& request) {
  const ImagingSettings& settings = request.configuration;
  check_scan(settings);
  check_outputs(request);
  if (!request.acquisition.positions.empty()) {
    throw InputError(
        settings.place("[scan] path"),
        fmt::format("a scan of frames that have {} positions of the probe each", request.acquisition.positions.size()),
        "no path, or frames of one position");
  }
  // Detectors that stand all around have no front, which a path needs.
  if (all_passive(request.acquisition.events)) {
    throw InputError(settings.place("[scan] path"), "a scan of passive events, in which nobody transmits",
                     "no path (detectors that move within a frame are at several positions of it)");
  }
  const ScanSection& wanted = section<ScanSection>(settings);
  const auto positions = std::make_shared<const Positions>(method, task_of(method, request));
  const Grid& grid = positions->grid();

  auto scan = std::make_shared<Scan>();
  scan->encoder = encoder_scale(settings);
  if (wanted.path == ScanPath::circle) {
    scan->encoder.around = 2.0 * std::numbers::pi * length_of_way(settings, positions->placed().probe);
  }
  scan->composition = wanted.composition;
  scan->grid = grid;
  scan->pose = scan_poses(settings, request.acquisition);
  scan->model = positions->model(request.wish, scan->model_position);
  const OutputWish wish{.complex_images = wanted.composition == Composition::coherent, .display = false};
  auto setup = std::make_shared<ImagingSetup>(*scan->model);
  setup->acquisition = positions->placed();
  // The probe's outline is that of the model's position, which no frame needs to have, so it is removed.
  std::erase_if(setup->outlines, [](const Outline& line) { return line.name == "probe"; });
  if (positions->around()) {
    setup->outlines = all_around(setup->outlines, motion_by(wanted, 0.0), positions->quarters_at(scan->model_position));
  }
  mask_images(setup->recipe);  // masked where no position was imaged yet
  std::vector<std::string> views;
  for (const std::string_view view : views_of_their_own(setup->recipe)) views.emplace_back(view);
  std::size_t besides = ScanRecord::bytes(grid, views.size(), wanted.composition);
  for (RecipeOutput& output : setup->recipe.outputs) {
    output.description.grid = grid;
    besides += request.frames_in_flight * output.description.bytes();
  }
  // A file needs a copy while it is written.
  if (!wanted.file.empty()) besides += ScanRecord::bytes(grid, views.size(), wanted.composition);
  setup->tables_bytes += besides;
  require_host_memory(settings, *setup, request.frames_in_flight, request.besides);
  scan->position = [positions, wish, besides](Metres s) { return positions->beside(besides, positions->at(s, wish)); };
  scan->record = request.scans != nullptr ? request.scans->of({request.acquisition, request.scan_settings},
                                                              request.imaging_revision, grid, views, wanted.composition)
                                          : std::make_shared<ScanRecord>(grid, views, wanted.composition);
  setup->scan = std::move(scan);
  return setup;
}

std::shared_ptr<const ImagingSetup> retuned_scan(const Method& method, const ImagingSetup& before, const ImagingSettings& wanted,
                                                 std::uint64_t settings_revision) {
  // Methods know only the setups of single positions.
  const auto position = method.retuned(*before.scan->model, wanted, settings_revision);
  if (position == nullptr || position->recipe.steps.size() != before.recipe.steps.size()) return nullptr;
  auto setup = std::make_shared<ImagingSetup>(before);
  setup->recipe.steps = position->recipe.steps;
  mask_images(setup->recipe);
  setup->settings_revision = position->settings_revision;
  setup->scale = position->scale;
  setup->origin = position->origin;
  return setup;
}

std::function<Pose(EncoderCount)> scan_poses(const ImagingSettings& settings, const Acquisition& acquisition) {
  check_scan_path(settings);
  Acquisition placed = acquisition;
  Material material;
  std::vector<std::string> notes;
  apply_overrides(settings, placed, material, notes);
  const double a_metre = 1.0 / length_of_way(settings, placed.probe).value;
  return [scan = section<ScanSection>(settings), encoder = encoder_scale(settings), a_metre](EncoderCount count) {
    return moved(Pose{}, motion_by(scan, encoder.position(count).value * a_metre));
  };
}

}  // namespace echoform
