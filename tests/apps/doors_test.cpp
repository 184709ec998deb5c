// What the settings of doors come to, and what sinks at them bring along.
#include "apps/doors.hpp"

#include <gmock/gmock.h>

#include "apps/imaging_server.hpp"
#include "proto/control.pb.h"

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
  Configuration configuration;
  for (std::string* const place : {&configuration.input.listen, &configuration.server.images, &configuration.server.telemetry,
                                   &configuration.server.control, &configuration.server.web}) {
    *place = "127.0.0.1:0";
  }
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

}  // namespace
}  // namespace echoform
