// echoform image: frames of a recording into files.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acquisition/firings.hpp"
#include "acquisition/recorded_frames.hpp"
#include "apps/command.hpp"
#include "apps/common.hpp"
#include "apps/crop_distance.hpp"
#include "apps/display_figure.hpp"
#include "apps/frame_imager.hpp"
#include "apps/process_memory.hpp"
#include "apps/recorded_frame.hpp"
#include "apps/recorded_positions.hpp"
#include "apps/recorded_scan.hpp"
#include "base/errors.hpp"
#include "config/memory_text.hpp"
#include "formats/image_writer.hpp"
#include "formats/recording.hpp"
#include "methods/registry.hpp"
#include "methods/scan_settings.hpp"
#include "pipeline/scan.hpp"

namespace echoform {
namespace {

struct ImageOptions {
  std::string input;
  std::string config;
  std::vector<std::string> outputs;
  std::string field = "envelope";
  std::string backend;
  std::optional<std::int64_t> frame;
  std::optional<std::int64_t> from;
  std::optional<std::int64_t> to;
  std::optional<std::string> positions;
  bool by_groups = false;
  bool crop_distance = false;

  [[nodiscard]] bool many() const { return from || to; }
};

struct Output {
  std::filesystem::path path;
  std::string view;
  std::unique_ptr<ImageWriter> writer;
};

/// Every file to be written of a frame, checked before any work is done. `number` goes before the view; empty: it does not.
std::vector<Output> plan_outputs(const ImageOptions& options, const std::vector<std::string>& views, const std::string& number) {
  std::vector<Output> outputs;
  for (const std::string& text : options.outputs) {
    for (const std::string& view : views) {
      Output output;
      output.path = number.empty() ? std::filesystem::path(text) : with_view_name(text, number);
      if (views.size() > 1) output.path = with_view_name(output.path, view);
      output.view = view;
      output.writer = make_image_writer(output.path);
      for (const Output& other : outputs) {
        // The same view twice is a fault of the configuration, and refused with it.
        if (other.view == view && other.path.lexically_normal() == output.path.lexically_normal())
          throw InputError("--output", fmt::format("{} twice", output.path.string()), "each file once");
      }
      outputs.push_back(std::move(output));
    }
  }
  return outputs;
}

/// Frames to be imaged.
struct FrameChoice {
  std::size_t first = 0;
  std::size_t last = 0;
};

constexpr std::string_view positions_option = "--positions";

/// In their order; of a scan at the places of --positions alone.
std::vector<std::size_t> frames_of(const FrameChoice& choice, const ImageOptions& options, const Recording& recording,
                                   bool scan) {
  std::vector<bool> wanted(recording.frames(), true);
  if (scan && options.positions)
    wanted = frames_at(recording, parse_positions(*options.positions, positions_option), positions_option);
  std::vector<std::size_t> frames;
  for (std::size_t frame = choice.first; frame <= choice.last; ++frame) {
    if (wanted[frame]) frames.push_back(frame);
  }
  if (frames.empty()) {
    throw InputError(std::string(positions_option),
                     fmt::format("{}, where no frame from {} to {} was taken", *options.positions, choice.first, choice.last),
                     "places of some of these frames");
  }
  return frames;
}

/// Of a scan all, where nothing else is said.
FrameChoice choose_frames(const ImageOptions& options, const Recording& recording, bool scan) {
  const auto checked = [&](std::string_view option, std::int64_t frame) {
    if (frame >= 0 && static_cast<std::size_t>(frame) < recording.frames()) return static_cast<std::size_t>(frame);
    throw InputError(std::string(option), fmt::format("{}", frame),
                     recording.frames() == 1 ? fmt::format("0, as {} holds one frame", options.input)
                                             : fmt::format("0 to {}, as {} holds {} frames", recording.frames() - 1,
                                                           options.input, recording.frames()));
  };
  if (!options.many() && !(scan && !options.frame)) {
    const std::size_t frame = checked("--frame", options.frame.value_or(0));
    return {frame, frame};
  }
  const std::size_t first = checked("--from", options.from.value_or(0));
  const std::size_t last = options.to ? checked("--to", *options.to) : recording.frames() - 1;
  if (last < first) throw InputError("--to", fmt::format("{}", last), fmt::format("{} (--from) or more", first));
  return {first, last};
}

void check_options(const ImageOptions& options, const Configuration& configuration) {
  if (options.field != "envelope" && options.field != "analytic") {
    throw InputError("--field", fmt::format("\"{}\"", options.field), "envelope or analytic");
  }
  if (options.positions) static_cast<void>(parse_positions(*options.positions, positions_option));
  if (options.frame && options.many()) throw InputError("--frame", "--from or --to besides", "one frame, or some");
  if (options.by_groups && options.crop_distance)
    throw InputError("--crop-distance", "--by-groups besides", "whole frames in memory");
  if (scans(configuration) && (options.by_groups || options.crop_distance)) {
    throw InputError(options.by_groups ? "--by-groups" : "--crop-distance", "a scan ([scan] path)",
                     "frames that are images of their own");
  }
}

/// What became of the frames of a scan.
void tell_of_scan(const ScanRecord& record) {
  const ScanRecord::Counts counts = record.counts();
  spdlog::info("scan: {} cells, {} frames repeated", counts.cells, counts.repeated);
  if (counts.without_position > 0)
    spdlog::warn("{} frames state no encoder count, and are not in the image", counts.without_position);
  if (counts.outside > 0) spdlog::warn("{} frames cover no pixel of [grid]", counts.outside);
  if (counts.refused > 0)
    spdlog::warn("{} frames were taken from where nothing can be imaged: {}", counts.refused, record.refusal());
}

ImageFile describe_image(const FrameImager& imager, std::string_view view, const ImageOptions& options,
                         const std::string& frames) {
  const ImagingSetup& setup = imager.setup();
  ImageFile file;
  const OutputDescription& description = setup.recipe.outputs[setup.recipe.find(view, OutputKind::envelope).value()].description;
  file.grid = description.grid;
  file.pixels = description.pixels;
  file.x = description.x;
  file.y = description.y;
  file.z = description.z;
  file.envelope = imager.envelope(view);
  file.analytic = imager.analytic(view);
  file.field = options.field == "analytic" ? ImageField::analytic : ImageField::envelope;
  file.title = fmt::format("{}, {}", std::filesystem::path(options.input).filename().string(), frames);
  file.view = view;
  file.dynamic_range_db = setup.scale.dynamic_range_db;
  file.gain_db = setup.scale.gain_db;
  if (setup.scale.fixed_reference) file.reference = *setup.scale.fixed_reference;
  return file;
}

/// As describe_image(), of the display image where that is what a figure shows; `values` holds its values.
ImageFile describe_figure(const FrameImager& imager, std::string_view view, const ImageOptions& options,
                          const std::string& frames, std::vector<float>& values) {
  ImageFile file = describe_image(imager, view, options, frames);
  const auto levels = imager.display(view);
  if (levels.empty()) return file;
  const Recipe& recipe = imager.setup().recipe;
  const OutputDescription& description = recipe.outputs[recipe.find(view, OutputKind::display).value()].description;
  file.grid = description.grid;
  file.x = description.x;
  file.y = description.y;
  file.z = description.z;
  show_levels(file, levels, values);
  return file;
}

/// Whether figures want display images besides: the setup's envelopes do not lie as the part does.
bool wants_display(const ImagingSetup& setup, const std::vector<Output>& outputs) {
  return !setup.groups && std::ranges::any_of(outputs, [&](const Output& output) {
    if (!output.writer->draws()) return false;
    const OutputDescription& envelope =
        setup.recipe.outputs[setup.recipe.find(output.view, OutputKind::envelope).value()].description;
    return !is_plane_of_part(envelope.x, envelope.z);
  });
}

/// Says how quickly the samples of a frame go, and how long they will take.
class FramePace {
 public:
  explicit FramePace(std::size_t frame_bytes) : frame_bytes_(static_cast<double>(frame_bytes)) {}

  void show(ProgressBar& progress, std::size_t bytes) {
    done_ = static_cast<double>(bytes);
    const double left = (frame_bytes_ - done_) * seconds() / std::max(done_, 1.0);
    progress.share(done_ / frame_bytes_, fmt::format("imaging, {}, {:.0f} s left", rate(), left));
  }
  [[nodiscard]] std::string rate() const { return fmt::format("{:.1f} MB/s", 1e-6 * done_ / seconds()); }

 private:
  [[nodiscard]] double seconds() const {
    return std::max(1e-6, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count());
  }
  double frame_bytes_;
  double done_ = 0.0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

void warn_of_image(const FrameImager& imager) {
  if (imager.invalid_samples() > 0) spdlog::warn("{} samples were not finite and count as 0", imager.invalid_samples());
  for (const std::string_view view : imager.setup().recipe.views()) {
    const auto values = imager.envelope(view);
    if (std::all_of(values.begin(), values.end(), [](float value) { return value == 0.0F; })) {
      spdlog::warn("view {}: every pixel is 0; [grid] lies outside of what the gate reaches, or the data is empty", view);
    }
  }
}

/// Files are written one after the other.
std::size_t most_working_bytes(std::span<const Output> outputs) {
  std::size_t most = 0;
  for (const Output& output : outputs) most = std::max(most, output.writer->working_bytes());
  return most;
}

int image(const ImageOptions& options) {
  Configuration configuration = configuration_from(options.config);
  apply_backend_option(options.backend, configuration);
  check_options(options, configuration);
  const Method& method = method_of(configuration);
  const std::vector<std::string> views = method.images(configuration);
  const bool scan = scans(configuration);
  const bool numbered = options.many() && !scan;
  static_cast<void>(plan_outputs(options, views, numbered ? "0" : ""));

  MemoryShares memory;
  const HeldMemory held_before = held_memory();
  settle_backend(configuration);
  if (configuration.imaging.backend == BackendWish::cuda) {
    memory.loaded(held_before, held_memory());
    forget_most_held();
  }

  ProgressBar progress(4);
  progress.step("reading");
  auto recording =
      open_recording(options.input, {.limits = {.elements = 4096, .samples = 1u << 22, .frame_bytes = most_recorded_bytes}});
  follow_path(recording, configuration, PlacedCounts::exact);
  if (options.positions && !scan)
    keep_positions(recording, configuration, parse_positions(*options.positions, positions_option), positions_option);
  const FrameChoice range = choose_frames(options, *recording, scan);
  const std::vector<std::size_t> frames = frames_of(range, options, *recording, scan);
  spdlog::info("{}", recording->describe());
  log_warnings(*recording);
  const StatedByData stated{recording->material(), recording->wedge_velocity()};
  const std::size_t digits = fmt::formatted_size("{}", recording->frames() - 1);

  Acquisition acquisition;
  std::unique_ptr<FrameImager> imager;
  for (const std::size_t frame : frames) {
    const std::vector<Output> outputs = plan_outputs(options, views, numbered ? fmt::format("{:0{}}", frame, digits) : "");
    // The probe may have moved.
    if (Acquisition of_frame = recorded_acquisition(*recording, frame); !imager || of_frame != acquisition) {
      acquisition = std::move(of_frame);
      imager.reset();  // its memory first
      if (frame == frames.front()) progress.step("delay tables");
      ImagingRequest request{.configuration = configuration,
                             .acquisition = acquisition,
                             .stated = stated,
                             .wish = {.complex_images = options.field == "analytic", .display = false},
                             .groups = options.by_groups ? GroupWish::always : GroupWish::needed};
      auto setup = resolve_imaging(request);
      if (!setup->groups && !scan && !coded(acquisition) && device_too_small(*setup, configuration)) {
        request.groups = GroupWish::always;
        setup = resolve_imaging(request);
      }
      if (wants_display(*setup, outputs)) {
        request.wish.display = true;
        setup = resolve_imaging(request);
      }
      log_findings(*setup);
      if (options.by_groups && !setup->groups) {
        throw InputError("--by-groups", fmt::format("[imaging] method = \"{}\", which images whole frames", setup->method),
                         "a method that images groups of A-scans");
      }
      if (options.crop_distance && setup->groups)
        throw InputError("--crop-distance", "frames that the memory does not hold whole", "whole frames in memory");
      for (const Output& output : outputs) {
        if (options.field != "analytic" || setup->recipe.find(output.view, OutputKind::complex_image)) continue;
        throw InputError("--field", "\"analytic\"", fmt::format("envelope: the view {} has no complex image", output.view));
      }
      for (const std::string& line : method.image_warnings(*setup)) spdlog::warn("{}", line);
      imager = std::make_unique<FrameImager>(setup, configuration, *recording, most_working_bytes(outputs), memory);
    }

    if (frame == frames.front()) progress.step("imaging");
    FramePace pace(acquisition.frame_bytes());
    imager->image(*recording, frame, [&](std::size_t bytes) { pace.show(progress, bytes); });
    if (scan && frame < frames.back()) {
      const auto done = static_cast<double>(frame + 1 - frames.front());
      progress.share(done / static_cast<double>(frames.back() + 1 - frames.front()), fmt::format("imaging, frame {}", frame));
      continue;
    }
    if (scan) tell_of_scan(*imager->setup().scan->record);
    const std::string rate = pace.rate();
    warn_of_image(*imager);

    if (frame == frames.back()) progress.step("writing");
    std::string title = scan ? fmt::format("frames {} to {}", range.first, range.last) : fmt::format("frame {}", frame);
    if (options.positions) title += fmt::format(", positions {}", *options.positions);
    for (const Output& output : outputs) {
      const UnbrokenWork writing;
      std::vector<float> values;
      output.writer->write(output.writer->draws() ? describe_figure(*imager, output.view, options, title, values)
                                                  : describe_image(*imager, output.view, options, title));
    }
    if (const std::string groups = imager->groups_text(); !groups.empty())
      spdlog::info(
          "frame {}: {}, {}, at most {} of memory{}", frame, groups, rate, memory_text(memory.own(held_memory()).most),
          memory.driver() > 0.0 ? fmt::format(", and {} that the GPU's driver took besides", memory_text(memory.driver())) : "");
    for (const Output& output : outputs) spdlog::info("wrote {}", output.path.string());
    if (options.crop_distance) {
      const ImagingRequest request{.configuration = configuration, .acquisition = acquisition, .stated = stated};
      const auto choice = backend_choice(configuration.imaging);
      for (const std::string& line : crop_distance(method, request, *recording, frame, choice)) fmt::print("{}\n", line);
    }
  }
  return 0;
}

}  // namespace

Action define_image(CLI::App& options) {
  auto chosen = std::make_shared<ImageOptions>();
  options.add_option("INPUT", chosen->input, "The recording")->required();
  options.add_option("--config", chosen->config, "TOML file: material, grid, views (docs/configuration.md)")->option_text("FILE");
  options
      .add_option("--output", chosen->outputs,
                  fmt::format("Where to: {}; may be repeated", fmt::join(image_writer_extensions(), ", ")))
      ->required()
      ->option_text("FILE")
      ->take_all();
  options.add_option("--field", chosen->field, "What files of numbers hold: envelope (float32) or analytic (complex64)")
      ->option_text("WORD (envelope)");
  options.add_option("--frame", chosen->frame, "Which frame, from 0")->option_text("K (0)");
  options
      .add_option("--from", chosen->from,
                  "The first of several frames, each imaged by itself into files of its own; of a scan ([scan]) all into one")
      ->option_text("K (0)");
  options.add_option("--to", chosen->to, "The last of them")->option_text("K (the recording's last)");
  options
      .add_option(
          "--positions", chosen->positions,
          "The image of these positions of the probe alone, from 0, such as 3-7,9: of each frame that has several, or the "
          "places of a scan in the order in which frames come to them")
      ->option_text("LIST (all)");
  options.add_flag("--by-groups", chosen->by_groups,
                   "Image group by group of A-scans, also frames that [imaging] memory_limit holds");
  options.add_flag("--crop-distance", chosen->crop_distance,
                   "Also say how far the crop of live runs ([imaging] guard) would move the image");
  add_backend_option(options, chosen->backend);
  return [chosen] { return image(*chosen); };
}

}  // namespace echoform
