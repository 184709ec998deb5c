// What a benchmark found, for people and for programs.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/statistics.hpp"
#include "benchmarks/turns.hpp"

namespace echoform::bench {

using benchmarks::Spread;
using benchmarks::Turns;
using nlohmann::json;

/// A unit for people; JSON holds the value itself, in SI.
struct Unit {
  std::string_view name;
  double factor = 1.0;  ///< value of one such unit
  int digits = 3;       ///< behind the point
};
inline constexpr Unit tera_lookups{"T lookups/s", 1e12, 3};
inline constexpr Unit images{"images/s", 1.0, 1};
inline constexpr Unit milliseconds_unit{"ms", 1e-3, 3};

/// A limit that a figure cannot exceed.
struct Limit {
  std::string name;
  Spread value;  ///< in the figure's unit
  Spread ratio;  ///< figure : limit
};
/// Measured in turn with the figure: turns.spread(of), and its ratios round by round.
[[nodiscard]] Limit limit_of(std::string name, const Turns& turns, std::string_view figure, std::string_view of);
/// A limit that was not measured.
[[nodiscard]] Limit fixed_limit(std::string name, const Spread& figure, double limit);

/// One line: a figure, and its limit.
struct Figure {
  std::string name;
  Spread value;
  Unit unit;
  std::optional<Limit> limit{};  ///< none for a figure that stands alone
  std::string note{};            ///< ends the line
  json more = json::object();    ///< further JSON of the figure
};

[[nodiscard]] json json_of(const Spread& spread);
/// {"order": names as they were measured, "values": {name: values round by round}}
[[nodiscard]] json json_of(const Turns& turns);

struct Outcome {
  std::vector<std::string> lines;
  json values = json::object();

  void say(std::string line) { lines.push_back(std::move(line)); }
  /// Prints the figure and appends it to the array values[key]: name, unit, median, least, most and, where there is a limit,
  /// limit_name and the spreads limit and ratio.
  void add(const std::string& key, const Figure& figure);
  /// Runs `measure`. If it throws, reports that and goes on, since the other figures are still useful. The program then ends
  /// with exit code 1.
  void attempt(const std::string& name, const std::function<void()>& measure);

  bool failed = false;
};

/// "1.234 ms (1.230 .. 1.250)"
[[nodiscard]] std::string text_of(const Spread& spread, const Unit& unit);
/// "2.9 (2.8 .. 3.1)", `digits` behind the point; `factor` 100 for per cent.
[[nodiscard]] std::string text_of_ratio(const Spread& ratio, int digits = 1, double factor = 1.0);

}  // namespace echoform::bench
