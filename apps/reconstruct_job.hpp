// `echoform reconstruct`: volumes of a recording's frame into files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobs/communicator.hpp"

namespace echoform {

/// As the command line has them.
struct ReconstructOptions {
  std::string input;
  std::string config;
  std::vector<std::string> outputs;
  std::int64_t frame = 0;
  std::optional<std::int64_t> iterations;
  std::string checkpoint;
  std::optional<std::int64_t> every;
  bool resume = false;
  bool preview = false;
  std::string backend;
};

/// Solves one wavelength after the other, and writes when all are done: each process has a part of the data where there are
/// several. Errors are those of all (jobs/together.hpp).
void reconstruct_volumes(const ReconstructOptions& options, Communicator& communicator);

}  // namespace echoform
