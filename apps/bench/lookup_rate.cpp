#include "apps/bench/lookup_rate.hpp"

#include <fmt/format.h>

namespace echoform::bench {

LookupRate lookup_rate(const ImagingPlan& plan, const benchmarks::FrameReport& report, std::size_t threads) {
  LookupRate rate;
  rate.a_frame = benchmarks::count_lookups(plan, threads);
  rate.a_second = {rate.a_frame.all / report.beamform_seconds, rate.a_frame.reached / report.beamform_seconds};
  return rate;
}

std::string text_of(const LookupRate& rate) {
  return fmt::format("{:.3f} G lookups/s where rays reach, within the A-scan ({:.3f} of all pairs and pixels)",
                     1e-9 * rate.a_second.reached, 1e-9 * rate.a_second.all);
}

json json_of(const LookupRate& rate) {
  return {{"a_frame", rate.a_frame.reached},
          {"per_second", rate.a_second.reached},
          {"a_frame_of_all_pairs_and_pixels", rate.a_frame.all},
          {"per_second_of_all_pairs_and_pixels", rate.a_second.all}};
}

}  // namespace echoform::bench
