#include "jobs/reconstruction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "acquisition/detectors.hpp"
#include "acquisition/frame_layout.hpp"
#include "acquisition/sample_encodings.hpp"
#include "base/csv_numbers.hpp"
#include "base/errors.hpp"
#include "methods/filter_settings.hpp"
#include "methods/host_memory.hpp"
#include "methods/overrides.hpp"
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
  // Images lie in the plane y = 0.
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

/// Whether somebody has set a key of [filter].
bool asks_for_filter(const FilterSection& filter) {
  const FilterSection untouched;
  return filter.kind != untouched.kind || filter.band || filter.skirt || filter.notch || !filter.pulse_file.empty() ||
         filter.noise != untouched.noise;
}

/// Of the rows of a frame, those that are taken: of living elements, and of the wavelength that is wanted.
std::vector<std::size_t> taken_rows(const Configuration& configuration, const Acquisition& acquisition,
                                    const std::vector<Detector>& detectors) {
  const std::optional<Metres>& wanted = section<ReconstructionSection>(configuration).wavelength;
  // Files round them.
  constexpr double tolerance = 1e-4;
  std::set<double> wavelengths;
  std::vector<double> of_event;
  for (const TransmitEvent& event : acquisition.events) {
    of_event.push_back(std::get<PassiveEvent>(event.form).wavelength.value);
    wavelengths.insert(of_event.back());
  }
  const auto list = [&] {
    std::string text;
    for (const double wavelength : wavelengths) text += fmt::format("{}{:g}", text.empty() ? "" : ", ", 1e9 * wavelength);
    return text + " nm";
  };
  if (!wanted && wavelengths.size() > 1) {
    throw InputError(configuration.place(text_of_key("wavelength")), "no such key",
                     fmt::format("one of the wavelengths of the data: {}", list()));
  }
  std::vector<std::size_t> rows;
  bool there = false;
  const auto pairs = FrameLayout(acquisition).pairs();
  for (std::size_t row = 0; row < pairs.size(); ++row) {
    if (wanted && !(std::abs(of_event[pairs[row].event] / wanted->value - 1.0) <= tolerance)) continue;
    there = true;
    if (!detectors[row].dead) rows.push_back(row);
  }
  if (wanted && !there) {
    throw InputError(configuration.place(text_of_key("wavelength")), fmt::format("{:g} nm", 1e9 * wanted->value),
                     fmt::format("one of the wavelengths of the data: {}", list()));
  }
  if (rows.empty()) throw InputError("the frame", "dead elements alone", "one at least that records");
  return rows;
}

/// Throws InputError where no sound of the grid is in the record; a warning where some is not.
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

/// Of the spherical model. Voxels hold no more than half a wave each.
Hertz highest_frequency_of(const ReconstructionSection& settings, const ModelGeometry& geometry) {
  const Hertz of_voxels = geometry.velocity / (2.0 * voxel_spacing(geometry.grid));
  return settings.highest_frequency.value_or(std::min(0.25 * geometry.sample_rate, of_voxels));
}

/// Throws InputError for a band of the spherical model in which a lattice of such voxels sends tones of its own.
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
  // Nothing where there is none, so that checkpoints of before go on.
  if (job.response) add_to(digest, *job.response);
  digest.add(std::as_bytes(data));
  return digest.value();
}

constexpr std::size_t most_response_samples = 65536;

std::optional<ImpulseResponse> stated_response(const Configuration& configuration) {
  const auto& settings = section<ReconstructionSection>(configuration);
  if (settings.impulse_response.empty()) return std::nullopt;
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

/// What the solver holds, frame, volume and what largest_eigenvalue() works with counted in; model_bytes() tells what the model
/// does.
double solver_bytes(const ReconstructionSection& settings, std::size_t voxels, std::size_t values) {
  // Vectors of the image and of the data, as the solvers have them.
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

SphericalModelOptions spherical_options(const Reconstruction& job) {
  SphericalModelOptions options;
  options.highest_frequency = highest_frequency_of(job.settings, job.geometry);
  options.largest_half_diagonal = job.largest_half_diagonal;
  options.rectangular_elements = job.settings.rectangular_elements.value_or(false);
  return options;
}

}  // namespace

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
  if (settings.non_negative.value_or(false) && !can_bound(settings))
    refuse("non_negative", "true", "no such key, or solver = \"fista\" or \"total_variation\"");
  if (settings.penalty_kind && !is_quadratic(settings))
    refuse("penalty_kind", "solver = \"total_variation\"", "no such key, or another solver");
  if (settings.penalty_kind && settings.penalty == 0.0)
    refuse("penalty_kind", "penalty = 0", "no such key, or a penalty above 0");
  if (settings.impulse_zero && settings.impulse_response.empty())
    refuse("impulse_response", "none, with impulse_zero", "the name of a file");
  if (settings.discrepancy_factor && !settings.noise) refuse("discrepancy_factor", "no noise", "no such key, or noise too");
  static_cast<void>(stated_grid(configuration));
}

Reconstruction prepare_reconstruction(const Configuration& configuration, Recording& recording, std::size_t frame,
                                      const Communicator& communicator) {
  check_reconstruction(configuration);
  Reconstruction job;
  job.settings = section<ReconstructionSection>(configuration);
  if (!job.settings.non_negative) job.settings.non_negative = job.settings.solver == ReconstructionSolver::fista;

  Acquisition acquisition = recording.acquisition();
  acquisition.probe = recording.probe(frame);
  if (acquisition.events.empty() || !all_passive(acquisition.events)) {
    throw InputError(recording.name(), pairs_text(acquisition), "passive events, in which nobody transmits");
  }
  Material material = recording.material();
  apply_overrides(configuration, acquisition, material, job.notes);
  validate(acquisition, RecordingOptions().limits, configuration.name());
  if (material.longitudinal_velocity.value == 0.0) {
    throw InputError(configuration.place("[material] longitudinal_velocity"), "none, and none in the data",
                     "that of sound in the part");
  }
  if (asks_for_filter(section<FilterSection>(configuration)))
    job.warnings.push_back(fmt::format("{}: [filter] is not applied: models explain samples as they are", configuration.name()));

  ModelGeometry whole;
  whole.grid = stated_grid(configuration);
  whole.samples = acquisition.samples;
  whole.sample_rate = acquisition.sample_rate;
  whole.start_time = acquisition.start_time - acquisition.time_offset;
  whole.velocity = material.longitudinal_velocity;
  const std::vector<Detector> detectors = detectors_of(acquisition);
  const std::vector<std::size_t> rows = taken_rows(configuration, acquisition, detectors);
  for (const std::size_t row : rows) whole.detectors.push_back(detectors[row]);
  validate(whole, std::string(configuration.name()).c_str());
  check_record(configuration, whole, job.warnings);
  check_band(configuration, job.settings, whole);
  job.response = stated_response(configuration);
  job.rows = rows.size();
  if (communicator.size() > job.rows) {
    throw InputError("mpirun", fmt::format("{} processes", communicator.size()),
                     fmt::format("at most {}, the rows of the data", job.rows));
  }
  job.largest_half_diagonal = largest_half_diagonal(whole.detectors);
  job.solver_bytes = solver_bytes(job.settings, whole.grid.pixels(), acquisition.a_scans() * acquisition.samples);
  require_host_memory(
      configuration, job.solver_bytes,
      {.key = "[grid] pixels", .text = fmt::format("{} voxels and {} A-scans", text_of(configuration.grid.pixels), job.rows)});

  std::vector<float> samples(acquisition.a_scans() * acquisition.samples);
  recording.read_frame(frame, samples);
  if (const auto& scale = configuration.acquisition.sample_scale) {
    const Acquisition stored = recording.stored();
    const double stated = facts_of(stored.encoding).counts() ? stored.sample_scale : 1.0;
    for (float& sample : samples) sample = static_cast<float>(static_cast<double>(sample) * (*scale / stated));
    if (*scale != stated)
      job.notes.push_back(
          fmt::format("{}: [acquisition] sample_scale = {:g} replaces {:g} of the data", configuration.name(), *scale, stated));
  }
  // Those that are taken, together.
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (k == rows[k]) continue;
    std::copy_n(samples.begin() + static_cast<std::ptrdiff_t>(rows[k] * whole.samples), whole.samples,
                samples.begin() + static_cast<std::ptrdiff_t>(k * whole.samples));
  }
  samples.resize(rows.size() * whole.samples);
  job.identity = identity_of(job, whole, samples);

  const RowRange own = rows_of_rank(job.rows, communicator.rank(), communicator.size());
  const auto first = static_cast<std::ptrdiff_t>(own.first);
  const auto last = static_cast<std::ptrdiff_t>(own.first + own.count);
  const auto samples_of_row = static_cast<std::ptrdiff_t>(whole.samples);
  job.geometry = whole;
  job.geometry.detectors.assign(whole.detectors.begin() + first, whole.detectors.begin() + last);
  job.data.assign(samples.begin() + first * samples_of_row, samples.begin() + last * samples_of_row);
  return job;
}

std::unique_ptr<LinearOperator> make_model(const Reconstruction& job, const OperatorSite& site) {
  std::unique_ptr<LinearOperator> model = job.settings.model == ReconstructionModel::interpolated
                                              ? make_interpolated_model(job.geometry, site)
                                              : make_spherical_model(job.geometry, spherical_options(job), site);
  if (!job.response) return model;
  return make_responding_model(std::move(model), job.geometry.samples, *job.response, *site.team);
}

double model_bytes(const Reconstruction& job, const OperatorSite& site) {
  std::size_t bytes = job.settings.model == ReconstructionModel::interpolated
                          ? interpolated_model_bytes(job.geometry, site)
                          : spherical_model_bytes(job.geometry, spherical_options(job), site);
  if (job.response) bytes += responding_model_bytes(job.data.size(), job.geometry.samples, *job.response, site.team->size());
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
  return {.iterations = job.settings.iterations,
          .tolerance = job.settings.tolerance,
          .discrepancy =
              job.settings.noise ? job.settings.discrepancy_factor.value_or(1.0) * *job.settings.noise * std::sqrt(values) : 0.0};
}

}  // namespace echoform
