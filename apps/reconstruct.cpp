// echoform reconstruct: a volume of a recording by optimisation.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/command.hpp"
#include "apps/common.hpp"
#include "apps/processes.hpp"
#include "apps/recorded_frame.hpp"
#include "apps/stop_signals.hpp"
#include "apps/volume_preview.hpp"
#include "base/errors.hpp"
#include "engines/engine_registry.hpp"
#include "formats/atomic_file.hpp"
#include "formats/image_writer.hpp"
#include "formats/recording.hpp"
#include "gpu/device_group.hpp"
#include "gpu/device_probe.hpp"
#include "jobs/checkpoint.hpp"
#include "jobs/communicator.hpp"
#include "jobs/reconstruction.hpp"
#include "jobs/run_solver.hpp"
#include "jobs/split_operator.hpp"
#include "jobs/together.hpp"
#include "methods/host_memory.hpp"

namespace echoform {
namespace {

struct ReconstructOptions {
  std::string input;
  std::string config;
  std::vector<std::string> outputs;
  std::int64_t frame = 0;
  std::optional<std::int64_t> iterations;
  std::string checkpoint;
  std::optional<std::int64_t> every;
  bool resume = false;
  bool preview = false;
  std::string backend;
};

constexpr std::int64_t usual_every = 10;

struct VolumeOutput {
  std::filesystem::path path;
  std::unique_ptr<ImageWriter> writer;
};

/// Checked before any work is done.
std::vector<VolumeOutput> volume_outputs(const ReconstructOptions& options) {
  std::vector<VolumeOutput> outputs;
  for (const std::string& text : options.outputs) {
    for (const VolumeOutput& other : outputs) {
      if (other.path.lexically_normal() == std::filesystem::path(text).lexically_normal())
        throw InputError("--output", fmt::format("{} twice", text), "each file once");
    }
    outputs.push_back({text, make_image_writer(text)});
  }
  return outputs;
}

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
  const auto place_of = [](const std::string& text) { return std::filesystem::absolute(text).lexically_normal(); };
  for (const std::string& output : options.outputs) {
    if (place_of(output) == place_of(options.checkpoint))
      throw InputError("--checkpoint", fmt::format("{}, which is an --output too", options.checkpoint), "a file of its own");
  }
  if (!options.resume && std::filesystem::exists(options.checkpoint))
    throw InputError(options.checkpoint, "a file that is there", "--resume to go on from it, or a new name");
}

std::size_t chosen_frame(const ReconstructOptions& options, const Recording& recording) {
  if (options.frame >= 0 && static_cast<std::size_t>(options.frame) < recording.frames())
    return static_cast<std::size_t>(options.frame);
  throw InputError("--frame", fmt::format("{}", options.frame),
                   recording.frames() == 1 ? fmt::format("0, as {} holds one frame", options.input)
                                           : fmt::format("0 to {}, as {} holds {} frames", recording.frames() - 1, options.input,
                                                         recording.frames()));
}

/// How long iterations take.
class IterationPace {
 public:
  IterationPace(std::size_t first, std::size_t last) : first_(first), last_(last) {}

  void show(ProgressBar& progress, std::size_t done, double residual) const {
    const double each = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count() /
                        static_cast<double>(std::max<std::size_t>(1, done - first_));
    progress.share(static_cast<double>(done) / static_cast<double>(last_),
                   fmt::format("iteration {} of {}, residual {:.4g}, {:.0f} s left", done, last_, residual,
                               each * static_cast<double>(last_ - std::min(done, last_))));
  }

 private:
  std::size_t first_;
  std::size_t last_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

class ReconstructJob {
 public:
  ReconstructJob(const ReconstructOptions& options, Communicator& communicator, const StopSignals& signals)
      : options_(options), communicator_(communicator), signals_(signals), root_(communicator.rank() == 0) {}

  void run() {
    // Steps of the bar: reading, the model, iterations, writing.
    ProgressBar progress(4);
    if (root_) progress.step("reading");
    together(communicator_, [&] { read(); });
    for (const std::string& line : job_.notes) spdlog::info("{}", line);
    for (const std::string& line : job_.warnings) spdlog::warn("{}", line);
    check_same_data();
    together(communicator_, [&] {
      if (root_ && options_.preview) preview_ = std::make_unique<VolumePreview>(configuration_, job_.geometry.grid);
    });
    if (preview_) {
      for (const std::string& line : preview_->invitations()) spdlog::info("preview: {}", line);
    }

    if (root_) progress.step("preparing the model");
    ThreadTeam team(configuration_.imaging.threads, "echoform-cpu", configuration_.imaging.pin_threads);
    VectorMath math(team);
    std::unique_ptr<LinearOperator> own;
    OperatorSite site(team);
    together(communicator_, [&] { site = settled_site(team); });
    // First, as the model takes what is left of a GPU's memory.
    const std::unique_ptr<DeviceGroup> devices = join_devices(site);
    together(communicator_, [&] {
      require_host_memory(
          configuration_, model_bytes(job_, site) + job_.solver_bytes + preview_bytes(),
          {.key = "[grid] pixels", .text = fmt::format("{} voxels and {} A-scans", job_.geometry.grid.pixels(), job_.rows)});
      own = make_model(job_, site);
    });
    SplitOperator all(*own, communicator_, devices.get());
    const LeastSquares problem{all,  job_.data,     shape_of(job_.geometry.grid),
                               math, communicator_, [&] { return signals_.token().stop_requested(); }};
    const std::unique_ptr<Solver> solver = make_solver(job_, problem);
    SolverProgress done;
    try {
      start(*solver, done);
    } catch (const SolverInterrupted&) {
      end_interrupted(done);
    }

    if (root_) progress.step("reconstructing");
    const std::size_t before = done.iterations;
    const auto begin = std::chrono::steady_clock::now();
    const RunEnd end = solve(*solver, problem, done, progress);
    if (end == RunEnd::interrupted) end_interrupted(done);
    const std::size_t made = done.iterations - before;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    spdlog::info("{} iterations: {}{}", done.iterations, text_of(end),
                 made == 0 ? std::string() : fmt::format("; {:.3g} s each", seconds / static_cast<double>(made)));
    if (root_) progress.step("writing");
    together(communicator_, [&] {
      if (root_) write(solver->image());
    });
  }

 private:
  void read() {
    check_options(options_);
    configuration_ = configuration_from(options_.config);
    apply_backend_option(options_.backend, configuration_);
    if (options_.iterations) {
      section<ReconstructionSection>(configuration_).iterations = static_cast<std::size_t>(*options_.iterations);
    }
    check_reconstruction(configuration_);
    // A GPU that is wanted and not there is refused before gigabytes are read.
    static_cast<void>(decide_backend(backend_choice(configuration_.imaging)));
    outputs_ = volume_outputs(options_);
    const auto recording = open_recording(options_.input);
    const std::size_t frame = chosen_frame(options_, *recording);
    spdlog::info("{}", recording->describe());
    log_warnings(*recording);
    job_ = prepare_reconstruction(configuration_, *recording, frame, communicator_);
  }

  /// What a preview may hold for those who look.
  [[nodiscard]] double preview_bytes() const {
    return preview_ ? VolumePreview::most_volumes * static_cast<double>(job_.geometry.grid.pixels() * sizeof(float)) : 0.0;
  }

  /// Where the model works.
  OperatorSite settled_site(ThreadTeam& team) {
    ImagingSection& imaging = configuration_.imaging;
    const GpuProbe gpu = probe_devices();
    take_device_of_host(imaging, communicator_);
    const BackendDecision decision = decide_backend(backend_choice(imaging));
    if (decision.kind != BackendKind::cuda) {
      spdlog::info("the model works on the CPU{}{}", decision.why_no_gpu.empty() ? "" : "; not on a GPU: ", decision.why_no_gpu);
      return team;
    }
    const auto device = static_cast<std::size_t>(imaging.device);
    const std::string name = device < gpu.devices.size() ? gpu.devices[device].name : std::string();
    if (communicator_.size() == 1) {
      spdlog::info("the model works on GPU {}, {}", device, name);
    } else {
      spdlog::info("the model works on GPUs: {} processes, {} in each host", communicator_.size(), gpu.devices.size());
    }
    return {team, BackendKind::cuda, imaging.device};
  }

  /// Where each process has a GPU of its own on one host, they add images up there; null where MPI does it.
  std::unique_ptr<DeviceGroup> join_devices(const OperatorSite& site) {
    if (communicator_.size() == 1) return nullptr;
    const bool apart = site.backend != BackendKind::cuda || communicator_.size_on_host() > probe_devices().devices.size();
    const bool several_hosts = communicator_.size_on_host() < communicator_.size();
    std::string reason = several_hosts ? "there are several hosts" : apart ? "not every process has a GPU of its own" : "";
    if (reason.empty()) reason = why_no_device_groups();
    if (communicator_.any(!reason.empty())) {
      if (site.backend == BackendKind::cuda) spdlog::info("MPI adds images up{}{}", reason.empty() ? "" : ": ", reason);
      return nullptr;
    }
    DeviceGroupId id{};
    together(communicator_, [&] {
      if (root_) id = make_device_group_id();
    });
    communicator_.broadcast(id);
    auto group = make_device_group(id, communicator_.rank(), communicator_.size(), site.device, job_.geometry.grid.pixels());
    spdlog::info("NCCL {} adds images up", nccl_status());
    return group;
  }

  /// Of all processes: files of the same name can differ from host to host.
  void check_same_data() {
    DigestValue of_root = job_.identity;
    communicator_.broadcast(of_root);
    together(communicator_, [&] {
      if (of_root != job_.identity)
        throw InputError(options_.input, fmt::format("other data or settings on process {}", communicator_.rank()),
                         "the same files on every host");
    });
  }

  void start(Solver& solver, SolverProgress& done) {
    // Of rank 0, whose file it is.
    const bool there = communicator_.any(root_ && options_.resume && std::filesystem::exists(options_.checkpoint));
    if (there) {
      read_checkpoint(options_.checkpoint, job_.identity, done, solver.state(), communicator_);
      spdlog::info("{}: goes on after {} iterations", options_.checkpoint, done.iterations);
      return;
    }
    if (options_.resume) spdlog::info("{}: not there yet; begins at iteration 0", options_.checkpoint);
    solver.begin();
  }

  RunEnd solve(Solver& solver, const LeastSquares& problem, SolverProgress& done, ProgressBar& progress) {
    const StoppingRules rules = stopping_rules(job_);
    const IterationPace pace(done.iterations, rules.iterations);
    // A terminal has the bar.
    const auto level = on_terminal() ? spdlog::level::debug : spdlog::level::info;
    RunHooks hooks;
    hooks.interrupted = [&] { return signals_.token().stop_requested(); };
    hooks.iterated = [&](const SolverProgress& now, double residual) {
      spdlog::log(level, "iteration {}: residual {:.6g}, objective {:.6g}, step {:.4g}", now.iterations, residual,
                  now.last.objective, now.last.step);
      if (root_) pace.show(progress, now.iterations, residual);
      if (preview_) preview_->show(solver.image(), now.iterations, residual);
    };
    if (!options_.checkpoint.empty()) {
      hooks.save = [&](const SolverProgress& now) {
        write_checkpoint(options_.checkpoint, job_.identity, now, solver.state(), communicator_);
      };
      hooks.save_every = static_cast<std::size_t>(options_.every.value_or(usual_every));
    }
    return run_solver(solver, problem, rules, hooks, done);
  }

  [[noreturn]] void end_interrupted(const SolverProgress& done) const {
    // Before the first iteration no checkpoint is written, but an earlier run may have left one.
    const bool there = !options_.checkpoint.empty() && std::filesystem::exists(options_.checkpoint);
    throw RuntimeFault(
        there ? fmt::format("interrupted after {} iterations; --resume goes on from {}", done.iterations, options_.checkpoint)
              : fmt::format("interrupted after {} iterations; nothing is written", done.iterations));
  }

  void write(std::span<const float> volume) const {
    ImageFile file;
    file.grid = job_.geometry.grid;
    file.view = "p0";
    file.pixels = {"initial pressure", ""};
    file.title = fmt::format("{}, frame {}", std::filesystem::path(options_.input).filename().string(), options_.frame);
    for (const VolumeOutput& output : outputs_) {
      file.envelope = volume;
      // Figures have a scale in dB: what is below 0 shows as nothing.
      std::vector<float> shown;
      if (output.writer->draws()) {
        shown.assign(volume.begin(), volume.end());
        for (float& value : shown) value = std::max(0.0F, value);
        file.envelope = shown;
      }
      output.writer->write(file);
      spdlog::info("wrote {}", output.path.string());
    }
  }

  const ReconstructOptions& options_;
  Communicator& communicator_;
  const StopSignals& signals_;
  const bool root_;
  Configuration configuration_;
  std::vector<VolumeOutput> outputs_;
  Reconstruction job_;
  std::unique_ptr<VolumePreview> preview_;  // of rank 0
};

int reconstruct(const ReconstructOptions& options) {
  const StopSignals signals;
  return run_processes([&](Communicator& communicator) { ReconstructJob(options, communicator, signals).run(); });
}

}  // namespace

Action define_reconstruct(CLI::App& options) {
  auto chosen = std::make_shared<ReconstructOptions>();
  options.add_option("INPUT", chosen->input, "The recording")->required();
  options.add_option("--config", chosen->config, "TOML file: material, grid, [reconstruction] (docs/reconstruct.md)")
      ->required()
      ->option_text("FILE");
  options
      .add_option("--output", chosen->outputs,
                  fmt::format("Where to: {}; may be repeated", fmt::join(image_writer_extensions(), ", ")))
      ->required()
      ->option_text("FILE")
      ->take_all();
  options.add_option("--frame", chosen->frame, "Which frame, from 0")->option_text("K (0)");
  options.add_option("--iterations", chosen->iterations, "At most so many, those before --resume counted in")
      ->option_text("N ([reconstruction] iterations)");
  options.add_option("--checkpoint", chosen->checkpoint, "Where the state is kept, to go on from")->option_text("FILE");
  options.add_option("--every", chosen->every, "Iterations between two checkpoints; one is written at the end in any case")
      ->option_text("K (10)");
  add_backend_option(options, chosen->backend);
  options.add_flag("--resume", chosen->resume, "Go on from the checkpoint, where it is there");
  options.add_flag("--preview", chosen->preview, "Iterates on the page, [server] web, and for subscribers, [server] images");
  return [chosen] { return reconstruct(*chosen); };
}

}  // namespace echoform
