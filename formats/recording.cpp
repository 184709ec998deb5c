#include "formats/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "acquisition/words.hpp"
#include "base/errors.hpp"
#include "formats/recording_formats.hpp"

namespace echoform {
namespace {

using formats::RecordingFormat;

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// The formats of the extension, given in lower case; none for an empty one.
std::vector<const RecordingFormat*> formats_of(std::string_view extension) {
  std::vector<const RecordingFormat*> found;
  for (const RecordingFormat* const format : formats::recording_formats()) {
    const auto extensions = format->its_extensions();
    if (std::ranges::find(extensions, extension) != extensions.end()) found.push_back(format);
  }
  return found;
}

}  // namespace

std::vector<std::string> recording_extensions() {
  std::vector<std::string> extensions;
  for (const RecordingFormat* const format : formats::recording_formats()) {
    for (const std::string_view extension : format->its_extensions()) {
      if (std::ranges::find(extensions, extension) == extensions.end()) extensions.emplace_back(extension);
    }
  }
  return extensions;
}

std::unique_ptr<Recording> open_recording(const std::filesystem::path& given, const RecordingOptions& options) {
  // The path of a folder may end in a slash, as "scan.m2k/".
  const std::filesystem::path path = given.has_filename() ? given : given.parent_path();
  const std::string extension = lower_case(path.extension().string());
  const auto found = formats_of(extension);
  if (found.size() == 1 && found.front()->open_folder != nullptr) {
    if (std::error_code error; std::filesystem::exists(path, error) && !std::filesystem::is_directory(path, error))
      throw InputError(path.string(), "a file", fmt::format("a folder {}", extension));
    return found.front()->open_folder(path, options);
  }
  const InputFile file(path);
  if (found.empty()) {
    throw InputError(path.string(), extension.empty() ? "no extension" : fmt::format("extension \"{}\"", extension),
                     fmt::format("one of: {}", fmt::join(recording_extensions(), ", ")));
  }
  // Several HDF5 formats may share the extension: then the contents of the file determine the format.
  return open_as(found.size() == 1 ? *found.front() : formats::format_by_mark(file, formats::recording_formats()), file, options);
}

void Recording::check_request(std::size_t frame, std::size_t size) const {
  if (frame >= frames()) {
    throw InputError(path_.string(), fmt::format("a request for frame {}", frame), fmt::format("0 to {}", frames() - 1));
  }
  const std::size_t expected = acquisition_.a_scans() * acquisition_.samples;
  if (size != expected) {
    throw InputError(path_.string(), fmt::format("room for {} samples", size), fmt::format("{} a frame", expected));
  }
}

void Recording::read_stored(std::size_t frame, std::span<std::byte> bytes) {
  std::vector<float> samples(bytes.size() / sizeof(float));
  read_frame(frame, samples);
  if (!samples.empty()) std::memcpy(bytes.data(), samples.data(), samples.size() * sizeof(float));
}

void Recording::check_rows(std::size_t frame, std::span<const RowRange> rows, std::size_t bytes) const {
  if (frame >= frames()) {
    throw InputError(path_.string(), fmt::format("a request for frame {}", frame), fmt::format("0 to {}", frames() - 1));
  }
  const std::size_t a_scans = acquisition_.a_scans();
  std::size_t count = 0;
  std::size_t end = 0;  // end of the range before this one
  for (const RowRange& range : rows) {
    if (range.first < end || range.first > a_scans || range.count > a_scans - range.first) {
      throw InputError(path_.string(), fmt::format("a request for {} A-scans from {} on", range.count, range.first),
                       fmt::format("ascending ones of the {} of a frame", a_scans));
    }
    end = range.first + range.count;
    count += range.count;
  }
  if (const std::size_t expected = count * stored().bytes_per_a_scan(); bytes != expected) {
    throw InputError(path_.string(), fmt::format("room for {} bytes", bytes), fmt::format("{} for these A-scans", expected));
  }
}

void Recording::read_rows(std::size_t frame, std::span<const RowRange> rows, std::span<std::byte> bytes) {
  check_rows(frame, rows, bytes.size());
  const Acquisition stored = this->stored();
  std::vector<std::byte> whole(stored.frame_bytes());
  if (facts_of(stored.encoding).counts()) {
    read_stored(frame, whole);
  } else {
    read_frame(frame, {reinterpret_cast<float*>(whole.data()), whole.size() / sizeof(float)});
  }
  std::size_t at = 0;
  for (const RowRange& range : rows) {
    const std::size_t count = range.count * stored.bytes_per_a_scan();
    std::memcpy(bytes.data() + at, whole.data() + range.first * stored.bytes_per_a_scan(), count);
    at += count;
  }
}

std::string Recording::describe() const {
  const auto& a = acquisition_;
  std::string text =
      fmt::format("{}: {}, {} elements, {}, {} A-scans x {} samples, {:.6g} MHz sampling, start {:.6g} us, {} frame{}",
                  path_.filename().string(), format_, a.elements(), pairs_text(a), a.a_scans(), a.samples,
                  a.sample_rate.value * 1e-6, a.start_time.value * 1e6, frames(), frames() == 1 ? "" : "s");
  if (a.probe.centre_frequency.value > 0.0) text += fmt::format(", {:.6g} MHz probe", a.probe.centre_frequency.value * 1e-6);
  if (material_.longitudinal_velocity.value > 0.0)
    text += fmt::format(", longitudinal {:.6g} m/s", material_.longitudinal_velocity.value);
  if (material_.shear_velocity.value > 0.0) text += fmt::format(", shear {:.6g} m/s", material_.shear_velocity.value);
  if (a.pulse_repetition.value > 0.0) text += fmt::format(", {:.6g} events a second", a.pulse_repetition.value);
  for (const auto& note : notes_) text += "; " + note;
  return one_line(std::move(text));
}

}  // namespace echoform
