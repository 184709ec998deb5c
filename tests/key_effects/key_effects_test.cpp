// Every key that a method reads changes what it makes of a frame, or is refused; every other one is told of. Keys and their
// values are those of the table, so that a new key is tried without a word here.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "methods/registry.hpp"
#include "methods/unread_keys.hpp"
#include "pipeline/engine.hpp"
#include "pipeline/scan.hpp"
#include "settings/key_table.hpp"
#include "settings/reader.hpp"
#include "simulators/frame_cycle.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A small scene, and the method that images it.
struct SmallScene {
  std::string_view method;
  std::string_view name;
  std::string_view text;
};

constexpr std::string_view matrix_scene = R"(
[material]
longitudinal_velocity = 6320
shear_velocity = 3130
[grid]
x = [-0.004, 0.004]
z = [0.01, 0.02]
pixels = [7, 9]
[simulator]
elements = 8
samples = 400
points = [[0, 0.015, 1]]
)";
constexpr std::string_view immersed_scene = R"(
[material]
longitudinal_velocity = 6320
shear_velocity = 3130
[imaging]
delay_law = "immersion"
views = ["LT", "LL-L"]
[couplant]
velocity = 1480
[probe]
stand_off = 0.01
[surface]
kind = "plane"
[backwall]
kind = "plane"
z = 0.03
[grid]
x = [-0.004, 0.004]
z = [0.01, 0.02]
pixels = [7, 9]
[simulator]
elements = 8
samples = 1000
points = [[0, 0.015, 1]]
)";
constexpr std::string_view weighted_scene = R"(
[material]
longitudinal_velocity = 6320
[apodization]
angle_limit = 40
directivity = true
[acquisition]
position_count = 2
position_step = 2e-3
[grid]
x = [-0.004, 0.004]
z = [0.01, 0.02]
pixels = [7, 9]
[simulator]
elements = 8
samples = 400
points = [[0, 0.015, 1]]
)";
constexpr std::string_view waves_scene = R"(
[material]
longitudinal_velocity = 1540
[display]
pixels = [20, 24]
[grid]
x = [-0.004, 0.004]
z = [0.005, 0.012]
pixels = [7, 9]
[simulator]
elements = 8
samples = 700
longitudinal_velocity = 1540
transmit = "plane"
events = 5
points = [[0, 0.008, 1]]
)";
constexpr std::string_view volume_scene = R"(
[material]
longitudinal_velocity = 6320
[grid]
x = [-0.003, 0.003]
y = [-0.002, 0.002]
z = [0.01, 0.02]
pixels = [5, 4, 6]
[simulator]
elements = 4
rows = 3
samples = 400
points = [[0, 0.015, 1]]
)";
constexpr std::string_view flow_scene = R"(
[material]
longitudinal_velocity = 1540
[grid]
x = [-0.004, 0.004]
z = [0.005, 0.012]
pixels = [7, 90]
[doppler]
pulse_repetition = 5000
[simulator]
elements = 8
samples = 700
longitudinal_velocity = 1540
transmit = "plane"
events = 2
repeats = 8
pulse_repetition = 5000
points = [[0, 0.008, 1]]
)";
constexpr std::string_view scanned_scene = R"(
[material]
longitudinal_velocity = 6320
[scan]
path = "line"
coverage = 0.01
encoder_step = 2e-3
[grid]
x = [-0.02, 0.02]
y = [-0.01, 0.01]
z = [0.01, 0.02]
pixels = [41, 3, 11]
[simulator]
encoder_last = 6
encoder_step = 3
elements = 8
samples = 400
points = [[0, 0.015, 1]]
)";
constexpr std::string_view turned_scene = R"(
[material]
longitudinal_velocity = 6320
[scan]
path = "circle"
centre = [0, 0, 0.05]
coverage = 0.01
encoder_step = 2e-3
depth = 0.03
[grid]
x = [-0.06, 0.06]
z = [-0.01, 0.11]
pixels = [25, 25]
[simulator]
encoder_last = 6
encoder_step = 3
elements = 8
samples = 900
points = [[0, 0.015, 1]]
)";
constexpr std::string_view lines_scene = R"(
[imaging]
method = "beams"
[material]
longitudinal_velocity = 1540
[beams]
depth = [0.004, 0.012]
[simulator]
elements = 16
pitch = 0.3e-3
element_width = 0.2e-3
samples = 700
longitudinal_velocity = 1540
transmit = "beams"
events = 6
aperture = 8
origins = [-0.001, 0.001]
focus = 0.01
points = [[0, 0.008, 1]]
noise_rms = 0.05
)";
constexpr std::string_view steered_scene = R"(
[imaging]
method = "beams"
[material]
longitudinal_velocity = 1540
[beams]
depth = [0.004, 0.012]
[simulator]
elements = 16
pitch = 0.3e-3
element_width = 0.2e-3
samples = 900
longitudinal_velocity = 1540
transmit = "beams"
aperture = 8
beams = [[-0.001, -10, 0.01], [0, -10, 0.01], [0.001, -10, 0.01], [-0.001, 0, 0.01], [0, 0, 0.01], [0.001, 0, 0.01]]
points = [[0, 0.008, 1]]
noise_rms = 0.05
)";
constexpr std::string_view spectral_scene = R"(
[imaging]
method = "beams"
[material]
longitudinal_velocity = 1540
[beams]
depth = [0.004, 0.012]
frame_rate = 10
[doppler]
pulse_repetition = 5000
[spectrum]
line = 1
gate = [0.006, 0.008]
samples = 8
[m_mode]
line = 1
[simulator]
elements = 16
pitch = 0.3e-3
element_width = 0.2e-3
samples = 700
longitudinal_velocity = 1540
transmit = "beams"
events = 3
aperture = 8
origins = [-0.001, 0.001]
focus = 0.01
repeats = 16
pulse_repetition = 5000
points = [[0, 0.008, 1]]
noise_rms = 0.05
)";
constexpr std::string_view ring_scene = R"(
[imaging]
method = "tomography"
[material]
longitudinal_velocity = 1510
[grid]
x = [-0.005, 0.005]
z = [-0.005, 0.005]
pixels = [11, 13]
[detectors]
kind = "ring"
count = 24
radius = 20e-3
[simulator]
samples = 900
sample_rate = 40e6
balls = [[0, 0, 0, 1e-3, 1]]
)";
constexpr std::string_view magnitudes_scene = R"(
[imaging]
method = "tomography"
[material]
longitudinal_velocity = 1510
[tomography]
shown = "envelope"
object_velocity = 1560
object_radii = [3e-3]
[grid]
x = [-0.005, 0.005]
z = [-0.005, 0.005]
pixels = [11, 13]
[display]
pixels = [20, 24]
[detectors]
kind = "ring"
count = 24
radius = 20e-3
[simulator]
samples = 900
sample_rate = 40e6
balls = [[0, 0, 0, 1e-3, 1]]
)";
constexpr std::string_view colours_scene = R"(
[imaging]
method = "tomography"
[material]
longitudinal_velocity = 1510
[grid]
x = [-0.005, 0.005]
z = [-0.005, 0.005]
pixels = [11, 13]
[unmixing]
components = ["HbO2", "Hb"]
[detectors]
kind = "ring"
count = 24
radius = 20e-3
[simulator]
samples = 900
sample_rate = 40e6
wavelengths = [750e-9, 800e-9, 850e-9]
balls = [[0, 0, 0, 1e-3, 1]]
)";

constexpr SmallScene scenes[] = {
    {"tfm", "matrix", matrix_scene},
    {"tfm", "immersed", immersed_scene},
    {"tfm", "weighted", weighted_scene},
    {"tfm", "waves", waves_scene},
    {"tfm", "volume", volume_scene},
    {"tfm", "flow", flow_scene},
    {"tfm", "scanned", scanned_scene},
    {"tfm", "turned", turned_scene},
    {"beams", "lines", lines_scene},
    {"beams", "steered", steered_scene},
    {"beams", "spectral", spectral_scene},
    {"tomography", "ring", ring_scene},
    {"tomography", "magnitudes", magnitudes_scene},
    {"tomography", "colours", colours_scene},
};

/// Frames of a scene's own source, which its settings are tried on.
struct Frames {
  Acquisition acquisition;
  Material material;
  std::vector<std::vector<std::byte>> bytes;
  std::vector<std::optional<EncoderCount>> positions;
};

Frames frames_of_scene(const Configuration& configuration) {
  // Several: some stages go by the frames before.
  constexpr std::uint64_t count = 5;
  SimulatorConfiguration source = simulated_source(configuration);
  source.cycle_frames = count;
  FrameCycle cycle(source);
  Frames frames{cycle.acquisition(), cycle.simulator().configuration().material, {}, {}};
  for (std::uint64_t number = 0; number < count; ++number) {
    const auto frame = cycle.frame(number);
    frames.bytes.emplace_back(frame.begin(), frame.end());
    frames.positions.push_back(cycle.position(number));
  }
  return frames;
}

/// What becomes of the frames: every output of the last.
struct Images {
  std::vector<OutputDescription> descriptions;
  std::vector<std::vector<std::byte>> pixels;
  std::vector<std::string> warnings;

  [[nodiscard]] bool same_pixels(const Images& other) const {
    return descriptions == other.descriptions && pixels == other.pixels;
  }
};

Images images_of(const Configuration& configuration, const Frames& frames, ImagingUse use) {
  const auto setup = resolve_imaging(
      {.configuration = configuration, .acquisition = frames.acquisition, .stated = {frames.material, {}}, .use = use});
  const auto engine = make_engine(setup, {.automatic = false, .kind = BackendKind::cpu, .threads = 1}, {});
  FrameSlot slot;
  engine->equip(slot);
  for (std::size_t k = 0; k < frames.bytes.size(); ++k) {
    std::memcpy(slot.samples.data(), frames.bytes[k].data(), frames.bytes[k].size());
    slot.position = frames.positions[k];
    EXPECT_TRUE(image_now(*engine, slot));
  }
  Images images;
  images.warnings = setup->warnings;
  for (std::size_t k = 0; k < setup->recipe.outputs.size(); ++k) {
    const OutputDescription& description = setup->recipe.outputs[k].description;
    const auto* const first = static_cast<const std::byte*>(static_cast<const void*>(slot.outputs[k].data.data()));
    images.descriptions.push_back(description);
    images.pixels.emplace_back(first, first + description.bytes());
  }
  return images;
}

/// Values as a file has them, that the key may take.
std::vector<std::string> values_of(const Key& key) {
  std::vector<double> numbers;
  for (const double value :
       {0.0,    1.0,    2.0,    3.0,    0.3, 0.7, 5.0, 12.0, 20.0,  60.0, 1e-3, 2e-3, 7e-3, 8e-3,  0.012, 0.02,   1e-6,  3e-6,
        0.4e-3, 1450.0, 3000.0, 5900.0, 1e5, 1e6, 2e6, 4e6,  4.5e6, 7e6,  38e6, 20e6, -1.0, -10.0, -1e-3, 4000.0, 800e-9}) {
    if (value >= key.low && value <= key.high) numbers.push_back(value);
  }
  std::vector<std::string> values;
  const auto add = [&](const std::string& text) { values.push_back(text); };
  for (const std::string& word : key.words) add("\"" + word + "\"");
  if (key.type == "true or false") values = {"true", "false"};
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const double value = numbers[k];
    const double next = numbers[(k + 1) % numbers.size()];
    const bool whole = value == std::floor(value);
    if (key.type == "number" || key.type == "one or two numbers") add(fmt::format("{}", value));
    if (key.type == "integer" && whole) add(fmt::format("{:.0f}", value));
    if (key.type == "two numbers" || key.type == "one or two numbers")
      add(fmt::format("[{}, {}]", std::min(value, next), std::max(value, next)));
    if (key.type == "three numbers") add(fmt::format("[{}, {}, {}]", value, next, 1.0));
    if (key.type == "two integers" && whole) add(fmt::format("[{:.0f}, {:.0f}]", value + 2, value + 3));
    if (key.type == "two or three integers" && whole) add(fmt::format("[{:.0f}, {:.0f}]", value + 2, value + 3));
    if (key.type == "list of integers" && whole) add(fmt::format("[{:.0f}]", value));
    if (key.type == "list of numbers") {
      add(fmt::format("[{}]", value));
      add(fmt::format("[{}, {}]", value, next));
    }
  }
  if (key.type == "list of texts") {
    for (const std::string_view text : {"TT", "LT", "HbO2", "Hb", "water"}) add(fmt::format("[\"{}\"]", text));
    add("[\"HbO2\", \"water\"]");
  }
  if (key.type == "text") {
    for (const std::string_view text : {"immersion", "inside", "plane", "none.csv"}) add(fmt::format("\"{}\"", text));
  }
  if (key.path() == "acquisition.positions") add("[[0, 0, 0], [0.001, 0, 0]]");
  return values;
}

/// "[tomography] wavelengths" in a line, or a refusal of a key of the section that goes with it.
bool names(const std::string& line, const Key& key) {
  if (line.find(fmt::format("[{}] {}", key.section, key.name)) != std::string::npos) return true;
  const std::regex word(fmt::format("\\b{}\\b", key.name));
  return key.name.size() >= 4 && line.find(fmt::format("[{}]", key.section)) != std::string::npos &&
         std::regex_search(line, word);
}

bool says_no_effect(const Images& images, const Key& key) {
  return std::ranges::any_of(images.warnings, [&](const std::string& line) {
    return line.find(fmt::format("[{}] {}", key.section, key.name)) != std::string::npos &&
           (line.find("has no effect") != std::string::npos || line.find("is not used") != std::string::npos);
  });
}

/// Keys whose effect is not on the images that the CPU makes of a frame.
constexpr std::string_view elsewhere[] = {
    "imaging.accuracy",  // of GPUs: the CPU is always in single precision
    // Where a server keeps the scan, and of recordings whose frames state places.
    "scan.file",
    "scan.save_every",
    "scan.resume",
    "scan.tolerance",
    // Of reports, and of recordings that a server writes.
    "probe.element_width",
    "probe.element_length",
    // Of data whose elements look the wrong way; others are refused in words about the elements.
    "tfm: probe.reverse_normals",
};

/// Sections and keys of which these scenes know a refusal, or a warning that tells they are not used: others would have to name
/// files, or hold more than they do. What they change is tested where they belong.
constexpr std::string_view refused_by_data[] = {
    "surface",
    "backwall",
    "imaging.delay_law",
    "imaging.travel_times",
    "filter.pulse_file",
    "filter.noise",
    "filter.skirt",
    "filter.upper_skirt",
    "beams.lines_across",
    "beams.equalise",
    "beams.time_gain_depths",
    "beams.pulse_weights",
    "tomography.detector_sizes",
    "tomography.pulse_energy",
    "tomography.wavelengths",
    "tomography.impulse_response",
    "tomography.impulse_zero",
    "tomography.impulse_centre",
    "tomography.impulse_noise",
    "tomography.impulse_cutoff",
    "unmixing.spectra",
    "probe.reverse_normals",
};

/// What a key wants beside it, and refuses to be without.
constexpr std::pair<std::string_view, std::string_view> companions[] = {
    {"acquisition.position_count", "acquisition.position_step=0.001"},
    {"tomography.object_velocity", "tomography.object_radii=[0.003]"},
    {"tomography.object_radii", "tomography.object_velocity=1560"},
};

const Key& key_at(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return *find_key(path.substr(0, dot), path.substr(dot + 1));
}

/// Sets "filter.kind=band", unless it holds; of one without a value, or of another than that, the first that will do.
bool set(Configuration& configuration, std::string_view condition) {
  const std::size_t equals = condition.find('=');
  const bool any = equals == std::string_view::npos;
  const bool other = !any && condition[equals - 1] == '!';
  const Key& key = key_at(std::string(condition.substr(0, other ? equals - 1 : equals)));
  const std::string value(any ? std::string_view() : condition.substr(equals + 1));
  const auto holds = [&] {
    const std::string now = key.show(configuration);
    if (any) return now != key.show(Configuration());
    return (now == value || now == "\"" + value + "\"") != other;
  };
  if (holds()) return true;
  for (const std::string& text : any || other ? values_of(key) : std::vector<std::string>{value, "\"" + value + "\""}) {
    try {
      const toml::table table = toml::parse("value = " + text);
      key.read(configuration, *table.get("value"), "value");
    } catch (const std::exception&) {
      continue;  // not a value of this type
    }
    if (holds()) return true;
  }
  return false;
}

std::vector<std::string> alternatives_of(std::string_view conditions) {
  std::vector<std::string> all;
  constexpr std::string_view between = " or ";
  while (!conditions.empty()) {
    const std::size_t end = std::min(conditions.find(between), conditions.size());
    all.emplace_back(conditions.substr(0, end));
    conditions.remove_prefix(std::min(end + between.size(), conditions.size()));
  }
  return all;
}

/// What became of a key that was set.
enum class Fate : unsigned char { nothing, told, changed };

/// A scene with some keys set, its frames, and what becomes of them.
struct Tried {
  Configuration configuration;
  const Frames& frames;
  std::optional<Images> images;  ///< none: what is set is not for this scene
};

const Frames& kept_frames(const SmallScene& scene) {
  static std::map<std::string_view, Frames> kept;
  const auto found = kept.find(scene.name);
  if (found != kept.end()) return found->second;
  return kept.emplace(scene.name, frames_of_scene(parse_configuration(scene.text, "scene.toml"))).first->second;
}

const Tried& kept_scene(const SmallScene& scene, const std::string& condition, ImagingUse use) {
  static std::map<std::tuple<std::string_view, std::string, ImagingUse>, Tried> kept;
  const auto found = kept.find({scene.name, condition, use});
  if (found != kept.end()) return found->second;
  Tried tried{parse_configuration(scene.text, "scene.toml"), kept_frames(scene), {}};
  if (!condition.empty()) set(tried.configuration, condition);
  try {
    tried.images = images_of(tried.configuration, tried.frames, use);
  } catch (const InputError&) {  // NOLINT(bugprone-empty-catch): no images
  }
  return kept.emplace(std::tuple(scene.name, condition, use), std::move(tried)).first->second;
}

/// The best that some value of the key comes to, in some scene of the method in which `condition` holds; `companion` is set with
/// the key.
Fate fate_of(const Key& key, std::string_view method, const std::string& condition, std::string_view companion) {
  Fate best = Fate::nothing;
  for (const ImagingUse use : {ImagingUse::live, ImagingUse::recording}) {
    for (const SmallScene& scene : scenes) {
      if (scene.method != method) continue;
      const Tried& before = kept_scene(scene, condition, use);
      if (!before.images) continue;
      for (const std::string& value : values_of(key)) {
        Configuration changed = before.configuration;
        if (!companion.empty()) set(changed, companion);
        try {
          const toml::table table = toml::parse("value = " + value);
          key.read(changed, *table.get("value"), "value");
        } catch (const InputError&) {
          continue;
        }
        try {
          const Images images = images_of(changed, before.frames, use);
          if (!images.same_pixels(*before.images)) {
            EXPECT_FALSE(says_no_effect(images, key))
                << scene.name << ": " << key.path() << " = " << value << " changes the image";
            return Fate::changed;
          }
          if (says_no_effect(images, key)) best = Fate::told;
        } catch (const InputError& error) {
          if (names(error.what(), key)) best = Fate::told;
        }
        // With what it goes with it is tried again.
        if (best == Fate::told && condition.empty() && !key.only_where.empty()) return best;
      }
    }
  }
  return best;
}

TEST(KeyEffects, SettingsThatAreTheSameMakeTheSameImages) {
  for (const SmallScene& scene : scenes) {
    const Configuration configuration = parse_configuration(scene.text, "scene.toml");
    const Frames frames = frames_of_scene(configuration);
    EXPECT_TRUE(
        images_of(configuration, frames, ImagingUse::live).same_pixels(images_of(configuration, frames, ImagingUse::live)))
        << scene.name << ": else any key would seem to have an effect";
  }
}

class KeyEffects : public testing::TestWithParam<std::string_view> {};

/// Keys of images that the method reads, as it declares.
std::vector<const Key*> keys_of(const Method& method, bool read) {
  std::vector<const Key*> keys;
  for (const Key& key : configuration_keys()) {
    const std::string of_method = fmt::format("{}: {}", method.name(), key.path());
    if (std::ranges::any_of(elsewhere, [&](std::string_view path) { return path == key.path() || path == of_method; })) continue;
    const bool some = std::ranges::any_of(methods(), [&](const auto& other) { return !reads_key(*other, key); });
    // Those of the program are nobody's: all methods leave them alone.
    if (reads_key(method, key) == read &&
        (some || key.section == "filter" || key.section == "output" || key.section == "display"))
      keys.push_back(&key);
  }
  return keys;
}

TEST_P(KeyEffects, OfEveryKeyThatTheMethodReads) {
  const Method& method = *find_method(GetParam());
  std::string silent;
  const std::vector<const Key*> keys = keys_of(method, true);
  EXPECT_GT(keys.size(), 40U);
  for (const Key* const key : keys) {
    const auto found = std::ranges::find(companions, key->path(), &std::pair<std::string_view, std::string_view>::first);
    const std::string_view companion = found == std::end(companions) ? std::string_view() : found->second;
    const Fate alone = fate_of(*key, method.name(), "", companion);
    const auto is_of = [&](std::string_view name) { return name == key->section || name == key->path(); };
    const bool refused = std::ranges::any_of(refused_by_data, is_of);
    if (alone == Fate::nothing || (key->only_where.empty() && alone != Fate::changed && !refused)) silent += " " + key->path();
    if (key->only_where.empty()) continue;
    // With what it goes with it changes an image.
    const auto changes = [&](const std::string& condition) {
      return fate_of(*key, method.name(), condition, companion) == Fate::changed;
    };
    if (alone != Fate::changed && !std::ranges::any_of(alternatives_of(key->only_where), changes))
      silent += fmt::format(" {} (where {})", key->path(), key->only_where);
  }
  EXPECT_THAT(silent, IsEmpty());
}

TEST_P(KeyEffects, OfOtherKeysAreTold) {
  const Method& method = *find_method(GetParam());
  const auto scene = std::ranges::find(scenes, method.name(), &SmallScene::method);
  const Configuration before = parse_configuration(scene->text, "scene.toml");
  const Frames& frames = kept_frames(*scene);
  const Images images = images_of(before, frames, ImagingUse::live);
  const std::vector<const Key*> keys = keys_of(method, false);
  EXPECT_GT(keys.size(), 20U);
  for (const Key* const key : keys) {
    if (!key->show) continue;  // lists of rows
    Configuration changed = before;
    if (!set(changed, key->path())) {
      ADD_FAILURE() << key->path() << ": found no value of it to try";
      continue;
    }
    if (key->unread == Unread::refused) {
      EXPECT_THAT(test::input_error([&] { static_cast<void>(find_unread_keys(changed, method)); }),
                  HasSubstr(fmt::format("scene.toml: [{}] {}: found ", key->section, key->name)));
      continue;
    }
    if (key->section == "grid" || key->section == "material" || key->section == "imaging") {
      EXPECT_TRUE(images_of(changed, frames, ImagingUse::live).same_pixels(images)) << key->path();
    }
    const UnreadKeys unread = find_unread_keys(changed, method);
    std::vector<std::string> lines = unread.warnings;
    lines.insert(lines.end(), unread.notes.begin(), unread.notes.end());
    EXPECT_THAT(lines,
                ElementsAre(AllOf(HasSubstr(fmt::format("[{}]", key->section)), HasSubstr("has no effect on images with"))))
        << key->path();
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, KeyEffects, testing::Values("tfm", "beams", "tomography"),
                         [](const auto& method) { return std::string(method.param); });

}  // namespace
}  // namespace echoform
