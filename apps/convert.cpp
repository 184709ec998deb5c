// echoform convert: converts a recording to another format.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "acquisition/ranges.hpp"
#include "acquisition/words.hpp"
#include "apps/command.hpp"
#include "apps/common.hpp"
#include "apps/play.hpp"
#include "apps/text_output.hpp"
#include "base/errors.hpp"
#include "formats/atomic_file.hpp"
#include "formats/capture_file.hpp"
#include "formats/frame_writer.hpp"
#include "formats/recording.hpp"
#include "methods/registry.hpp"
#include "offline/recorded_frame.hpp"

namespace echoform {
namespace {

struct ConvertOptions {
  std::string input;
  std::string output;
  std::size_t first = 0;
  std::size_t frames = 0;  ///< 0: all
  std::optional<std::size_t> frame;
  std::size_t sequence = 0;
  std::optional<double> longitudinal_velocity;  ///< m/s
};

/// The material that the output states: the requested one, or else that of the recording. Throws InputError where the format of
/// `path` cannot state it.
Material material_of(const ConvertOptions& chosen, const std::filesystem::path& path, const Recording& recording) {
  Material material = recording.material();
  if (!chosen.longitudinal_velocity) return material;
  constexpr const char* option = "--longitudinal-velocity";
  const MetresPerSecond velocity(*chosen.longitudinal_velocity);
  if (!(velocity >= minimum_velocity && velocity <= maximum_velocity)) {
    throw InputError(option, fmt::format("{:g}", velocity.value),
                     fmt::format("{:g} to {:g} m/s", minimum_velocity.value, maximum_velocity.value));
  }
  if (path.extension() == capture_extension)
    throw InputError(option, chosen.output,
                     fmt::format("a file that states velocities, which {} has no word for", capture_extension));
  material.longitudinal_velocity = velocity;
  return material;
}

/// The first frame and the number of frames.
std::pair<std::size_t, std::size_t> range_of(const ConvertOptions& chosen, std::size_t frames) {
  const std::size_t first = chosen.frame.value_or(chosen.first);
  if (first >= frames) {
    throw InputError(chosen.frame ? "--frame" : "--first", fmt::format("{}", first),
                     fmt::format("0 to {}, the frames of {}", frames - 1, chosen.input));
  }
  const std::size_t wanted = chosen.frame ? 1 : chosen.frames;
  return {first, wanted == 0 ? frames - first : std::min(wanted, frames - first)};
}

std::map<EncoderCount, Pose> places_by_count(const Recording& recording) {
  std::map<EncoderCount, Pose> places;
  for (std::size_t frame = 0; frame < recording.frames(); ++frame) {
    const auto pose = recording.pose(frame);
    const auto count = recording.stamp(frame).position;
    if (pose && count) places.emplace(*count, *pose);
  }
  return places;
}

int convert(const ConvertOptions& chosen) {
  const std::filesystem::path path(chosen.output);
  check_frame_file_name(path, "OUTPUT");
  check_output_place(path);
  require_absent(path, chosen.output);
  const auto recording = open_recording(chosen.input, {.sequence = chosen.sequence});
  log_warnings(*recording);
  const auto [first, count] = range_of(chosen, recording->frames());
  if (const auto most = most_frames_of_file(path); most > 0 && count > most) {
    throw InputError(chosen.output, fmt::format("{} frames", count),
                     fmt::format("{}, which is all that such a file holds: choose it with --frame", most));
  }
  Acquisition stored = recording->stored();
  // Frames that are placed by their encoder counts keep the counts, and the placements too if the format can store them.
  const bool by_counts = recording->placed_by_encoder();
  stored.probe = by_counts ? recording->probe_at(Pose{}) : recording->probe(first);
  if (path.extension() == capture_extension) use_one_element_size(stored.probe);
  check_frame_file_holds(path, stored, chosen.output);
  for (std::size_t frame = first + 1; frame < first + count && !by_counts; ++frame) {
    if (recording->probe(frame) != recording->probe(first)) {
      throw InputError(fmt::format("{}, frame {}", chosen.input, frame), "a probe that has moved", "one that stays where it is");
    }
  }
  FrameWriterOptions options{
      .material = material_of(chosen, path, *recording), .recorded = recording->stamp(first).acquisition_time, .whole = true};
  log_doubts_about_data({}, stored, {options.material, recording->wedge_velocity()});
  if (by_counts) options.pose = [places = places_by_count(*recording)](EncoderCount at) { return places.at(at); };
  const auto writer = make_frame_writer(path, stored, options);
  std::vector<std::byte> bytes(stored.frame_bytes());
  ProgressBar bar({1.0});
  bar.step("converting");
  for (std::size_t frame = first; frame < first + count; ++frame) {
    bar.share(static_cast<double>(frame - first) / static_cast<double>(count), fmt::format("frame {}", frame));
    recording->read_stored(frame, bytes);
    writer->append(bytes, recording->stamp(frame));
  }
  writer->close();
  print_result("{}\nwrote {} frames, {} as {}, to {}\n", recording->describe(), writer->frames(),
               words::sample_encoding.of(stored.encoding), samples_of_file(path, stored), chosen.output);
  return 0;
}

}  // namespace

Action define_convert(CLI::App& options) {
  auto chosen = std::make_shared<ConvertOptions>();
  options.add_option("INPUT", chosen->input, "The recording: " + fmt::format("{}", fmt::join(recording_extensions(), ", ")))
      ->required();
  options.add_option("OUTPUT", chosen->output, "A new file: " + fmt::format("{}", fmt::join(frame_file_extensions(), ", ")))
      ->required();
  auto* const frame =
      options.add_option("--frame", chosen->frame, "This frame alone, counted from 0")->check(whole_number())->option_text("K");
  options.add_option("--first", chosen->first, "The first frame, counted from 0")
      ->check(whole_number())
      ->excludes(frame)
      ->option_text("K (0)");
  options.add_option("--frames", chosen->frames, "So many frames; 0: all")
      ->check(whole_number())
      ->excludes(frame)
      ->option_text("N (0)");
  options.add_option("--sequence", chosen->sequence, "Of an input that holds several, counted from 0")
      ->check(whole_number())
      ->option_text("K (0)");
  options
      .add_option("--longitudinal-velocity", chosen->longitudinal_velocity,
                  "Of longitudinal waves, which OUTPUT states instead of what INPUT does or does not")
      ->option_text("M/S");
  return [chosen] { return convert(*chosen); };
}

}  // namespace echoform
