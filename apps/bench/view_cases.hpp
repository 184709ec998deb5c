// What `views` images: the two parts in water whose times paper 000 (Table 2) gives, and four views of one acquisition.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "apps/bench/benchmark.hpp"
#include "methods/tfm/plan.hpp"

namespace echoform::bench {

struct ViewCase {
  std::string name;
  std::string configuration;  ///< TOML
  Acquisition acquisition;
  double published_cpu = 0.0;   ///< seconds an image on 12 cores (2 x Xeon X5690, OpenMP); 0: none published
  double published_cuda = 0.0;  ///< on a GTX 580
  std::size_t positions = 1;    ///< of the probe in a frame, 1 mm apart about the middle

  /// Number of frames to measure, at least 3: about as many A-scans as `frames` frames of one position hold.
  [[nodiscard]] std::size_t frames_of(std::size_t frames) const { return std::max<std::size_t>(3, frames / positions); }
};

/// The cases in the order of the report; samples are int16, the matrix is FULL. Paper 000 states the elements, samples and
/// pixels, the imaged square of 40 mm and the frequency of 2 MHz. Pitch, water path, radius and sampling rate are chosen
/// here so that the samples reach the whole square. The paper gives no time for several positions.
[[nodiscard]] std::vector<ViewCase> view_cases();

/// The two parts of paper 000 from one position of the probe and, without a published time, from 25 within a frame.
[[nodiscard]] std::vector<ViewCase> position_cases();

/// The two parts of paper 000 from one position of the probe and, without a published time, from 25 within a frame.
[[nodiscard]] std::vector<ViewCase> position_cases();

/// The plan of a case with another accuracy (ImagingPlan::accuracy), all samples imaged. Takes as long as its rays take.
[[nodiscard]] std::shared_ptr<const ImagingPlan> plan_of(const ViewCase& test, double accuracy);

}  // namespace echoform::bench
