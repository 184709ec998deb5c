// What [openigtlink] says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace echoform {

/// Which of a view's two images are sent.
enum class OpenIgtlinkImages : std::uint8_t { display, envelope, both };

/// Found by section<OpenIgtlinkSection>(configuration).
struct OpenIgtlinkSection {
  std::string listen;  ///< empty: no OpenIGTLink server
  OpenIgtlinkImages images = OpenIgtlinkImages::display;
  std::vector<std::string> views;  ///< empty: all
  double max_rate = 30.0;          ///< images per second, of each stream to each client; 0: no limit
  std::size_t max_clients = 16;
  Seconds client_timeout{20.0};
};

}  // namespace echoform
