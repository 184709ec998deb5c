#include "engines/group_imager.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/errors.hpp"
#include "cpu/cpu_backend.hpp"
#include "engines/cpu_engine.hpp"
#include "engines/runner.hpp"
#include "pipeline/setup_memory.hpp"

namespace echoform {
namespace {

// Groups that are announced before they are read: as much as keeps a disk busy, in the system's cache.
constexpr std::size_t announced_groups = 8;
// What is read at a time, and holds back one thread meanwhile: some tens of microseconds of copying.
constexpr std::size_t piece_bytes = std::size_t{1} << 17;

}  // namespace

/// Reads group after group into buffers that go round, a piece at a time. There is no thread for it: whoever images reads between
/// two pieces of imaging, so that as many threads as there are processors do both.
class GroupImager::Reader {
 public:
  Reader(const FrameGroups& groups, std::vector<Buffer>& buffers, std::size_t row_bytes, const Read& read, const Expect& expect)
      : groups_(groups), buffers_(buffers), row_bytes_(row_bytes), read_(read), expect_(expect) {}

  /// Reads a piece, or announces a group, if there is room for it. One caller at a time.
  void read_some() noexcept {
    if (fault_ || group_ == groups_.count() || group_ >= released_ + buffers_.size()) return;
    try {
      if (expect_ && announced_ < std::min(groups_.count(), group_ + announced_groups)) {
        expect_(groups_.rows(announced_));
        ++announced_;
      } else {
        read_piece();
      }
    } catch (...) {
      fault_ = std::current_exception();
    }
  }

  /// Reads until `group` is there. Throws what reading it threw.
  void await(std::size_t group) {
    while (group_ <= group && !fault_) read_some();
    if (group_ <= group) std::rethrow_exception(fault_);
  }
  /// The buffer of `group` may be filled anew.
  void release(std::size_t group) noexcept { released_ = group + 1; }

 private:
  void read_piece() {
    if (rows_.empty()) {
      rows_ = groups_.rows(group_);
      range_ = row_ = bytes_ = 0;
    }
    piece_.clear();
    std::size_t left = std::max<std::size_t>(1, piece_bytes / row_bytes_);
    std::size_t count = 0;
    while (left > 0 && range_ < rows_.size()) {
      const RowRange& range = rows_[range_];
      const RowRange& part = piece_.emplace_back(RowRange{range.first + row_, std::min(range.count - row_, left)});
      left -= part.count;
      count += part.count;
      row_ += part.count;
      if (row_ < range.count) continue;
      row_ = 0;
      ++range_;
    }
    read_(piece_, {buffers_[group_ % buffers_.size()].bytes_begin() + bytes_, count * row_bytes_});
    bytes_ += count * row_bytes_;
    if (range_ < rows_.size()) return;
    rows_.clear();
    ++group_;
  }

  const FrameGroups& groups_;
  std::vector<Buffer>& buffers_;
  const std::size_t row_bytes_;
  const Read& read_;
  const Expect& expect_;
  std::size_t announced_ = 0;   // groups
  std::size_t group_ = 0;       // that is being read
  std::vector<RowRange> rows_;  // of it; empty: nothing of it is read
  std::vector<RowRange> piece_;
  std::size_t range_ = 0;  // the place of what comes next among them, and in the buffer
  std::size_t row_ = 0;
  std::size_t bytes_ = 0;
  std::size_t released_ = 0;  // groups that are imaged
  std::exception_ptr fault_;
};

GroupImager::GroupImager(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice, std::size_t read_ahead)
    : setup_(std::move(setup)), groups_(*setup_->groups), choice_(choice) {
  const auto group = groups_.setup(0);
  engine_ = engine_of(group);
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

std::unique_ptr<Engine> GroupImager::engine_of(std::shared_ptr<const ImagingSetup> group) {
  return make_cpu_engine(std::move(group), choice_, [this] {
    if (reader_ != nullptr) reader_->read_some();
  });
}

void GroupImager::engine_for(std::size_t group) {
  const auto wanted = groups_.setup(group);
  if (engine_->retune(*wanted)) return;
  engine_.reset();  // its memory first
  engine_ = engine_of(wanted);
}

void GroupImager::image(const Read& read, const Progress& progress, const Expect& expect) {
  for (auto& sum : sums_) std::fill(sum.begin(), sum.end(), std::complex<double>{});
  invalid_samples_ = 0;
  Reader reader(groups_, read_, setup_->acquisition.bytes_per_a_scan(), read, expect);
  reader_ = &reader;
  struct Forget {
    Reader*& reader;
    ~Forget() { reader = nullptr; }
  } const forget{reader_};
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
