#include "methods/flow_report.hpp"

#include <fmt/format.h>

#include "stages/wall_filter/wall_filter.hpp"

namespace echoform {

void report_flow(SetupReport& report, const DopplerPlan& doppler, std::string_view along) {
  const WallFilterOptions& filter = doppler.wall_filter;
  report.row("events fire", fmt::format("{:.4g} a second, as {}", doppler.pulse_repetition.value,
                                        doppler.of_data ? "the data state" : "[doppler] pulse_repetition says"));
  report.row("ensembles", fmt::format("{} samples of each of {}, {:.4g} a second", doppler.ensembles.samples,
                                      doppler.ensembles.events.size(), doppler.repetition.value));
  report.row("velocity",
             fmt::format("-{0:.4g} to {0:.4g} m/s along {1}, towards the probe above 0", doppler.nyquist.value, along));
  report.values["doppler"] = {{"ensemble", doppler.ensembles.samples},
                              {"pulse_repetition", doppler.pulse_repetition.value},
                              {"pulse_repetition_of_data", doppler.of_data},
                              {"repetition", doppler.repetition.value},
                              {"nyquist", doppler.nyquist.value},
                              {"window_ranges", 2 * doppler.autocorrelation.half_window + 1}};
  if (filter.kind == WallFilterKind::none) return;
  if (filter.kind == WallFilterKind::svd) {
    report.row("wall filter", fmt::format("svd, without the strongest {} of {} components", filter.components, filter.ensemble));
    return;
  }
  const double cutoff = 2.0 * wall_filter_cutoff(filter) * doppler.nyquist.value;
  report.row("wall filter", fmt::format("{}, {} of {} samples stay, half of the power from {:.4g} m/s on",
                                        words::wall_filter.of(filter.kind), filtered_ensemble(filter), filter.ensemble, cutoff));
  report.values["doppler"]["cutoff"] = cutoff;
}

}  // namespace echoform
