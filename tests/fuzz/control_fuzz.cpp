// A live control request, served while no stream is there: what is refused has changed nothing, what was set says the same when
// it is said again, the settings in force make a plan or say in a line why not, and a reset goes back to the file.
#include <google/protobuf/stubs/logging.h>
#include <spdlog/spdlog.h>

#include "base/errors.hpp"
#include "control/control.hpp"
#include "tests/fuzz/input.hpp"

namespace {

using namespace echoform;

Configuration file() {
  Configuration configuration;
  configuration.imaging.memory_limit = 1e8;
  return configuration;
}

std::string settings_of(Control& control) {
  wire::ControlRequest request;
  request.set_action("get");
  std::string all;
  const wire::ControlReply reply = control.handle(request);
  for (const auto& setting : reply.settings()) all += setting.key() + " = " + setting.value() + "\n";
  return all;
}

std::shared_ptr<const ImagingSetup> setup_of(const Configuration& configuration, const Material& material) {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(4, Metres(0.6e-3), Metres(0.53e-3), Hertz(5e6), Hertz(3e6));
  acquisition.samples = 256;
  acquisition.sample_rate = Hertz(40e6);
  return Control::first_setup_factory(configuration, material)(acquisition);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  spdlog::set_level(spdlog::level::off);
  const google::protobuf::LogSilencer silencer;
  static const SystemClock clock;
  static const Material material{MetresPerSecond(6000.0), MetresPerSecond(3000.0)};
  static const Configuration started = file();
  wire::ControlRequest request;
  if (!request.ParseFromArray(data, static_cast<int>(size))) return 0;

  Pipeline pipeline({}, Control::first_setup_factory(started, material), {}, clock);
  Control control(started, material, pipeline);
  static_cast<void>(control.is_quick(request));
  const std::string before = settings_of(control);
  const wire::ControlReply reply = control.handle(request);
  fuzz::require(wire::ControlOutcome_IsValid(reply.outcome()) && reply.outcome() != wire::CONTROL_OUTCOME_UNSPECIFIED,
                "every request has an outcome");
  fuzz::require(reply.revision() == control.revision() && !reply.streaming(), "a reply says how things stand");
  if (reply.outcome() != wire::DONE) {
    fuzz::require_one_line(reply.reason());
    fuzz::require(reply.revision() == 1 && settings_of(control) == before, "what is refused has changed nothing");
    return 0;
  }
  const std::string after = settings_of(control);
  fuzz::require((reply.revision() == 2) == (after != before), "a revision for every change");
  try {
    fuzz::require(setup_of(control.configuration(), material) != nullptr, "a setup");
  } catch (const InputError& error) {
    fuzz::require_one_line(error.what());
  }

  wire::ControlRequest again;
  again.set_action("set");
  for (const auto& setting : reply.settings()) {
    if (again.changes_size() == 64) break;  // no more are taken at once
    auto& change = *again.add_changes();
    change.set_key(setting.key());
    change.set_value(setting.value());
  }
  if (again.changes_size() > 0 && request.action() == "set") {
    const wire::ControlReply same = control.handle(again);
    fuzz::require(same.outcome() == wire::DONE && same.settings().empty(), "settings as they are shown are the same settings");
  }
  wire::ControlRequest reset;
  reset.set_action("reset");
  fuzz::require(control.handle(reset).outcome() == wire::DONE && settings_of(control) == before, "a reset goes back to the file");
  return 0;
}
