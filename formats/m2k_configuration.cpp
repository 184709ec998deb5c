#include "formats/m2k_configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "formats/xml_reader.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::formats {
namespace {

constexpr double of_millimetre = 1e-3;
constexpr double of_microsecond = 1e-6;
constexpr double greatest_array_size = 1000.0;  // mm
constexpr double longest_delay = 1e6;           // microseconds
constexpr double most_dac_rate = 1e10;          // Hz
constexpr double most_us_speed = 1e5;           // m/s

/// Reads attributes as numbers.
class M2kReader : protected XmlReader {
 protected:
  using XmlReader::XmlReader;

  [[noreturn]] void refuse(const std::string& found, const std::string& expected) const {
    throw InputError(where(), found, expected);
  }
  [[nodiscard]] std::string require(const char* attribute_name) const {
    auto text = attribute(attribute_name);
    if (!text)
      refuse(fmt::format("{} without {}", printable(name(), 40), attribute_name), "what the instrument's program writes");
    return std::move(*text);
  }
  [[nodiscard]] double number(const char* attribute_name, std::string_view text, double least, double greatest) const {
    double value = 0.0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || stop != text.data() + text.size() || !(value >= least && value <= greatest)) {
      refuse(fmt::format("{} \"{}\"", attribute_name, printable(text, 40)),
             fmt::format("a number from {:g} to {:g}", least, greatest));
    }
    return value;
  }
  [[nodiscard]] double number(const char* attribute_name, double least, double greatest) const {
    return number(attribute_name, require(attribute_name), least, greatest);
  }
  [[nodiscard]] double number_or(const char* attribute_name, double otherwise, double least, double greatest) const {
    const auto text = attribute(attribute_name);
    return text ? number(attribute_name, *text, least, greatest) : otherwise;
  }
  [[nodiscard]] std::size_t count(const char* attribute_name, std::string_view text, std::size_t most) const {
    const double value = number(attribute_name, text, 0.0, static_cast<double>(most));
    if (value != std::floor(value)) refuse(fmt::format("{} {:g}", attribute_name, value), "a whole number");
    return static_cast<std::size_t>(value);
  }
  /// The number before the first semicolon. In a list of gates, the first one is the gate of the A-scans.
  [[nodiscard]] double first_number(const char* attribute_name, double least, double greatest) const {
    const std::string text = require(attribute_name);
    return number(attribute_name, std::string_view(text).substr(0, text.find(';')), least, greatest);
  }
  /// The parts between the semicolons of "0;1;2;", at most `most` of them.
  [[nodiscard]] std::vector<std::string_view> pieces(const char* attribute_name, std::string_view text, std::size_t most) const {
    std::vector<std::string_view> found;
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view one = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(one.size() + 1, rest.size()));
      if (one.empty()) continue;
      if (found.size() >= most) refuse(fmt::format("a longer {}", attribute_name), fmt::format("at most {} elements", most));
      found.push_back(one);
    }
    return found;
  }
  [[nodiscard]] std::vector<std::size_t> list(const char* attribute_name, std::size_t most) const {
    const std::string text = require(attribute_name);
    std::vector<std::size_t> values;
    for (const std::string_view one : pieces(attribute_name, text, most)) values.push_back(count(attribute_name, one, most - 1));
    return values;
  }
  /// The numbers between the semicolons; none if there is no such attribute.
  [[nodiscard]] std::vector<double> numbers(const char* attribute_name, std::size_t most, double least, double greatest) const {
    const std::string text = attribute(attribute_name).value_or("");
    std::vector<double> values;
    for (const std::string_view one : pieces(attribute_name, text, most))
      values.push_back(number(attribute_name, one, least, greatest));
    return values;
  }
};

class ConfigurationReader final : private M2kReader {
 public:
  ConfigurationReader(const std::string& file, const M2kLimits& limits) : M2kReader(file), limits_(limits) {}

  M2kConfiguration parse(std::istream& xml) {
    read(xml);
    if (found_.salvos.empty()) throw InputError(file(), "no Rafale", "what is fired at each position");
    return std::move(found_);
  }

 private:
  void begin() override {
    if (std::exchange(at_root_, false)) found_.version = attribute("versionStr").value_or("");
    if (name() == "Probe" && found_.array.elements == 0 && attribute("nbElement")) {
      found_.array.elements = count("nbElement", require("nbElement"), limits_.elements);
      found_.array.width = of_millimetre * number_or("largeurElement", 0.0, 0.0, greatest_array_size);
      found_.array.gap = of_millimetre * number_or("interElement", 0.0, -greatest_array_size, greatest_array_size);
    } else if (name() == "Rafale") {
      if (found_.salvos.size() >= limits_.salvos) refuse("more Rafale", fmt::format("at most {}", limits_.salvos));
      found_.salvos.emplace_back();
      has_gate_ = false;
      delay_ = 0.0;
    } else if (inside("Rafale")) {
      begin_in_salvo(found_.salvos.back());
    }
  }

  void begin_in_salvo(M2kSalvo& salvo) {
    if (name() == "ParametresGeneraux") {
      delay_ = of_microsecond * number_or("retardNumerisation", 0.0, -longest_delay, longest_delay);
    } else if (name() == "Dac" && salvo.sample_rate == 0.0) {
      salvo.sample_rate = number("freq", 1.0, most_dac_rate);
    } else if (name() == "UsSpeed" && salvo.longitudinal_velocity == 0.0) {
      salvo.longitudinal_velocity = number_or("speedL", 0.0, 0.0, most_us_speed);
      salvo.shear_velocity = number_or("speedT", 0.0, 0.0, most_us_speed);
    } else if (name() == "Porte" && inside("DefPortes") && !has_gate_) {
      has_gate_ = true;
      salvo.start = delay_ + of_microsecond * first_number("debut", -longest_delay, longest_delay);
    } else if (name() == "Tir") {
      if (++firings_ > limits_.firings) refuse("more Tir", fmt::format("at most {}", limits_.firings));
      salvo.firings.emplace_back().index = count("index", require("index"), limits_.firings - 1);
    } else if (salvo.firings.empty()) {
      return;  // a Tir around the Rafale is not one of its own
    } else if (inside("Tir") && name() == "Emission" && salvo.firings.back().emitters.empty()) {
      read_emitters(salvo.firings.back());
    } else if (inside("Tir") && name() == "Reception" && salvo.firings.back().receivers.empty()) {
      salvo.firings.back().receivers = list("voieReception", limits_.elements);
      add_entries(salvo.firings.back().receivers.size());
    }
  }

  void read_emitters(M2kFiring& firing) {
    firing.emitters = list("voieEmission", limits_.elements);
    add_entries(firing.emitters.size());
    firing.delays = numbers("retardEmission", limits_.elements, -longest_delay, longest_delay);
    for (double& delay : firing.delays) delay *= of_microsecond;
    // A single element without a delay fires at time 0.
    if (firing.delays.empty() && firing.emitters.size() <= 1) firing.delays.assign(firing.emitters.size(), 0.0);
    if (firing.delays.size() != firing.emitters.size()) {
      refuse(fmt::format("{} delays in retardEmission", firing.delays.size()),
             fmt::format("{}, one for each element of voieEmission", firing.emitters.size()));
    }
  }

  void add_entries(std::size_t count) {
    entries_ += count;
    if (entries_ > limits_.entries)
      refuse("more elements in all Tir", fmt::format("at most {} that fire or record", limits_.entries));
  }

  void end() override {
    if (name() != "Rafale") return;
    const M2kSalvo& salvo = found_.salvos.back();
    if (salvo.sample_rate == 0.0) refuse("a Rafale without Dac", "the rate of samples, in hertz");
    if (!has_gate_) refuse("a Rafale without Porte", "the gate of its A-scans");
    if (salvo.firings.empty()) refuse("a Rafale without Tir", "firings");
  }

  const M2kLimits& limits_;
  M2kConfiguration found_;
  bool at_root_ = true;
  bool has_gate_ = false;  // whether the Rafale has a gate
  double delay_ = 0.0;     // delay of the Rafale, seconds
  std::size_t firings_ = 0;
  std::size_t entries_ = 0;  // elements that fire or record, in all firings
};

class ArrayReader final : private M2kReader {
 public:
  ArrayReader(const std::string& file, const M2kLimits& limits) : M2kReader(file), limits_(limits) {}

  M2kArray parse(std::istream& xml) {
    read(xml);
    return found_;
  }

 private:
  void begin() override {
    if (name() == "DecoupagePastille" && !std::exchange(has_probe_, true)) {
      if (const std::string shape = require("decoupage"); shape != "lineaire")
        refuse(fmt::format("decoupage \"{}\"", printable(shape, 40)), "\"lineaire\", a linear array");
    } else if (name() == "DecoupageLineaire" && inside("DecoupagePastille") && found_.elements == 0) {
      found_.elements = count("nbElements", require("nbElements"), limits_.elements);
      found_.width = of_millimetre * number("widthIncid", 0.0, greatest_array_size);
      found_.gap = of_millimetre * number("spaceInterIncid", -greatest_array_size, greatest_array_size);
    } else if (name() == "PosImmersion" && found_.water_path == 0.0) {
      found_.water_path = of_millimetre * number_or("Heau", 0.0, 0.0, greatest_array_size);
    }
  }
  void end() override {}

  const M2kLimits& limits_;
  M2kArray found_;
  bool has_probe_ = false;
};

}  // namespace

M2kConfiguration read_m2k_configuration(std::istream& xml, const std::string& file, const M2kLimits& limits) {
  return ConfigurationReader(file, limits).parse(xml);
}

M2kArray read_m2k_array(std::istream& xml, const std::string& file, const M2kLimits& limits) {
  return ArrayReader(file, limits).parse(xml);
}

}  // namespace echoform::formats
