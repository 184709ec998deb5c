#include "apps/inspect_capture.hpp"
#include "apps/text_output.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "acquisition/words.hpp"
#include "base/text.hpp"

namespace echoform {
namespace {

constexpr std::size_t most_shown = 50;

std::string time_text(WallTime time) {
  if (time.count() == 0) return "not stated";
  const auto seconds = static_cast<std::time_t>(std::chrono::duration_cast<std::chrono::seconds>(time).count());
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(seconds));
}

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

std::vector<std::string> capture_faults(const CaptureScan& scan) {
  std::vector<std::string> faults;
  if (!scan.damage().empty()) faults.push_back(scan.damage());
  const auto& connections = scan.connections();
  for (std::size_t k = 0; k < connections.size(); ++k) {
    if (!connections[k].fault.empty())
      faults.push_back(fmt::format("connection {} ({}): {}", k, connections[k].peer, connections[k].fault));
  }
  return faults;
}

void print_capture(const CaptureScan& scan) {
  const auto row = [](std::string_view name, const std::string& text) {
    print_result("{:<11} {}\n", name, terminal_text(text, LineBreaks::replaced));
  };
  row("time", fmt::format("{}, {:.3f} s", time_text(scan.began()), seconds(scan.duration())));
  for (const CapturedSequence& sequence : scan.sequences()) {
    const Acquisition& a = sequence.acquisition;
    row("acquisition", fmt::format("{} elements, {}, {} samples, {}: {} whole frames, {} incomplete, {} sequences missing",
                                   a.elements(), pairs_word(a), a.samples, words::sample_encoding.of(a.encoding),
                                   sequence.frames.size(), sequence.incomplete, sequence.gaps));
  }
  const auto& connections = scan.connections();
  for (std::size_t k = 0; k < std::min(connections.size(), most_shown); ++k) {
    const CapturedConnection& c = connections[k];
    row("connection", fmt::format("{} from {}, {}: {} bytes, {} shots, {}", k, c.peer,
                                  c.sender.empty() ? std::string("no Hello") : fmt::format("sender \"{}\"", c.sender), c.bytes,
                                  c.shots, c.ending.empty() ? std::string("open at the end of the file") : c.ending));
  }
  if (connections.size() > most_shown) row("", fmt::format("and {} more", connections.size() - most_shown));
  const auto faults = capture_faults(scan);
  for (std::size_t k = 0; k < std::min(faults.size(), most_shown); ++k) row("violation", faults[k]);
  if (faults.size() > most_shown) row("", fmt::format("and {} more", faults.size() - most_shown));
  if (faults.empty()) row("checks", "the file is whole, its bytes keep the protocol");
}

nlohmann::json json_of_capture(const CaptureScan& scan) {
  nlohmann::json out{{"began", scan.began().count()},
                     {"duration", seconds(scan.duration())},
                     {"unfinished", !scan.finished()},
                     {"violations", capture_faults(scan)}};
  for (const CapturedSequence& sequence : scan.sequences()) {
    out["acquisitions"].push_back({{"elements", sequence.acquisition.elements()},
                                   {"encoding", words::sample_encoding.of(sequence.acquisition.encoding)},
                                   {"frames", sequence.frames.size()},
                                   {"incomplete", sequence.incomplete},
                                   {"sequence_gaps", sequence.gaps}});
  }
  for (const CapturedConnection& c : scan.connections()) {
    out["connections"].push_back({{"peer", c.peer},
                                  {"sender", c.sender},
                                  {"session", c.session},
                                  {"index", c.index},
                                  {"bytes", c.bytes},
                                  {"shots", c.shots},
                                  {"ending", c.ending},
                                  {"fault", c.fault}});
  }
  return out;
}

}  // namespace echoform
