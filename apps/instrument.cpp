// echoform instrument: a simulated instrument that speaks as the real one does.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <thread>

#include "apps/command.hpp"
#include "apps/common.hpp"
#include "apps/doors.hpp"
#include "apps/text_output.hpp"
#include "base/errors.hpp"
#include "base/host_port.hpp"
#include "config/micropulse_section.hpp"
#include "instruments/instrument_server.hpp"
#include "instruments/micropulse_simulator/simulated_instrument.hpp"
#include "instruments/us_lab4a_simulator/simulated_array.hpp"
#include "methods/registry.hpp"

namespace echoform {
namespace {

/// Until a stop is requested.
int serve(SimulatedPeer& instrument, std::string_view name, const Configuration& configuration, const HostPort& place,
          const StopSignals& signals) {
  log_doubts(configuration);
  InstrumentServer server(place.host, place.port, instrument);
  print("a simulated {} listens at {}\n", name, host_port_text(place.host, server.port()));
  server.run(signals.token());
  return 0;
}

int simulate_micropulse(const Configuration& configuration, const HostPort& place) {
  const auto& stated = section<MicropulseSection>(configuration);
  const micropulse_simulator::Habits habits{.high_bits = stated.justified == MicropulseJustified::high,
                                            .channel_base = static_cast<unsigned>(stated.channel_base)};
  StopSignals signals;
  micropulse_simulator::SimulatedInstrument instrument(simulated_source(configuration), habits);
  return serve(instrument, "MicroPulse", configuration, place, signals);
}

int simulate_us_lab4a(const Configuration& configuration, const HostPort& place) {
  StopSignals signals;
  us_lab4a_simulator::SimulatedArray instrument(simulated_source(configuration));
  return serve(instrument, "array of us_lab4a", configuration, place, signals);
}

}  // namespace

Action define_instrument(CLI::App& options) {
  struct Chosen {
    std::string name;
    std::string config;
    std::string listen;
  };
  auto chosen = std::make_shared<Chosen>();
  options.add_option("NAME", chosen->name, "Which instrument: micropulse, us_lab4a")->required();
  options.add_option("--config", chosen->config, "TOML file whose [simulator] describes probe and part")->option_text("FILE");
  options
      .add_option("--listen", chosen->listen,
                  "Where it can be connected to (default: 127.0.0.1, port 1067 or 55500); port 0 takes a free one")
      ->option_text("ADDRESS:PORT");
  return [chosen] {
    const bool micropulse = chosen->name == "micropulse";
    if (!micropulse && chosen->name != "us_lab4a") {
      throw InputError("NAME", fmt::format("\"{}\"", chosen->name), "micropulse or us_lab4a");
    }
    if (chosen->listen.empty()) chosen->listen = micropulse ? "127.0.0.1:1067" : "127.0.0.1:55500";
    const HostPort place = parse_host_port(chosen->listen, "--listen");
    const Configuration configuration = configuration_from(chosen->config);
    return micropulse ? simulate_micropulse(configuration, place) : simulate_us_lab4a(configuration, place);
  };
}

}  // namespace echoform
