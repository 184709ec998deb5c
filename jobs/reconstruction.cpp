#include "jobs/reconstruction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "acquisition/detectors.hpp"
#include "acquisition/frame_layout.hpp"
#include "acquisition/ranges.hpp"
#include "base/csv_numbers.hpp"
#include "base/errors.hpp"
#include "jobs/explained_part.hpp"
#include "jobs/filtered_model.hpp"
#include "jobs/wavelength_rows.hpp"
#include "methods/doubtful.hpp"
#include "methods/filter_settings.hpp"
#include "methods/host_memory.hpp"
#include "methods/imaging_task.hpp"
#include "methods/reconstructed_volumes.hpp"
#include "methods/row_filter.hpp"
#include "operators/arrivals.hpp"
#include "operators/interpolated_model.hpp"
#include "operators/spherical_model.hpp"

namespace echoform {
namespace {

bool is_quadratic(const ReconstructionSection& settings) {
  return settings.solver != ReconstructionSolver::total_variation;
}

bool can_bound(const ReconstructionSection& settings) {
  return settings.solver == ReconstructionSolver::fista || settings.solver == ReconstructionSolver::total_variation;
}

std::string text_of_key(std::string_view name) {
  return fmt::format("[reconstruction] {}", name);
}

Axis stated_axis(const Configuration& configuration, std::string_view name, const std::optional<std::array<Metres, 2>>& ends,
                 std::size_t pixels) {
  if (ends) return {(*ends)[0], (*ends)[1], pixels};
  // An image lies in the plane y = 0.
  if (name == "y" && pixels == 1) return {};
  throw InputError(configuration.place(fmt::format("[grid] {}", name)), "no such key", "[first, last], the voxels' centres");
}

Grid stated_grid(const Configuration& configuration) {
  const GridSection& stated = configuration.grid;
  Grid grid;
  grid.x = stated_axis(configuration, "x", stated.x, stated.pixels.x);
  grid.y = stated_axis(configuration, "y", stated.y, stated.pixels.y);
  grid.z = stated_axis(configuration, "z", stated.z, stated.pixels.z);
  validate(grid, configuration.place("[grid]"));
  return grid;
}

/// Whether a key of [filter] other than the mute is set. If not, samples stay as they are, as models explain them.
bool asks_for_filter(const FilterSection& filter) {
  const FilterSection untouched;
  return filter.kind != untouched.kind || filter.band || filter.skirt || filter.upper_skirt || filter.notch ||
         !filter.pulse_file.empty() || filter.noise != untouched.noise;
}

/// The filter of the A-scans and of the model's pressures.
FilterOptions stated_filter(const Configuration& configuration, const Acquisition& acquisition, ReconstructionJob& job) {
  if (!asks_for_filter(section<FilterSection>(configuration))) return {};
  FilterOptions filter = resolve_filter(configuration, acquisition, job.notes);
  SetupReport report;
  report_filter(report, filter);
  job.notes.push_back(fmt::format("{}: A-scans and what the model says of them are filtered: {}", configuration.name(),
                                  report.rows.back().second));
  for (std::string& line : filter_warnings(configuration, filter, acquisition)) job.warnings.push_back(std::move(line));
  return filter;
}

/// Throws InputError where the record holds no sound of the grid; adds a warning where some of it is missing.
void check_record(const Configuration& configuration, const ModelGeometry& geometry, std::vector<std::string>& warnings) {
  require_sound(geometry, configuration.place("[grid]").c_str());
  const Arrivals sound = arrivals_of(geometry);
  const Arrivals record = record_of(geometry);
  if (sound.first < record.first || sound.last > record.last) {
    warnings.push_back(
        fmt::format("sound of the grid comes after {}, of which the record has {}: what is not recorded counts as unknown",
                    text_of(sound), text_of(record)));
  }
}

/// The highest frequency of the spherical model. Voxels extend over at most half a wave each.
Hertz highest_frequency_of(const ReconstructionSection& settings, const ModelGeometry& geometry) {
  const Hertz of_voxels = geometry.velocity / (2.0 * voxel_spacing(geometry.grid));
  return settings.highest_frequency.value_or(std::min(0.25 * geometry.sample_rate, of_voxels));
}

/// Throws InputError for a band of the spherical model in which a lattice of such voxels emits tones of its own.
void check_band(const Configuration& configuration, const ReconstructionSection& settings, const ModelGeometry& geometry) {
  const Hertz of_lattice = geometry.velocity / voxel_spacing(geometry.grid);
  if (!settings.highest_frequency || *settings.highest_frequency <= of_lattice) return;
  throw InputError(configuration.place(text_of_key("highest_frequency")),
                   fmt::format("{:.6g} MHz", 1e-6 * settings.highest_frequency->value),
                   fmt::format("at most {:.6g} MHz, that of waves of one voxel", 1e-6 * of_lattice.value));
}

void add_to(Digest& digest, const Axis& axis) {
  digest.add(axis.first.value);
  digest.add(axis.last.value);
  digest.add(std::uint64_t{axis.count});
}

void add_to(Digest& digest, const Direction& direction) {
  digest.add(direction.x);
  digest.add(direction.y);
  digest.add(direction.z);
}

void add_to(Digest& digest, const ImpulseResponse& response) {
  digest.add(std::string_view("impulse response"));
  digest.add(std::uint64_t{response.zero});
  digest.add(std::as_bytes(std::span(response.samples)));
}

void add_to(Digest& digest, const FilterOptions& filter) {
  digest.add(std::string_view("filter"));
  digest.add(static_cast<std::uint8_t>(filter.kind));
  for (const Hertz frequency : {filter.low, filter.high, filter.skirt, filter.upper_skirt}) digest.add(frequency.value);
  if (filter.notch) {
    digest.add(filter.notch->centre.value);
    digest.add(filter.notch->width.value);
  }
  if (!filter.pulse) return;
  digest.add(filter.noise);
  digest.add(filter.pulse->sample_rate.value);
  digest.add(std::as_bytes(std::span(filter.pulse->samples)));
}

DigestValue identity_of(const Reconstruction& job, const ModelGeometry& geometry, std::span<const float> data) {
  const ReconstructionSection& settings = job.settings;
  Digest digest;
  digest.add(std::string_view("echoform reconstruct 1"));
  digest.add(static_cast<std::uint8_t>(settings.model));
  digest.add(static_cast<std::uint8_t>(settings.solver));
  digest.add(settings.penalty);
  digest.add(static_cast<std::uint8_t>(settings.penalty_kind.value_or(ReconstructionPenalty::smoothness)));
  digest.add(static_cast<std::uint8_t>(settings.non_negative.value_or(false)));
  const bool in_a_band = settings.model == ReconstructionModel::spherical;
  digest.add(in_a_band ? highest_frequency_of(settings, geometry).value : 0.0);
  digest.add(static_cast<std::uint8_t>(settings.rectangular_elements.value_or(false)));
  for (const Axis& axis : {geometry.grid.x, geometry.grid.y, geometry.grid.z}) add_to(digest, axis);
  digest.add(geometry.sample_rate.value);
  digest.add(geometry.start_time.value);
  digest.add(geometry.velocity.value);
  digest.add(std::uint64_t{geometry.samples});
  digest.add(std::uint64_t{geometry.detectors.size()});
  for (const Detector& detector : geometry.detectors) {
    add_to(digest, {detector.centre.x.value, detector.centre.y.value, detector.centre.z.value});
    add_to(digest, detector.normal);
    add_to(digest, detector.across);
    digest.add(detector.width.value);
    digest.add(detector.length.value);
  }
  // Nothing is added where elements have no parts, so that earlier checkpoints remain valid.
  if (job.element_parts.count() > 1) {
    digest.add(std::string_view("element parts"));
    digest.add(std::uint64_t{job.element_parts.across});
    digest.add(std::uint64_t{job.element_parts.along});
  }
  if (job.response) add_to(digest, *job.response);
  if (job.filter.kind != FilterKind::none) add_to(digest, job.filter);
  digest.add(std::as_bytes(data));
  return digest.value();
}

constexpr std::size_t most_response_samples = 65536;

/// The response that [reconstruction] states, else that of live images.
std::optional<ImpulseResponse> stated_response(const Configuration& configuration, const VolumeSettings& of_images,
                                               std::vector<std::string>& notes) {
  const auto& settings = section<ReconstructionSection>(configuration);
  if (settings.impulse_response.empty()) {
    if (!of_images.response) return std::nullopt;
    return ImpulseResponse{of_images.response->samples, of_images.response->zero};
  }
  if (of_images.response)
    notes.push_back(fmt::format("{} replaces the response of live images", configuration.place(text_of_key("impulse_response"))));
  ImpulseResponse response;
  const std::string key = configuration.place(text_of_key("impulse_response"));
  response.samples = read_csv_samples(settings.impulse_response, key, most_response_samples);
  const auto louder = [](double a, double b) { return std::abs(a) < std::abs(b); };
  const auto loudest = std::ranges::max_element(response.samples, louder);
  if (loudest == response.samples.end() || *loudest == 0.0) throw InputError(key, "zeros alone", "a response");
  response.zero = settings.impulse_zero.value_or(static_cast<std::size_t>(loudest - response.samples.begin()));
  if (response.zero >= response.samples.size()) {
    throw InputError(
        configuration.place(text_of_key("impulse_zero")), fmt::format("{}", response.zero),
        fmt::format("0 to {}, as impulse_response has {} samples", response.samples.size() - 1, response.samples.size()));
  }
  return response;
}

/// Memory of the solver, with frame, volume and the working memory of largest_eigenvalue(). model_bytes() gives that of the
/// model.
double solver_bytes(const ReconstructionSection& settings, std::size_t voxels, std::size_t values) {
  // Numbers of image vectors and data vectors that the solvers hold.
  const auto [images, of_data] = [&]() -> std::pair<double, double> {
    switch (settings.solver) {
      case ReconstructionSolver::conjugate_gradients:
        return {3.0, 2.0};
      case ReconstructionSolver::lsqr:
        return {settings.penalty > 0.0 ? 7.0 : 4.0, 4.0};
      case ReconstructionSolver::fista:
        return {5.0 + 2.0, 3.0 + 1.0};
      case ReconstructionSolver::total_variation:
        return {6.0 + 2.0, 3.0 + 1.0};
    }
    return {0.0, 0.0};
  }();
  return sizeof(float) * ((images + 1.0) * static_cast<double>(voxels) + (of_data + 2.0) * static_cast<double>(values));
}

/// Adds a warning where the data contain sound from outside the grid. `part` and `samples` have the detectors and rows of all
/// processes.
void warn_of_sound_outside(const Configuration& configuration, const Reconstruction& part, std::span<const float> samples,
                           std::vector<std::string>& warnings) {
  constexpr double worth_warning = 0.05;
  ResponseReach reach;
  if (part.response) {
    reach.before = static_cast<double>(part.response->zero) / part.geometry.sample_rate;
    reach.after = static_cast<double>(part.response->samples.size() - 1 - part.response->zero) / part.geometry.sample_rate;
  }
  const SoundFromOutside found = sound_from_outside(part.geometry, samples, model_band(part), part.largest_half_diagonal, reach);
  if (found.all() < worth_warning) return;
  const auto percent = [](double share) { return std::round(100.0 * share); };
  warnings.push_back(
      fmt::format("{}: {:g} % of the sound in the model's band comes when none of the grid arrives{}: {:g} % earlier ([filter] "
                  "mute, where it is "
                  "the light's own), {:g} % later (a larger [grid]); what the model cannot explain spoils the volume",
                  configuration.place("[grid]"), percent(found.all()), part.wavelength.empty() ? "" : " at " + part.wavelength,
                  percent(found.before), percent(found.after)));
}

SphericalModelOptions spherical_options(const Reconstruction& job) {
  SphericalModelOptions options;
  options.highest_frequency = highest_frequency_of(job.settings, job.geometry);
  options.largest_half_diagonal = job.largest_half_diagonal;
  options.rectangular_elements = job.settings.rectangular_elements.value_or(false);
  options.element_parts = job.element_parts;
  return options;
}

/// How volumes of these wavelengths are unmixed, where that is requested. `divided` states that the data are already divided by
/// their energies.
std::optional<UnmixingPlan> unmixing_of(const Configuration& configuration, const Acquisition& acquisition,
                                        const std::vector<WavelengthRows>& lights, bool divided) {
  if (lights.size() == 1 && !unmixing(configuration).components.empty()) {
    throw InputError(configuration.place("[unmixing] components"), "some, and the volume of one wavelength",
                     "no such key, or several wavelengths");
  }
  std::vector<Metres> wavelengths;
  for (const WavelengthRows& light : lights) wavelengths.push_back(light.wavelength);
  std::vector<UnmixedLight> unmixed = lights_of(acquisition, wavelengths);
  if (divided) {
    for (UnmixedLight& light : unmixed) light.energy = 1.0;
  }
  return resolve_unmixing(configuration, unmixed);
}

/// The values that all parts of a job share.
Reconstruction part_of_all(const Configuration& configuration, const Acquisition& acquisition, MetresPerSecond velocity,
                           std::size_t muted) {
  Reconstruction part;
  part.settings = section<ReconstructionSection>(configuration);
  if (!part.settings.non_negative) part.settings.non_negative = part.settings.solver == ReconstructionSolver::fista;
  part.geometry.grid = stated_grid(configuration);
  part.geometry.samples = acquisition.samples - muted;
  part.geometry.sample_rate = acquisition.sample_rate;
  part.geometry.start_time =
      acquisition.start_time - acquisition.time_offset + static_cast<double>(muted) / acquisition.sample_rate;
  part.geometry.velocity = velocity;
  return part;
}

/// Checks a part with the detectors of all processes.
void check_part(const Configuration& configuration, const Reconstruction& part, std::vector<std::string>& warnings) {
  validate(part.geometry, std::string(configuration.name()).c_str());
  std::vector<std::string> found;
  check_record(configuration, part.geometry, found);
  // Parts whose detectors are at the same places give the same warnings.
  for (std::string& line : found) {
    if (std::ranges::find(warnings, line) == warnings.end()) warnings.push_back(std::move(line));
  }
  check_band(configuration, part.settings, part.geometry);
}

/// Chooses into how many parts rectangular elements are cut, for a part of the job with the detectors of all processes. Adds a
/// note about it, and a warning where the far field of the parts is still inaccurate.
void choose_element_parts(const Configuration& configuration, Reconstruction& part, ReconstructionJob& job) {
  constexpr double worth_warning = 0.05;
  const ReconstructionSection& settings = part.settings;
  if (!settings.rectangular_elements.value_or(false)) return;
  const Hertz highest = highest_frequency_of(settings, part.geometry);
  const ElementParts wanted = parts_for_far_field(part.geometry, highest);
  part.element_parts = settings.element_parts ? ElementParts{(*settings.element_parts)[0], (*settings.element_parts)[1]} : wanted;
  const auto add = [](std::vector<std::string>& lines, std::string line) {
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  };
  const auto text = [](const ElementParts& parts) { return fmt::format("{} x {}", parts.across, parts.along); };
  const double error = far_field_error(part.geometry, highest, part.element_parts);
  const std::string figure =
      fmt::format("a wave of {:.3g} MHz from the nearest voxel, averaged in their far field, is {:.2g} % off",
                  0.5e-6 * highest.value, 100.0 * error);
  if (error > worth_warning) {
    add(job.warnings, fmt::format("{}: elements are cut into {} parts: {}{}", configuration.place(text_of_key("element_parts")),
                                  text(part.element_parts), figure,
                                  wanted == part.element_parts ? std::string(": the grid is too near to the elements")
                                                               : fmt::format("; {} parts are enough", text(wanted))));
  } else if (part.element_parts.count() > 1) {
    add(job.notes, fmt::format("elements are cut into {} parts: {}", text(part.element_parts), figure));
  }
}

/// Memory of volumes: those of several wavelengths wait for the last one, and for the volumes made of them.
double volume_bytes(const ReconstructionJob& job) {
  // A volume that is written as magnitudes, or without negative values, needs a second volume.
  const std::size_t shown = job.shown == ShownPart::signed_values ? 0 : 1;
  std::size_t volumes = job.parts.size() == 1 ? shown : shown + job.parts.size();
  if (job.unmixing) volumes += job.unmixing->components.size() + (job.unmixing->saturation ? 1 : 0);
  return sizeof(float) * static_cast<double>(volumes) * static_cast<double>(job.parts.front().geometry.grid.pixels());
}

/// Samples of a frame, [row, sample]. `event_gains` are those of VolumeSettings.
std::vector<float> samples_of(const Configuration& configuration, Recording& recording, std::size_t frame,
                              const Acquisition& acquisition, const std::vector<float>& event_gains,
                              std::vector<std::string>& notes) {
  std::vector<float> samples(acquisition.a_scans() * acquisition.samples);
  recording.read_frame(frame, samples);
  if (const auto& scale = configuration.acquisition.sample_scale) {
    const double stated = stated_scale(recording.stored());
    for (float& sample : samples) sample = static_cast<float>(static_cast<double>(sample) * (*scale / stated));
    if (*scale != stated)
      notes.push_back(
          fmt::format("{}: [acquisition] sample_scale = {:g} replaces {:g} of the data", configuration.name(), *scale, stated));
  }
  if (event_gains.empty()) return samples;
  const std::vector<EventReceiver> pairs = FrameLayout(acquisition).pairs();
  for (std::size_t row = 0; row < pairs.size(); ++row) {
    const float gain = event_gains[pairs[row].event];
    for (float& sample : std::span(samples).subspan(row * acquisition.samples, acquisition.samples)) sample *= gain;
  }
  return samples;
}

/// Keeps the last `kept` samples of each row of [row, sample], one row behind the other, and filters them.
void mute_and_filter(std::vector<float>& samples, const Acquisition& acquisition, std::size_t kept,
                     const FilterOptions& options) {
  std::optional<RowFilter> filter;
  if (options.kind != FilterKind::none) filter.emplace(options, kept, 1);
  const std::size_t rows = acquisition.a_scans();
  for (std::size_t row = 0; row < rows; ++row) {
    float* const to = samples.data() + row * kept;
    // Copies forward, over samples that were read already.
    if (kept != acquisition.samples) std::copy_n(samples.data() + (row + 1) * acquisition.samples - kept, kept, to);
    if (filter) filter->apply(to, to, 0);
  }
  samples.resize(rows * kept);
}

/// Turns a part with the detectors of all processes into one with those of this process, and adds their samples.
void take_samples(const Configuration& configuration, Reconstruction& part, const std::vector<float>& frame,
                  const std::vector<std::size_t>& rows, const Communicator& communicator, std::vector<std::string>& warnings) {
  const std::size_t count = part.geometry.samples;
  std::vector<float> samples(rows.size() * count);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    std::copy_n(frame.begin() + static_cast<std::ptrdiff_t>(rows[k] * count), count,
                samples.begin() + static_cast<std::ptrdiff_t>(k * count));
  }
  warn_of_sound_outside(configuration, part, samples, warnings);
  part.identity = identity_of(part, part.geometry, samples);
  const RowRange own = rows_of_rank(rows.size(), communicator.rank(), communicator.size());
  const auto of_rows = [&](auto& values, std::size_t each) {
    values.erase(values.begin() + static_cast<std::ptrdiff_t>((own.first + own.count) * each), values.end());
    values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(own.first * each));
    values.shrink_to_fit();
  };
  of_rows(part.geometry.detectors, 1);
  of_rows(samples, count);
  part.data = std::move(samples);
}

}  // namespace

Hertz model_band(const Reconstruction& job) {
  if (job.settings.model == ReconstructionModel::spherical) return highest_frequency_of(job.settings, job.geometry);
  return job.geometry.velocity / (2.0 * voxel_spacing(job.geometry.grid));
}

std::vector<std::string> doubtful_reconstruction(const Configuration& configuration) {
  return doubtful_frequency(configuration.place("[reconstruction] highest_frequency"),
                            section<ReconstructionSection>(configuration).highest_frequency);
}

void check_reconstruction(const Configuration& configuration) {
  const auto& settings = section<ReconstructionSection>(configuration);
  const auto refuse = [&](std::string_view key, std::string_view found, std::string_view expected) {
    throw InputError(configuration.place(text_of_key(key)), found, expected);
  };
  if (settings.model != ReconstructionModel::spherical) {
    if (settings.highest_frequency)
      refuse("highest_frequency", "model = \"interpolated\"", "no such key, or model = \"spherical\"");
    if (settings.rectangular_elements)
      refuse("rectangular_elements", "model = \"interpolated\"", "no such key, or model = \"spherical\"");
  }
  if (settings.element_parts && !settings.rectangular_elements.value_or(false))
    refuse("element_parts", "elements that are points", "no such key, or rectangular_elements = true");
  if (settings.non_negative.value_or(false) && !can_bound(settings))
    refuse("non_negative", "true", "no such key, or solver = \"fista\" or \"total_variation\"");
  if (settings.penalty_kind && !is_quadratic(settings))
    refuse("penalty_kind", "solver = \"total_variation\"", "no such key, or another solver");
  if (settings.penalty_kind && settings.penalty == 0.0)
    refuse("penalty_kind", "penalty = 0", "no such key, or a penalty above 0");
  if (settings.impulse_zero && settings.impulse_response.empty())
    refuse("impulse_response", "none, with impulse_zero", "the name of a file");
  if (settings.discrepancy_factor && !settings.noise) refuse("discrepancy_factor", "no noise", "no such key, or noise too");
  if (settings.wavelength && !settings.wavelengths.empty()) refuse("wavelengths", "a list, and wavelength", "one of both keys");
  check_volume_settings(configuration);
  static_cast<void>(stated_grid(configuration));
}

ReconstructionJob prepare_reconstruction(const Configuration& configuration, Recording& recording, std::size_t frame,
                                         const Communicator& communicator,
                                         const std::function<void(const ReconstructionJob& job)>& before_reading,
                                         double besides) {
  check_reconstruction(configuration);
  ReconstructionJob job;
  Acquisition stated_by_data = recording.acquisition();
  stated_by_data.probe = recording.probe(frame);
  if (stated_by_data.events.empty() || !all_passive(stated_by_data.events)) {
    throw InputError(recording.name(), pairs_text(stated_by_data), "passive events, in which nobody transmits");
  }
  validate(recording.material(), "data:");
  ImagingSettings settings = configuration;
  settings.acquisition.sample_scale.reset();  // samples_of() reads samples as they are stored
  const ImagingTask task =
      make_imaging_task(settings, stated_by_data, {recording.material()}, {.limits = RecordingOptions().limits});
  const Acquisition& acquisition = task.acquired;
  validate(acquisition, task.limits, task.name());  // a [scan] in the file would postpone it to its positions
  job.notes = task.notes;
  if (task.velocities.longitudinal_velocity.value == 0.0) {
    throw InputError(configuration.place("[material] longitudinal_velocity"), "none, and none in the data",
                     "that of sound in the part");
  }
  check_volume_settings(configuration, task.velocities.longitudinal_velocity);
  const VolumeSettings of_images = volume_settings(configuration, acquisition);
  const auto& stated = section<ReconstructionSection>(configuration);
  const std::vector<WavelengthRows> lights =
      rows_of_wavelengths(configuration, acquisition, {of_images.wavelengths, of_images.wavelengths_place});
  if (!of_images.wavelengths.empty() && (stated.wavelength || !stated.wavelengths.empty())) {
    job.notes.push_back(fmt::format("{} replaces {}",
                                    configuration.place(text_of_key(stated.wavelength ? "wavelength" : "wavelengths")),
                                    of_images.wavelengths_place));
  }
  job.unmixing = unmixing_of(configuration, acquisition, lights, !of_images.event_gains.empty());
  job.shown = of_images.shown;
  const std::size_t muted = muted_samples(configuration, acquisition, job.notes);
  Reconstruction shared = part_of_all(configuration, acquisition, task.velocities.longitudinal_velocity, muted);
  shared.filter = stated_filter(configuration, acquisition, job);
  shared.response = stated_response(configuration, of_images, job.notes);
  const std::vector<Detector> detectors = detectors_of(acquisition);
  for (const WavelengthRows& light : lights) {
    Reconstruction part = shared;
    if (lights.size() > 1) part.wavelength = light.name;
    for (const std::size_t row : light.rows) part.geometry.detectors.push_back(detectors[row]);
    check_part(configuration, part, job.warnings);
    part.rows = light.rows.size();
    if (communicator.size() > part.rows) {
      throw InputError("mpirun", fmt::format("{} processes", communicator.size()),
                       fmt::format("at most {}, the rows of the data", part.rows));
    }
    part.largest_half_diagonal = largest_half_diagonal(part.geometry.detectors);
    choose_element_parts(configuration, part, job);
    part.solver_bytes = solver_bytes(part.settings, part.geometry.grid.pixels(), acquisition.a_scans() * acquisition.samples);
    job.parts.push_back(std::move(part));
  }
  job.volume_bytes = volume_bytes(job);
  require_host_memory(
      configuration, job.parts.front().solver_bytes + job.volume_bytes,
      {.key = "[grid] pixels",
       .text = fmt::format("{} voxels and {} A-scans{}", text_of(configuration.grid.pixels), job.parts.front().rows,
                           lights.size() == 1 ? "" : fmt::format(" at each of {} wavelengths", lights.size()))},
      besides);
  if (before_reading) before_reading(job);

  std::vector<float> samples = samples_of(configuration, recording, frame, acquisition, of_images.event_gains, job.notes);
  mute_and_filter(samples, acquisition, shared.geometry.samples, shared.filter);
  for (std::size_t k = 0; k < lights.size(); ++k)
    take_samples(configuration, job.parts[k], samples, lights[k].rows, communicator, job.warnings);
  return job;
}

std::unique_ptr<LinearOperator> make_model(const Reconstruction& job, const OperatorSite& site) {
  std::unique_ptr<LinearOperator> model = job.settings.model == ReconstructionModel::interpolated
                                              ? make_interpolated_model(job.geometry, site)
                                              : make_spherical_model(job.geometry, spherical_options(job), site);
  if (job.response) model = make_responding_model(std::move(model), job.geometry.samples, *job.response, *site.team);
  if (job.filter.kind == FilterKind::none) return model;
  return make_filtered_model(std::move(model), job.geometry.samples, job.filter, *site.team);
}

double model_bytes(const Reconstruction& job, const OperatorSite& site) {
  std::size_t bytes = job.settings.model == ReconstructionModel::interpolated
                          ? interpolated_model_bytes(job.geometry, site)
                          : spherical_model_bytes(job.geometry, spherical_options(job), site);
  if (job.response) bytes += responding_model_bytes(job.data.size(), job.geometry.samples, *job.response, site.team->size());
  if (job.filter.kind != FilterKind::none)
    bytes += filtered_model_bytes(job.data.size(), job.geometry.samples, job.filter, site.team->size());
  return static_cast<double>(bytes);
}

std::unique_ptr<Solver> make_solver(const Reconstruction& job, const LeastSquares& problem) {
  const ReconstructionSection& settings = job.settings;
  const SolverOptions options{
      .penalty_kind = settings.penalty_kind == ReconstructionPenalty::damping ? PenaltyKind::damping : PenaltyKind::smoothness,
      .penalty = settings.penalty,
      .non_negative = settings.non_negative.value_or(false)};
  switch (settings.solver) {
    case ReconstructionSolver::conjugate_gradients:
      return make_conjugate_gradients(problem, options);
    case ReconstructionSolver::lsqr:
      return make_lsqr(problem, options);
    case ReconstructionSolver::fista:
      return make_fista(problem, options);
    case ReconstructionSolver::total_variation:
      return make_total_variation(problem, options);
  }
  return nullptr;
}

StoppingRules stopping_rules(const Reconstruction& job) {
  const double values = static_cast<double>(job.rows) * static_cast<double>(job.geometry.samples);
  // The rule's noise is that of a recorded sample; the residual contains what the filter leaves of it.
  const double left = job.filter.kind == FilterKind::none ? 1.0 : filtered_noise(job.filter, job.geometry.samples);
  return {.iterations = job.settings.iterations,
          .tolerance = job.settings.tolerance,
          .discrepancy = job.settings.noise
                             ? job.settings.discrepancy_factor.value_or(1.0) * *job.settings.noise * left * std::sqrt(values)
                             : 0.0};
}

}  // namespace echoform
