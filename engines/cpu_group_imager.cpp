#include "engines/cpu_group_imager.hpp"

#include <algorithm>
#include <utility>

#include "base/errors.hpp"
#include "engines/cpu_engine.hpp"
#include "engines/group_reader.hpp"

namespace echoform {
namespace {

class CpuGroupImager final : public GroupImager {
 public:
  CpuGroupImager(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice, std::size_t read_ahead)
      : GroupImager(std::move(setup), choice) {
    engine_ = engine_of(groups_.setup(0));
    engine_->equip_outputs(slot_);
    read_further_ahead(read_ahead);
    for (const SummedImage& image : images_) sums_.emplace_back(image.analytic.size());
  }

  void read_further_ahead(std::size_t read_ahead) final {
    take_buffers(read_ahead, [&](std::size_t /*bytes*/) {
      FrameSlot slot;
      engine_->equip(slot);
      return std::move(slot.samples);
    });
  }

  [[nodiscard]] BackendKind backend() const noexcept override { return BackendKind::cpu; }

 private:
  [[nodiscard]] std::unique_ptr<Engine> engine_of(std::shared_ptr<const ImagingSetup> group) {
    return make_cpu_engine(std::move(group), choice_, [this] {
      if (reader_ != nullptr && reader_->may_read()) reader_->read_some();
    });
  }

  void engine_for(std::size_t group) {
    const auto wanted = groups_.setup(group);
    // There is no engine if making it was stopped.
    if (engine_ != nullptr && engine_->retune(*wanted)) return;
    engine_.reset();  // frees its memory first
    engine_ = engine_of(wanted);
  }

  void sum(const Read& read, const Progress& progress, const Expect& expect) override {
    for (auto& sum : sums_) std::fill(sum.begin(), sum.end(), std::complex<double>{});
    GroupReader reader({groups_, read_, setup_->acquisition.bytes_per_a_scan(), read, expect});
    reader_ = &reader;
    struct Forget {
      GroupReader*& reader;
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
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      std::transform(sums_[k].begin(), sums_[k].end(), images_[k].analytic.begin(), [](const std::complex<double>& sum) {
        return std::complex<float>(static_cast<float>(sum.real()), static_cast<float>(sum.imag()));
      });
    }
  }

  void add_group() {
    invalid_samples_ += slot_.invalid_samples;
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      const auto* image = static_cast<const std::complex<float>*>(slot_.outputs[k].data.data());
      for (std::complex<double>& pixel : sums_[k]) pixel += std::complex<double>(*image++);
    }
  }

  GroupReader* reader_ = nullptr;  // reader of the frame that is imaged
  std::unique_ptr<Engine> engine_;
  FrameSlot slot_;
  std::vector<std::vector<std::complex<double>>> sums_;  // [output of the groups' setups]
};

}  // namespace

std::unique_ptr<GroupImager> make_cpu_group_imager(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                                   std::size_t read_ahead) {
  return std::make_unique<CpuGroupImager>(std::move(setup), choice, read_ahead);
}

}  // namespace echoform
