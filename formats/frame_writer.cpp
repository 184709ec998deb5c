#include "formats/frame_writer.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"
#include "formats/recording_formats.hpp"

namespace echoform {
namespace {

using formats::FrameFormat;

const FrameFormat& format_of(const std::filesystem::path& path, const std::string& where) {
  for (const formats::RecordingFormat* const format : formats::recording_formats()) {
    if (format->writer != nullptr && path.extension() == format->extensions.front()) return *format->writer;
  }
  throw InputError(where, fmt::format("\"{}\"", path.filename().string()),
                   fmt::format("a file that ends in {}", fmt::join(frame_file_extensions(), ", ")));
}

}  // namespace

std::vector<std::string> frame_file_extensions() {
  std::vector<std::string> extensions;
  for (const bool grows : {true, false}) {
    for (const formats::RecordingFormat* const format : formats::recording_formats()) {
      if (format->writer != nullptr && format->writer->grows == grows) extensions.emplace_back(format->extensions.front());
    }
  }
  return extensions;
}

void check_frame_file_name(const std::filesystem::path& path, const std::string& where) {
  static_cast<void>(format_of(path, where));
}

void check_frame_file_states(const std::filesystem::path& path, const Material& material) {
  const std::string_view velocity_of = format_of(path, path.string()).velocity_of;
  if (velocity_of.empty() || material.longitudinal_velocity.value > 0.0) return;
  throw InputError(path.string(), "no velocity of longitudinal waves",
                   fmt::format("one, which {} states: `convert --longitudinal-velocity M/S`, or `[material] "
                               "longitudinal_velocity` of `record` and `serve`",
                               velocity_of));
}

std::uint64_t most_frames_of_file(const std::filesystem::path& path) {
  return format_of(path, path.string()).most_frames;
}

std::string_view samples_of_file(const std::filesystem::path& path, const Acquisition& acquisition) {
  const FrameFormat& format = format_of(path, path.string());
  return format.samples_as != nullptr ? format.samples_as(acquisition) : "they are";
}

void check_frame_file_holds(const std::filesystem::path& path, const Acquisition& acquisition, const std::string& where) {
  format_of(path, where).check(acquisition, where);
}

std::unique_ptr<FrameWriter> make_frame_writer(const std::filesystem::path& path, const Acquisition& acquisition,
                                               const FrameWriterOptions& options) {
  check_frame_file_states(path, options.material);
  return format_of(path, path.string()).make(path, acquisition, options);
}

}  // namespace echoform
