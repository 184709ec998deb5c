// echoform control: reads and changes the settings of a running server.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "apps/common.hpp"
#include "apps/keys.hpp"
#include "apps/slow_work.hpp"
#include "apps/text_output.hpp"
#include "base/errors.hpp"
#include "transport/control/zeromq_control.hpp"

namespace echoform {
namespace {

struct ControlOptions {
  std::string connect = "tcp://127.0.0.1:17182";
  double timeout = 30.0;
  std::vector<std::string> words;
  std::uint64_t expected_revision = 0;
  bool json = false;
  KeyFiles keys;
};

/// Only the form is parsed here; the server knows which actions and keys exist.
wire::ControlRequest request_of(const ControlOptions& options) {
  wire::ControlRequest request;
  const std::string action = options.words.empty() ? "get" : options.words.front();
  request.set_action(action);
  request.set_expected_revision(options.expected_revision);
  for (std::size_t k = 1; k < options.words.size(); ++k) {
    const std::string& word = options.words[k];
    if (action == "start_recording") {
      if (k > 1) throw InputError("control start_recording", fmt::format("\"{}\"", word), "one FILE at most");
      request.set_file(word);
    } else if (action == "set") {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) throw InputError("control set", fmt::format("\"{}\"", word), "KEY=VALUE");
      auto& change = *request.add_changes();
      change.set_key(word.substr(0, equals));
      change.set_value(word.substr(equals + 1));
    } else {
      request.add_keys(word);
    }
  }
  return request;
}

/// Adds the unit to a number or numbers; words have no unit.
std::string with_unit(const std::string& value, const std::string& unit) {
  const bool numbers = value.find_first_of("0123456789") != std::string::npos && value.find_first_of("[-+.0123456789") == 0;
  return numbers && !unit.empty() ? fmt::format("{} {}", value, unit) : value;
}

/// Text that the table shows for a setting: its value, or where it comes from.
std::string value_text(const wire::Setting& setting) {
  if (!setting.value().empty()) return with_unit(setting.value(), setting.unit());
  if (!setting.in_use().empty()) {
    return fmt::format("{} ({})", with_unit(setting.in_use(), setting.unit()), setting.default_value());
  }
  return setting.default_value().empty() ? "not set" : with_unit(setting.default_value(), setting.unit());
}

/// Prints one line, whatever text the server has sent.
template <class... Arguments>
void print_line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  print_result("{}\n", terminal_text(fmt::format(format, std::forward<Arguments>(arguments)...), LineBreaks::replaced));
}

void print_text(const wire::ControlReply& reply, bool described) {
  std::size_t widest = 0;
  for (const auto& setting : reply.settings()) widest = std::max(widest, setting.key().size());
  for (const auto& setting : reply.settings()) {
    const std::string changed = setting.value() == setting.file_value() ? "" : "  (changed)";
    print_line("{:<{}}  {}{}", setting.key(), widest, value_text(setting), changed);
    if (!described) continue;
    print_line("  {}", setting.help());
    print_line("  {}{}{}", setting.type(), setting.words().empty() && setting.range().empty() ? "" : ": ",
               setting.words().empty() ? setting.range() : fmt::format("{}", fmt::join(setting.words(), ", ")));
    print_line("  {}", setting.effect() == "imaging"      ? "changes between two frames, once an engine is built for it"
                       : setting.effect() == "instrument" ? "changes between two frames, once the instrument has been told"
                                                          : "changes at once");
  }
  for (const std::string& line : reply.sinks()) print_line("{}", line);
  for (const std::string& line : reply.results()) print_line("{}", line);
  for (const std::string& line : reply.warnings()) spdlog::warn("{}", line);
  print_result("revision {}{}\n", reply.revision(), reply.streaming() ? "" : ", for the next stream");
}

void print_json(const wire::ControlReply& reply) {
  nlohmann::ordered_json settings = nlohmann::ordered_json::object();
  for (const auto& setting : reply.settings()) {
    nlohmann::ordered_json one{
        {"value", setting.value()},  {"in_use", setting.in_use()}, {"file_value", setting.file_value()}, {"type", setting.type()},
        {"unit", setting.unit()},    {"range", setting.range()},   {"default", setting.default_value()}, {"help", setting.help()},
        {"effect", setting.effect()}};
    for (const auto& word : setting.words()) one["words"].push_back(word);
    settings[setting.key()] = std::move(one);
  }
  nlohmann::ordered_json out{{"outcome", wire::ControlOutcome_Name(reply.outcome())},
                             {"revision", reply.revision()},
                             {"streaming", reply.streaming()},
                             {"server", reply.server()},
                             {"settings", std::move(settings)}};
  for (const std::string& line : reply.sinks()) out["sinks"].push_back(line);
  for (const std::string& line : reply.results()) out["results"].push_back(line);
  if (!reply.file().empty()) out["file"] = reply.file();
  for (const std::string& line : reply.warnings()) out["warnings"].push_back(line);
  if (!reply.reason().empty()) out["reason"] = reply.reason();
  print_result("{}\n", out.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace));
}

int control(const ControlOptions& options) {
  const wire::ControlRequest request = request_of(options);
  const auto timeout = std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * options.timeout));
  SlowWork work(fmt::format("waiting for an answer from {}", options.connect));
  const wire::ControlReply reply = ask_control(options.connect, request, timeout, client_keys(options.keys));
  if (options.json) print_json(reply);
  if (reply.outcome() == wire::FAILED) throw RuntimeFault(reply.reason());
  if (reply.outcome() != wire::DONE) throw InputError(reply.reason());
  if (!options.json) print_text(reply, request.action() == "get" && !request.keys().empty());
  return 0;
}

}  // namespace

Action define_control(CLI::App& options) {
  auto chosen = std::make_shared<ControlOptions>();
  options.add_option("--connect", chosen->connect, "Where the server takes control requests")
      ->option_text("tcp://HOST:PORT (tcp://127.0.0.1:17182)");
  options
      .add_option("request", chosen->words,
                  "get: settings, those named with their meaning; set: changes them together; reset: as the server started; "
                  "status: figures of "
                  "sinks that have any; with a recorder start_recording and stop_recording; of a scan clear_scan")
      ->option_text(
          "get [KEY ...] | set KEY=VALUE ... | reset [KEY ...] | status | start_recording [FILE] | stop_recording | clear_scan");
  options.add_option("--expect-revision", chosen->expected_revision, "Refuse unless the settings have this revision")
      ->check(whole_number())
      ->option_text("N");
  options.add_option("--timeout", chosen->timeout, "Fails if no reply comes for so long; engines for large grids take seconds")
      ->check(CLI::Range(0.001, 1e6))
      ->option_text("S (30)");
  add_key_options(options, chosen->keys);
  options.add_flag("--json", chosen->json, "Print the reply as one JSON object");
  return [chosen] { return control(*chosen); };
}

}  // namespace echoform
