#include "apps/scan_door.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <mutex>
#include <utility>

#include "apps/scan_keeper.hpp"
#include "base/errors.hpp"
#include "methods/scan_settings.hpp"
#include "pipeline/scan.hpp"

namespace echoform {
namespace {

/// Publishes no image, because images of scans go to the other sinks. It follows the record of the scan from which the images are
/// made.
class ScanSink final : public ImageSink {
 public:
  /// `keeper` is null where no file keeps the scan.
  explicit ScanSink(std::shared_ptr<ScanKeeper> keeper) : keeper_(std::move(keeper)) {}

  void setup_changed(std::shared_ptr<const ImagingSetup> setup) override {
    if (setup->scan == nullptr) return;
    const std::lock_guard lock(mutex_);
    record_ = setup->scan->record;
    if (keeper_ != nullptr) keeper_->follow(record_);
  }
  void finish() override {
    if (keeper_ != nullptr) keeper_->finish();
  }
  void publish(const FinishedFrame& /*frame*/) noexcept override {}
  [[nodiscard]] bool wants_envelope() noexcept override { return false; }

  [[nodiscard]] std::vector<SinkFigure> figures() const override {
    const auto known = record();
    const ScanRecord::Counts counts = known != nullptr ? known->counts() : ScanRecord::Counts{};
    const auto total = [](std::uint64_t count) { return static_cast<double>(count); };
    return {{"scan_cells", "Cells of the scan that have contributed to its image.", total(counts.cells), false},
            {"scan_repeated", "Frames of cells that had contributed already.", total(counts.repeated), true},
            {"scan_outside", "Frames from where no pixel is covered.", total(counts.outside), true},
            {"scan_without_position", "Frames without an encoder count.", total(counts.without_position), true},
            {"scan_refused", "Frames whose position cannot be imaged from.", total(counts.refused), true}};
  }
  [[nodiscard]] std::string summary() const override {
    const auto known = record();
    if (known == nullptr) return {};
    const ScanRecord::Counts counts = known->counts();
    std::string line =
        fmt::format("scan: {} cells, {} frames repeated, {} outside", counts.cells, counts.repeated, counts.outside);
    if (counts.without_position > 0) line += fmt::format(", {} without a position", counts.without_position);
    if (counts.refused > 0) line += fmt::format(", {} refused ({})", counts.refused, known->refusal());
    return line;
  }
  [[nodiscard]] std::string describe() const override {
    return keeper_ == nullptr ? "one image of many positions" : "one image of many positions, kept in " + keeper_->describe();
  }

  /// Returns how many positions were removed.
  std::uint64_t clear() const {
    const auto known = record();
    if (known == nullptr) throw InputError("clear_scan", "no scan", "a sender's frames before");
    const std::uint64_t cells = known->counts().cells;
    known->clear();
    spdlog::info("the scan is cleared: {} cells are gone{}", cells,
                 keeper_ != nullptr ? fmt::format(", in {} too", keeper_->describe()) : std::string());
    if (keeper_ != nullptr) keeper_->save();
    return cells;
  }

 private:
  [[nodiscard]] std::shared_ptr<ScanRecord> record() const {
    const std::lock_guard lock(mutex_);
    return record_;
  }

  const std::shared_ptr<ScanKeeper> keeper_;
  mutable std::mutex mutex_;
  std::shared_ptr<ScanRecord> record_;
};

}  // namespace

OpenSink open_scan(const Configuration& configuration) {
  if (!scans(configuration)) {
    OpenSink none;
    none.actions = {unavailable_action("clear_scan", "a server that makes no scan", "[scan] path in its configuration")};
    return none;
  }
  const auto keeper = keeps_scan(configuration) ? std::make_shared<ScanKeeper>(configuration) : nullptr;
  auto sink = std::make_shared<ScanSink>(keeper);
  OpenSink open(sink);
  open.actions = {{"clear_scan", false,
                   [sink](const auto&, auto& reply) { reply.add_results(fmt::format("cleared {} cells", sink->clear())); }}};
  if (keeper != nullptr) open.begin_scan = [keeper](ScanRecord& record) { keeper->begin(record); };
  return open;
}

}  // namespace echoform
