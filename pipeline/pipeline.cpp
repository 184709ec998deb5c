#include "pipeline/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"
#include "base/heap.hpp"
#include "base/planning.hpp"

namespace echoform {
namespace {

const PipelineOptions& checked(const PipelineOptions& options) {
  if (options.slots < 1 || options.slots > 64) throw InputError("slots", fmt::format("{}", options.slots), "1 to 64");
  if (options.incomplete_timeout.count() <= 0) {
    throw InputError("incomplete_timeout", fmt::format("{} ns", options.incomplete_timeout.count()), "a time above 0");
  }
  if (options.drain_limit.count() < 0) {
    throw InputError("drain_limit", fmt::format("{} ns", options.drain_limit.count()), "0 or more");
  }
  if (options.planning_limit.count() < 0 || options.release_after.count() < 0) {
    throw InputError("planning_limit, release_after",
                     fmt::format("{} and {} ns", options.planning_limit.count(), options.release_after.count()), "0 or more");
  }
  return options;
}

double megabytes(std::size_t bytes) {
  return 1e-6 * static_cast<double>(bytes);
}

}  // namespace

Pipeline::Pipeline(const PipelineOptions& options, SetupFactory setup_factory, std::vector<std::shared_ptr<ImageSink>> sinks,
                   const Clock& clock, EngineFactory engine_factory)
    : options_(checked(options)),
      engine_factory_(std::move(engine_factory)),
      sinks_(std::move(sinks)),
      clock_(clock),
      ledger_(std::make_shared<FrameLedger>()),
      metrics_(clock.steady()),
      setup_factory_(std::move(setup_factory)),
      policy_(options.policy) {
  ledger_->set_listener([this] {
    if (const auto current = assembler()) current->slot_freed();
  });
  if (options_.release_after.count() > 0) {
    keeper_ = std::jthread([this](const std::stop_token& stop) { keep(stop); });
  }
}

Pipeline::~Pipeline() {
  stop();
  // Intakes that still exist keep the ledger alive.
  ledger_->set_listener({});
}

std::shared_ptr<FrameAssembler> Pipeline::assembler() const {
  const std::lock_guard lock(current_mutex_);
  return assembler_;
}

void Pipeline::set_assembler(std::shared_ptr<FrameAssembler> assembler, std::uint64_t session) {
  const std::lock_guard lock(current_mutex_);
  std::swap(assembler_, assembler);
  assembled_session_ = session;
}

bool Pipeline::is_busy_for(std::uint64_t session) const {
  std::shared_ptr<FrameAssembler> current;
  {
    const std::lock_guard lock(current_mutex_);
    if (assembled_session_ == session) return false;
    current = assembler_;
  }
  return current != nullptr && current->open_lanes() != 0;
}

std::shared_ptr<const ImagingSetup> Pipeline::setup() const {
  const std::lock_guard lock(current_mutex_);
  return setup_;
}

std::string Pipeline::backend() const {
  const std::lock_guard lock(current_mutex_);
  return backend_;
}

std::shared_ptr<FrameIntake> Pipeline::open_stream(std::uint64_t session, const Acquisition& acquisition) {
  const std::lock_guard control(control_mutex_);
  if (stopped_ || planning_.stop_requested()) throw InputError("acquisition stream: the server is stopping");
  const Planning planning(planning_.get_token(), options_.planning_limit);
  const auto current = assembler();
  if (current) {
    if (session == session_ && acquisition == announced_) {
      alone_since_.store(0);
      return current;
    }
    if (current->open_lanes() != 0) {
      if (session != session_) throw StreamBusy();
      throw InputError("acquisition", "one that differs from that of the session's first connection",
                       "the same on all connections");
    }
  }
  validate(acquisition, options_.limits, "acquisition");
  const bool reuse = run_ != nullptr && acquisition == announced_;
  // The setup is made before the previous sender is released: a Hello that is refused for its setup changes nothing.
  auto setup = reuse ? this->setup() : make_setup(setup_factory_, acquisition);
  if (!reuse) check_memory(0, acquisition.frame_bytes());
  auto engine = reuse ? nullptr : engine_beside(setup);
  retire(current.get());
  if (!reuse) rebuild(acquisition, setup, std::move(engine));
  session_ = session;
  metrics_.stream_opened();
  announce(setup);
  auto intake = std::make_shared<FrameAssembler>(setup->acquisition, AssemblerOptions{policy_, options_.incomplete_timeout},
                                                 ledger_, run_->slots(), run_->acquired(), clock_, run_.get());
  set_assembler(intake, session);
  alone_since_.store(0);  // the value belongs to the previous stream, which ran while this one was planned
  return intake;
}

std::shared_ptr<const ImagingSetup> Pipeline::make_setup(const SetupFactory& factory, const Acquisition& acquisition) {
  auto setup = factory(acquisition);
  const FrameLayout layout(setup->acquisition);
  if (layout != FrameLayout(acquisition)) {
    throw InputError("acquisition", fmt::format("{} elements x {} samples", acquisition.elements(), acquisition.samples),
                     fmt::format("the configured {} x {}, in the same matrix and encoding", setup->acquisition.elements(),
                                 setup->acquisition.samples));
  }
  require_expected_shots(layout);
  return setup;
}

void Pipeline::check_memory(std::size_t bytes, std::size_t frame_bytes) const {
  const std::size_t needed = std::max(bytes, options_.slots * frame_bytes);
  if (needed <= options_.memory_limit) return;
  throw InputError("memory",
                   fmt::format("{:.1f} MB needed for {} slots of {:.1f} MB{}", megabytes(needed), options_.slots,
                               megabytes(frame_bytes), bytes == 0 ? "" : " and the engine"),
                   fmt::format("at most {:.1f} MB", megabytes(options_.memory_limit)));
}

std::unique_ptr<Engine> Pipeline::build_engine(const std::shared_ptr<const ImagingSetup>& setup) const {
  EngineOptions engine_options = options_.engine;
  engine_options.slots = options_.slots;
  engine_options.samples_read = engine_options.samples_read ||
                                std::any_of(sinks_.begin(), sinks_.end(), [](const auto& sink) { return sink->reads_samples(); });
  auto engine = engine_factory_(setup, options_.backend, engine_options);
  check_memory(engine->bytes() - engine->device_bytes() + options_.slots * setup->acquisition.frame_bytes(),
               setup->acquisition.frame_bytes());
  return engine;
}

// Makes the new engine. Returns null where it has to wait until the previous one is released, for lack of memory: of the host by
// the estimate, or of a device by its own report.
std::unique_ptr<Engine> Pipeline::engine_beside(const std::shared_ptr<const ImagingSetup>& setup) const {
  if (!run_ || !options_.memory_estimate) return nullptr;
  const double both = static_cast<double>(run_->host_bytes()) + options_.memory_estimate(*setup);
  if (both > static_cast<double>(options_.memory_limit)) return nullptr;
  try {
    return build_engine(setup);
  } catch (const PlanningEnded&) {
    throw;
  } catch (const std::exception&) {
    return nullptr;  // it is built again alone, and fails for good unless memory was the reason
  }
}

void Pipeline::retire(FrameAssembler* current) {
  if (current == nullptr) return;
  if (!current->close_if_unused()) throw StreamBusy();
  set_assembler(nullptr);
  // The last frames of the previous setup are published before another setup is announced.
  if (run_ && !ledger_->wait_until_idle(options_.drain_limit)) {
    run_->stop(std::chrono::nanoseconds{0});
    run_.reset();
    throw RuntimeFault("frames of the sender before did not finish in time");
  }
}

void Pipeline::rebuild(const Acquisition& acquisition, const std::shared_ptr<const ImagingSetup>& setup,
                       std::unique_ptr<Engine> engine) {
  const auto before = run_ ? this->setup() : nullptr;
  run_.reset();
  try {
    start(acquisition, setup, engine ? std::move(engine) : build_engine(setup));
  } catch (...) {
    try {
      // The previous setup gets its own planning time, because the refused one may have used up its time.
      const Planning again(planning_.get_token(), options_.planning_limit);
      if (before) start(announced_, before, build_engine(before));
    } catch (const std::exception&) {
      // The setup fitted before. Now there is no stream until the next sender connects.
    }
    if (!run_) forget_setup();
    throw;
  }
}

void Pipeline::start(const Acquisition& acquisition, std::shared_ptr<const ImagingSetup> setup, std::unique_ptr<Engine> engine) {
  std::string backend = engine->describe();
  auto run =
      std::make_unique<ImagingRun>(ImagingRunOptions{options_.slots, options_.compute_processor, options_.publish_processor},
                                   setup, std::move(engine), ledger_, metrics_, sinks_, clock_, [this] { keep_house(); });
  check_memory(run->host_bytes(), acquisition.frame_bytes());
  run_ = std::move(run);
  note_bytes();
  announced_ = acquisition;
  const std::lock_guard lock(current_mutex_);
  setup_ = std::move(setup);
  backend_ = std::move(backend);
}

void Pipeline::note_bytes() {
  bytes_.store(run_ ? run_->bytes() : 0);
  host_bytes_.store(run_ ? run_->host_bytes() : 0);
}

void Pipeline::forget_setup() {
  note_bytes();
  const std::lock_guard lock(current_mutex_);
  setup_.reset();
}

void Pipeline::announce(const std::shared_ptr<const ImagingSetup>& setup) {
  for (const auto& sink : sinks_) sink->setup_changed(setup);
}

bool Pipeline::reconfigure() {
  const std::lock_guard control(control_mutex_);
  if (stopped_ || !run_) return false;
  exchange(setup_factory_, {});
  return true;
}

bool Pipeline::change(const SettingsChange& change) {
  const std::lock_guard control(control_mutex_);
  if (stopped_ || planning_.stop_requested()) throw InputError("settings: the server is stopping");
  if (run_ && !retune(change)) exchange(change.setup_factory, change.check);
  // From here on nothing fails.
  setup_factory_ = change.setup_factory;
  policy_ = change.policy;
  if (const auto current = assembler()) current->set_policy(policy_);
  return run_ != nullptr;
}

bool Pipeline::retune(const SettingsChange& change) {
  if (!change.retuned) return false;
  auto setup = change.retuned(*this->setup());
  if (!setup || !run_->retune(setup)) return false;
  const std::lock_guard lock(current_mutex_);
  setup_ = std::move(setup);
  return true;
}

void Pipeline::exchange(const SetupFactory& factory, const std::function<void(const ImagingSetup&)>& check) {
  const Planning planning(planning_.get_token(), options_.planning_limit);
  auto setup = make_setup(factory, announced_);
  if (check) check(*setup);
  if (options_.require_device_room) options_.require_device_room(*setup);
  const auto before = this->setup();
  for (std::size_t i = 0; i < setup->acquisition.elements(); ++i) {
    // Frames that are being filled count their shots by the previous dead elements.
    if (setup->acquisition.probe.elements[i].dead != before->acquisition.probe.elements[i].dead) {
      throw InputError("dead elements", "a change while a sender is connected", "the same until the sender connects anew");
    }
  }
  auto engine = build_engine(setup);
  std::string backend = engine->describe();
  run_->exchange_engine(setup, std::move(engine), options_.drain_limit, [&] {
    {
      const std::lock_guard lock(current_mutex_);
      setup_ = setup;
      backend_ = std::move(backend);
    }
    announce(setup);
  });
  note_bytes();
}

void Pipeline::keep_house() {
  const auto current = assembler();
  if (!current) return;
  current->expire();
  if (options_.release_after.count() == 0) return;
  const SteadyTime::rep now = std::max<SteadyTime::rep>(1, clock_.steady().count());
  if (current->open_lanes() != 0) return alone_since_.store(0);
  SteadyTime::rep since = 0;
  if (alone_since_.compare_exchange_strong(since, now) || now - since < options_.release_after.count()) return;
  {
    const std::lock_guard lock(keeper_mutex_);
    release_due_ = true;
  }
  keeper_wakes_.notify_one();
}

void Pipeline::keep(const std::stop_token& stop) {
  // Peers that leave after the run's end free memory too, and the server's messages meanwhile spread over the free memory.
  constexpr std::chrono::seconds between_looks{10};
  constexpr std::size_t worth_it = 8 << 20;
  bool idle = false;
  for (;;) {
    {
      std::unique_lock lock(keeper_mutex_);
      const auto due = [this] { return release_due_; };
      if (idle) {
        keeper_wakes_.wait_for(lock, stop, between_looks, due);
      } else {
        keeper_wakes_.wait(lock, stop, due);
      }
      if (stop.stop_requested()) return;
      if (std::exchange(release_due_, false)) idle = false;
    }
    if (!idle) {
      idle = release();
    } else if (assembler()) {
      idle = false;
    } else {
      give_back_free_memory(worth_it);
    }
  }
}

bool Pipeline::release() {
  const std::lock_guard control(control_mutex_);
  const auto current = assembler();
  // Another sender may have connected while this waited for the lock.
  const SteadyTime::rep since = alone_since_.load();
  if (stopped_ || !run_ || !current || since == 0 || clock_.steady().count() - since < options_.release_after.count())
    return false;
  try {
    retire(current.get());
  } catch (const StreamBusy&) {
    return false;
  } catch (const std::exception&) {
    // Frames that do not finish are dropped with the engine.
  }
  run_.reset();
  forget_setup();
  announced_ = {};
  for (const auto& sink : sinks_) sink->stream_ended();
  // Large blocks return to the system when they are freed (apps/program.cpp); this returns the smaller ones.
  give_back_free_memory(0);
  return true;
}

void Pipeline::stop() {
  end_planning();
  if (keeper_.joinable()) keeper_.request_stop();
  const std::lock_guard control(control_mutex_);
  if (std::exchange(stopped_, true)) return;
  if (const auto current = assembler()) current->close(DropReason::stopped);
  if (run_) {
    run_->stop(options_.drain_limit);
    run_.reset();
  }
  set_assembler(nullptr);
  note_bytes();
}

}  // namespace echoform
