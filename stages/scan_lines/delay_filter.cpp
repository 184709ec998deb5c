#include "stages/scan_lines/delay_filter.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"
#include "stages/scan_lines/delay_filter_kind.hpp"

namespace echoform {
namespace {

void require(const Interval& range, double value, std::string_view where, std::string_view option) {
  if (range.holds(value)) return;
  throw InputError(fmt::format("{} {}", where, option), fmt::format("{:g}", value),
                   fmt::format("{:g} to {:g}", range.least, range.most));
}

}  // namespace

void validate(const DelayFilterOptions& options, std::string_view where) {
  const DelayFilterKind& kind = delay_filter_kind(options.kind, fmt::format("{} delay filter", where));
  const std::size_t size = kind.size_of(options);
  if (kind.size_name.empty() && size != 0) {
    throw InputError(fmt::format("{} order or taps", where), fmt::format("{}", size),
                     fmt::format("none: {} has no choice", kind.name));
  }
  if (size < kind.least || size > kind.most || (size - kind.least) % kind.step != 0) {
    std::string expected = fmt::format("{} to {}", kind.least, kind.most);
    if (kind.step > 1) expected += fmt::format(" in steps of {}", kind.step);
    throw InputError(fmt::format("{} {} of {}", where, kind.size_name, kind.name), fmt::format("{}", size), expected);
  }
  if (kind.uses_kaiser_beta) require(DelayFilterOptions::betas, kaiser_beta_of(options), where, "kaiser_beta");
  if (!kind.uses_band) return;
  require(DelayFilterOptions::centres, options.centre, where, "centre");
  require(DelayFilterOptions::bandwidths, options.bandwidth, where, "bandwidth");
}

DelayFilter make_delay_filter(const DelayFilterOptions& options) {
  validate(options, "delay filter:");
  const DelayFilterKind& kind = delay_filter_kind(options.kind, "delay filter");
  DelayFilter filter{kind.taps(kind.size_of(options)), kind.phases, kind.upsampling, {}};
  std::vector<double> values(filter.taps);
  for (std::size_t phase = 0; phase <= filter.phases; ++phase) {
    kind.coefficients(options, static_cast<double>(phase) / static_cast<double>(filter.phases) - filter.offset(), values);
    for (const double value : values) filter.coefficients.push_back(static_cast<float>(value));
  }
  return filter;
}

void upsample(const DelayFilter& filter, std::span<const float> row, std::span<float> upsampled) {
  const auto samples = static_cast<std::ptrdiff_t>(row.size());
  const auto left = static_cast<std::ptrdiff_t>(filter.left());
  const auto taps = static_cast<std::ptrdiff_t>(filter.taps);
  for (std::ptrdiff_t n = 0; n < samples; ++n) {
    float* const out = upsampled.data() + n * static_cast<std::ptrdiff_t>(upsampling_factor);
    out[0] = row[static_cast<std::size_t>(n)];
    const std::ptrdiff_t first = std::max<std::ptrdiff_t>(0, left - n);
    const std::ptrdiff_t last = std::min(taps, samples + left - n);
    for (std::size_t phase = 1; phase < upsampling_factor; ++phase) {
      const std::span<const float> coefficients = filter.row(phase);
      float sum = 0.0F;
      for (std::ptrdiff_t k = first; k < last; ++k) {
        sum += coefficients[static_cast<std::size_t>(k)] * row[static_cast<std::size_t>(n - left + k)];
      }
      out[phase] = sum;
    }
  }
}

}  // namespace echoform
