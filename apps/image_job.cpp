#include "apps/image_job.hpp"

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
#include "apps/archive.hpp"
#include "apps/common.hpp"
#include "apps/crop_distance.hpp"
#include "apps/display_figure.hpp"
#include "apps/frame_imager.hpp"
#include "apps/image_frames.hpp"
#include "apps/process_memory.hpp"
#include "apps/processes.hpp"
#include "apps/recorded_frame.hpp"
#include "apps/recorded_positions.hpp"
#include "apps/recorded_scan.hpp"
#include "apps/text_output.hpp"
#include "base/errors.hpp"
#include "config/memory_text.hpp"
#include "formats/image_writer.hpp"
#include "formats/recording.hpp"
#include "jobs/communicator.hpp"
#include "jobs/together.hpp"
#include "methods/registry.hpp"
#include "methods/scan_settings.hpp"
#include "pipeline/scan.hpp"

namespace echoform {
namespace {

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

/// Files are written one after the other.
std::size_t most_working_bytes(std::span<const Output> outputs) {
  std::size_t most = 0;
  for (const Output& output : outputs) most = std::max(most, output.writer->working_bytes());
  return most;
}

/// What several processes cannot do together.
void check_together(const ImageOptions& options, const Configuration& configuration, const Method& method) {
  const auto refuse = [](std::string_view found) {
    throw InputError("mpirun", fmt::format("several processes, and {}", found), "one process");
  };
  if (options.by_groups) refuse("--by-groups");
  if (options.crop_distance) refuse("--crop-distance");
  if (scans(configuration)) refuse("a scan ([scan] path)");
  if (const std::string whole = method.whole_grids_alone(configuration); !whole.empty()) refuse(whole);
}

class ImageJob {
 public:
  ImageJob(const ImageOptions& options, Communicator& communicator)
      : options_(options), communicator_(communicator), alone_(communicator.size() == 1), root_(communicator.rank() == 0) {}

  void run() {
    ProgressBar progress(4);
    together(communicator_, [&] { prepare(progress); });
    for (const std::size_t frame : frames_) {
      // The samples of a frame arrive at a rate of their own.
      std::optional<FramePace> pace;
      std::vector<Output> outputs;
      together(communicator_, [&] {
        outputs = plan_outputs(options_, views_, numbered_ ? fmt::format("{:0{}}", frame, digits_) : "");
        make_imager(frame, outputs, progress);
        if (frame == frames_.front()) step(progress, "imaging");
        pace.emplace(acquisition_.frame_bytes());
        imager_->image(*recording_, frame, [&](std::size_t bytes) {
          if (root_) pace->show(progress, bytes);
        });
      });
      if (scan_ && frame < frames_.back()) {
        const auto done = static_cast<double>(frame + 1 - frames_.front());
        progress.share(done / static_cast<double>(frames_.back() + 1 - frames_.front()), fmt::format("imaging, frame {}", frame));
        continue;
      }
      if (!alone_) collect();
      if (frame == frames_.back()) step(progress, "writing");
      together(communicator_, [&] {
        if (root_) write(frame, outputs, pace->rate());
      });
    }
  }

 private:
  void step(ProgressBar& progress, std::string_view what) const {
    if (root_) progress.step(what);
  }

  void prepare(ProgressBar& progress) {
    configuration_ = configuration_from(options_.config);
    apply_backend_option(options_.backend, configuration_);
    check_options(options_, configuration_);
    method_ = &method_of(configuration_);
    if (!alone_) check_together(options_, configuration_, *method_);
    take_device_of_host(configuration_.imaging, communicator_);
    views_ = method_->images(configuration_);
    archive_ = archive_entry(configuration_);
    scan_ = scans(configuration_);
    numbered_ = options_.many() && !scan_;
    static_cast<void>(plan_outputs(options_, views_, numbered_ ? "0" : ""));

    const HeldMemory held_before = held_memory();
    settle_backend(configuration_);
    if (configuration_.imaging.backend == BackendWish::cuda) {
      memory_.loaded(held_before, held_memory());
      forget_most_held();
    }

    step(progress, "reading");
    recording_ =
        open_recording(options_.input, {.limits = {.elements = 4096, .samples = 1u << 22, .frame_bytes = most_recorded_bytes}});
    follow_path(recording_, configuration_, PlacedCounts::exact);
    if (options_.positions && !scan_)
      keep_positions(recording_, configuration_, parse_positions(*options_.positions, positions_option), positions_option);
    range_ = choose_frames(options_, *recording_, scan_);
    frames_ = frames_of(range_, options_, *recording_, scan_);
    spdlog::info("{}", recording_->describe());
    log_warnings(*recording_);
    stated_ = {recording_->material(), recording_->wedge_velocity()};
    digits_ = fmt::formatted_size("{}", recording_->frames() - 1);
  }

  /// Anew where the probe has moved.
  void make_imager(std::size_t frame, const std::vector<Output>& outputs, ProgressBar& progress) {
    Acquisition of_frame = recorded_acquisition(*recording_, frame);
    if (imager_ && of_frame == acquisition_) return;
    acquisition_ = std::move(of_frame);
    imager_.reset();  // its memory first
    const std::size_t writing_bytes = most_working_bytes(outputs) + collected_bytes();
    // Of the first frame: later on what images took and gave back may still be the program's.
    if (!besides_) besides_ = taken_beside_images(*recording_, writing_bytes, memory_);
    if (frame == frames_.front()) step(progress, "delay tables");
    ImagingRequest request{.configuration = configuration_,
                           .acquisition = acquisition_,
                           .stated = stated_,
                           .wish = {.complex_images = options_.field == "analytic", .display = false},
                           .groups = options_.by_groups ? GroupWish::always : GroupWish::needed,
                           .besides = *besides_};
    auto setup = resolve_imaging(request);
    if (!alone_) {
      // Whole grids are what files say.
      whole_ = setup->recipe.outputs[setup->recipe.find(views_.front(), OutputKind::envelope).value()].description.grid;
      request.planes = own_planes();
      setup = resolve_imaging(request);
    }
    if (!setup->groups && !scan_ && !coded(acquisition_) && device_too_small(*setup, configuration_)) {
      request.groups = GroupWish::always;
      setup = resolve_imaging(request);
    }
    if (alone_ && wants_display(*setup, outputs)) {
      request.wish.display = true;
      setup = resolve_imaging(request);
    }
    log_findings(*setup);
    if (options_.by_groups && !setup->groups) {
      throw InputError("--by-groups", fmt::format("[imaging] method = \"{}\", which images whole frames", setup->method),
                       "a method that images groups of A-scans");
    }
    if (options_.crop_distance && setup->groups)
      throw InputError("--crop-distance", "frames that the memory does not hold whole", "whole frames in memory");
    for (const Output& output : outputs) {
      if (options_.field != "analytic" || setup->recipe.find(output.view, OutputKind::complex_image)) continue;
      throw InputError("--field", "\"analytic\"", fmt::format("envelope: the view {} has no complex image", output.view));
    }
    for (const std::string& line : method_->image_warnings(*setup)) spdlog::warn("{}", line);
    imager_ = std::make_unique<FrameImager>(setup, configuration_, *recording_, writing_bytes, memory_);
  }

  /// Those of the grid that this process images.
  [[nodiscard]] RowRange own_planes() const {
    if (whole_.z.count < communicator_.size()) {
      throw InputError(configuration_.place("[grid] pixels"), fmt::format("{} planes along z", whole_.z.count),
                       fmt::format("one at least for each of {} processes", communicator_.size()));
    }
    return rows_of_rank(whole_.z.count, communicator_.rank(), communicator_.size());
  }

  /// What collect() takes.
  [[nodiscard]] std::size_t collected_bytes() const {
    return alone_ || !root_ ? 0 : views_.size() * configuration_.grid.pixels.all() * sizeof(float);
  }

  /// The planes of all processes, on rank 0.
  void collect() {
    images_.resize(views_.size());
    for (std::size_t k = 0; k < views_.size(); ++k) {
      if (root_) images_[k].resize(whole_.pixels());
      communicator_.gather(imager_->envelope(views_[k]), images_[k]);
    }
  }

  [[nodiscard]] std::span<const float> envelope(std::string_view view) const {
    if (alone_) return imager_->envelope(view);
    return images_[static_cast<std::size_t>(std::ranges::find(views_, view) - views_.begin())];
  }

  void write(std::size_t frame, const std::vector<Output>& outputs, const std::string& rate) {
    if (scan_) tell_of_scan(*imager_->setup().scan->record);
    warn_of_image();
    std::string title = scan_ ? fmt::format("frames {} to {}", range_.first, range_.last) : fmt::format("frame {}", frame);
    if (options_.positions) title += fmt::format(", positions {}", *options_.positions);
    for (const Output& output : outputs) {
      std::vector<float> values;
      ImageFile file = output.writer->draws() ? describe_figure(output.view, title, values) : describe_image(output.view, title);
      file.archive = &archive_;
      output.writer->write(file);
    }
    if (const std::string groups = imager_->groups_text(); !groups.empty())
      spdlog::info("frame {}: {}, {}, at most {} of memory{}", frame, groups, rate, memory_text(memory_.own(held_memory()).most),
                   memory_.driver() > 0.0
                       ? fmt::format(", and {} that the GPU's driver took besides", memory_text(memory_.driver()))
                       : "");
    for (const Output& output : outputs) spdlog::info("wrote {}", output.path.string());
    if (options_.crop_distance) {
      // The image that is written is still there.
      const ImagingRequest request{.configuration = configuration_,
                                   .acquisition = acquisition_,
                                   .stated = stated_,
                                   .besides = taken_beside_images(*recording_, 0, memory_)};
      const auto choice = backend_choice(configuration_.imaging);
      for (const std::string& line : crop_distance(*method_, request, *recording_, frame, choice)) print_result("{}\n", line);
    }
  }

  void warn_of_image() const {
    if (imager_->invalid_samples() > 0) spdlog::warn("{} samples were not finite and count as 0", imager_->invalid_samples());
    // Those that are written: of others several processes have their own planes alone.
    for (const std::string& view : views_) {
      const auto values = envelope(view);
      if (std::all_of(values.begin(), values.end(), [](float value) { return value == 0.0F; })) {
        spdlog::warn("view {}: every pixel is 0; [grid] lies outside of what the gate reaches, or the data is empty", view);
      }
    }
  }

  [[nodiscard]] ImageFile describe_image(std::string_view view, const std::string& frames) const {
    const ImagingSetup& setup = imager_->setup();
    ImageFile file;
    const OutputDescription& description =
        setup.recipe.outputs[setup.recipe.find(view, OutputKind::envelope).value()].description;
    file.grid = alone_ ? description.grid : whole_;
    describe_pixels(file, description, setup.scale);
    file.x = description.x;
    file.y = description.y;
    file.z = description.z;
    file.lines = description.lines;
    file.envelope = envelope(view);
    file.analytic = imager_->analytic(view);
    file.field = options_.field == "analytic" ? ImageField::analytic : ImageField::envelope;
    file.title = fmt::format("{}, {}", std::filesystem::path(options_.input).filename().string(), frames);
    file.view = view;
    return file;
  }

  /// As describe_image(), of the display image where that is what a figure shows; `values` holds its values.
  [[nodiscard]] ImageFile describe_figure(std::string_view view, const std::string& frames, std::vector<float>& values) const {
    ImageFile file = describe_image(view, frames);
    const auto levels = imager_->display(view);
    if (levels.empty()) return file;
    const Recipe& recipe = imager_->setup().recipe;
    const OutputDescription& description = recipe.outputs[recipe.find(view, OutputKind::display).value()].description;
    file.grid = description.grid;
    file.x = description.x;
    file.y = description.y;
    file.z = description.z;
    file.lines = description.lines;
    describe_pixels(file, description, imager_->setup().scale, imager_->display_reference(view));
    show_levels(file, levels, values);
    return file;
  }

  const ImageOptions& options_;
  Communicator& communicator_;
  const bool alone_;
  const bool root_;
  Configuration configuration_;
  const Method* method_ = nullptr;
  std::vector<std::string> views_;
  ArchiveEntry archive_;
  bool scan_ = false;
  bool numbered_ = false;
  MemoryShares memory_;
  std::optional<double> besides_;  // ImagingRequest::besides
  std::unique_ptr<Recording> recording_;
  StatedByData stated_;
  FrameChoice range_;
  std::vector<std::size_t> frames_;
  std::size_t digits_ = 1;
  Acquisition acquisition_;
  std::unique_ptr<FrameImager> imager_;
  Grid whole_;                              // of all processes
  std::vector<std::vector<float>> images_;  // of each view, that of all processes
};

}  // namespace

void make_images(const ImageOptions& options, Communicator& communicator) {
  ImageJob(options, communicator).run();
}

}  // namespace echoform
