#include "apps/reconstruct_job.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/archive.hpp"
#include "apps/common.hpp"
#include "apps/logged_messages.hpp"
#include "apps/stop_signals.hpp"
#include "apps/volume_outputs.hpp"
#include "apps/volume_preview.hpp"
#include "base/errors.hpp"
#include "formats/atomic_file.hpp"
#include "jobs/together.hpp"
#include "methods/registry.hpp"
#include "offline/volume_reconstructor.hpp"

namespace echoform {
namespace {

constexpr std::int64_t usual_every = 10;

void check_options(const ReconstructOptions& options) {
  const auto at_least_one = [](std::string_view option, const std::optional<std::int64_t>& value) {
    if (value && *value < 1) throw InputError(option, fmt::format("{}", *value), "a whole number from 1");
  };
  at_least_one("--iterations", options.iterations);
  at_least_one("--every", options.every);
  if (options.checkpoint.empty()) {
    if (options.every) throw InputError("--every", "no --checkpoint", "the file that is written so often");
    if (options.resume) throw InputError("--resume", "no --checkpoint", "the file to go on from");
    return;
  }
  check_output_place(options.checkpoint);
  require_other_file(options.checkpoint, options.input, "--checkpoint");
}

/// Measures how long iterations take, when each wavelength has the same number of them.
class IterationPace {
 public:
  /// Measures part `part` of `parts`, whose iterations before `first` are done.
  IterationPace(std::size_t part, std::size_t parts, std::size_t first, std::size_t each)
      : part_(part), parts_(parts), first_(first), each_(each) {}

  void show(ProgressBar& progress, const std::string& label, std::size_t done, const std::string& residual) const {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count() /
                           static_cast<double>(std::max<std::size_t>(1, done - first_));
    const std::size_t left = each_ - std::min(done, each_) + (parts_ - part_ - 1) * each_;
    progress.share(
        (static_cast<double>(part_) + static_cast<double>(done) / static_cast<double>(each_)) / static_cast<double>(parts_),
        fmt::format("{}iteration {} of {}, residual {}, {:.0f} s left", label, done, each_, residual,
                    seconds * static_cast<double>(left)));
  }

 private:
  std::size_t part_;
  std::size_t parts_;
  std::size_t first_;
  std::size_t each_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

class ReconstructJob {
 public:
  ReconstructJob(const ReconstructOptions& options, Communicator& communicator)
      : options_(options), communicator_(communicator), root_(communicator.rank() == 0) {}

  void run() {
    // The parts of the progress are reading, the model, iterations and writing. Iterations take nearly all of the time.
    ProgressBar progress({0.02, 0.05, 0.91, 0.02});
    if (root_) progress.step("reading");
    together(communicator_, [&] { read_options(); });
    reconstructor_.emplace(options_.input, configuration_, communicator_, reconstructor_options());
    together(communicator_, [&] {
      if (root_ && options_.preview) {
        preview_ = std::make_unique<VolumePreview>(configuration_, reconstructor_->grid(), reconstructor_->pressure(0),
                                                   reconstructor_->job().shown);
      }
    });
    if (preview_) {
      for (const std::string& line : preview_->invitations()) spdlog::info("preview: {}", line);
    }

    if (root_) progress.step("preparing the model");
    reconstructor_->prepare(preview_bytes());
    // Before this there is nothing to resume from, so a signal ends the process at once.
    const StopSignals signals;
    std::optional<IterationPace> pace;
    reconstructor_->solve([&](const ReconstructionProgress& now) { tell(now, pace, progress); }, signals.token());
    if (root_) progress.step("writing");
    together(communicator_, [&] {
      if (root_) write();
    });
  }

 private:
  void read_options() {
    check_options(options_);
    configuration_ = configuration_from(options_.config);
    // Doubts are logged before anything is refused: they may explain what was meant.
    log_doubts(configuration_);
    for (const std::string& line : doubtful_reconstruction(configuration_)) spdlog::warn("{}", line);
    apply_backend_option(options_.backend, configuration_);
    if (options_.iterations) {
      section<ReconstructionSection>(configuration_).iterations = static_cast<std::size_t>(*options_.iterations);
    }
  }

  [[nodiscard]] VolumeReconstructorOptions reconstructor_options() {
    VolumeReconstructorOptions options;
    options.frame = options_.frame;
    options.frame_name = "--frame";
    options.checkpoint = options_.checkpoint;
    options.save_every = static_cast<std::size_t>(options_.every.value_or(usual_every));
    options.resume = options_.resume;
    options.doubts_are_told = true;
    options.writing_bytes = [this] {
      outputs_ = VolumeOutputs(options_.outputs, archive_entry(configuration_));
      return outputs_.working_bytes(configuration_.grid.pixels.all());
    };
    options.accept = [this](const ReconstructionJob& job) {
      outputs_.name_volumes(VolumeReconstructor::volume_names(job, configuration_));
      for (const std::filesystem::path& output : outputs_.paths()) require_other_file(output, options_.input, "--output");
      check_files(job);
    };
    options.messages = logged_messages();
    return options;
  }

  /// Checks the checkpoint files where checkpoints are requested.
  void check_files(const ReconstructionJob& job) const {
    if (options_.checkpoint.empty()) return;
    const auto place_of = [](const std::filesystem::path& path) { return std::filesystem::absolute(path).lexically_normal(); };
    for (const Reconstruction& part : job.parts) {
      const std::filesystem::path checkpoint = VolumeReconstructor::checkpoint_of(options_.checkpoint, part);
      for (const std::filesystem::path& output : outputs_.paths()) {
        if (place_of(output) == place_of(checkpoint))
          throw InputError("--checkpoint", fmt::format("{}, which is an --output too", checkpoint.string()), "a file of its own");
      }
      // Only rank 0 checks this, because the files are its own.
      if (root_ && !options_.resume && std::filesystem::exists(checkpoint))
        throw InputError(checkpoint.string(), "a file that is there", "--resume to go on from it, or a new name");
    }
  }

  /// Memory that a preview may hold for its viewers, bytes.
  [[nodiscard]] double preview_bytes() const {
    return preview_ ? VolumePreview::most_volumes * static_cast<double>(reconstructor_->grid().pixels() * sizeof(float)) : 0.0;
  }

  void tell(const ReconstructionProgress& now, std::optional<IterationPace>& pace, ProgressBar& progress) const {
    const std::string label = now.wavelength.empty() ? "" : fmt::format("{}: ", now.wavelength);
    if (now.image.empty()) {  // iterations are about to begin
      if (root_ && now.part == 0) progress.step("reconstructing");
      if (preview_ && !now.wavelength.empty()) preview_->begin(std::string(now.wavelength));
      pace.emplace(now.part, now.parts, now.before, now.planned);
      return;
    }
    // A terminal shows the progress bar instead.
    const auto level = on_terminal() ? spdlog::level::debug : spdlog::level::info;
    spdlog::log(level, "{}iteration {}: residual {}, objective {:.6g}, step {:.4g}", label, now.iterations, now.residual_text(6),
                now.last.objective, now.last.step);
    if (root_) pace->show(progress, label, now.iterations, now.residual_text(4));
    if (preview_) preview_->show(now.image, now.iterations, now.residual);
  }

  void write() {
    const std::string title =
        fmt::format("{}, frame {}", std::filesystem::path(options_.input).filename().string(), options_.frame);
    reconstructor_->each_volume([&](std::size_t volume, std::span<const float> values, const ImageQuantity& quantity) {
      outputs_.write(volume, reconstructor_->grid(), values, quantity, title);
    });
  }

  const ReconstructOptions& options_;
  Communicator& communicator_;
  const bool root_;
  Configuration configuration_;
  VolumeOutputs outputs_;
  std::optional<VolumeReconstructor> reconstructor_;
  std::unique_ptr<VolumePreview> preview_;  // on rank 0 only
};

}  // namespace

void reconstruct_volumes(const ReconstructOptions& options, Communicator& communicator) {
  ReconstructJob(options, communicator).run();
}

}  // namespace echoform
