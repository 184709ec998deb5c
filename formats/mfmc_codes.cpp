// Recognizes rows of a code among the transmit laws of an MFMC sequence that does not state them.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>

#include "formats/mfmc_events.hpp"

namespace echoform::formats {
namespace {

/// An inverse of more rows takes seconds, and codes of more rows are refused (stages/decoding).
constexpr std::size_t most_rows = 1024;

/// Whether several elements fire at once, none of them inverted or weaker than another.
bool is_row_of_ones(const MfmcLaw& law) {
  return law.entries.size() > 1 && law.plane_wave.empty() && law.point_wave.empty() &&
         std::ranges::all_of(
             law.entries, [](const MfmcLaw::Entry& entry) { return std::abs(entry.delay) <= no_delay && entry.weight == 1.0; });
}

std::vector<std::uint32_t> sorted_receivers(const TransmitEvent& event) {
  std::vector<std::uint32_t> receivers = event.receivers;
  std::ranges::sort(receivers);
  return receivers;
}

/// Factor by which decoding changes the power of noise that is equal in all rows. Decoding makes an element's signal as a
/// weighted sum of the rows; the factor is the sum of the squared weights, averaged over the elements. If the rows do not
/// determine the elements, it is NaN, infinite or large.
double noise_of_decoding(std::span<const MfmcLaw* const> rows, const std::map<std::size_t, Eigen::Index>& column_of_element) {
  const auto count = static_cast<Eigen::Index>(rows.size());
  Eigen::MatrixXd code = Eigen::MatrixXd::Zero(count, count);
  for (Eigen::Index row = 0; row < count; ++row) {
    for (const MfmcLaw::Entry& entry : rows[static_cast<std::size_t>(row)]->entries) {
      code(row, column_of_element.at(entry.element)) = 1.0;
    }
  }
  return code.partialPivLu().inverse().squaredNorm() / static_cast<double>(count);
}

}  // namespace

bool settle_code(Acquisition& acquisition, std::span<const MfmcLaw* const> laws) {
  if (laws.empty() || laws.size() > most_rows) return false;
  if (!std::ranges::all_of(laws, [](const MfmcLaw* law) { return is_row_of_ones(*law); })) return false;
  std::map<std::size_t, Eigen::Index> column_of_element;
  for (const MfmcLaw* const law : laws) {
    for (const MfmcLaw::Entry& entry : law->entries) {
      column_of_element.try_emplace(entry.element, static_cast<Eigen::Index>(column_of_element.size()));
    }
  }
  if (laws.size() != column_of_element.size()) return false;
  const auto receivers = sorted_receivers(acquisition.events.front());
  if (!std::ranges::all_of(acquisition.events,
                           [&](const TransmitEvent& event) { return sorted_receivers(event) == receivers; })) {
    return false;
  }
  if (!(noise_of_decoding(laws, column_of_element) < 1.0)) return false;
  for (std::size_t event = 0; event < laws.size(); ++event) {
    CodeEvent row{std::vector<std::int8_t>(acquisition.elements())};
    for (const MfmcLaw::Entry& entry : laws[event]->entries) row.signs[entry.element - 1] = 1;
    acquisition.events[event].form = std::move(row);
  }
  return true;
}

}  // namespace echoform::formats
