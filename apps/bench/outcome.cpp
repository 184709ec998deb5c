#include "apps/bench/outcome.hpp"

#include <fmt/format.h>

namespace echoform::bench {

json json_of(const Spread& spread) {
  return {{"median", spread.median}, {"least", spread.least}, {"most", spread.most}};
}

std::string text_of(const Spread& spread, const Unit& unit) {
  const double scale = 1.0 / unit.factor;
  return fmt::format("{:8.{}f} {} ({:.{}f} .. {:.{}f})", scale * spread.median, unit.digits, unit.name, scale * spread.least,
                     unit.digits, scale * spread.most, unit.digits);
}

void Outcome::add(const std::string& key, const Figure& figure) {
  std::string line = fmt::format("  {:<44} {}", figure.name, text_of(figure.value, figure.unit));
  json entry = figure.more;
  entry["name"] = figure.name;
  entry["unit"] = figure.unit.name;
  entry.update(json_of(figure.value));
  if (figure.limit > 0.0) {
    const double ratio = figure.value.median / figure.limit;
    line += fmt::format("  {:.1f} % of {} {:.{}f}", 100.0 * ratio, figure.limit_name, figure.limit / figure.unit.factor,
                        figure.unit.digits);
    // A few per cent are noise; more says that something is wrong with the limit.
    if (ratio > 1.03) line += " (ABOVE ITS LIMIT: that is measured too low)";
    entry["above_limit"] = ratio > 1.03;
    entry["limit"] = figure.limit;
    entry["limit_name"] = figure.limit_name;
    entry["ratio"] = ratio;
  }
  if (!figure.note.empty()) line += "  " + figure.note;
  lines.push_back(std::move(line));
  values[key].push_back(std::move(entry));
}

void Outcome::attempt(const std::string& name, const std::function<void()>& measure) {
  try {
    measure();
  } catch (const std::exception& failure) {
    failed = true;
    say(fmt::format("  {}: not measured: {}", name, failure.what()));
    values["failures"].push_back({{"name", name}, {"reason", failure.what()}});
  }
}

}  // namespace echoform::bench
