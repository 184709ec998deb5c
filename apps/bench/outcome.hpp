// What a benchmark found, for people and for programs.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/statistics.hpp"

namespace echoform::bench {

using benchmarks::Spread;
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

/// One line: a figure, and the limit that was measured in the same run. `limit` 0 stands for none.
struct Figure {
  std::string name;
  Spread value;
  Unit unit;
  std::string limit_name{};
  double limit = 0.0;
  std::string note{};          ///< ends the line
  json more = json::object();  ///< further JSON of the figure
};

[[nodiscard]] json json_of(const Spread& spread);

struct Outcome {
  std::vector<std::string> lines;
  json values = json::object();

  void say(std::string line) { lines.push_back(std::move(line)); }
  /// Prints the figure and appends it to the array values[key]: name, unit, median, least, most and, where there is a limit,
  /// limit, limit_name and ratio.
  void add(const std::string& key, const Figure& figure);
  /// Runs `measure`; if it throws, says so and goes on: the other figures are worth having. The program then ends with exit
  /// code 1.
  void attempt(const std::string& name, const std::function<void()>& measure);

  bool failed = false;
};

/// "1.234 ms (1.230 .. 1.250)"
[[nodiscard]] std::string text_of(const Spread& spread, const Unit& unit);

}  // namespace echoform::bench
