// echoform instrument: a simulated instrument that speaks the protocol of the real one.
#include "instruments/instrument.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "apps/command.hpp"
#include "apps/common.hpp"
#include "apps/text_output.hpp"
#include "base/errors.hpp"
#include "base/host_port.hpp"
#include "instruments/instrument_server.hpp"
#include "methods/registry.hpp"

namespace echoform {
namespace {

std::vector<std::string_view> each(std::string_view Instrument::*member) {
  std::vector<std::string_view> all;
  for (const Instrument& instrument : instruments()) all.push_back(instrument.*member);
  return all;
}

const Instrument& instrument_of(const std::string& name) {
  const auto found = std::ranges::find(instruments(), name, &Instrument::name);
  if (found == instruments().end()) {
    throw InputError("NAME", fmt::format("\"{}\"", name), fmt::format("{}", fmt::join(each(&Instrument::name), " or ")));
  }
  return *found;
}

}  // namespace

Action define_instrument(CLI::App& options) {
  struct Chosen {
    std::string name;
    std::string config;
    std::string listen;
  };
  auto chosen = std::make_shared<Chosen>();
  options.add_option("NAME", chosen->name, fmt::format("Which instrument: {}", fmt::join(each(&Instrument::name), ", ")))
      ->required();
  options.add_option("--config", chosen->config, "TOML file whose [simulator] describes probe and part")->option_text("FILE");
  options
      .add_option("--listen", chosen->listen,
                  fmt::format("Where it can be connected to (default: {}); port 0 takes a free one",
                              fmt::join(each(&Instrument::simulated_place), " or ")))
      ->option_text("ADDRESS:PORT");
  return [chosen] {
    const Instrument& instrument = instrument_of(chosen->name);
    const HostPort place =
        parse_host_port(chosen->listen.empty() ? std::string(instrument.simulated_place) : chosen->listen, "--listen");
    const Configuration configuration = configuration_from(chosen->config);
    StopSignals signals;
    const std::unique_ptr<SimulatedPeer> simulated = instrument.simulate(configuration, simulated_source(configuration));
    log_doubts(configuration);
    InstrumentServer server(place.host, place.port, *simulated);
    print("a simulated {} listens at {}\n", instrument.simulated_title, host_port_text(place.host, server.port()));
    server.run(signals.token());
    return 0;
  };
}

}  // namespace echoform
