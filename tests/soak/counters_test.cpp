// What a soak holds against a server: readings of /metrics and the counts that it foretold.
#include "apps/soak/counters.hpp"

#include <gtest/gtest.h>

namespace echoform::soak {
namespace {

constexpr std::string_view text = R"(# HELP echoform_frames_received_total Frames.
# TYPE echoform_frames_received_total counter
echoform_frames_received_total 12
echoform_frames_published_total 8
echoform_frames_dropped_total{reason="incomplete"} 2
echoform_frames_dropped_total{reason="ring_full"} 1
echoform_frames_dropped_total{reason="failed"} 0
echoform_frames_in_flight 1
echoform_output_frames_per_second 24.93
echoform_stage_duration_seconds_sum{stage="beamform",backend="cpu, avx512, 2 threads"} 0.5
echoform_decode_errors_total{reason="bad_magic"} 3
)";

TEST(MetricsText, WholeNumbersByNameAndLabels) {
  const Counters counters = parse_metrics(text);
  EXPECT_EQ(value_of(counters, counter::received), 12U);
  EXPECT_EQ(value_of(counters, counter::incomplete), 2U);
  EXPECT_EQ(value_of(counters, counter::decode_error("bad_magic")), 3U);
  EXPECT_EQ(value_of(counters, "echoform_output_frames_per_second"), 0U);
  EXPECT_EQ(value_of(counters, "absent"), 0U);
  EXPECT_EQ(parse_metrics("").size(), 0U);
}

TEST(MetricsText, ClosureAddsAllReasons) {
  Counters counters = parse_metrics(text);
  EXPECT_TRUE(closure_of(counters).closes());
  EXPECT_EQ(closure_of(counters).text(), "received 12 = published 8 + dropped 3 + in flight 1");
  EXPECT_EQ(drops_text(counters), "incomplete 2, ring_full 1");
  counters["echoform_frames_dropped_total{reason=\"stopped\"}"] = 1;
  EXPECT_FALSE(closure_of(counters).closes());
}

TEST(Expectations, NothingMayBeBeyondThemNorShortOfThem) {
  Expectations expectations(true);
  expectations.add(counter::received, 12);
  expectations.add(counter::published, 9);
  expectations.add(counter::incomplete, 2);
  expectations.add("echoform_frames_dropped_total{reason=\"ring_full\"}", 1);
  expectations.add(counter::decode_error("bad_magic"), 3);
  Counters found = parse_metrics(text);
  EXPECT_EQ(expectations.exceeded(found), std::nullopt);
  EXPECT_EQ(expectations.outstanding(found, false), std::nullopt);  // the sender goes on: a frame may be on its way
  EXPECT_EQ(expectations.outstanding(found, true), "echoform_frames_published_total: found 8; expected 9");
  found.find(counter::published)->second = 9;
  EXPECT_EQ(expectations.outstanding(found, true), "echoform_frames_in_flight: found 1; expected 0");
  found.find(counter::in_flight)->second = 0;
  EXPECT_EQ(expectations.outstanding(found, true), std::nullopt);
  ++found.find(counter::incomplete)->second;
  EXPECT_EQ(expectations.exceeded(found),
            "echoform_frames_dropped_total{reason=\"incomplete\"}: found 3; expected at most 2 by now");
}

TEST(Expectations, ACountThatNoFaultForetoldIsAViolation) {
  const Expectations expectations(true);
  EXPECT_EQ(expectations.exceeded({{"echoform_frames_dropped_total{reason=\"failed\"}", 1}}),
            "echoform_frames_dropped_total{reason=\"failed\"}: found 1; expected at most 0 by now");
  EXPECT_NE(expectations.exceeded({{std::string(counter::lost), 1}}), std::nullopt);
  EXPECT_EQ(expectations.exceeded({{"echoform_viewer_dropped_total", 100}}), std::nullopt);  // a matter of load
}

TEST(Expectations, WhatComesLaterMayComeAndThenMustHaveCome) {
  Expectations expectations(true);
  expectations.add_later(counter::timed_out);
  const Counters none;
  const Counters one{{std::string(counter::timed_out), 1}};
  EXPECT_EQ(expectations.outstanding(none, false), std::nullopt);
  EXPECT_EQ(expectations.exceeded(one), std::nullopt);
  expectations.arrived(counter::timed_out);
  EXPECT_NE(expectations.outstanding(none, false), std::nullopt);
  EXPECT_EQ(expectations.outstanding(one, false), std::nullopt);
}

TEST(Expectations, DropPoliciesDecideByLoadWhichFramesAreDropped) {
  Expectations expectations(false);
  expectations.add(counter::received, 2);
  expectations.add(counter::published, 2);
  const Counters found{{std::string(counter::received), 2},
                       {std::string(counter::published), 1},
                       {"echoform_frames_dropped_total{reason=\"superseded\"}", 1}};
  EXPECT_EQ(expectations.exceeded(found), std::nullopt);
  EXPECT_EQ(expectations.outstanding(found, true), std::nullopt);
}

TEST(Expectations, SamplesOfAFrameThatAPolicyDroppedNeedNotBeCounted) {
  for (const std::string_view name : {counter::clipped, counter::invalid}) {
    Expectations by_load(false);
    by_load.add(name, 8);
    EXPECT_EQ(by_load.outstanding({}, true), std::nullopt) << name;
    EXPECT_NE(by_load.exceeded({{std::string(name), 9}}), std::nullopt) << name;
    Expectations all(true);
    all.add(name, 8);
    EXPECT_NE(all.outstanding({}, true), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace echoform::soak
