#include "methods/host_memory.hpp"

#include <fmt/format.h>

#include <string>

#include "base/errors.hpp"
#include "config/memory_limit.hpp"
#include "config/memory_text.hpp"
#include "pipeline/setup_memory.hpp"

namespace echoform {

StageSite imaging_site(const ImagingSettings& settings) {
  const ImagingSection& imaging = settings.imaging;
  return {imaging.backend == BackendWish::cuda ? BackendKind::cuda : BackendKind::cpu, imaging.threads};
}

namespace {

/// "65536 pixels with 128 elements and 1 view".
std::string extent_text(const ImagingSettings& settings, const ImagingSetup& setup) {
  const std::size_t views = setup.recipe.views().size();
  return fmt::format("{} pixels with {} elements and {} view{}", text_of(settings.grid.pixels), setup.acquisition.elements(),
                     views, views == 1 ? "" : "s");
}

double memory_of_frames(const ImagingSettings& settings, const ImagingSetup& setup, std::size_t frames_in_flight) {
  return static_cast<double>(host_memory(setup, frames_in_flight, imaging_site(settings)));
}

[[noreturn]] void refuse(const ImagingSettings& settings, const std::string& found, std::string_view key = "[grid] pixels") {
  throw InputError(settings.place(key), found,
                   fmt::format("a plan that fits into {} ([imaging] memory_limit)", memory_text(memory_limit(settings))));
}

/// ", beside 62 MB that the program takes".
std::string besides_text(double besides) {
  return besides > 0.0 ? fmt::format(", beside {} that the program takes", memory_text(besides)) : "";
}

}  // namespace

void require_host_memory(const ImagingSettings& settings, double bytes, const MemoryExtent& extent, double besides) {
  if (bytes + besides <= memory_limit(settings)) return;
  refuse(settings, fmt::format("{}, which need {}{}", extent.text, memory_text(bytes), besides_text(besides)), extent.key);
}

void require_host_memory(const ImagingSettings& settings, const ImagingSetup& setup, std::size_t frames_in_flight,
                         double besides) {
  require_host_memory(settings, memory_of_frames(settings, setup, frames_in_flight),
                      {.key = "[grid] pixels", .text = extent_text(settings, setup)}, besides);
}

bool settle_groups(const ImagingTask& task, const ImagingSetup& setup, std::string_view why_whole) {
  const double whole = memory_of_frames(task, setup, task.frames_in_flight);
  const double limit = memory_limit(task);
  if (task.groups == GroupWish::never || (task.groups == GroupWish::needed && whole + task.besides <= limit)) {
    require_host_memory(task, setup, task.frames_in_flight, task.besides);
    return false;
  }
  if (setup.groups == nullptr && task.groups == GroupWish::always) {
    throw InputError(fmt::format("{}: imaging by groups of A-scans", task.name()),
                     fmt::format("frames that it cannot take: {}", why_whole), "whole frames");
  }
  const std::string found = fmt::format("{}, which need {}", extent_text(task, setup), memory_text(whole));
  const std::string besides = besides_text(task.besides);
  if (setup.groups == nullptr) {
    refuse(task, why_whole.empty() ? found + besides : fmt::format("{}{}, since {}", found, besides, why_whole));
  }
  const double grouped = static_cast<double>(grouped_memory(setup, least_read_ahead, imaging_site(task)));
  if (grouped <= limit) return true;
  refuse(task, fmt::format("{}, and {} by groups of A-scans{}", found, memory_text(grouped), besides));
}

}  // namespace echoform
