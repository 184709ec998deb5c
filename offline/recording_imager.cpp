#include "offline/recording_imager.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "acquisition/firings.hpp"
#include "acquisition/recorded_frames.hpp"
#include "base/errors.hpp"
#include "base/planning.hpp"
#include "jobs/communicator.hpp"
#include "methods/registry.hpp"
#include "methods/scan_settings.hpp"
#include "offline/crop_distance.hpp"
#include "offline/display_figure.hpp"
#include "offline/frame_imager.hpp"
#include "offline/recorded_frame.hpp"
#include "offline/recorded_positions.hpp"
#include "offline/recorded_scan.hpp"
#include "offline/settled_backend.hpp"

namespace echoform {
namespace {

/// Limits above those for peers, and above those of a frame that must fit into memory: groups need not.
constexpr AcquisitionLimits limits{.elements = 4096, .samples = 1u << 22, .frame_bytes = most_recorded_bytes};

/// Whether figures need display images in addition, because the axes of an envelope are not those of the part.
bool wants_display(const ImagingSetup& setup, const std::vector<std::string>& views) {
  return !setup.groups && std::ranges::any_of(views, [&](const std::string& view) {
    const auto envelope = setup.recipe.find(view, OutputKind::envelope);
    const OutputDescription& description = setup.recipe.outputs[envelope.value()].description;
    return !is_plane_of_part(description.x, description.z);
  });
}

void check_stop(const std::stop_token& stop) {
  if (stop.stop_requested()) throw PlanningEnded("imaging: stopped");
}

/// Null where nothing can be stopped: the caller may have a planning of its own.
std::unique_ptr<Planning> planning_for(const std::stop_token& stop) {
  return stop.stop_possible() ? std::make_unique<Planning>(stop) : nullptr;
}

}  // namespace

RecordingImager::RecordingImager(const std::filesystem::path& path, Configuration configuration, RecordingImagerOptions options)
    : configuration_(std::move(configuration)),
      options_(std::move(options)),
      method_(&method_of(configuration_)),
      views_(method_->images(configuration_)),
      scan_(echoform::scans(configuration_)) {
  check_processes();
  const HeldMemory held_before = held_memory();
  if (const std::string line = settled_backend(configuration_); !line.empty()) options_.messages.note(line);
  if (configuration_.imaging.backend == BackendWish::cuda) {
    memory_.loaded(held_before, held_memory());
    forget_most_held();
  }
  recording_ = open_recording(path, {.limits = limits});
  follow_path(recording_, configuration_, PlacedCounts::exact);
  if (!options_.positions.empty() && !scan_)
    keep_positions(recording_, configuration_, options_.positions, options_.positions_name);
  stated_ = {recording_->material(), recording_->wedge_velocity()};
}

RecordingImager::~RecordingImager() = default;

void RecordingImager::check_processes() const {
  if (options_.process >= options_.processes) {
    throw InputError("processes", fmt::format("number {} of {}", options_.process, options_.processes),
                     "a number from 0, below how many there are");
  }
  if (options_.processes == 1) return;
  std::string found = method_->whole_grids_alone(configuration_);
  if (options_.figures) found = "images as figures show them";
  if (options_.groups == GroupWish::always) found = "frames by groups";
  if (scan_) found = "a scan ([scan] path)";
  if (!found.empty()) throw InputError("processes", fmt::format("several, and {}", found), "one process");
}

const Grid& RecordingImager::prepare(std::size_t frame, const std::stop_token& stop) {
  if (frame >= recording_->frames()) {
    throw InputError(recording_->name(), fmt::format("no frame {}", frame),
                     fmt::format("one of 0 to {}", recording_->frames() - 1));
  }
  check_stop(stop);
  if (imager_ && prepared_ == frame) return whole_;
  Acquisition of_frame = recorded_acquisition(*recording_, frame);
  prepared_ = frame;
  imaged_ = false;
  if (imager_ && of_frame == acquisition_) return whole_;
  // The frame is planned again where the probe has moved.
  const auto planning = planning_for(stop);
  acquisition_ = std::move(of_frame);
  imager_.reset();  // frees its memory first
  // Measured at the first frame: later the program may still hold memory that images took and gave back.
  if (!besides_) besides_ = taken_beside_images(*recording_, options_.writing_bytes, memory_);
  const auto setup = resolve();
  for (const std::string& line : said_.notes) options_.messages.note(line);
  for (const std::string& line : said_.warnings) options_.messages.warning(line);
  if (options_.accept) options_.accept(*setup);
  for (const std::string& line : said_.of_images) options_.messages.warning(line);
  imager_ = std::make_unique<FrameImager>(setup, configuration_, *recording_, options_.writing_bytes, memory_);
  return whole_;
}

std::shared_ptr<const ImagingSetup> RecordingImager::resolve() {
  ImagingRequest request{.configuration = configuration_,
                         .acquisition = acquisition_,
                         .stated = stated_,
                         .wish = {.complex_images = options_.complex_images, .display = false},
                         .groups = options_.groups,
                         .besides = *besides_,
                         .refused = options_.messages.warning};
  auto setup = resolve_imaging(request);
  const auto first = setup->recipe.find(views_.front(), OutputKind::envelope);
  whole_ = setup->recipe.outputs[first.value()].description.grid;
  const auto say = [&] { said_ = {setup->notes, setup->warnings, method_->image_warnings(*setup)}; };
  if (options_.processes > 1) {
    say();
    setup.reset();  // frees its memory first
    request.planes = own_planes();
    setup = resolve_imaging(request);
  }
  if (!setup->groups && !scan_ && !coded(acquisition_) && device_too_small(*setup, configuration_)) {
    request.groups = GroupWish::always;
    setup = resolve_imaging(request);
  }
  if (options_.processes == 1 && options_.figures && wants_display(*setup, views_)) {
    request.wish.display = true;
    setup = resolve_imaging(request);
  }
  if (options_.processes == 1) say();
  return setup;
}

RowRange RecordingImager::own_planes() const {
  if (whole_.z.count < options_.processes) {
    throw InputError(configuration_.place("[grid] pixels"), fmt::format("{} planes along z", whole_.z.count),
                     fmt::format("one at least for each of {} processes", options_.processes));
  }
  return rows_of_rank(whole_.z.count, options_.process, options_.processes);
}

void RecordingImager::image(std::size_t frame, const Progress& progress, const std::stop_token& stop) {
  prepare(frame, stop);
  imaged_ = false;
  const auto planning = planning_for(stop);
  try {
    imager_->image(*recording_, frame, [&](std::size_t bytes) {
      if (progress) progress(bytes);
      keep_planning();
    });
  } catch (const RuntimeFault&) {
    // A scan plans for each of its places, and its engine does not state why a frame failed.
    check_stop(stop);
    throw;
  }
  imaged_ = true;
}

const ImagingSetup& RecordingImager::setup() const {
  if (imager_ == nullptr) throw std::logic_error("no frame was prepared");
  return imager_->setup();
}

const OutputDescription& RecordingImager::description(std::string_view view) const {
  const Recipe& recipe = setup().recipe;
  const auto output = recipe.find(view, OutputKind::envelope);
  if (!output) throw InputError("view", fmt::format("\"{}\"", view), fmt::format("one of {}", fmt::join(views_, ", ")));
  return recipe.outputs[*output].description;
}

std::span<const float> RecordingImager::envelope(std::string_view view) const {
  return imaged_ ? imager_->envelope(view) : std::span<const float>{};
}

std::span<const std::complex<float>> RecordingImager::analytic(std::string_view view) const {
  return imaged_ ? imager_->analytic(view) : std::span<const std::complex<float>>{};
}

std::span<const std::byte> RecordingImager::display(std::string_view view) const {
  return imaged_ ? imager_->display(view) : std::span<const std::byte>{};
}

double RecordingImager::display_reference(std::string_view view) const {
  return imaged_ ? imager_->display_reference(view) : 0.0;
}

void RecordingImager::copy_envelope(std::string_view view, std::span<float> to) const {
  const std::size_t pixels = description(view).grid.pixels();
  if (to.size() != pixels) {
    throw InputError(fmt::format("image of the view {}", view), fmt::format("memory for {} pixels", to.size()),
                     fmt::format("{}", pixels));
  }
  if (!imaged_) throw std::logic_error("no frame was imaged");
  std::ranges::copy(envelope(view), to.begin());
}

std::uint64_t RecordingImager::invalid_samples() const {
  return imaged_ ? imager_->invalid_samples() : 0;
}

std::string RecordingImager::groups_text() const {
  return imager_ ? imager_->groups_text() : std::string();
}

std::vector<std::string> RecordingImager::crop_distance(std::size_t frame) {
  prepare(frame);
  const ImagingRequest request{.configuration = configuration_,
                               .acquisition = acquisition_,
                               .stated = stated_,
                               .besides = taken_beside_images(*recording_, 0, memory_)};
  return echoform::crop_distance(*method_, request, *recording_, frame, backend_choice(configuration_.imaging));
}

}  // namespace echoform
