#include "formats/formats_markdown.hpp"

#include <fmt/format.h>

#include <vector>

#include "formats/image_formats.hpp"
#include "formats/recording_formats.hpp"

namespace echoform {
namespace {

std::string file_text(const formats::RecordingFormat& format) {
  std::vector<std::string> all;
  for (const std::string_view extension : format.its_extensions()) all.push_back(fmt::format("`{}`", extension));
  return fmt::format("{}{}", fmt::join(all, ", "), format.open_folder != nullptr ? ", a folder" : "");
}

std::string written_text(const formats::RecordingFormat& format) {
  if (format.writer == nullptr) return "no";
  const std::uint64_t most = format.writer->most_frames;
  std::string text = most == 0 ? "any number of frames" : most == 1 ? "one frame" : fmt::format("up to {} frames", most);
  if (format.its_extensions().size() > 1) text += fmt::format(", as `{}`", format.extensions.front());
  if (format.writer->grows) text += "; can be read while it grows";
  return text;
}

}  // namespace

std::string formats_markdown() {
  std::string text =
      "# Formats\n\n"
      "This page is printed by `echoform info --formats`; do not edit it by hand.\n\n"
      "The extension of a file says its format. Where several formats have one, what the file holds does. The last column has "
      "the\n"
      "packages of the libraries with which Echoform is built for a format.\n\n"
      "## Recordings\n\n"
      "| file | format | holds | written | packages |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const formats::RecordingFormat* const format : formats::recording_formats()) {
    text += fmt::format("| {} | [{}]({}) | {} | {} | {} |\n", file_text(*format), format->name, format->page, format->meaning,
                        written_text(*format), format->packages);
  }
  text +=
      "\n## Images and volumes\n\n"
      "| file | holds | packages |\n"
      "| --- | --- | --- |\n";
  for (const formats::ImageFormat* const format : formats::image_formats()) {
    text += fmt::format("| [`{}`]({}) | {} | {} |\n", format->extension, format->page, format->meaning, format->packages);
  }
  return text;
}

std::string image_formats_help() {
  std::string text;
  for (const formats::ImageFormat* const format : formats::image_formats()) {
    if (format->written()) text += fmt::format("  {:<6} {}\n", format->extension, format->meaning);
  }
  return text;
}

}  // namespace echoform
