#include <fmt/format.h>

#include <algorithm>

#include "base/errors.hpp"
#include "stages/adaptive_weights/adaptive_weights.hpp"
#include "stages/adaptive_weights/channels_math.hpp"

namespace echoform {
namespace {

constexpr AdaptiveKind table[] = {
    {.name = "none", .meaning = "the weighted sum", .uses_window = false},
    {.name = "coherence_factor",
     .meaning = "times the energy of the sum over that of its channels (Mallart and Fink 1994)",
     .sums_of = ChannelSums::squares,
     .of_sums = adaptive::coherence_factor,
     .usual_window = 1.0,
     .on_cuda = AdaptiveOnCuda::sums},
    {.name = "generalised_coherence_factor",
     .meaning = "times the channels' energy at low spatial frequencies over all of it (Li and Li 2003)",
     .sums_of = ChannelSums::low_frequencies,
     .of_sums = adaptive::generalised_coherence_factor,
     .usual_window = 1.0,
     .on_cuda = AdaptiveOnCuda::sums},
    {.name = "phase_coherence_factor",
     .meaning = "times what the spread of the channels' phases leaves (Camacho, Parrilla and Fritsch 2009)",
     .sums_of = ChannelSums::channels,
     .of_channels = adaptive::phase_coherence_factor,
     .analytic = true,
     .uses_window = false,
     .on_cuda = AdaptiveOnCuda::phase_coherence},
    {.name = "sign_coherence_factor",
     .meaning = "times what the spread of the channels' signs leaves (the same)",
     .sums_of = ChannelSums::signs,
     .of_sums = adaptive::sign_coherence_factor,
     .on_cuda = AdaptiveOnCuda::sums},
    {.name = "f_dmas",
     .meaning =
         "signed roots of the products of all pairs of channels, band-passed about twice the centre frequency (Matrone and "
         "others 2015)",
     .result = AdaptiveResult::doubled,
     .sums_of = ChannelSums::roots,
     .of_sums = adaptive::f_dmas,
     .uses_window = false,
     .on_cuda = AdaptiveOnCuda::sums},
    {.name = "short_lag_spatial_coherence",
     .meaning = "an image of the correlation of channels close to each other (Lediju and others 2011)",
     .result = AdaptiveResult::image,
     .sums_of = ChannelSums::channels,
     .of_channels = adaptive::short_lag_spatial_coherence,
     .usual_window = 1.0,
     .on_cuda = AdaptiveOnCuda::short_lag},
    {.name = "capon",
     .meaning = "weights of least variance over subarrays (Synnevag, Austeng and Holm 2007)",
     .result = AdaptiveResult::amplitude,
     .sums_of = ChannelSums::channels,
     .of_channels = adaptive::capon,
     .analytic = true,
     .on_cuda = AdaptiveOnCuda::capon},
};

void require(std::string_view where, std::string_view name, double value, Interval range) {
  if (range.holds(value)) return;
  throw InputError(fmt::format("{} {}", where, name), fmt::format("{}", value), fmt::format("{} to {}", range.least, range.most));
}

}  // namespace

std::span<const AdaptiveKind> adaptive_kinds() {
  return table;
}

const AdaptiveKind& adaptive_kind(std::string_view name, std::string_view where) {
  std::string names;
  for (const AdaptiveKind& kind : table) {
    if (kind.name == name) return kind;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", kind.name);
  }
  throw InputError(std::string(where), fmt::format("\"{}\"", name), "one of " + names);
}

void validate(const AdaptiveOptions& options, std::string_view where) {
  static_cast<void>(adaptive_kind(options.kind, fmt::format("{} adaptive", where)));
  require(where, "adaptive_window", static_cast<double>(options.half_window),
          {0.0, static_cast<double>(AdaptiveOptions::most_half_window)});
  require(where, "low_frequencies", static_cast<double>(options.low_frequencies),
          {0.0, static_cast<double>(AdaptiveOptions::most_low_frequencies)});
  require(where, "phase_sensitivity", options.sensitivity, AdaptiveOptions::sensitivities);
  require(where, "short_lag", options.short_lag, AdaptiveOptions::short_lags);
  require(where, "subarray", options.subarray, AdaptiveOptions::subarrays);
  require(where, "diagonal_loading", options.loading, AdaptiveOptions::loadings);
}

std::size_t point_workspace(const AdaptiveOptions& options, std::size_t points) {
  return 3 * (points + 2 * options.half_window);
}

std::size_t channel_workspace(const AdaptiveOptions& options, std::size_t channels) {
  const std::size_t length = adaptive::subarray_length(options, channels);
  // Energies and products, or the complex numbers of Capon's matrix.
  return std::max(2 * channels, 2 * adaptive::capon_numbers(length));
}

}  // namespace echoform
