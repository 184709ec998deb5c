#include "instruments/micropulse/simulator/registers.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <string_view>

namespace echoform::micropulse_simulator {
namespace {

constexpr std::int64_t most_tests = 2047;
constexpr std::int64_t array_tests = 256;
constexpr std::int64_t most_laws = 2048;
constexpr std::int64_t longest_delay = 25000;
constexpr std::int64_t most_samples = 8000;

using Numbers = std::vector<std::int64_t>;
using Answer = std::optional<Complaint>;

bool within(std::int64_t value, std::int64_t low, std::int64_t high) {
  return value >= low && value <= high;
}

struct Limits {
  std::int64_t low;
  std::int64_t high;
};

/// A command with a fixed number of arguments, each with its limits.
struct Row {
  std::string_view mnemonic;
  std::vector<Limits> limits;
  std::function<Answer(Registers&, const Numbers&)> follow;
};

Answer edit_law(std::map<std::int64_t, Registers::Law>& laws, std::int64_t law, std::int64_t channel, std::int64_t delay) {
  if (delay == -1) {
    if (channel == 0)
      laws[law].clear();
    else
      laws[law].erase(channel);
    return {};
  }
  // Only a command that clears the law may address all channels.
  if (channel == 0) return Complaint::conflict;
  laws[law][channel] = delay;
  return {};
}

/// Sets the member to the argument at `place`.
auto store(std::int64_t Registers::*member, std::size_t place) {
  return [member, place](Registers& r, const Numbers& n) -> Answer {
    r.*member = n[place];
    return {};
  };
}

Answer nothing(Registers& /*registers*/, const Numbers& /*numbers*/) {
  return {};
}

std::vector<Row> make_rows() {
  constexpr std::int64_t any = std::numeric_limits<std::int32_t>::max();
  const Limits law{1, most_laws};
  const Limits channel{0, most_laws};
  const Limits delay{-1, longest_delay};
  const Limits array_test{array_tests, most_tests};
  std::vector<Row> rows{
      {"DXN", {{0, most_tests}, {0, most_laws}}, nothing},
      {"DLY", {{0, most_tests}, {0, any}}, nothing},
      {"DLYS", {{0, 32}, {0, any}}, nothing},
      {"DOF", {{1, 4}}, store(&Registers::format, 0)},
      {"PRF", {{1, 55000}}, store(&Registers::repetition, 0)},
      {"TXF",
       {law, channel, delay},
       [](Registers& r, const Numbers& n) -> Answer {
         return n[1] > r.channels ? Complaint::out_of_limits : edit_law(r.transmit, n[0], n[1], n[2]);
       }},
      {"RXF",
       {law, channel, delay, {-128, 127}},
       [](Registers& r, const Numbers& n) -> Answer {
         return n[1] > r.channels ? Complaint::out_of_limits : edit_law(r.receive, n[0], n[1], n[2]);
       }},
      {"TXN",
       {array_test, law},
       [](Registers& r, const Numbers& n) -> Answer {
         r.transmit_of[n[0]] = n[1];
         return {};
       }},
      {"RXN",
       {array_test, law},
       [](Registers& r, const Numbers& n) -> Answer {
         r.receive_of[n[0]] = n[1];
         return {};
       }},
      {"DIS", {{0, most_tests}}, nothing},
      {"ENA", {{0, most_tests}}, nothing},
      {"DISS",
       {{0, 32}},
       [](Registers& r, const Numbers& n) -> Answer {
         if (n[0] == 0)
           r.enabled.clear();
         else
           r.enabled.erase(n[0]);
         return {};
       }},
      {"ENAS",
       {{1, 32}},
       [](Registers& r, const Numbers& n) -> Answer {
         if (!r.sweeps.contains(n[0])) return Complaint::conflict;
         r.enabled.insert(n[0]);
         return {};
       }},
      {"PAV",
       {{1, most_laws}, {1, most_laws}, {50, 200}},
       [](Registers& r, const Numbers& n) -> Answer {
         if (n[2] % 25 != 0 || n[1] < n[0]) return Complaint::out_of_limits;
         r.voltage = n[2];
         return {};
       }},
      {"PAW",
       {{1, most_laws}, {1, most_laws}, {20, 500}},
       [](Registers& r, const Numbers& n) -> Answer {
         if (n[2] % 2 != 0 || n[1] < n[0]) return Complaint::out_of_limits;
         r.width = n[2];
         return {};
       }},
      {"ETM",
       {{0, 32}, {0, 1}},
       // Echo triggers are not simulated.
       [](Registers&, const Numbers& n) -> Answer { return n[1] == 0 ? Answer{} : Complaint::conflict; }},
  };
  // The same setting of a test, a whole sweep or a group. One setting serves all: the number is 0, and may be 1 for a sweep or a
  // group.
  const auto add_for_all = [&rows](std::string_view test, std::string_view sweep, std::string_view group,
                                   std::vector<Limits> limits, const std::function<Answer(Registers&, const Numbers&)>& follow) {
    limits.insert(limits.begin(), {0, 0});
    rows.push_back({test, limits, follow});
    limits.front().high = 1;
    rows.push_back({sweep, limits, follow});
    rows.push_back({group, limits, follow});
  };
  add_for_all("GAN", "GANS", "GANG", {{0, 280}}, store(&Registers::gain, 1));
  add_for_all("GAT", "GATS", "GATG", {{0, any}, {0, any}}, [](Registers& r, const Numbers& n) -> Answer {
    if (n[2] <= n[1] || n[2] - n[1] > most_samples) return Complaint::out_of_limits;
    r.gate = {n[1], n[2]};
    return {};
  });
  add_for_all("FRQ", "FRQS", "FRQG", {{1, 4}, {0, 1}}, nothing);
  add_for_all("AWF", "AWFS", "AWFG", {{0, 3}}, store(&Registers::rectifier, 1));
  add_for_all("AMP", "AMPS", "AMPG", {{0, 13}, {0, 6}}, [](Registers& r, const Numbers& n) -> Answer {
    r.mode = n[1];
    r.averages = n[2];
    return {};
  });
  return rows;
}

/// Handles SWP: the sweep, then tests and ranges of tests.
Answer set_sweep(Registers& registers, const Command& command) {
  const auto& words = command.arguments;
  if (words.size() < 2 || !words[0] || !within(*words[0], 1, 32)) return Complaint::out_of_limits;
  std::vector<std::int64_t> tests;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!words[i]) {
      if (tests.empty() || i + 1 == words.size() || !words[i + 1]) return Complaint::conflict;
      if (!within(*words[i + 1], tests.back() + 1, most_tests)) return Complaint::out_of_limits;
      while (tests.back() + 1 < *words[i + 1]) tests.push_back(tests.back() + 1);
      continue;
    }
    if (!within(*words[i], array_tests, most_tests)) return Complaint::out_of_limits;
    tests.push_back(*words[i]);
    if (tests.size() > most_tests) return Complaint::out_of_limits;
  }
  registers.sweeps[*words[0]] = std::move(tests);
  return {};
}

}  // namespace

std::optional<Complaint> Registers::set(const Command& command) {
  if (command.mnemonic == "SWP") return set_sweep(*this, command);
  static const std::vector<Row> rows = make_rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.mnemonic == command.mnemonic; });
  if (row == rows.end()) return Complaint::unknown_command;
  if (command.arguments.size() != row->limits.size()) return Complaint::out_of_limits;
  Numbers numbers;
  for (std::size_t i = 0; i < row->limits.size(); ++i) {
    const auto& value = command.arguments[i];
    if (!value || !within(*value, row->limits[i].low, row->limits[i].high)) return Complaint::out_of_limits;
    numbers.push_back(*value);
  }
  return row->follow(*this, numbers);
}

}  // namespace echoform::micropulse_simulator
