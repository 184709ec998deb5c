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

  /// Of as many as one position is measured by: about as many A-scans.
  [[nodiscard]] std::size_t frames_of(std::size_t frames) const { return std::max<std::size_t>(3, frames / positions); }
};

/// In the order of the report; int16, FULL. Paper 000 states elements, samples, pixels, their square of 40 mm and 2 MHz; pitch,
/// water path, radius and sampling are chosen so that the square is reached within the samples. It has no time of several
/// positions.
[[nodiscard]] std::vector<ViewCase> view_cases();

/// The two parts of paper 000 from one position of the probe and, without a published time, from 25 within a frame.
[[nodiscard]] std::vector<ViewCase> position_cases();

/// The two parts of paper 000 from one position of the probe and, without a published time, from 25 within a frame.
[[nodiscard]] std::vector<ViewCase> position_cases();

/// The plan of a case with another accuracy (ImagingPlan::accuracy), all samples imaged. Takes as long as its rays take.
[[nodiscard]] std::shared_ptr<const ImagingPlan> plan_of(const ViewCase& test, double accuracy);

}  // namespace echoform::bench
