#include "methods/row_filter.hpp"

#include <cmath>
#include <complex>
#include <span>

#include "cpu/cpu_backend.hpp"
#include "stages/filter/filter_response.hpp"

namespace echoform {
namespace {

/// Whether the filter changes phases. Band, mean and notch have zero phase.
bool turns_phases(const FilterOptions& options) {
  return options.kind == FilterKind::wiener;
}

RowTransform transform_of(const FilterOptions& options, std::size_t samples, std::size_t members, bool conjugate) {
  validate(options, "filter,");
  RowResponse response = filter_response(options, samples);
  if (conjugate) {
    for (std::complex<double>& factor : response) factor = std::conj(factor);
  }
  return {samples, members, simd_level(), std::span(&response, 1)};
}

}  // namespace

RowFilter::RowFilter(const FilterOptions& options, std::size_t samples, std::size_t members)
    : transform_(transform_of(options, samples, members, false)), bytes_(row_filter_bytes(options, samples, members)) {
  if (turns_phases(options)) turned_.emplace(transform_of(options, samples, members, true));
}

RowFilter RowFilter::up_to(Hertz highest, Hertz sample_rate, std::size_t samples, std::size_t members) {
  RowResponse response(samples / 2 + 1);
  const double bins = highest / sample_rate * static_cast<double>(samples);
  for (std::size_t k = 0; k < response.size(); ++k) response[k] = static_cast<double>(k) <= bins ? 1.0 : 0.0;
  return {RowTransform(samples, members, simd_level(), std::span(&response, 1)),
          static_cast<std::size_t>(row_transform_bytes(samples, members, 1))};
}

std::size_t row_filter_bytes(const FilterOptions& options, std::size_t samples, std::size_t members) {
  return static_cast<std::size_t>(row_transform_bytes(samples, members, 1)) * (turns_phases(options) ? 2 : 1);
}

double filtered_noise(const FilterOptions& options, std::size_t samples) {
  double squares = 0.0;
  const RowResponse response = filter_response(options, samples);
  for (std::size_t k = 0; k < response.size(); ++k) {
    const bool once = k == 0 || 2 * k == samples;
    squares += (once ? 1.0 : 2.0) * std::norm(response[k]);
  }
  return std::sqrt(squares / static_cast<double>(samples));
}

}  // namespace echoform
