#include "apps/reconstruct_job.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "apps/archive.hpp"
#include "apps/common.hpp"
#include "apps/process_memory.hpp"
#include "apps/processes.hpp"
#include "apps/recorded_frame.hpp"
#include "apps/stop_signals.hpp"
#include "apps/volume_outputs.hpp"
#include "apps/volume_preview.hpp"
#include "base/errors.hpp"
#include "engines/engine_registry.hpp"
#include "formats/atomic_file.hpp"
#include "formats/image_writer.hpp"
#include "formats/recording.hpp"
#include "gpu/device_group.hpp"
#include "gpu/device_probe.hpp"
#include "jobs/checkpoint.hpp"
#include "jobs/reconstruction.hpp"
#include "jobs/run_solver.hpp"
#include "jobs/split_operator.hpp"
#include "jobs/together.hpp"
#include "methods/host_memory.hpp"
#include "methods/optoacoustic_images.hpp"
#include "methods/unmix_volumes.hpp"
#include "methods/unmixing_settings.hpp"

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
}

std::size_t chosen_frame(const ReconstructOptions& options, const Recording& recording) {
  if (options.frame >= 0 && static_cast<std::size_t>(options.frame) < recording.frames())
    return static_cast<std::size_t>(options.frame);
  throw InputError("--frame", fmt::format("{}", options.frame),
                   recording.frames() == 1 ? fmt::format("0, as {} holds one frame", options.input)
                                           : fmt::format("0 to {}, as {} holds {} frames", recording.frames() - 1, options.input,
                                                         recording.frames()));
}

/// How long iterations take, where each wavelength has as many.
class IterationPace {
 public:
  /// Of part `part` of `parts`, whose iterations before `first` are done.
  IterationPace(std::size_t part, std::size_t parts, std::size_t first, std::size_t each)
      : part_(part), parts_(parts), first_(first), each_(each) {}

  void show(ProgressBar& progress, const std::string& label, std::size_t done, double residual) const {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count() /
                           static_cast<double>(std::max<std::size_t>(1, done - first_));
    const std::size_t left = each_ - std::min(done, each_) + (parts_ - part_ - 1) * each_;
    progress.share(
        (static_cast<double>(part_) + static_cast<double>(done) / static_cast<double>(each_)) / static_cast<double>(parts_),
        fmt::format("{}iteration {} of {}, residual {:.4g}, {:.0f} s left", label, done, each_, residual,
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
    // Steps of the bar: reading, the model, iterations, writing.
    ProgressBar progress(4);
    if (root_) progress.step("reading");
    together(communicator_, [&] { read(); });
    for (const std::string& line : job_.notes) spdlog::info("{}", line);
    for (const std::string& line : job_.warnings) spdlog::warn("{}", line);
    check_same_data();
    together(communicator_, [&] {
      if (root_ && options_.preview)
        preview_ = std::make_unique<VolumePreview>(configuration_, grid(), pressure_of(job_.parts.front()));
    });
    if (preview_) {
      for (const std::string& line : preview_->invitations()) spdlog::info("preview: {}", line);
    }

    if (root_) progress.step("preparing the model");
    ThreadTeam team(configuration_.imaging.threads, "echoform-cpu", configuration_.imaging.pin_threads);
    OperatorSite site(team);
    together(communicator_, [&] { site = settled_site(team); });
    // First, as the model takes what is left of a GPU's memory.
    const std::unique_ptr<DeviceGroup> devices = join_devices(site);
    together(communicator_, [&] { check_memory(site); });
    // Before this there is nothing to go on from: a signal ends the process at once.
    const StopSignals signals;
    for (std::size_t k = 0; k < job_.parts.size(); ++k) solve_part(k, site, devices.get(), signals.token(), progress);
    if (root_) progress.step("writing");
    together(communicator_, [&] {
      if (root_) write(team);
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
    const HeldMemory before = held_memory();
    MemoryShares memory;
    if (decide_backend(backend_choice(configuration_.imaging)).kind == BackendKind::cuda) memory.loaded(before, held_memory());
    outputs_ = VolumeOutputs(options_.outputs, archive_entry(configuration_));
    const auto recording = open_recording(options_.input);
    const std::size_t frame = chosen_frame(options_, *recording);
    spdlog::info("{}", recording->describe());
    log_warnings(*recording);
    besides_ = memory.own(held_memory()).now + taken_by_threads +
               static_cast<double>(recording->frame_reading_bytes() + outputs_.working_bytes(configuration_.grid.pixels.all()));
    job_ = prepare_reconstruction(
        configuration_, *recording, frame, communicator_,
        [&](const ReconstructionJob& job) {
          outputs_.name_volumes(volume_names(job));
          check_files(job);
        },
        besides_);
    if (!options_.resume || !root_) return;
    // Before hours are spent on a wavelength whose turn comes first.
    for (const Reconstruction& part : job_.parts) {
      if (std::filesystem::exists(checkpoint_of(part))) check_checkpoint(checkpoint_of(part), part.identity);
    }
  }

  [[nodiscard]] const Grid& grid() const { return job_.parts.front().geometry.grid; }
  /// "750nm: " where there are others.
  static std::string label(const Reconstruction& part) { return part.wavelength.empty() ? "" : part.wavelength + ": "; }
  static ImageQuantity pressure_of(const Reconstruction& part) {
    return initial_pressure(part.settings.non_negative.value_or(false) ? ShownPart::non_negative : ShownPart::signed_values);
  }
  [[nodiscard]] std::filesystem::path checkpoint_of(const Reconstruction& part) const {
    return part.wavelength.empty() ? std::filesystem::path(options_.checkpoint)
                                   : with_view_name(options_.checkpoint, part.wavelength);
  }

  [[nodiscard]] std::vector<std::string> volume_names(const ReconstructionJob& job) const {
    if (job.parts.size() == 1) return {"p0"};
    std::vector<std::string> names;
    for (const Reconstruction& part : job.parts) names.push_back(part.wavelength);
    for (std::string& name : unmixed_images(unmixing(configuration_))) names.push_back(std::move(name));
    return names;
  }

  /// Of checkpoints, where they are.
  void check_files(const ReconstructionJob& job) const {
    if (options_.checkpoint.empty()) return;
    const auto place_of = [](const std::filesystem::path& path) { return std::filesystem::absolute(path).lexically_normal(); };
    for (const Reconstruction& part : job.parts) {
      const std::filesystem::path checkpoint = checkpoint_of(part);
      for (const std::filesystem::path& output : outputs_.paths()) {
        if (place_of(output) == place_of(checkpoint))
          throw InputError("--checkpoint", fmt::format("{}, which is an --output too", checkpoint.string()), "a file of its own");
      }
      // Of rank 0, whose files they are.
      if (root_ && !options_.resume && std::filesystem::exists(checkpoint))
        throw InputError(checkpoint.string(), "a file that is there", "--resume to go on from it, or a new name");
    }
  }

  void check_memory(const OperatorSite& site) const {
    double most = 0.0;
    for (const Reconstruction& part : job_.parts) most = std::max(most, model_bytes(part, site) + part.solver_bytes);
    require_host_memory(
        configuration_, most + job_.volume_bytes + preview_bytes(),
        {.key = "[grid] pixels", .text = fmt::format("{} voxels and {} A-scans", grid().pixels(), job_.parts.front().rows)},
        besides_);
  }

  /// What a preview may hold for those who look.
  [[nodiscard]] double preview_bytes() const {
    return preview_ ? VolumePreview::most_volumes * static_cast<double>(grid().pixels() * sizeof(float)) : 0.0;
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
      spdlog::info("the model works on GPUs: {} processes", communicator_.size());
    }
    return {team, BackendKind::cuda, imaging.device};
  }

  /// Where each process has a GPU of its own on one host, they add images up there; null where MPI does it.
  std::unique_ptr<DeviceGroup> join_devices(const OperatorSite& site) {
    if (communicator_.size() == 1) return nullptr;
    // Not how many GPUs a process sees: schedulers show each its own alone.
    const std::vector<GpuDevice> devices = probe_devices().devices;
    const bool works_there = site.backend == BackendKind::cuda;
    const std::uint64_t place = works_there ? devices.at(static_cast<std::size_t>(site.device)).place : 0;
    const bool apart = communicator_.all_differ(place);
    const bool too_many = communicator_.any(!works_there || communicator_.size_on_host() > devices.size());
    const bool places_are_known = !communicator_.any(place == 0);
    const bool own_devices = places_are_known ? apart : !too_many;
    const bool several_hosts = communicator_.size_on_host() < communicator_.size();
    std::string reason = several_hosts ? "there are several hosts" : own_devices ? "" : "processes share a GPU, or have none";
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
    auto group = make_device_group(id, communicator_.rank(), communicator_.size(), site.device, grid().pixels());
    spdlog::info("NCCL {} adds images up", nccl_status());
    return group;
  }

  /// Of all processes: files of the same name can differ from host to host.
  void check_same_data() {
    Digest digest;
    for (const Reconstruction& part : job_.parts) {
      digest.add(part.identity);
      // Who ends before the others, or with another part, would leave them in a sum.
      const StoppingRules rules = stopping_rules(part);
      digest.add(std::uint64_t{rules.iterations});
      digest.add(rules.tolerance);
      digest.add(rules.discrepancy);
    }
    const DigestValue own = digest.value();
    DigestValue of_root = own;
    communicator_.broadcast(of_root);
    together(communicator_, [&] {
      if (of_root != own)
        throw InputError(options_.input, fmt::format("other data or settings on process {}", communicator_.rank()),
                         "the same files on every host");
    });
  }

  /// Its volume, on rank 0.
  void solve_part(std::size_t number, const OperatorSite& site, DeviceGroup* devices, const std::stop_token& stop,
                  ProgressBar& progress) {
    const Reconstruction& part = job_.parts[number];
    std::unique_ptr<LinearOperator> own;
    together(communicator_, [&] { own = make_model(part, site); });
    SplitOperator all(*own, communicator_, devices);
    VectorMath math(*site.team);
    const LeastSquares problem{all,  part.data,     shape_of(part.geometry.grid),
                               math, communicator_, [&] { return stop.stop_requested(); }};
    const std::unique_ptr<Solver> solver = make_solver(part, problem);
    SolverProgress done;
    try {
      start(part, *solver, done);
    } catch (const SolverInterrupted&) {
      end_interrupted(part, done);
    }

    if (root_ && number == 0) progress.step("reconstructing");
    if (preview_ && !part.wavelength.empty()) preview_->begin(part.wavelength);
    const std::size_t before = done.iterations;
    const auto begin = std::chrono::steady_clock::now();
    const RunEnd end = solve(number, *solver, problem, done, stop, progress);
    if (end == RunEnd::interrupted) end_interrupted(part, done);
    const std::size_t made = done.iterations - before;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    spdlog::info("{}{} iterations: {}{}", label(part), done.iterations, text_of(end),
                 made == 0 ? std::string() : fmt::format("; {:.3g} s each", seconds / static_cast<double>(made)));
    if (root_) volumes_.emplace_back(solver->image().begin(), solver->image().end());
  }

  void start(const Reconstruction& part, Solver& solver, SolverProgress& done) {
    const std::filesystem::path checkpoint = checkpoint_of(part);
    // Of rank 0, whose file it is.
    const bool there = communicator_.any(root_ && options_.resume && std::filesystem::exists(checkpoint));
    if (there) {
      read_checkpoint(checkpoint, part.identity, done, solver.state(), communicator_);
      spdlog::info("{}: goes on after {} iterations", checkpoint.string(), done.iterations);
      return;
    }
    if (options_.resume) spdlog::info("{}: not there yet; begins at iteration 0", checkpoint.string());
    solver.begin();
  }

  RunEnd solve(std::size_t number, Solver& solver, const LeastSquares& problem, SolverProgress& done, const std::stop_token& stop,
               ProgressBar& progress) {
    const Reconstruction& part = job_.parts[number];
    const StoppingRules rules = stopping_rules(part);
    const IterationPace pace(number, job_.parts.size(), done.iterations, rules.iterations);
    // A terminal has the bar.
    const auto level = on_terminal() ? spdlog::level::debug : spdlog::level::info;
    RunHooks hooks;
    hooks.interrupted = [&] { return stop.stop_requested(); };
    hooks.iterated = [&](const SolverProgress& now, double residual) {
      spdlog::log(level, "{}iteration {}: residual {:.6g}, objective {:.6g}, step {:.4g}", label(part), now.iterations, residual,
                  now.last.objective, now.last.step);
      if (root_) pace.show(progress, label(part), now.iterations, residual);
      if (preview_) preview_->show(solver.image(), now.iterations, residual);
    };
    if (!options_.checkpoint.empty()) {
      hooks.save = [&](const SolverProgress& now) {
        write_checkpoint(checkpoint_of(part), part.identity, now, solver.state(), communicator_);
      };
      hooks.save_every = static_cast<std::size_t>(options_.every.value_or(usual_every));
    }
    return run_solver(solver, problem, rules, hooks, done);
  }

  [[noreturn]] void end_interrupted(const Reconstruction& part, const SolverProgress& done) const {
    // Before a wavelength's first iteration no checkpoint of it is written, but there are those of others, and of earlier runs.
    std::string there;
    for (const Reconstruction& other : job_.parts) {
      if (options_.checkpoint.empty() || !std::filesystem::exists(checkpoint_of(other))) continue;
      there += fmt::format("{}{}", there.empty() ? "" : ", ", checkpoint_of(other).string());
    }
    const std::string where =
        fmt::format("{} iterations{}", done.iterations, part.wavelength.empty() ? "" : " at " + part.wavelength);
    throw RuntimeFault(there.empty() ? fmt::format("interrupted after {}; nothing is written", where)
                                     : fmt::format("interrupted after {}; --resume goes on from {}", where, there));
  }

  void write(ThreadTeam& team) const {
    const std::string title =
        fmt::format("{}, frame {}", std::filesystem::path(options_.input).filename().string(), options_.frame);
    std::size_t volume = 0;
    for (std::size_t k = 0; k < volumes_.size(); ++k)
      outputs_.write(volume++, grid(), volumes_[k], pressure_of(job_.parts[k]), title);
    if (!job_.unmixing) return;
    const UnmixedVolumes unmixed = unmix_volumes(*job_.unmixing, volumes_, grid(), team);
    for (std::size_t m = 0; m < job_.unmixing->components.size(); ++m) {
      const auto values = std::span<const float>(unmixed.concentrations).subspan(m * grid().pixels(), grid().pixels());
      outputs_.write(volume++, grid(), values, concentration(ShownPart::signed_values), title);
    }
    if (job_.unmixing->saturation) outputs_.write(volume++, grid(), unmixed.saturation, oxygen_saturation(), title);
  }

  const ReconstructOptions& options_;
  Communicator& communicator_;
  const bool root_;
  Configuration configuration_;
  VolumeOutputs outputs_;
  ReconstructionJob job_;
  double besides_ = 0.0;                     // bytes of memory that are none of the job's
  std::vector<std::vector<float>> volumes_;  // of rank 0: of the parts that are done
  std::unique_ptr<VolumePreview> preview_;   // of rank 0
};

}  // namespace

void reconstruct_volumes(const ReconstructOptions& options, Communicator& communicator) {
  ReconstructJob(options, communicator).run();
}

}  // namespace echoform
