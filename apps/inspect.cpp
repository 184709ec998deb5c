// echoform inspect: reports what a recording holds, and whether it follows the rules of its format.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <unordered_set>
#include <variant>

#include "acquisition/detectors.hpp"
#include "acquisition/event_text.hpp"
#include "acquisition/facing.hpp"
#include "acquisition/longest_extent.hpp"
#include "acquisition/words.hpp"
#include "apps/command.hpp"
#include "apps/inspect_capture.hpp"
#include "apps/text_output.hpp"
#include "base/errors.hpp"
#include "formats/mfmc_check.hpp"
#include "formats/recording.hpp"
#include "methods/array_shape.hpp"
#include "methods/registry.hpp"
#include "offline/recorded_frame.hpp"

namespace echoform {
namespace {

struct Inspection {
  std::unique_ptr<Recording> recording;  // null if the file cannot be imaged
  std::string problem;                   // the reason, if it cannot be imaged
  std::optional<MfmcFindings> mfmc;
  std::unique_ptr<CaptureScan> capture;
};

std::string velocity_text(MetresPerSecond velocity) {
  return velocity.value > 0.0 ? fmt::format("{:g} m/s", velocity.value) : std::string("not stated");
}

std::string probe_text(const Probe& probe) {
  std::size_t dead = 0;
  for (const Element& element : probe.elements) dead += element.dead ? 1 : 0;
  std::string text = fmt::format("{} elements", probe.elements.size());
  if (dead > 0) text += fmt::format(", {} dead", dead);
  const auto range = [&](Metres Point::*axis) {
    const auto [least, greatest] =
        std::minmax_element(probe.elements.begin(), probe.elements.end(),
                            [&](const auto& a, const auto& b) { return a.centre.*axis < b.centre.*axis; });
    return fmt::format("{:.4g} to {:.4g} mm", 1e3 * (least->centre.*axis).value, 1e3 * (greatest->centre.*axis).value);
  };
  const ArrayShape shape = array_shape(probe);
  if (shape.line) {
    text += fmt::format(", from x = {}", range(&Point::x));
    // A line that is rotated or curved extends along other axes, too.
    const auto extends = [&](Metres Point::*axis) {
      const auto [least, greatest] =
          std::ranges::minmax(probe.elements, {}, [axis](const Element& element) { return (element.centre.*axis).value; });
      return ((greatest.centre.*axis) - (least.centre.*axis)).value > same_place * shape.aperture.value;
    };
    if (extends(&Point::y)) text += ", y = " + range(&Point::y);
    if (extends(&Point::z)) text += ", z = " + range(&Point::z);
    if (probe.elements.size() > 1) {
      text += shape.even
                  ? fmt::format(", pitch {:.4g} mm", 1e3 * shape.pitch.value)
                  : fmt::format(", neighbours {:.4g} to {:.4g} mm apart", 1e3 * shape.nearest.value, 1e3 * shape.farthest.value);
    }
  } else {
    text += fmt::format(" in two directions, x = {}, y = {}", range(&Point::x), range(&Point::y));
    if (shape.pitch.value > 0.0 && shape.pitch_across.value > 0.0) {
      text += fmt::format(", pitch {:.4g} x {:.4g} mm", 1e3 * shape.pitch.value, 1e3 * shape.pitch_across.value);
    }
  }
  if (probe.centre_frequency.value > 0.0) text += fmt::format(", {:.4g} MHz", 1e-6 * probe.centre_frequency.value);
  return text;
}

/// An event in the form of WIRE.md: {"element": 3}, {"plane_wave": {"slowness_x": ...}, "receivers": [...]}.
nlohmann::json json_of(const TransmitEvent& event, bool at_positions) {
  const EventFacts facts = facts_of(event.form);
  nlohmann::json numbers = nlohmann::json::object();
  for (const auto& [name, value] : facts.numbers) {
    nlohmann::json& stated = numbers[std::string(name)];
    std::visit([&stated](const auto& number) { stated = number; }, value);
  }
  // A form with a single number of the same name is written as that number.
  const std::string form(facts.form);
  nlohmann::json out{{form, numbers.contains(form) ? numbers[form] : numbers}};
  if (!event.receivers.empty()) out["receivers"] = event.receivers;
  if (at_positions) out["position"] = event.position;
  return out;
}

nlohmann::json json_of(const Pose& pose) {
  const auto list = [](double x, double y, double z) { return nlohmann::json{x, y, z}; };
  return {{"origin", list(pose.origin.x.value, pose.origin.y.value, pose.origin.z.value)},
          {"x_direction", list(pose.x.x, pose.x.y, pose.x.z)},
          {"y_direction", list(pose.y.x, pose.y.y, pose.y.z)}};
}

/// Formats poses, for example "25 of the probe, from (0, 0, 0) to (12, 0, 0) mm".
std::string poses_text(const std::vector<Pose>& poses) {
  const auto text = [](const Point& at) {
    return fmt::format("({:.4g}, {:.4g}, {:.4g})", 1e3 * at.x.value, 1e3 * at.y.value, 1e3 * at.z.value);
  };
  return fmt::format("{} of the probe, from {} to {} mm", poses.size(), text(poses.front().origin), text(poses.back().origin));
}

/// Positions of the probe's encoder that frames state.
struct Positions {
  std::size_t frames = 0;  ///< frames that state a position
  EncoderCount first = 0;  ///< first and last are in the order of frames
  EncoderCount last = 0;
  std::size_t distinct = 0;
};

Positions positions_of(const Recording& recording) {
  Positions found;
  std::unordered_set<EncoderCount> distinct;
  for (std::size_t frame = 0; frame < recording.frames(); ++frame) {
    const auto position = recording.stamp(frame).position;
    if (!position) continue;
    if (found.frames++ == 0) found.first = *position;
    found.last = *position;
    distinct.insert(*position);
  }
  found.distinct = distinct.size();
  return found;
}

/// Warnings of the reader, and doubts about the values that the recording states.
std::vector<std::string> warnings_of(const Recording& recording) {
  std::vector<std::string> lines = recording.warnings();
  for (std::string& line :
       doubts_about_data({}, recorded_acquisition(recording, 0), {recording.material(), recording.wedge_velocity()}))
    lines.push_back(std::move(line));
  return lines;
}

void print_row(std::string_view name, std::string_view text) {
  print_result("{:<11} {}\n", name, terminal_text(text, LineBreaks::replaced));
}

void print_text(const Inspection& found) {
  if (found.recording) {
    const Acquisition& a = found.recording->acquisition();
    const Material material = found.recording->material();
    print_row("recording", found.recording->describe());
    print_row("probe", probe_text(a.probe));
    if (all_passive(a.events)) print_row("detectors", "look " + facing_text(detectors_of(a)));
    print_row("matrix", fmt::format("{}, {} A-scans", pairs_word(a), a.a_scans()));
    if (!a.events.empty()) {
      print_row("events", fmt::format("{}: {}", a.events.size(), events_text(a, material.longitudinal_velocity)));
    }
    if (!a.positions.empty()) print_row("poses", poses_text(a.positions) + ", in each frame");
    print_row("samples",
              fmt::format("{} at {:.6g} MHz from {:.6g} us", a.samples, 1e-6 * a.sample_rate.value, 1e6 * a.start_time.value));
    print_row("frames", fmt::format("{}", found.recording->frames()));
    if (const Positions at = positions_of(*found.recording); at.frames > 0) {
      std::string line = fmt::format("encoder from {} to {}, {} distinct", at.first, at.last, at.distinct);
      if (at.frames < found.recording->frames())
        line += fmt::format("; {} frames state none", found.recording->frames() - at.frames);
      print_row("positions", line);
    }
    print_row("velocities", fmt::format("longitudinal {}, shear {}", velocity_text(material.longitudinal_velocity),
                                        velocity_text(material.shear_velocity)));
    if (const MetresPerSecond wedge = found.recording->wedge_velocity(); wedge.value > 0.0)
      print_row("wedge", fmt::format("longitudinal {}", velocity_text(wedge)));
    for (const std::string& line : warnings_of(*found.recording)) print_row("warning", line);
  } else {
    print_row("not imaged", found.problem);
  }
  if (found.capture) print_capture(*found.capture);
  if (!found.mfmc) return;
  print_row("encoding", found.mfmc->sample_type.empty() ? "unknown" : found.mfmc->sample_type);
  print_row("time", found.mfmc->date_and_time.empty() ? "not stated" : found.mfmc->date_and_time);
  print_row("version", found.mfmc->version.empty() ? "not stated" : found.mfmc->version);
  for (const std::string& line : found.mfmc->violations) print_row("violation", line);
  if (found.mfmc->not_shown > 0) print_row("", fmt::format("and {} more", found.mfmc->not_shown));
  if (found.mfmc->violations.empty()) print_row("checks", "all rules of MFMC 2.0 kept");
}

void print_json(const std::string& path, const Inspection& found) {
  nlohmann::json out{{"file", path}, {"imaged", found.recording != nullptr}};
  if (found.recording) {
    const Acquisition& a = found.recording->acquisition();
    const Material material = found.recording->material();
    out["elements"] = a.elements();
    out["matrix"] = pairs_word(a);
    for (const TransmitEvent& event : a.events) out["events"].push_back(json_of(event, !a.positions.empty()));
    for (const Pose& pose : a.positions) out["poses"].push_back(json_of(pose));
    out["a_scans"] = a.a_scans();
    out["samples"] = a.samples;
    out["sample_rate"] = a.sample_rate.value;
    out["start_time"] = a.start_time.value;
    if (a.pulse_repetition.value > 0.0) out["pulse_repetition"] = a.pulse_repetition.value;
    out["centre_frequency"] = a.probe.centre_frequency.value;
    out["frames"] = found.recording->frames();
    if (const Positions at = positions_of(*found.recording); at.frames > 0) {
      out["positions"] = {{"frames", at.frames}, {"first", at.first}, {"last", at.last}, {"distinct", at.distinct}};
    }
    out["longitudinal_velocity"] = material.longitudinal_velocity.value;
    out["shear_velocity"] = material.shear_velocity.value;
    if (const MetresPerSecond wedge = found.recording->wedge_velocity(); wedge.value > 0.0) out["wedge_velocity"] = wedge.value;
    out["description"] = found.recording->describe();
    out["warnings"] = warnings_of(*found.recording);
  } else {
    out["problem"] = found.problem;
  }
  if (found.mfmc) {
    out["encoding"] = found.mfmc->sample_type;
    out["date_and_time"] = found.mfmc->date_and_time;
    out["version"] = found.mfmc->version;
    out["sequences"] = found.mfmc->sequences;
    out["unfinished"] = found.mfmc->unfinished;
    out["violations"] = found.mfmc->violations;
    out["violations_not_shown"] = found.mfmc->not_shown;
  }
  if (found.capture) out.update(json_of_capture(*found.capture));
  print_result("{}\n", out.dump(2, ' ', true, nlohmann::json::error_handler_t::replace));
}

int inspect(const std::string& path, bool json) {
  Inspection found;
  const auto extension = std::filesystem::path(path).extension();
  if (extension == mfmc_extension) {
    found.mfmc = check_mfmc(path);
    found.recording = std::move(found.mfmc->recording);
    found.problem = found.mfmc->not_imaged;
  } else {
    try {
      found.recording = open_recording(path);
    } catch (const InputError& error) {
      // A capture that follows its rules may hold data that cannot be imaged; then the check of the file says more.
      if (extension != capture_extension || !std::filesystem::is_regular_file(path)) throw;
      found.problem = error.what();
    }
  }
  if (extension == capture_extension) found.capture = std::make_unique<CaptureScan>(path, RecordingOptions{}.limits);
  if (json) {
    print_json(path, found);
  } else {
    print_text(found);
  }
  const bool broken =
      (found.mfmc && !found.mfmc->violations.empty()) || (found.capture && !capture_faults(*found.capture).empty());
  return broken ? 2 : 0;
}

}  // namespace

Action define_inspect(CLI::App& options) {
  struct Chosen {
    std::string input;
    bool json = false;
  };
  auto chosen = std::make_shared<Chosen>();
  options.add_option("INPUT", chosen->input, "The recording")->required();
  options.add_flag("--json", chosen->json, "Print one object, in SI units, for scripts");
  return [chosen] { return inspect(chosen->input, chosen->json); };
}

}  // namespace echoform
