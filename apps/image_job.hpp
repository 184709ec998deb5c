// `echoform image`: frames of a recording into files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobs/communicator.hpp"

namespace echoform {

/// The options as given on the command line.
struct ImageOptions {
  std::string input;
  std::string config;
  std::vector<std::string> outputs;
  std::string field = "envelope";
  std::string backend;
  std::optional<std::int64_t> frame;
  std::optional<std::int64_t> from;
  std::optional<std::int64_t> to;
  std::optional<std::string> positions;
  bool by_groups = false;
  bool crop_distance = false;

  [[nodiscard]] bool many() const { return from || to; }
};

/// Makes and writes the images; with several processes each makes a part of them. An error of one process is thrown in all
/// (jobs/together.hpp).
void make_images(const ImageOptions& options, Communicator& communicator);

}  // namespace echoform
