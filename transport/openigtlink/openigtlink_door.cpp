// The keys of [openigtlink], and the sink that they configure.
#include <memory>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "config/key_types.hpp"
#include "transport/doors.hpp"
#include "transport/openigtlink/openigtlink_section.hpp"
#include "transport/openigtlink/openigtlink_sink.hpp"

namespace echoform {
namespace {

constexpr auto image_words = make_words(std::pair{OpenIgtlinkImages::display, std::string_view("display")},
                                        std::pair{OpenIgtlinkImages::envelope, std::string_view("envelope")},
                                        std::pair{OpenIgtlinkImages::both, std::string_view("both")});

KeyGroup openigtlink_keys() {
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  KeyGroup group;
  group.sections = {
      {"openigtlink",
       "Images for 3D Slicer, PLUS and others that speak OpenIGTLink (docs/openigtlink.md), of `echoform serve` and "
       "`echoform demo`."}};
  std::vector<Key>& k = group.keys;
  k.push_back(text(
      {"openigtlink", "listen", "",
       "Where clients such as 3D Slicer connect, usually at port 18944; port 0 takes a free one, empty closes it."},
      "ADDRESS:PORT or empty", address_port_or_none, [](auto& c) -> auto& { return section<OpenIgtlinkSection>(c).listen; }));
  k.push_back(word(
      {"openigtlink", "images", "", "What is sent of each view: the 8-bit display image, the float32 envelope, or both."},
      image_words, [](auto& c) -> auto& { return section<OpenIgtlinkSection>(c).images; }));
  k.push_back(text_list(
      {"openigtlink", "views", "", "The views that are sent; none named is all."}, 0, 64,
      [](auto& c) -> auto& { return section<OpenIgtlinkSection>(c).views; }));
  k.push_back(number(
      {"openigtlink", "max_rate", "1/s",
       "Images of each stream that a client gets in a second, the newest ones; 0 is as many as it takes."},
      within(0.0, 10000.0), [](auto& c) -> auto& { return section<OpenIgtlinkSection>(c).max_rate; }));
  k.push_back(integer(
      {"openigtlink", "max_clients", "",
       "Clients at once, of which one address of another host has at most half; one more is disconnected."},
      within(1, 1024), [](auto& c) -> auto& { return section<OpenIgtlinkSection>(c).max_clients; }));
  k.push_back(number(
      {"openigtlink", "client_timeout", "s", "A client that takes nothing of what is sent for this time is disconnected."},
      within(1.0, 3600.0), [](auto& c) -> auto& { return section<OpenIgtlinkSection>(c).client_timeout; }));
  return group;
}

OpenIgtlinkSinkOptions openigtlink_options(const Configuration& configuration) {
  const auto& wanted = section<OpenIgtlinkSection>(configuration);
  const HostPort place = listening_place(configuration, wanted.listen, "[openigtlink] listen");
  OpenIgtlinkSinkOptions options;
  options.name = configuration.server.name;
  options.address = place.host;
  options.port = place.port;
  options.choice = {.envelope = wanted.images != OpenIgtlinkImages::display,
                    .display = wanted.images != OpenIgtlinkImages::envelope};
  options.views = wanted.views;
  options.most_per_second = wanted.max_rate;
  options.clients = wanted.max_clients;
  options.client_timeout = in_milliseconds(wanted.client_timeout);
  options.telemetry_interval = in_milliseconds(configuration.server.telemetry_interval);
  return options;
}

OpenSink open_openigtlink(const Configuration& configuration) {
  if (section<OpenIgtlinkSection>(configuration).listen.empty()) return {};
  const std::shared_ptr<OpenIgtlinkSink> sink = make_openigtlink_sink(openigtlink_options(configuration));
  OpenSink open(sink);
  open.tell = [sink](TelemetryReport& report) {
    report.viewers.emplace_back("openigtlink", sink->clients());
    report.viewer_dropped += sink->dropped();
    report.add_refusals("openigtlink", sink->peers());
  };
  return open;
}

std::size_t clients_let_in(const Configuration& configuration) {
  const auto& wanted = section<OpenIgtlinkSection>(configuration);
  return wanted.listen.empty() ? 0 : wanted.max_clients;
}

}  // namespace

SinkDoor openigtlink_door() {
  return {.label = "OpenIGTLink", .make = open_openigtlink, .keys = openigtlink_keys(), .connections = clients_let_in};
}

}  // namespace echoform
