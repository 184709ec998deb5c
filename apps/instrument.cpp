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
#include "methods/registry.hpp"

namespace echoform {
namespace {

int simulate_micropulse(const Configuration& configuration, const std::string& listen) {
  const HostPort place = parse_host_port(listen, "--listen");
  const auto& stated = section<MicropulseSection>(configuration);
  const micropulse_simulator::Habits habits{.high_bits = stated.justified == MicropulseJustified::high,
                                            .channel_base = static_cast<unsigned>(stated.channel_base)};
  StopSignals signals;
  micropulse_simulator::SimulatedInstrument instrument(simulated_source(configuration), habits);
  log_doubts(configuration);
  InstrumentServer server(place.host, place.port, instrument);
  print("a simulated MicroPulse listens at {}\n", host_port_text(place.host, server.port()));
  server.run(signals.token());
  return 0;
}

}  // namespace

Action define_instrument(CLI::App& options) {
  struct Chosen {
    std::string name;
    std::string config;
    std::string listen = "127.0.0.1:1067";
  };
  auto chosen = std::make_shared<Chosen>();
  options.add_option("NAME", chosen->name, "Which instrument: micropulse")->required();
  options.add_option("--config", chosen->config, "TOML file whose [simulator] describes probe and part")->option_text("FILE");
  options
      .add_option("--listen", chosen->listen, "Where it can be connected to (default: 127.0.0.1:1067); port 0 takes a free one")
      ->option_text("ADDRESS:PORT");
  return [chosen] {
    if (chosen->name != "micropulse") throw InputError("NAME", fmt::format("\"{}\"", chosen->name), "micropulse");
    return simulate_micropulse(configuration_from(chosen->config), chosen->listen);
  };
}

}  // namespace echoform
