#include "apps/bench/outcome.hpp"

#include <fmt/format.h>

#include <utility>

namespace echoform::bench {

json json_of(const Spread& spread) {
  return {{"median", spread.median}, {"least", spread.least}, {"most", spread.most}};
}

json json_of(const Turns& turns) {
  json values = json::object();
  for (const std::string& name : turns.names()) values[name] = turns.values(name);
  return {{"order", turns.order()}, {"values", values}};
}

Limit limit_of(std::string name, const Turns& turns, std::string_view figure, std::string_view of) {
  return {std::move(name), turns.spread(of), turns.ratio(figure, of)};
}

Limit fixed_limit(std::string name, const Spread& figure, double limit) {
  return {std::move(name), {limit, limit, limit}, {figure.median / limit, figure.least / limit, figure.most / limit}};
}

std::string text_of_ratio(const Spread& ratio, int digits, double factor) {
  return fmt::format("{:.{}f} ({:.{}f} .. {:.{}f})", factor * ratio.median, digits, factor * ratio.least, digits,
                     factor * ratio.most, digits);
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
  if (figure.limit) {
    const Limit& limit = *figure.limit;
    line += fmt::format("  {} % of {} {:.{}f}", text_of_ratio(limit.ratio, 1, 100.0), limit.name,
                        limit.value.median / figure.unit.factor, figure.unit.digits);
    // A few per cent are noise; a larger excess means that the limit was measured wrongly.
    const bool above = limit.ratio.median > 1.03;
    if (above) line += " (ABOVE ITS LIMIT: that is measured too low)";
    entry["above_limit"] = above;
    entry["limit"] = json_of(limit.value);
    entry["limit_name"] = limit.name;
    entry["ratio"] = json_of(limit.ratio);
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
