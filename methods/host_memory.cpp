#include "methods/host_memory.hpp"

#include <fmt/format.h>

#include <string>

#include "base/errors.hpp"
#include "config/memory_limit.hpp"
#include "config/memory_text.hpp"
#include "pipeline/setup_memory.hpp"

namespace echoform {

StageSite imaging_site(const Configuration& configuration) {
  const ImagingSection& imaging = configuration.imaging;
  return {imaging.backend == BackendWish::cuda ? BackendKind::cuda : BackendKind::cpu, imaging.threads};
}

namespace {

/// "65536 pixels with 128 elements and 1 view".
std::string extent_text(const Configuration& configuration, const ImagingSetup& setup) {
  const std::size_t views = setup.recipe.views().size();
  return fmt::format("{} pixels with {} elements and {} view{}", text_of(configuration.grid.pixels), setup.acquisition.elements(),
                     views, views == 1 ? "" : "s");
}

double memory_of_frames(const Configuration& configuration, const ImagingSetup& setup, std::size_t frames_in_flight) {
  return static_cast<double>(host_memory(setup, frames_in_flight, imaging_site(configuration)));
}

[[noreturn]] void refuse(const Configuration& configuration, const std::string& found, std::string_view key = "[grid] pixels") {
  throw InputError(configuration.place(key), found,
                   fmt::format("a plan that fits into {} ([imaging] memory_limit)", memory_text(memory_limit(configuration))));
}

/// ", beside 62 MB that the program takes".
std::string besides_text(double besides) {
  return besides > 0.0 ? fmt::format(", beside {} that the program takes", memory_text(besides)) : "";
}

}  // namespace

void require_host_memory(const Configuration& configuration, double bytes, const MemoryExtent& extent, double besides) {
  if (bytes + besides <= memory_limit(configuration)) return;
  refuse(configuration, fmt::format("{}, which need {}{}", extent.text, memory_text(bytes), besides_text(besides)), extent.key);
}

void require_host_memory(const Configuration& configuration, const ImagingSetup& setup, std::size_t frames_in_flight,
                         double besides) {
  require_host_memory(configuration, memory_of_frames(configuration, setup, frames_in_flight),
                      {.key = "[grid] pixels", .text = extent_text(configuration, setup)}, besides);
}

bool settle_groups(const Configuration& configuration, const ImagingRequest& request, const ImagingSetup& setup,
                   std::string_view why_whole) {
  const double whole = memory_of_frames(configuration, setup, request.frames_in_flight);
  const double limit = memory_limit(configuration);
  if (request.groups == GroupWish::never || (request.groups == GroupWish::needed && whole + request.besides <= limit)) {
    require_host_memory(configuration, setup, request.frames_in_flight, request.besides);
    return false;
  }
  if (setup.groups == nullptr && request.groups == GroupWish::always) {
    throw InputError(fmt::format("{}: imaging by groups of A-scans", configuration.name()),
                     fmt::format("frames that it cannot take: {}", why_whole), "whole frames");
  }
  const std::string found = fmt::format("{}, which need {}", extent_text(configuration, setup), memory_text(whole));
  const std::string besides = besides_text(request.besides);
  if (setup.groups == nullptr) {
    refuse(configuration, why_whole.empty() ? found + besides : fmt::format("{}{}, since {}", found, besides, why_whole));
  }
  const double grouped = static_cast<double>(grouped_memory(setup, least_read_ahead, imaging_site(configuration)));
  if (grouped <= limit) return true;
  refuse(configuration, fmt::format("{}, and {} by groups of A-scans{}", found, memory_text(grouped), besides));
}

}  // namespace echoform
