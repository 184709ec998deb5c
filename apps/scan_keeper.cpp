#include "apps/scan_keeper.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <stop_token>
#include <system_error>
#include <utility>

#include "base/errors.hpp"
#include "formats/atomic_file.hpp"
#include "formats/scan_file.hpp"
#include "methods/scan_settings.hpp"
#include "settings/imaging_lines.hpp"

namespace echoform {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const ScanDifference& differs) {
  throw InputError(fmt::format("{}: a scan that is made of something else", path.string()), differs.found,
                   differs.expected + " ([scan] resume = \"never\" writes over it)");
}

/// The scan file, or nothing if it does not exist yet.
std::optional<InputFile> file_at(const std::filesystem::path& path) {
  if (std::error_code error; !std::filesystem::exists(path, error)) return std::nullopt;
  return InputFile(path, "a scan");
}

/// Describes the state of a scan that a file with these counts holds: cells that contribute, and every counted frame.
std::string state_of(const ScanRecord::Counts& counts) {
  return fmt::format("{} {} {} {} {}", counts.cells, counts.repeated, counts.outside, counts.without_position, counts.refused);
}

}  // namespace

ScanKeeper::ScanKeeper(const Configuration& configuration)
    : path_(section<ScanSection>(configuration).file),
      interval_(std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::chrono::duration<double>(section<ScanSection>(configuration).save_every.value))) {
  try {
    check_output_place(path_);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", configuration.place("[scan] file"), error.what()));
  }
  if (section<ScanSection>(configuration).resume == ScanResume::same) before_ = file_at(path_);
  if (before_) {
    try_scan_file(*before_);
    const ScanDifference differs = settings_difference(read_scan_makings(*before_).settings, imaging_lines(configuration));
    if (!differs.found.empty()) refuse(path_, differs);
  }
  worker_.emplace(WorkerOptions{"ef-scan-file", {}}, [this](const std::stop_token& stop) { work(stop); });
}

ScanKeeper::~ScanKeeper() {
  finish();
}

void ScanKeeper::begin(ScanRecord& record) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(begun_, true) || !before_) return;
  try {
    const ScanDifference differs = difference(read_scan_makings(*before_), makings_of(record.makings()));
    if (!differs.found.empty()) refuse(path_, differs);
    record.restore(read_scan_contents(*before_, record));
  } catch (...) {
    begun_ = false;
    throw;
  }
  before_.reset();
  spdlog::info("{}: the scan goes on with {} cells", path_.string(), record.counts().cells);
}

void ScanKeeper::follow(std::shared_ptr<ScanRecord> record) {
  const std::lock_guard lock(mutex_);
  record_ = std::move(record);
}

void ScanKeeper::save() {
  write(true);
}

void ScanKeeper::write(bool also_without_news) {
  std::shared_ptr<ScanRecord> record;
  {
    const std::lock_guard lock(mutex_);
    record = record_;
  }
  if (record == nullptr) return;
  const std::lock_guard lock(writing_);
  if (!also_without_news && of_ == record.get() && written_ == state_of(record->counts())) return;
  const ScanRecord::Contents contents = record->contents();
  write_scan_file(path_, makings_of(record->makings()), record->composition(), record->grid(), contents);
  written_ = state_of(contents.counts);
  of_ = record.get();
  ++saved_;
}

void ScanKeeper::save_quietly() noexcept {
  try {
    write(false);
  } catch (const std::exception& error) {
    spdlog::error("the scan is not saved: {}", error.what());
  }
}

void ScanKeeper::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!change_.wait_for(lock, stop, interval_, [&] { return stop.stop_requested(); }) && !stop.stop_requested()) {
    lock.unlock();
    save_quietly();
    lock.lock();
  }
}

void ScanKeeper::finish() noexcept {
  if (!worker_) return;
  worker_.reset();
  save_quietly();
}

}  // namespace echoform
