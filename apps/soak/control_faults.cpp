// Changes of the settings and of the recorder while frames run. None of them may cost a frame.
#include <fmt/format.h>

#include <filesystem>

#include "apps/soak/fault_kinds.hpp"
#include "base/errors.hpp"
#include "recording/recorder_section.hpp"
#include "transport/control/zeromq_control.hpp"

namespace echoform::soak {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

wire::ControlReply ask(const FaultContext& context, std::string_view action, const Settings& changes = {}) {
  wire::ControlRequest request;
  request.set_action(std::string(action));
  for (const auto& [key, value] : changes) {
    auto& change = *request.add_changes();
    change.set_key(key);
    change.set_value(value);
  }
  return ask_control(context.places.control, request, patience);
}

void require_outcome(const wire::ControlReply& reply, wire::ControlOutcome expected) {
  if (reply.outcome() == expected) return;
  throw RuntimeFault(fmt::format("the control door answered {} ({}); expected {}", wire::ControlOutcome_Name(reply.outcome()),
                                 reply.reason(), wire::ControlOutcome_Name(expected)));
}

}  // namespace

void live_settings(const FaultContext& context) {
  if (context.places.control.empty()) return;
  Settings changes;
  switch (context.pick(0, 3)) {
    case 0:
      changes = {{"output.gain_db", fmt::format("{}", context.pick(0, 20))}};
      break;
    case 1:
      changes = {{"grid.pixels", fmt::format("[{}, {}]", context.pick(64, 256), context.pick(64, 256))}};
      break;
    case 2:
      changes = {{"apodization.window", context.pick(0, 1) == 0 ? "none" : "hann"},
                 {"output.dynamic_range_db", fmt::format("{}", context.pick(20, 60))}};
      break;
    default:
      require_outcome(ask(context, "reset"), wire::DONE);
      return;
  }
  const wire::ControlReply reply = ask(context, "set", changes);
  require_outcome(reply, wire::DONE);
  context.judge.await(context.name, "the revision that the reply names",
                      [&](const Counters& found) { return value_of(found, counter::settings_revision) == reply.revision(); });
}

void refused_settings(const FaultContext& context) {
  if (context.places.control.empty()) return;
  const std::uint64_t before = ask(context, "get").revision();
  const wire::ControlReply reply = ask(context, "set", {{"output.gain_db", "3"}, {"grid.pixels", "[0, 64]"}});
  require_outcome(reply, wire::REFUSED);
  const std::uint64_t after = ask(context, "get").revision();
  if (after != before) throw RuntimeFault(fmt::format("a refused change led from revision {} to {}", before, after));
}

void recording_starts_and_stops(const FaultContext& context) {
  if (context.places.control.empty() || section<RecorderSection>(context.configuration).folder.empty()) return;
  const std::uint64_t before = value_of(context.judge.read(), counter::recorded);
  require_outcome(ask(context, "start_recording"), wire::DONE);
  context.judge.await(context.name, "a frame recorded",
                      [&](const Counters& found) { return value_of(found, counter::recorded) > before; });
  require_outcome(ask(context, "stop_recording"), wire::DONE);
  // Only files of the soak's own configuration may be removed.
  if (!context.configuration.file.empty()) return;
  for (const auto& file : std::filesystem::directory_iterator(section<RecorderSection>(context.configuration).folder)) {
    std::filesystem::remove(file.path());
  }
}

}  // namespace echoform::soak
