#include "benchmarks/compounding.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstring>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "cpu/cpu_backend.hpp"
#include "cpu/thread_team.hpp"
#include "gpu/cuda_backend.hpp"
#include "methods/tfm/stage_options.hpp"
#include "simulators/fmc_simulator.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/beamform/beamform.hpp"
#include "stages/envelope/envelope.hpp"
#include "stages/pairing/pairing.hpp"

namespace echoform::benchmarks {
namespace {

constexpr double body_velocity = 1540.0;
constexpr double centre_frequency = 5e6;
constexpr double frame_rate = 2000.0;
constexpr double disk_depth = 20e-3;
constexpr double disk_radius = 10e-3;
constexpr double half_square = 12.5e-3;
constexpr double frame_nyquist = body_velocity * frame_rate / (4.0 * centre_frequency);
constexpr double disk_turning = 0.4 * frame_nyquist / disk_radius;  // radians per second

SimulatorConfiguration disk_source(const CompoundingCase& test) {
  SimulatorConfiguration source;
  source.elements = test.elements;
  source.pitch = Metres(0.3e-3);
  source.element_width = Metres(0.27e-3);
  source.centre_frequency = Hertz(centre_frequency);
  source.samples = test.samples;
  source.sample_rate = Hertz(4.0 * centre_frequency);
  source.material = {MetresPerSecond(body_velocity), MetresPerSecond(0.0)};
  source.transmit.kind = TransmitKind::plane;
  source.transmit.events = test.waves;
  source.transmit.angles = {-8.0, 8.0};
  if (test.waves == 1) source.transmit.angles = {0.0, 0.0};
  source.phantom = {};
  source.tissue.speckle.scatterers = test.scatterers;
  source.tissue.speckle.x = {Metres(-half_square), Metres(half_square)};
  source.tissue.speckle.z = {Metres(disk_depth - half_square), Metres(disk_depth + half_square)};
  // The surroundings of the disk are weak, so that images show where it ends.
  source.tissue.speckle.rms = 0.005;
  source.tissue.disks = {
      {{Metres(0.0), Metres(0.0), Metres(disk_depth)}, Metres(disk_radius), 0.5 * disk_turning / std::numbers::pi, 20.0}};
  source.frame_rate = Hertz(frame_rate);
  source.cycle_frames = test.moments;
  return source;
}

ImagingPlan disk_plan(const CompoundingCase& test, const FmcSimulator& simulator) {
  ImagingPlan plan;
  plan.acquisition = simulator.acquisition();
  plan.material = simulator.configuration().material;
  plan.grid.x = {Metres(-half_square), Metres(half_square), test.pixels};
  plan.grid.z = {Metres(disk_depth - half_square), Metres(disk_depth + half_square), test.pixels};
  plan.accuracy = test.accuracy;
  plan.laws.push_back(make_delay_law("contact", {plan.acquisition, plan.material, "LL"}));
  validate(plan, "plane waves");
  return plan;
}

/// A batch of frames in the stages, with every intermediate result kept.
class Batch {
 public:
  Batch(const CompoundingCase& test, const FmcSimulator& simulator, const ImagingPlan& plan, Backend& backend,
        ExecutionQueue& queue)
      : queue_(queue) {
    const PlanPairs pairs = plan_pairs(plan);
    pairing_ = make_stage(pairing_stage, pairing_options(plan, pairs), backend);
    analytic_ = make_stage(analytic_signal_stage, analytic_signal_options(plan), backend);
    beamform_ = make_stage(beamform_stage, beamform_options(plan, pairs, 0), backend);
    envelope_ = make_stage(envelope_stage, EnvelopeOptions{}, backend);
    raw_.type = ElementType::raw;
    raw_.encoding = plan.acquisition.encoding;
    raw_.rows = plan.acquisition.a_scans();
    raw_.columns = plan.acquisition.samples;
    const BlockSpec rows = pairing_->prepare(raw_);
    signals_ = analytic_->prepare(rows);
    image_ = beamform_->prepare(signals_);
    const BlockSpec envelope = envelope_->prepare(image_);
    const auto room = [&](const BlockSpec& spec) { return backend.allocate(spec.bytes(), MemoryUse::working); };
    paired_ = room(rows);
    shown_ = room(envelope);
    std::vector<std::vector<std::byte>> moments(test.moments, std::vector<std::byte>(raw_.bytes()));
    ThreadTeam team(0);
    team.for_each(moments.size(), 1, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
      for (std::size_t moment = first; moment < last; ++moment) simulator.synthesise(moment, moments[moment]);
    });
    for (std::size_t frame = 0; frame < test.batch; ++frame) {
      const std::vector<std::byte>& bytes = moments[frame % moments.size()];
      frames_.push_back({room(raw_), room(signals_), room(image_)});
      if (backend.kind() == BackendKind::cuda) {
        copy_now(frames_.back().raw.data(), bytes.data(), bytes.size());
      } else {
        std::memcpy(frames_.back().raw.data(), bytes.data(), bytes.size());
      }
    }
    image_all();
    queue_.finish();
  }

  /// Converts analytic signals to complex images.
  void beamform() {
    for (const Frame& frame : frames_) beamform_->process({frame.signals.data()}, {frame.image.data()}, queue_);
  }
  /// Converts received samples to envelopes.
  void image_all() {
    for (const Frame& frame : frames_) {
      pairing_->process({frame.raw.data()}, {paired_.data()}, queue_);
      analytic_->process({paired_.data()}, {frame.signals.data()}, queue_);
      beamform_->process({frame.signals.data()}, {frame.image.data()}, queue_);
      envelope_->process({frame.image.data()}, {shown_.data()}, queue_);
    }
  }

  [[nodiscard]] const Buffer& raw() const { return frames_.front().raw; }
  [[nodiscard]] std::size_t count() const { return frames_.size(); }
  [[nodiscard]] double beamformed_bytes() const { return static_cast<double>(count()) * stage_bytes(signals_, image_); }
  [[nodiscard]] double imaged_bytes() const {
    return static_cast<double>(count()) * (static_cast<double>(raw_.bytes()) + 0.5 * static_cast<double>(image_.bytes()));
  }
  [[nodiscard]] std::size_t stage_memory() const { return beamform_->bytes(); }

  /// The image of a frame, pixel by pixel.
  [[nodiscard]] std::vector<std::complex<float>> image(std::size_t frame, BackendKind backend) const {
    std::vector<std::complex<float>> pixels(image_.bytes() / sizeof(std::complex<float>));
    if (backend == BackendKind::cuda) {
      copy_now(pixels.data(), frames_[frame].image.data(), image_.bytes());
    } else {
      std::memcpy(pixels.data(), frames_[frame].image.data(), image_.bytes());
    }
    return pixels;
  }

 private:
  struct Frame {
    Buffer raw;
    Buffer signals;
    Buffer image;
  };
  ExecutionQueue& queue_;
  std::unique_ptr<Stage> pairing_;
  std::unique_ptr<Stage> analytic_;
  std::unique_ptr<Stage> beamform_;
  std::unique_ptr<Stage> envelope_;
  BlockSpec raw_;
  BlockSpec signals_;
  BlockSpec image_;
  Buffer paired_;
  Buffer shown_;
  std::vector<Frame> frames_;
};

/// Computes the contrast and the velocities from the images of all moments.
void judge(const Batch& batch, std::size_t moments, const Grid& grid, BackendKind backend, CompoundingReport& report) {
  std::vector<double> power(grid.pixels());
  std::vector<std::complex<double>> turn(grid.pixels());
  std::vector<std::complex<float>> before;
  for (std::size_t frame = 0; frame < std::min(moments, batch.count()); ++frame) {
    std::vector<std::complex<float>> image = batch.image(frame, backend);
    for (std::size_t k = 0; k < image.size(); ++k) {
      power[k] += std::norm(std::complex<double>(image[k]));
      if (frame > 0) turn[k] += std::complex<double>(image[k]) * std::conj(std::complex<double>(before[k]));
    }
    before = std::move(image);
  }
  double inside = 0.0;
  double around = 0.0;
  std::size_t insiders = 0;
  std::size_t others = 0;
  double squares = 0.0;
  double products = 0.0;
  double errors = 0.0;
  double weights = 0.0;
  for (std::size_t k = 0; k < power.size(); ++k) {
    const double x = grid.x.at(k % grid.x.count).value;
    const double away = std::hypot(x, grid.z.at(k / grid.x.count).value - disk_depth);
    if (away > 1.1 * disk_radius) around += power[k], ++others;
    if (away > 0.9 * disk_radius) continue;
    inside += power[k], ++insiders;
    // The disk rotates from +z towards +x: to the right of its centre, it moves towards the probe.
    const double truth = disk_turning * x;
    const double found = frame_nyquist * std::arg(turn[k]) / std::numbers::pi;
    squares += power[k] * truth * truth;
    products += power[k] * truth * found;
    errors += power[k] * (found - truth) * (found - truth);
    weights += power[k];
  }
  report.contrast_db = 10.0 * std::log10(inside / static_cast<double>(insiders) / (around / static_cast<double>(others)));
  report.velocity_slope = products / squares;
  report.velocity_error = std::sqrt(errors / weights) / frame_nyquist;
}

Spread rate_of(double work, const Spread& seconds) {
  return {work / seconds.median, work / seconds.most, work / seconds.least};
}

}  // namespace

CompoundingReport measure_compounding(const CompoundingCase& test, const Progress& progress) {
  progress("making frames of a disk that turns");
  const FmcSimulator simulator(disk_source(test));
  const ImagingPlan plan = disk_plan(test, simulator);
  const auto backend = test.backend == BackendKind::cuda ? make_cuda_backend() : make_cpu_backend(test.threads);
  const auto queue = backend->make_queue();
  Batch batch(test, simulator, plan, *backend, *queue);
  CompoundingReport report;
  judge(batch, test.moments, plan.grid, test.backend, report);
  const auto frames = static_cast<double>(test.batch);
  report.points = frames * static_cast<double>(plan.acquisition.a_scans() * plan.grid.pixels());
  report.stage_bytes = batch.stage_memory();
  StageTurns turns(*backend, *queue, batch.raw(), test.rounds, progress);
  report.beamforming = turns.measure("beamforming", batch.beamformed_bytes(), [&] { batch.beamform(); });
  report.imaging = turns.measure("samples to envelopes", batch.imaged_bytes(), [&] { batch.image_all(); });
  report.points_per_second = rate_of(report.points, report.beamforming.seconds);
  report.images_per_second = rate_of(frames, report.imaging.seconds);
  return report;
}

}  // namespace echoform::benchmarks
