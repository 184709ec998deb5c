#include "offline/frame_imager.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.hpp"
#include "config/memory_limit.hpp"
#include "config/memory_text.hpp"
#include "engines/device_need.hpp"
#include "engines/engine_registry.hpp"
#include "gpu/memory_report.hpp"
#include "methods/host_memory.hpp"
#include "offline/display_figure.hpp"
#include "offline/recorded_frame.hpp"
#include "pipeline/setup_memory.hpp"

namespace echoform {
namespace {

/// Bytes that imaging by groups takes itself. Tables of the setup exist already and are not counted.
double taken_by_groups(const ImagingSetup& setup, const StageSite& site) {
  return static_cast<double>(grouped_memory(setup, least_read_ahead, site) - setup.tables_bytes);
}

/// As many groups as fit into the limit beside everything else: `held` bytes already, and `groups` bytes for the minimum number.
std::size_t read_ahead_within(const Configuration& configuration, const ImagingSetup& setup, double held, double groups) {
  const double limit = memory_limit(configuration);
  if (held + groups > limit) {
    const bool on_device = configuration.imaging.backend == BackendWish::cuda;
    throw InputError(
        configuration.place("[imaging] memory_limit"), memory_text(limit),
        fmt::format("at least {}: {} that the program holds{}, and {} for groups of A-scans", memory_text(held + groups),
                    memory_text(held), on_device ? " beside the GPU's driver" : "", memory_text(groups)));
  }
  const double more = (limit - held - groups) / static_cast<double>(setup.groups->setup(0)->acquisition.frame_bytes());
  return least_read_ahead + static_cast<std::size_t>(std::min(more, static_cast<double>(setup.groups->count())));
}

template <class Pixel>
std::span<const Pixel> pixels_of(const ImagingSetup& setup, const FrameSlot& slot, std::string_view view, OutputKind kind) {
  const auto output = setup.recipe.find(view, kind);
  if (!output) return {};
  return {static_cast<const Pixel*>(slot.outputs[*output].data.data()), setup.recipe.outputs[*output].description.grid.pixels()};
}

const SummedImage* find_image(const GroupImager& groups, std::string_view view) {
  const auto found = std::ranges::find_if(groups.images(), [&](const SummedImage& image) { return image.view == view; });
  return found == groups.images().end() ? nullptr : &*found;
}

}  // namespace

double taken_beside_images(const Recording& recording, std::size_t writing_bytes, const MemoryShares& memory) {
  return memory.own(held_memory()).now + taken_by_threads + static_cast<double>(recording.frame_reading_bytes() + writing_bytes);
}

bool device_too_small(const ImagingSetup& setup, const Configuration& configuration) {
  if (configuration.imaging.backend != BackendWish::cuda) return false;
  return device_need(setup, {}).bytes() > device_memory(configuration.imaging.device).free;
}

FrameImager::FrameImager(std::shared_ptr<const ImagingSetup> setup, const Configuration& configuration,
                         const Recording& recording, std::size_t writing_bytes, MemoryShares& memory)
    : setup_(std::move(setup)) {
  if (setup_->groups) {
    make_groups(configuration, taken_by_threads + static_cast<double>(recording.reading_bytes() + writing_bytes), memory);
    return;
  }
  engine_ = make_engine(setup_, backend_choice(configuration.imaging), {});
  engine_->equip(slot_);
}

void FrameImager::make_groups(const Configuration& configuration, double besides, MemoryShares& memory) {
  const StageSite site = imaging_site(configuration);
  const BackendChoice choice = backend_choice(configuration.imaging);
  const double taken = taken_by_groups(*setup_, site);
  const HeldMemory before = held_memory();
  const std::size_t read_ahead = read_ahead_within(configuration, *setup_, memory.own(before).now, taken + besides);
  if (site.backend != BackendKind::cuda) {
    groups_ = make_group_imager(setup_, choice, read_ahead);
    return;
  }
  // Begins with the minimum: the memory that libraries and kernels take is not known before they are loaded.
  groups_ = make_group_imager(setup_, choice, least_read_ahead);
  groups_->load();
  const HeldMemory after = held_memory();
  memory.loaded(before, after, taken);
  forget_most_held();
  groups_->read_further_ahead(read_ahead_within(configuration, *setup_, memory.own(after).now, besides));
}

void FrameImager::image(Recording& recording, std::size_t frame, const Progress& progress) {
  if (!groups_) {
    read_recorded_frame(recording, frame, slot_);
    slot_.position = recording.stamp(frame).position;
    if (!image_now(*engine_, slot_)) throw RuntimeFault("the backend could not image the frame");
    return;
  }
  const std::size_t row_bytes = setup_->acquisition.bytes_per_a_scan();
  std::size_t bytes = 0;
  groups_->image([&](std::span<const RowRange> rows, std::span<std::byte> to) { recording.read_rows(frame, rows, to); },
                 [&](std::size_t groups) {
                   for (const RowRange& range : setup_->groups->rows(groups - 1)) bytes += range.count * row_bytes;
                   progress(bytes);
                 },
                 [&](std::span<const RowRange> rows) { recording.expect_rows(frame, rows); });
}

std::span<const float> FrameImager::envelope(std::string_view view) const {
  if (!groups_) return pixels_of<float>(*setup_, slot_, view, OutputKind::envelope);
  const SummedImage* const image = find_image(*groups_, view);
  return image != nullptr ? std::span<const float>(image->envelope) : std::span<const float>{};
}

std::span<const std::complex<float>> FrameImager::analytic(std::string_view view) const {
  if (!groups_) return pixels_of<std::complex<float>>(*setup_, slot_, view, OutputKind::complex_image);
  const SummedImage* const image = find_image(*groups_, view);
  return image != nullptr ? std::span<const std::complex<float>>(image->analytic) : std::span<const std::complex<float>>{};
}

std::span<const std::byte> FrameImager::display(std::string_view view) const {
  if (groups_ || !display_for_figures(setup_->recipe, view)) return {};
  return pixels_of<std::byte>(*setup_, slot_, view, OutputKind::display);
}

double FrameImager::display_reference(std::string_view view) const {
  const auto output = groups_ ? std::nullopt : setup_->recipe.find(view, OutputKind::display);
  return output ? static_cast<double>(slot_.outputs[*output].reference) : 0.0;
}

std::uint64_t FrameImager::invalid_samples() const {
  return groups_ ? groups_->invalid_samples() : slot_.invalid_samples;
}

std::string FrameImager::groups_text() const {
  if (!groups_) return {};
  return fmt::format("{} groups of A-scans, {} at a time on the {}", groups_->groups(), groups_->read_ahead(),
                     groups_->backend() == BackendKind::cuda ? "GPU" : "CPU");
}

}  // namespace echoform
