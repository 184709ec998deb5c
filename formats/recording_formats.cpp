#include "formats/recording_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/errors.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/mat5_check.hpp"

namespace echoform::formats {
namespace {

/// The names before the first empty one.
std::span<const std::string_view> stated(std::span<const std::string_view> names) {
  return names.first(static_cast<std::size_t>(std::ranges::find(names, std::string_view{}) - names.begin()));
}

/// Joins names as in "a, b, and c".
std::string listed(const std::vector<std::string_view>& names, std::string_view last) {
  std::string text;
  for (std::size_t k = 0; k < names.size(); ++k)
    text += fmt::format("{}{}{}", k == 0 ? "" : ", ", k > 0 && k + 1 == names.size() ? last : "", names[k]);
  return text;
}

const RecordingFormat* marked_format(const InputFile& input, std::span<const RecordingFormat* const> by_rank) {
  const Hdf5Session session;
  const Hdf5Handle file = open_hdf5(input);
  const auto found = std::ranges::find_if(by_rank, [&](const RecordingFormat* format) { return format->mark->in(file); });
  return found == by_rank.end() ? nullptr : *found;
}

}  // namespace

std::span<const std::string_view> RecordingFormat::its_extensions() const {
  return stated(extensions);
}

std::span<const std::string_view> RecordingFormat::its_fuzzers() const {
  return stated(fuzzers);
}

std::span<const RecordingFormat* const> recording_formats() {
#define ECHOFORM_ENTRY(NAME) &NAME##_format,
  static constexpr std::array all{ECHOFORM_RECORDING_FORMATS(ECHOFORM_ENTRY)};
#undef ECHOFORM_ENTRY
  return all;
}

std::unique_ptr<Recording> open_as(const RecordingFormat& format, const InputFile& file, const RecordingOptions& options,
                                   Trial trial) {
  if (!format.always_hdf5.empty()) require_hdf5(file, format.always_hdf5);
  // HDF5 1.10 can crash on damaged files, and no check of ours covers its format.
  if (trial == Trial::first && format.try_reading != nullptr && is_hdf5_file(file)) {
    try_in_child(
        file.name(), [&] { format.try_reading(file, options); },
        format.trial_limits != nullptr ? format.trial_limits(file) : TrialLimits{});
  }
  return format.open(file, options);
}

void require_hdf5(const InputFile& file, std::string_view expected) {
  if (!is_hdf5_file(file)) throw InputError(file.name(), "no HDF5 signature", std::string(expected));
}

const RecordingFormat& format_by_mark(const InputFile& file, std::span<const RecordingFormat* const> candidates) {
  require_hdf5(file, "an HDF5 file");
  std::vector<const RecordingFormat*> by_rank;
  std::ranges::copy_if(candidates, std::back_inserter(by_rank), [](const auto* format) { return format->mark.has_value(); });
  std::ranges::sort(by_rank, {}, [](const RecordingFormat* format) { return format->mark->rank; });
  // A child process tries first, as in open_as().
  try_in_child(file.name(), [&] { static_cast<void>(marked_format(file, by_rank)); });
  if (const RecordingFormat* const format = marked_format(file, by_rank)) return *format;
  std::vector<std::string_view> marks;
  std::vector<std::string_view> names;
  for (const RecordingFormat* const format : by_rank) {
    marks.push_back(format->mark->called);
    names.push_back(format->name);
  }
  throw InputError(file.name(), "none of " + listed(marks, "and "), "a recording: " + listed(names, "or "));
}

}  // namespace echoform::formats
