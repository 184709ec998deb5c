#include "offline/volume_reconstructor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/errors.hpp"
#include "engines/engine_registry.hpp"
#include "formats/image_writer.hpp"
#include "formats/recording.hpp"
#include "gpu/device_group.hpp"
#include "gpu/device_probe.hpp"
#include "jobs/checkpoint.hpp"
#include "jobs/explained_part.hpp"
#include "jobs/split_operator.hpp"
#include "jobs/together.hpp"
#include "methods/doubtful.hpp"
#include "methods/host_memory.hpp"
#include "methods/registry.hpp"
#include "methods/unmix_volumes.hpp"
#include "methods/unmixing_settings.hpp"
#include "offline/device_of_host.hpp"
#include "offline/process_memory.hpp"
#include "offline/recorded_frame.hpp"

namespace echoform {

/// The part of the data that a model's band holds, and how much of it is not explained.
class BandOfData {
 public:
  /// All processes call it at once. The arguments outlive this object.
  BandOfData(const Reconstruction& part, ModelBand& band, VectorMath& math, Communicator& communicator)
      : data_(part.data), highest_(model_band(part)), communicator_(communicator), band_(band) {
    if (!band_.ends()) return;
    const double all = communicator_.sum_of(math.squares(data_));
    within_ = communicator_.sum_of(band_.squares(data_));
    beyond_ = all > 0.0 ? std::sqrt(std::max(0.0, 1.0 - within_ / all)) : 0.0;
  }

  [[nodiscard]] bool ends() const { return band_.ends(); }
  [[nodiscard]] Hertz highest() const { return highest_; }
  /// Part of the data above the band, as the residual counts.
  [[nodiscard]] double beyond() const { return beyond_; }
  /// The residual of the data in the band, relative to the data in the band.
  [[nodiscard]] double residual(const Solver& solver) {
    const Solver::Rows rows = solver.rows();
    const double squares = rows.residual ? band_.squares(rows.values) : band_.squares(rows.values, data_);
    const double left = communicator_.sum_of(squares);
    return within_ > 0.0 ? std::sqrt(left / within_) : 0.0;
  }

 private:
  std::span<const float> data_;
  Hertz highest_;
  Communicator& communicator_;
  ModelBand& band_;
  double within_ = 0.0;
  double beyond_ = 0.0;
};

namespace {

/// "750nm: " where there are several wavelengths.
std::string label(const Reconstruction& part) {
  return part.wavelength.empty() ? "" : part.wavelength + ": ";
}

}  // namespace

VolumeReconstructor::VolumeReconstructor(const std::filesystem::path& path, Configuration configuration,
                                         Communicator& communicator, VolumeReconstructorOptions options)
    : configuration_(std::move(configuration)),
      communicator_(communicator),
      root_(communicator.rank() == 0),
      options_(std::move(options)) {
  together(communicator_, [&] { read(path); });
  for (const std::string& line : job_.notes) options_.messages.note(line);
  for (const std::string& line : job_.warnings) options_.messages.warning(line);
  check_same_data(path.string());
}

VolumeReconstructor::~VolumeReconstructor() = default;

void VolumeReconstructor::read(const std::filesystem::path& path) {
  // Reported before anything is refused: the doubts may show what was meant.
  if (!options_.doubts_are_told) {
    for (const std::string& line : doubtful_settings(configuration_)) options_.messages.warning(line);
    for (const std::string& line : doubtful_reconstruction(configuration_)) options_.messages.warning(line);
  }
  check_reconstruction(configuration_);
  // A GPU that is requested and missing is refused before gigabytes are read.
  const HeldMemory before = held_memory();
  MemoryShares memory;
  if (decide_backend(backend_choice(configuration_.imaging)).kind == BackendKind::cuda) memory.loaded(before, held_memory());
  const std::size_t writing_bytes = options_.writing_bytes ? options_.writing_bytes() : 0;
  const auto recording = open_recording(path);
  const std::size_t frame = checked_frame(*recording, options_.frame, options_.frame_name);
  options_.messages.note(recording->describe());
  for (const std::string& line : recording->warnings()) options_.messages.warning(line);
  const StatedByData stated{recording->material(), recording->wedge_velocity()};
  for (const std::string& line : doubts_about_data(configuration_, recorded_acquisition(*recording, frame), stated))
    options_.messages.warning(line);
  besides_ =
      memory.own(held_memory()).now + taken_by_threads + static_cast<double>(recording->frame_reading_bytes() + writing_bytes);
  job_ = prepare_reconstruction(configuration_, *recording, frame, communicator_, options_.accept, besides_);
  if (!options_.resume || !root_) return;
  // Checkpoints are checked before hours are spent on the wavelengths before.
  for (const Reconstruction& part : job_.parts) {
    if (std::filesystem::exists(checkpoint_of(part))) check_checkpoint(checkpoint_of(part), part.identity);
  }
}

ImageQuantity VolumeReconstructor::pressure(std::size_t part) const {
  const bool bounded = job_.shown == ShownPart::signed_values && job_.parts[part].settings.non_negative.value_or(false);
  return initial_pressure(bounded ? ShownPart::non_negative : job_.shown);
}

std::filesystem::path VolumeReconstructor::checkpoint_of(const Reconstruction& part) const {
  return checkpoint_of(options_.checkpoint, part);
}

std::filesystem::path VolumeReconstructor::checkpoint_of(const std::filesystem::path& stated, const Reconstruction& part) {
  return part.wavelength.empty() ? stated : with_view_name(stated, part.wavelength);
}

std::vector<std::string> VolumeReconstructor::volume_names(const ReconstructionJob& job, const Configuration& configuration) {
  if (job.parts.size() == 1) return {"p0"};
  std::vector<std::string> names;
  for (const Reconstruction& part : job.parts) names.push_back(part.wavelength);
  for (std::string& name : unmixed_images(unmixing(configuration))) names.push_back(std::move(name));
  return names;
}

// Checks that all processes have the same data: files of the same name can differ from host to host.
void VolumeReconstructor::check_same_data(const std::string& name) {
  Digest digest;
  for (const Reconstruction& part : job_.parts) {
    digest.add(part.identity);
    // A process that ends before the others, or with another part, would leave them waiting in a sum.
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
      throw InputError(name, fmt::format("other data or settings on process {}", communicator_.rank()),
                       "the same files on every host");
  });
}

void VolumeReconstructor::prepare(double viewing_bytes) {
  site_.reset();
  devices_.reset();
  team_.emplace(configuration_.imaging.threads, "echoform-cpu", configuration_.imaging.pin_threads);
  std::optional<OperatorSite> site;
  together(communicator_, [&] { site = settled_site(); });
  // The GPUs are joined first, because the model takes the rest of a GPU's memory.
  devices_ = join_devices(*site);
  together(communicator_, [&] { check_memory(*site, viewing_bytes); });
  site_ = site;
}

void VolumeReconstructor::check_memory(const OperatorSite& site, double viewing_bytes) const {
  double most = 0.0;
  for (const Reconstruction& part : job_.parts) {
    const auto band = static_cast<double>(ModelBand::bytes(part.geometry.samples, site.team->size()));
    most = std::max(most, model_bytes(part, site) + part.solver_bytes + band);
  }
  require_host_memory(
      configuration_, most + job_.volume_bytes + viewing_bytes,
      {.key = "[grid] pixels", .text = fmt::format("{} voxels and {} A-scans", grid().pixels(), job_.parts.front().rows)},
      besides_);
}

// Decides where the model works.
OperatorSite VolumeReconstructor::settled_site() {
  ImagingSection imaging = configuration_.imaging;
  const GpuProbe gpu = probe_devices();
  take_device_of_host(imaging, communicator_);
  const BackendDecision decision = decide_backend(backend_choice(imaging));
  if (decision.kind != BackendKind::cuda) {
    options_.messages.note(fmt::format("the model works on the CPU{}{}",
                                       decision.why_no_gpu.empty() ? "" : "; not on a GPU: ", decision.why_no_gpu));
    return *team_;
  }
  const auto device = static_cast<std::size_t>(imaging.device);
  const std::string name = device < gpu.devices.size() ? gpu.devices[device].name : std::string();
  if (communicator_.size() == 1) {
    options_.messages.note(fmt::format("the model works on GPU {}, {}", device, name));
  } else {
    options_.messages.note(fmt::format("the model works on GPUs: {} processes", communicator_.size()));
  }
  return {*team_, BackendKind::cuda, imaging.device};
}

// If each process has a GPU of its own on one host, the GPUs add images up there; null where MPI does it.
std::unique_ptr<DeviceGroup> VolumeReconstructor::join_devices(const OperatorSite& site) {
  if (communicator_.size() == 1) return nullptr;
  // The number of GPUs that a process sees is no criterion: schedulers show each process only its own GPU.
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
    if (site.backend == BackendKind::cuda)
      options_.messages.note(fmt::format("MPI adds images up{}{}", reason.empty() ? "" : ": ", reason));
    return nullptr;
  }
  DeviceGroupId id{};
  together(communicator_, [&] {
    if (root_) id = make_device_group_id();
  });
  communicator_.broadcast(id);
  auto group = make_device_group(id, communicator_.rank(), communicator_.size(), site.device, grid().pixels());
  options_.messages.note(fmt::format("NCCL {} adds images up", nccl_status()));
  return group;
}

void VolumeReconstructor::solve(const Progress& progress, const std::stop_token& stop) {
  if (!site_) throw std::logic_error("a reconstruction that was not prepared");
  volumes_.clear();
  for (std::size_t k = 0; k < job_.parts.size(); ++k) solve_part(k, progress, stop);
}

// Computes the volume of a part, on process 0.
void VolumeReconstructor::solve_part(std::size_t number, const Progress& progress, const std::stop_token& stop) {
  const Reconstruction& part = job_.parts[number];
  std::unique_ptr<LinearOperator> own;
  std::optional<ModelBand> of_model;
  together(communicator_, [&] {
    own = make_model(part, *site_);
    of_model.emplace(model_band(part), part.geometry.sample_rate, part.geometry.samples, *team_);
  });
  SplitOperator all(*own, communicator_, devices_.get());
  VectorMath math(*team_);
  const auto interrupted = [&] { return stop.stop_requested(); };
  const LeastSquares problem{all, part.data, shape_of(part.geometry.grid), math, communicator_, interrupted};
  const std::unique_ptr<Solver> solver = make_solver(part, problem);
  BandOfData band(part, *of_model, math, communicator_);
  tell_band(part, band);
  SolverProgress done;
  try {
    start(part, *solver, done);
  } catch (const SolverInterrupted&) {
    end_interrupted(part, done);
  }

  const StoppingRules rules = stopping_rules(part);
  ReconstructionProgress now{.part = number,
                             .parts = job_.parts.size(),
                             .wavelength = part.wavelength,
                             .before = done.iterations,
                             .iterations = done.iterations,
                             .planned = rules.iterations};
  if (progress) progress(now);
  const auto begin = std::chrono::steady_clock::now();
  RunHooks hooks;
  hooks.interrupted = interrupted;
  hooks.iterated = [&](const SolverProgress& at, double residual) {
    now.iterations = at.iterations;
    now.last = at.last;
    now.residual = residual;
    if (band.ends()) now.in_band = band.residual(*solver);
    now.image = solver->image();
    if (progress) progress(now);
  };
  if (!options_.checkpoint.empty()) {
    hooks.save = [&](const SolverProgress& at) {
      write_checkpoint(checkpoint_of(part), part.identity, at, solver->state(), communicator_);
    };
    hooks.save_every = options_.save_every;
  }
  const RunEnd end = run_solver(*solver, problem, rules, hooks, done);
  if (end == RunEnd::interrupted) end_interrupted(part, done);
  const std::size_t made = done.iterations - now.before;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  options_.messages.note(fmt::format(
      "{}{} iterations: {}{}", label(part), done.iterations, text_of(end),
      made == 0 ? std::string()
                : fmt::format("; residual {}; {:.3g} s each", now.residual_text(6), seconds / static_cast<double>(made))));
  if (root_ && std::ranges::all_of(solver->image(), [](float value) { return value == 0.0F; }))
    options_.messages.warning(fmt::format("{}every voxel is 0: the data hold nothing that the model explains", label(part)));
  if (root_) volumes_.emplace_back(solver->image().begin(), solver->image().end());
}

std::string ReconstructionProgress::residual_text(int digits) const {
  const std::string whole = fmt::format("{:.{}g}", residual, digits);
  return in_band ? fmt::format("{}, in band {:.{}g}", whole, *in_band, digits) : whole;
}

void VolumeReconstructor::start(const Reconstruction& part, Solver& solver, SolverProgress& done) {
  const std::filesystem::path checkpoint = checkpoint_of(part);
  // Rank 0 decides, because it owns the file.
  const bool there = communicator_.any(root_ && options_.resume && std::filesystem::exists(checkpoint));
  if (there) {
    read_checkpoint(checkpoint, part.identity, done, solver.state(), communicator_);
    options_.messages.note(fmt::format("{}: goes on after {} iterations", checkpoint.string(), done.iterations));
    return;
  }
  if (options_.resume) options_.messages.note(fmt::format("{}: not there yet; begins at iteration 0", checkpoint.string()));
  solver.begin();
}

// Reports the part of the data that no volume explains.
void VolumeReconstructor::tell_band(const Reconstruction& part, const BandOfData& band) const {
  if (!band.ends()) return;
  options_.messages.note(
      fmt::format("{}{:.3g} of the data, as residuals count, lies above {:.4g} MHz, which no volume on this grid explains",
                  label(part), band.beyond(), 1e-6 * band.highest().value));
  const double tolerance = part.settings.tolerance;
  if (tolerance > 0.0 && band.beyond() >= tolerance) {
    options_.messages.warning(fmt::format(
        "{}: {:g} cannot be met, as {:.3g} of the data lies above the model's {:.4g} MHz: [filter] band takes it away",
        configuration_.place("[reconstruction] tolerance"), tolerance, band.beyond(), 1e-6 * band.highest().value));
  }
}

void VolumeReconstructor::end_interrupted(const Reconstruction& part, const SolverProgress& done) const {
  // Before a wavelength's first iteration it has no checkpoint, but other wavelengths and earlier runs may have some.
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

// The values of a volume to show: the volume itself, or values computed from it in `memory`.
std::span<const float> VolumeReconstructor::shown(std::span<const float> volume, std::vector<float>& memory) const {
  if (job_.shown == ShownPart::signed_values) return volume;
  memory.resize(volume.size());
  std::ranges::transform(volume, memory.begin(), [&](float value) { return shown_value(value, job_.shown); });
  return memory;
}

void VolumeReconstructor::each_volume(
    const std::function<void(std::size_t, std::span<const float>, const ImageQuantity&)>& take) {
  if (volumes_.size() < job_.parts.size()) throw std::logic_error("volumes that were not solved, or are another process's");
  std::size_t volume = 0;
  std::vector<float> values;
  for (std::size_t k = 0; k < volumes_.size(); ++k) take(volume++, shown(volumes_[k], values), pressure(k));
  if (!job_.unmixing) return;
  const UnmixedVolumes unmixed = unmix_volumes(*job_.unmixing, volumes_, grid(), *team_);
  for (std::size_t m = 0; m < job_.unmixing->components.size(); ++m) {
    const auto found = std::span<const float>(unmixed.concentrations).subspan(m * grid().pixels(), grid().pixels());
    take(volume++, shown(found, values), concentration(job_.shown));
  }
  if (job_.unmixing->saturation) take(volume++, unmixed.saturation, oxygen_saturation());
}

}  // namespace echoform
