// Refuses setups that the host's memory does not hold, before any of their memory is taken.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "config/configuration.hpp"
#include "methods/imaging_task.hpp"
#include "pipeline/imaging_setup.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

/// The site that forms images, by a configuration whose backend is settled. "auto" counts as the CPU, which needs more
/// memory.
[[nodiscard]] StageSite imaging_site(const ImagingSettings& settings);

/// What needs memory, in words for messages.
struct MemoryExtent {
  std::string_view key;  ///< the key that can reduce it
  std::string text;      ///< how much of it there is
};

/// Throws InputError, naming the key, if `bytes` and `besides` together are more than [imaging] memory_limit. `besides` is
/// what the program takes in addition (ImagingTask).
void require_host_memory(const ImagingSettings& settings, double bytes, const MemoryExtent& extent, double besides = 0.0);
/// Throws InputError, naming [grid] pixels, if host_memory() with that many frames in flight and `besides` are more than
/// [imaging] memory_limit.
void require_host_memory(const ImagingSettings& settings, const ImagingSetup& setup, std::size_t frames_in_flight,
                         double besides = 0.0);

/// Whether frames of `setup`, as many in flight as the task states, are to be imaged by groups. A method offers groups in
/// setup.groups; null: it cannot image by groups, for the reason `why_whole`. Throws InputError, naming [grid] pixels,
/// where memory holds neither whole frames in addition to what the program takes nor, as far as they are requested, groups;
/// the error states what either needs. Whether groups fit beside the program is checked later, when it is known what the program
/// holds with the tables of the setup.
[[nodiscard]] bool settle_groups(const ImagingTask& task, const ImagingSetup& setup, std::string_view why_whole = {});

}  // namespace echoform
