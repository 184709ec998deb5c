// Messages to a program while recordings are imaged.
#pragma once

#include <functional>
#include <string>

namespace echoform {

/// Functions that take one line each. By default they do nothing.
struct ImagingMessages {
  using Take = std::function<void(const std::string&)>;
  Take note = [](const std::string& /*line*/) {};     ///< what was chosen, and why
  Take warning = [](const std::string& /*line*/) {};  ///< what is doubtful, and what an image lacks
};

}  // namespace echoform
