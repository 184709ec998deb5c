// Setups that the host's memory does not hold are refused before anything of them is taken.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "config/configuration.hpp"
#include "methods/imaging_task.hpp"
#include "pipeline/imaging_setup.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

/// Who images, as a configuration says whose backend is settled; "auto" counts as the CPU, which needs more.
[[nodiscard]] StageSite imaging_site(const ImagingSettings& settings);

/// What needs memory, as messages have it.
struct MemoryExtent {
  std::string_view key;  ///< that it can be made less by
  std::string text;      ///< how much of it there is
};

/// Throws InputError, naming the key, if `bytes` and `besides`, what the program takes beside them (ImagingTask), are more
/// than [imaging] memory_limit.
void require_host_memory(const ImagingSettings& settings, double bytes, const MemoryExtent& extent, double besides = 0.0);
/// Throws InputError, naming [grid] pixels, if host_memory() with that many frames in flight and `besides` are more than
/// [imaging] memory_limit.
void require_host_memory(const ImagingSettings& settings, const ImagingSetup& setup, std::size_t frames_in_flight,
                         double besides = 0.0);

/// Whether frames of `setup`, as many in flight as the task says, are to be imaged by groups, which a method offers in
/// setup.groups (null: it cannot, `why_whole` says why). Throws InputError, naming [grid] pixels, where memory holds neither a
/// whole frame beside what the program takes nor, as far as that is wished, groups: it says what either needs. Whether groups fit
/// beside the program is asked when it is known what it holds with the tables of the setup.
[[nodiscard]] bool settle_groups(const ImagingTask& task, const ImagingSetup& setup, std::string_view why_whole = {});

}  // namespace echoform
