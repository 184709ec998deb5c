// Lookups per second of the beamformer within a frame, counted in both ways of LookupCount.
#pragma once

#include <string>

#include "apps/bench/outcome.hpp"
#include "benchmarks/frame.hpp"
#include "benchmarks/lookups.hpp"

namespace echoform::bench {

struct LookupRate {
  benchmarks::LookupCount a_frame;
  benchmarks::LookupCount a_second;
};

/// Over all views; counting takes about as long as an image on `threads` threads.
[[nodiscard]] LookupRate lookup_rate(const ImagingPlan& plan, const benchmarks::FrameReport& report, std::size_t threads);

/// "1.234 G lookups/s where rays reach, within the A-scan (1.402 of all pairs and pixels)"
[[nodiscard]] std::string text_of(const LookupRate& rate);
[[nodiscard]] json json_of(const LookupRate& rate);

}  // namespace echoform::bench
