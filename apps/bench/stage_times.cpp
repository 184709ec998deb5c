#include "apps/bench/stage_times.hpp"

#include <fmt/format.h>

namespace echoform::bench {

using namespace benchmarks;

void add_stage_times(const std::string& key, std::span<const StageTime> figures, Outcome& outcome) {
  for (const StageTime& figure : figures) {
    // The floor is the shortest possible time, so the ratio is that of the rates.
    outcome.say(fmt::format("  {:<44} {}  {} % of the copy of its {:.0f} MB, {:.3f} ms", figure.name,
                            text_of(figure.seconds, milliseconds_unit), text_of_ratio(figure.ratio, 1, 100.0),
                            1e-6 * figure.bytes, 1e3 * figure.seconds_floor.median));
    outcome.values[key].push_back({{"name", figure.name},
                                   {"seconds", json_of(figure.seconds)},
                                   {"bytes", figure.bytes},
                                   {"limit", json_of(figure.seconds_floor)},
                                   {"limit_name", "copy of as many bytes"},
                                   {"ratio", json_of(figure.ratio)},
                                   {"turns", json_of(figure.turns)}});
  }
}

}  // namespace echoform::bench
