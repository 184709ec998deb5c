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
#include <utility>
#include <vector>

#include "apps/archive.hpp"
#include "apps/common.hpp"
#include "apps/image_frames.hpp"
#include "apps/logged_messages.hpp"
#include "apps/text_output.hpp"
#include "base/errors.hpp"
#include "config/memory_text.hpp"
#include "formats/atomic_file.hpp"
#include "formats/image_writer.hpp"
#include "formats/recording.hpp"
#include "jobs/communicator.hpp"
#include "jobs/together.hpp"
#include "methods/registry.hpp"
#include "methods/scan_settings.hpp"
#include "offline/device_of_host.hpp"
#include "offline/display_figure.hpp"
#include "offline/recorded_positions.hpp"
#include "offline/recording_imager.hpp"
#include "pipeline/scan.hpp"

namespace echoform {
namespace {

struct Output {
  std::filesystem::path path;
  std::string view;
  std::unique_ptr<ImageWriter> writer;
};

/// Every output file of a frame, checked before any work is done. `number` goes before the view in the name, unless it is empty.
std::vector<Output> plan_outputs(const ImageOptions& options, const std::vector<std::string>& views, const std::string& number) {
  std::vector<Output> outputs;
  for (const std::string& text : options.outputs) {
    for (const std::string& view : views) {
      Output output;
      output.path = number.empty() ? std::filesystem::path(text) : with_view_name(text, number);
      if (views.size() > 1) output.path = with_view_name(output.path, view);
      output.view = view;
      output.writer = make_image_writer(output.path);
      require_other_file(output.path, options.input, "--output");
      for (const Output& other : outputs) {
        // The configuration check refuses a view that appears twice, so it is not reported here.
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

/// Logs what happened to the frames of a scan.
void tell_of_scan(const ScanRecord& record) {
  const ScanRecord::Counts counts = record.counts();
  spdlog::info("scan: {} cells, {} frames repeated", counts.cells, counts.repeated);
  if (counts.without_position > 0)
    spdlog::warn("{} frames state no encoder count, and are not in the image", counts.without_position);
  if (counts.outside > 0) spdlog::warn("{} frames cover no pixel of [grid]", counts.outside);
  if (counts.refused > 0)
    spdlog::warn("{} frames were taken from where nothing can be imaged: {}", counts.refused, record.refusal());
}

/// Shows the rate at which the samples of a frame are processed, and the time that remains.
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

/// Memory for writing, bytes: the maximum over the files, which are written one after the other.
std::size_t most_working_bytes(std::span<const Output> outputs) {
  std::size_t most = 0;
  for (const Output& output : outputs) most = std::max(most, output.writer->working_bytes());
  return most;
}

/// Throws InputError for requests that several processes cannot carry out together.
void check_together(const ImageOptions& options, const Configuration& configuration, const Method& method) {
  const auto refuse = [](std::string_view found) {
    throw InputError("mpirun", fmt::format("several processes, and {}", found), "one process");
  };
  if (options.by_groups) refuse("--by-groups");
  if (options.crop_distance) refuse("--crop-distance");
  if (options.field == "analytic") refuse("--field analytic");
  if (scans(configuration)) refuse("a scan ([scan] path)");
  if (const std::string whole = method.whole_grids_alone(configuration); !whole.empty()) refuse(whole);
}

class ImageJob {
 public:
  ImageJob(const ImageOptions& options, Communicator& communicator)
      : options_(options), communicator_(communicator), alone_(communicator.size() == 1), root_(communicator.rank() == 0) {}

  void run() {
    // The parts of the progress are reading, the delay tables, imaging and writing.
    ProgressBar progress({0.05, 0.15, 0.75, 0.05});
    together(communicator_, [&] { prepare(progress); });
    for (const std::size_t frame : frames_) {
      // The rate of the samples is measured for each frame.
      std::optional<FramePace> pace;
      std::vector<Output> outputs;
      together(communicator_, [&] {
        outputs = plan_outputs(options_, imager_->views(), numbered_ ? fmt::format("{:0{}}", frame, digits_) : "");
        if (frame == frames_.front()) step(progress, "delay tables");
        whole_ = imager_->prepare(frame);
        if (frame == frames_.front()) step(progress, "imaging");
        pace.emplace(imager_->setup().acquisition.frame_bytes());
        imager_->image(frame, [&](std::size_t bytes) {
          if (root_) pace->show(progress, bytes);
        });
      });
      if (imager_->scans() && frame < frames_.back()) {
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
    Configuration configuration = configuration_from(options_.config);
    apply_backend_option(options_.backend, configuration);
    check_options(options_, configuration);
    const Method& method = method_of(configuration);
    if (!alone_) check_together(options_, configuration, method);
    take_device_of_host(configuration.imaging, communicator_);
    archive_ = archive_entry(configuration);
    const bool scan = scans(configuration);
    numbered_ = options_.many() && !scan;
    const std::vector<Output> outputs = plan_outputs(options_, method.images(configuration), numbered_ ? "0" : "");

    step(progress, "reading");
    RecordingImagerOptions options = imager_options(outputs);
    options.writing_bytes = most_working_bytes(outputs) + collected_bytes(method.images(configuration).size(), configuration);
    imager_.emplace(options_.input, std::move(configuration), std::move(options));
    const Recording& recording = imager_->recording();
    range_ = choose_frames(options_, recording, scan);
    frames_ = frames_of(range_, options_, recording, scan);
    spdlog::info("{}", recording.describe());
    log_warnings(recording);
    digits_ = fmt::formatted_size("{}", recording.frames() - 1);
  }

  [[nodiscard]] RecordingImagerOptions imager_options(const std::vector<Output>& outputs) const {
    RecordingImagerOptions options;
    options.complex_images = options_.field == "analytic";
    // With several processes, none has the whole image that a figure shows.
    options.figures = alone_ && std::ranges::any_of(outputs, [](const Output& output) { return output.writer->draws(); });
    options.groups = options_.by_groups ? GroupWish::always : GroupWish::needed;
    if (options_.positions) options.positions = parse_positions(*options_.positions, positions_option);
    options.positions_name = positions_option;
    options.process = communicator_.rank();
    options.processes = communicator_.size();
    options.accept = [this](const ImagingSetup& setup) { check_setup(setup); };
    options.messages = logged_messages();
    return options;
  }

  /// Checks whether the setup provides what the options request; throws InputError where it does not.
  void check_setup(const ImagingSetup& setup) const {
    if (options_.by_groups && !setup.groups) {
      throw InputError("--by-groups", fmt::format("[imaging] method = \"{}\", which images whole frames", setup.method),
                       "a method that images groups of A-scans");
    }
    if (options_.crop_distance && setup.groups)
      throw InputError("--crop-distance", "frames that the memory does not hold whole", "whole frames in memory");
    for (const std::string& view : imager_->views()) {
      if (options_.field != "analytic" || setup.recipe.find(view, OutputKind::complex_image)) continue;
      throw InputError("--field", "\"analytic\"", fmt::format("envelope: the view {} has no complex image", view));
    }
  }

  /// Memory that collect() needs, bytes.
  [[nodiscard]] std::size_t collected_bytes(std::size_t views, const Configuration& configuration) const {
    return alone_ || !root_ ? 0 : views * configuration.grid.pixels.all() * sizeof(float);
  }

  /// Gathers the planes of all processes on rank 0.
  void collect() {
    const std::vector<std::string>& views = imager_->views();
    images_.resize(views.size());
    for (std::size_t k = 0; k < views.size(); ++k) {
      if (root_) images_[k].resize(whole_.pixels());
      communicator_.gather(imager_->envelope(views[k]), images_[k]);
    }
  }

  [[nodiscard]] std::span<const float> envelope(std::string_view view) const {
    if (alone_) return imager_->envelope(view);
    const std::vector<std::string>& views = imager_->views();
    return images_[static_cast<std::size_t>(std::ranges::find(views, view) - views.begin())];
  }

  void write(std::size_t frame, const std::vector<Output>& outputs, const std::string& rate) {
    if (imager_->scans()) tell_of_scan(*imager_->setup().scan->record);
    warn_of_image();
    std::string title =
        imager_->scans() ? fmt::format("frames {} to {}", range_.first, range_.last) : fmt::format("frame {}", frame);
    if (options_.positions) title += fmt::format(", positions {}", *options_.positions);
    for (const Output& output : outputs) {
      std::vector<float> values;
      ImageFile file = output.writer->draws() ? describe_figure(output.view, title, values) : describe_image(output.view, title);
      file.archive = &archive_;
      output.writer->write(file);
    }
    if (const std::string groups = imager_->groups_text(); !groups.empty())
      spdlog::info("frame {}: {}, {}, at most {} of memory{}", frame, groups, rate, memory_text(imager_->held().most),
                   imager_->held_by_driver() > 0.0
                       ? fmt::format(", and {} that the GPU's driver took besides", memory_text(imager_->held_by_driver()))
                       : "");
    for (const Output& output : outputs) spdlog::info("wrote {}", output.path.string());
    if (options_.crop_distance) {
      // The image that was written is still in memory.
      for (const std::string& line : imager_->crop_distance(frame)) print_result("{}\n", line);
    }
  }

  void warn_of_image() const {
    if (imager_->invalid_samples() > 0) spdlog::warn("{} samples were not finite and count as 0", imager_->invalid_samples());
    // Only images that are written are checked: with several processes, each has only its own planes of the others.
    for (const std::string& view : imager_->views()) {
      const auto values = envelope(view);
      if (std::all_of(values.begin(), values.end(), [](float value) { return !(std::abs(value) > 0.0F); })) {
        spdlog::warn("view {}: no pixel is above 0: [grid] lies where the samples do not reach, or the data hold no echo", view);
      }
    }
  }

  [[nodiscard]] ImageFile describe_image(std::string_view view, const std::string& frames) const {
    const ImagingSetup& setup = imager_->setup();
    ImageFile file;
    const OutputDescription& description = imager_->description(view);
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

  /// Works like describe_image(), but describes the display image where a figure shows that one; `values` holds its values.
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
  ArchiveEntry archive_;
  bool numbered_ = false;
  std::optional<RecordingImager> imager_;
  FrameChoice range_;
  std::vector<std::size_t> frames_;
  std::size_t digits_ = 1;
  Grid whole_;                              // the grid of all processes
  std::vector<std::vector<float>> images_;  // for each view, the image of all processes
};

}  // namespace

void make_images(const ImageOptions& options, Communicator& communicator) {
  ImageJob(options, communicator).run();
}

}  // namespace echoform
