// What is read and written, for people.
#pragma once

#include <string>

namespace echoform {

/// docs/formats.md, made of the tables of formats: those too that this build does not write.
[[nodiscard]] std::string formats_markdown();

/// A line of help for each format that this build writes images in: two spaces, the extension, what it holds.
[[nodiscard]] std::string image_formats_help();

}  // namespace echoform
