// The keys of [recorder].
#include "base/text.hpp"
#include "config/key_types.hpp"
#include "formats/frame_writer.hpp"
#include "recording/recorder_section.hpp"

namespace echoform {
namespace {

constexpr auto behind_words =
    make_words(std::pair{WhenBehind::skip, std::string_view("skip")}, std::pair{WhenBehind::wait, std::string_view("wait")});

constexpr double most_bytes = 1e15;

/// The phrase "a name that ends in .mfmc or .onde", with the formats that are written.
std::string file_names() {
  const std::vector<std::string> extensions = frame_file_extensions();
  std::string text = "a name that ends in ";
  for (std::size_t k = 0; k < extensions.size(); ++k) {
    if (k > 0) text += k + 1 < extensions.size() ? ", " : " or ";
    text += extensions[k];
  }
  return text;
}

}  // namespace

KeyGroup recorder_keys() {
  KeyGroup group;
  group.sections = {{"recorder", "Raw frames into files while they are imaged, of `echoform serve` and `echoform demo`."}};
  std::vector<Key>& k = group.keys;
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  k.push_back(text(
      {"recorder", "folder", "", "Where recordings are written, a folder that is there; empty is no recorder."}, "", any_text,
      [](auto& c) -> auto& { return section<RecorderSection>(c).folder; }));
  k.push_back(text(
      {"recorder", "file", "",
       "Name of each file: {name} is [server] name, {time} the first frame's time in UTC (20260314T092653Z), or that at which "
       "recording was asked for. A name that is "
       "taken "
       "gets -2, -3 and so on before its extension; nothing is overwritten."},
      file_names(), any_text, [](auto& c) -> auto& { return section<RecorderSection>(c).file; }));
  k.push_back(boolean(
      {"recorder", "at_start", "", "Whether recording begins with the server; else it waits until it is asked to."},
      [](auto& c) -> auto& { return section<RecorderSection>(c).at_start; }));
  k.push_back(integer(
      {"recorder", "frames_per_file", "", "After so many frames the next file begins; 0 is no limit."}, within(0, 1e12),
      [](auto& c) -> auto& { return section<RecorderSection>(c).frames_per_file; }));
  k.push_back(integer(
      {"recorder", "bytes_per_file", "bytes", "Before a file's samples exceed this the next one begins; 0 is no limit."},
      within(0, most_bytes), [](auto& c) -> auto& { return section<RecorderSection>(c).bytes_per_file; }));
  k.push_back(integer(
      {"recorder", "keep_files", "",
       "The oldest file that this run wrote is deleted once there are more than so many; 0 keeps all."},
      within(0, 1e6), [](auto& c) -> auto& { return section<RecorderSection>(c).keep_files; }));
  k.push_back(integer(
      {"recorder", "min_free_bytes", "bytes", "Recording ends where a frame would leave less room on the disk."},
      within(0, most_bytes), [](auto& c) -> auto& { return section<RecorderSection>(c).min_free_bytes; }));
  k.push_back(integer(
      {"recorder", "waiting_frames", "",
       "Frames that may wait for the disk. Memory for them is taken when a stream opens, besides [imaging] memory_limit."},
      within(1, 4096), [](auto& c) -> auto& { return section<RecorderSection>(c).waiting_frames; }));
  k.push_back(word(
      {"recorder", "when_behind", "",
       "When so many wait: leave the frame out of the recording and count it (skip), or hold the pipeline back (wait)."},
      behind_words, [](auto& c) -> auto& { return section<RecorderSection>(c).when_behind; }));
  k.push_back(number(
      {"recorder", "flush_interval", "s",
       "How often what was recorded is forced to the disk, against a loss of power; 0 leaves that to the system."},
      within(0.0, 3600.0), [](auto& c) -> auto& { return section<RecorderSection>(c).flush_interval; }));
  return group;
}

}  // namespace echoform
