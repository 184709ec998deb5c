#include "engines/group_imager.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/errors.hpp"
#include "cpu/cpu_backend.hpp"
#include "engines/runner.hpp"
#include "pipeline/setup_memory.hpp"

namespace echoform {
namespace {

// Groups that are announced before they are read: as much as keeps a disk busy, in the system's cache.
constexpr std::size_t announced_groups = 8;

}  // namespace

/// Reads group after group into buffers that go round.
class GroupImager::Reader {
 public:
  Reader(const FrameGroups& groups, std::vector<Buffer>& buffers, std::size_t row_bytes, const Read& read, const Expect& expect)
      : thread_([this, &groups, &buffers, row_bytes, &read, &expect](const std::stop_token& stop) {
          try {
            std::size_t announced = 0;
            for (std::size_t group = 0; group < groups.count() && await_room(group, buffers.size(), stop); ++group) {
              for (; expect && announced < std::min(groups.count(), group + announced_groups); ++announced) {
                expect(groups.rows(announced));
              }
              const std::vector<RowRange> rows = groups.rows(group);
              std::size_t bytes = 0;
              for (const RowRange& range : rows) bytes += range.count * row_bytes;
              read(rows, {buffers[group % buffers.size()].bytes_begin(), bytes});
              const std::lock_guard lock(mutex_);
              read_ = group + 1;
              changed_.notify_all();
            }
          } catch (...) {
            const std::lock_guard lock(mutex_);
            fault_ = std::current_exception();
            changed_.notify_all();
          }
        }) {}

  /// Waits for `group`. Throws what reading it threw.
  void await(std::size_t group) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return read_ > group || fault_; });
    if (read_ <= group) std::rethrow_exception(fault_);
  }
  /// The buffer of `group` may be filled anew.
  void release(std::size_t group) {
    const std::lock_guard lock(mutex_);
    released_ = group + 1;
    changed_.notify_all();
  }

 private:
  [[nodiscard]] bool await_room(std::size_t group, std::size_t buffers, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    return changed_.wait(lock, stop, [&] { return group < released_ + buffers; });
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t read_ = 0;      // groups that are there
  std::size_t released_ = 0;  // groups that are imaged
  std::exception_ptr fault_;
  std::jthread thread_;  // the last: it ends before what it uses
};

GroupImager::GroupImager(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice, std::size_t read_ahead)
    : setup_(std::move(setup)), groups_(*setup_->groups), choice_(choice) {
  const auto group = groups_.setup(0);
  engine_ = make_engine(group, choice_, {});
  engine_->equip_outputs(slot_);
  const std::size_t buffers = std::max(least_read_ahead, std::min(read_ahead, groups_.count()));
  for (std::size_t k = 0; k < buffers; ++k) {
    FrameSlot slot;
    engine_->equip(slot);
    read_.push_back(std::move(slot.samples));
  }
  for (const RecipeOutput& output : group->recipe.outputs) {
    const std::size_t pixels = output.description.grid.pixels();
    sums_.emplace_back(pixels);
    images_.push_back({output.description.view, std::vector<std::complex<float>>(pixels), std::vector<float>(pixels)});
  }
}

void GroupImager::engine_for(std::size_t group) {
  const auto wanted = groups_.setup(group);
  if (engine_->retune(*wanted)) return;
  engine_.reset();  // its memory first
  engine_ = make_engine(wanted, choice_, {});
}

void GroupImager::image(const Read& read, const Progress& progress, const Expect& expect) {
  for (auto& sum : sums_) std::fill(sum.begin(), sum.end(), std::complex<double>{});
  invalid_samples_ = 0;
  Reader reader(groups_, read_, setup_->acquisition.bytes_per_a_scan(), read, expect);
  for (std::size_t group = 0; group < groups_.count(); ++group) {
    engine_for(group);
    reader.await(group);
    Buffer& buffer = read_[group % read_.size()];
    slot_.samples = std::move(buffer);
    const bool imaged = image_now(*engine_, slot_);
    buffer = std::move(slot_.samples);
    reader.release(group);
    if (!imaged) throw RuntimeFault("the backend could not image the frame");
    add_group();
    progress(group + 1);
  }
  finish();
}

void GroupImager::add_group() {
  invalid_samples_ += slot_.invalid_samples;
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    const auto* image = static_cast<const std::complex<float>*>(slot_.outputs[k].data.data());
    for (std::complex<double>& pixel : sums_[k]) pixel += std::complex<double>(*image++);
  }
}

void GroupImager::finish() {
  const auto backend = make_cpu_backend(choice_.threads, choice_.pin);
  const auto queue = backend->make_queue();
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    SummedImage& image = images_[k];
    std::transform(sums_[k].begin(), sums_[k].end(), image.analytic.begin(), [](const std::complex<double>& sum) {
      return std::complex<float>(static_cast<float>(sum.real()), static_cast<float>(sum.imag()));
    });
    const Recipe recipe = groups_.finish(image.view);
    Runner runner(recipe, image_block(ElementType::complex64, recipe.outputs.at(0).description.grid), *backend);
    runner.allocate_blocks();
    std::vector<void*> places = runner.places();
    places[0] = image.analytic.data();
    places[recipe.outputs.at(0).block] = image.envelope.data();
    runner.run(places, *queue, [](std::size_t, const auto& work) { work(); });
    queue->finish();
  }
}

}  // namespace echoform
