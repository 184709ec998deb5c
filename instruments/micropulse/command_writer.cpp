#include "instruments/micropulse/command_writer.hpp"

#include <fmt/format.h>

#include <cmath>

#include "acquisition/firings.hpp"
#include "acquisition/frame_layout.hpp"

namespace echoform::micropulse {
namespace {

/// Adds a command for each test and the same for whole sweeps; 0 addresses all of them.
void add_for_all(std::vector<std::string>& lines, std::string_view mnemonic, const std::string& values) {
  lines.push_back(fmt::format("{} 0 {}", mnemonic, values));
  lines.push_back(fmt::format("{}S 0 {}", mnemonic, values));
}

std::string repetition_line(unsigned pulse_repetition) {
  return fmt::format("PRF {}", pulse_repetition);
}
void add_gain(std::vector<std::string>& lines, double gain_db) {
  add_for_all(lines, "GAN", fmt::format("{}", std::lround(4.0 * gain_db)));
}
void add_gate(std::vector<std::string>& lines, std::size_t start, std::size_t samples) {
  add_for_all(lines, "GAT", fmt::format("{} {}", start, start + samples));
}

void add_laws(std::vector<std::string>& lines, const Acquisition& acquisition, const InstrumentSettings& settings) {
  const FrameLayout layout(acquisition);
  const std::vector<EventReceiver> rows = layout.pairs();
  std::size_t row = 0;
  for (std::uint32_t event = 0; event < layout.events(); ++event) {
    const std::uint32_t law = event + 1;
    lines.push_back(fmt::format("TXF {} 0 -1", law));
    for (const Firing& firing : firings_of(acquisition, event)) {
      lines.push_back(fmt::format("TXF {} {} {}", law, firing.element + settings.first_channel, std::lround(1e9 * firing.delay)));
    }
    lines.push_back(fmt::format("RXF {} 0 -1 0", law));
    for (; row < rows.size() && rows[row].event == event; ++row) {
      lines.push_back(fmt::format("RXF {} {} 0 0", law, rows[row].receiver + settings.first_channel));
    }
    lines.push_back(fmt::format("TXN {} {}", first_test + event, law));
    lines.push_back(fmt::format("RXN {} {}", first_test + event, law));
  }
}

}  // namespace

std::string reset_command(const InstrumentSettings& settings) {
  return fmt::format("RST {}", settings.sample_rate_mhz);
}

std::vector<std::string> setup_commands(const Acquisition& acquisition, const InstrumentSettings& settings) {
  std::vector<std::string> lines{"DXN 0 0", "DLYS 0 0", fmt::format("DOF {}", static_cast<unsigned>(settings.bits)),
                                 repetition_line(settings.pulse_repetition)};
  add_laws(lines, acquisition, settings);
  const std::size_t last = first_test + acquisition.event_count() - 1;
  lines.push_back(last == first_test ? fmt::format("SWP 1 {}", first_test) : fmt::format("SWP 1 {} - {}", first_test, last));
  lines.insert(lines.end(), {"DIS 0", "DISS 0", fmt::format("ENA {}", first_test), "ENAS 1"});
  add_gain(lines, settings.gain_db);
  add_gate(lines, settings.gate_start, acquisition.samples);
  const std::size_t last_channel = std::max<std::size_t>(128, settings.first_channel - 1 + acquisition.elements());
  lines.push_back(fmt::format("PAV 1 {} {}", last_channel, settings.pulse_voltage));
  lines.push_back(fmt::format("PAW 1 {} {}", last_channel, settings.pulse_width));
  lines.push_back(fmt::format("FRQS 0 {} {}", settings.filter, settings.smoothing));
  add_for_all(lines, "AWF", "1");
  add_for_all(lines, "AMP", fmt::format("13 {}", settings.averages_log2));
  lines.push_back("ETM 1 0");
  lines.insert(lines.end(), settings.commands.begin(), settings.commands.end());
  return lines;
}

std::vector<std::string> change_commands(const LiveSettings& before, const LiveSettings& after) {
  std::vector<std::string> lines;
  if (after.pulse_repetition != before.pulse_repetition) lines.push_back(repetition_line(after.pulse_repetition));
  if (after.gain_db != before.gain_db) add_gain(lines, after.gain_db);
  if (after.gate_start != before.gate_start || after.samples != before.samples) add_gate(lines, after.gate_start, after.samples);
  return lines;
}

std::string_view start_command(Cycling cycling) {
  switch (cycling) {
    case Cycling::buffered:
      return "STRS 1";
    case Cycling::unbuffered:
      return "STPS 1";
    case Cycling::single:
      break;
  }
  return "CALS 0";
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line;
    text += '\r';
  }
  return text;
}

}  // namespace echoform::micropulse
