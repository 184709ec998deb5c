// What the settings of doors come to, and what sinks at them bring along.
#include "apps/doors.hpp"

#include <gmock/gmock.h>

#include "apps/imaging_server.hpp"
#include "proto/control.pb.h"
#include "tests/openigtlink/plain_client.hpp"
#include "transport/openigtlink/openigtlink_section.hpp"
#include "transport/openigtlink/openigtlink_sink.hpp"

namespace echoform {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(Doors, LimitSendersByTheKeysOfInput) {
  InputSection input;
  input.max_elements = 17;
  input.max_samples = 4321;
  input.max_frame_bytes = 98765;
  const AcquisitionLimits limits = limits_of(input);
  EXPECT_EQ(limits.elements, 17U);
  EXPECT_EQ(limits.samples, 4321U);
  EXPECT_EQ(limits.frame_bytes, 98765U);
  EXPECT_EQ(limits.events, AcquisitionLimits{}.events);
}

class Doorman final : public ImageSink {
 public:
  void setup_changed(std::shared_ptr<const ImagingSetup> /*setup*/) override {}
  void publish(const FinishedFrame& /*frame*/) noexcept override {}
  [[nodiscard]] std::string describe() const override { return "at the door"; }
};

Configuration on_free_ports() {
  Configuration configuration;
  for (std::string* const place : {&configuration.input.listen, &configuration.server.images, &configuration.server.telemetry,
                                   &configuration.server.control, &configuration.server.web}) {
    *place = "127.0.0.1:0";
  }
  return configuration;
}

TEST(Doors, ASinkMayBringActionsTelemetryAndAnInvitationAndGetsAnswers) {
  static ServerAnswers got;  // the door stays
  static int greeted = 0;
  add_sink_door({.label = "doorman", .make = [](const Configuration& /*configuration*/) {
                   OpenSink open(std::make_shared<Doorman>());
                   open.tell = [](TelemetryReport& report) { report.viewers.emplace_back("doorman", 3); };
                   open.actions = {{"greet", true, [](const auto&, auto&) { ++greeted; }}};
                   open.take_answers = [](ServerAnswers answers) { got = std::move(answers); };
                   open.invitation = "Knock.";
                   return open;
                 }});
  const Configuration configuration = on_free_ports();
  ImagingServer server(configuration, Material{MetresPerSecond(6320.0), MetresPerSecond(3130.0)});
  EXPECT_EQ(server.viewers(), 3U);
  EXPECT_THAT(server.invitations(), Contains("Knock."));
  EXPECT_THAT(server.addresses(), Contains(HasSubstr("at the door")));
  EXPECT_EQ(server.sink<Doorman>().describe(), "at the door");
  wire::ControlRequest request;
  request.set_action("greet");
  EXPECT_EQ(server.control().handle(request).outcome(), wire::DONE);
  EXPECT_EQ(greeted, 1);
  EXPECT_THAT(got.metrics(), HasSubstr("door=\"doorman\""));
  unsigned status = 0;
  got.control("no JSON", [&](unsigned answered, const std::string& /*json*/) { status = answered; });
  EXPECT_NE(status, 0U);
  server.stop();
  EXPECT_EQ(got.metrics(), "");
}

/// Telemetry has the same report behind it as /metrics (imaging_server.cpp).
TEST(Doors, FiguresCountOpenIgtlink) {
  static ServerAnswers got;  // the door stays
  add_sink_door({.label = "listener", .make = [](const Configuration& /*configuration*/) {
                   OpenSink open(std::make_shared<Doorman>());
                   open.take_answers = [](ServerAnswers answers) { got = std::move(answers); };
                   return open;
                 }});
  Configuration configuration = on_free_ports();
  section<OpenIgtlinkSection>(configuration).listen = "127.0.0.1:0";
  section<OpenIgtlinkSection>(configuration).max_clients = 1;
  ImagingServer server(configuration, Material{MetresPerSecond(6320.0), MetresPerSecond(3130.0)});
  const std::size_t before = server.viewers();  // at doors of other tests
  EXPECT_THAT(got.metrics(), HasSubstr("subscribers{door=\"openigtlink\"} 0\n"));
  plain_igtl::Client client(server.sink<OpenIgtlinkSink>().port());
  EXPECT_EQ(client.read().type, "STATUS");
  EXPECT_EQ(server.viewers(), before + 1);
  EXPECT_THAT(got.metrics(), HasSubstr("subscribers{door=\"openigtlink\"} 1\n"));
  plain_igtl::Client second(server.sink<OpenIgtlinkSink>().port());
  EXPECT_EQ(second.read().type, "");  // no place
  EXPECT_THAT(got.metrics(), HasSubstr("peers_refused_total{door=\"openigtlink\",reason=\"too_many\"} 1\n"));
  server.stop();
}

}  // namespace
}  // namespace echoform
