// A server's scan in its file: found again when the program starts, written now and then.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/worker.hpp"
#include "config/configuration.hpp"
#include "formats/input_file.hpp"
#include "pipeline/scan.hpp"

namespace echoform {

/// The scan of the run: the file follows it, whatever it comes to be made of. Only what the first scan of the run finds in the
/// file is gone on with, or refused. Thread-safe.
class ScanKeeper {
 public:
  /// Expects a configuration for which keeps_scan() is true. Throws InputError for a place that cannot be written, and, with
  /// [scan] resume = "same", for a file that is no scan or one of other settings.
  explicit ScanKeeper(const Configuration& configuration);
  /// Calls finish().
  ~ScanKeeper();
  ScanKeeper(const ScanKeeper&) = delete;
  ScanKeeper& operator=(const ScanKeeper&) = delete;

  /// Begins a scan, as ScanRecords::Begin. Throws InputError where the file's scan has other settings.
  void begin(ScanRecord& record);
  /// Takes the record to which frames are added from now on.
  void follow(std::shared_ptr<ScanRecord> record);
  /// Writes the scan now. Throws InputError or RuntimeFault where that fails: then the file is as it was.
  void save();
  /// Writes what is new, and nothing after that. A failure is one line in the log. May be called again.
  void finish() noexcept;

  /// Times that the file was written.
  [[nodiscard]] std::uint64_t saved() const noexcept { return saved_; }
  [[nodiscard]] std::string describe() const { return path_.string(); }

 private:
  void work(const std::stop_token& stop);
  void write(bool also_without_news);
  void save_quietly() noexcept;

  const std::filesystem::path path_;
  const std::chrono::nanoseconds interval_;
  std::mutex mutex_;  // guards the next four
  std::condition_variable_any change_;
  std::shared_ptr<ScanRecord> record_;
  bool begun_ = false;
  std::optional<InputFile> before_;  // that the run goes on from
  std::mutex writing_;               // one at a time; guards the next two
  std::string written_;              // what tells whether there is news
  const ScanRecord* of_ = nullptr;
  std::atomic<std::uint64_t> saved_{0};
  std::optional<Worker> worker_;  // dies first
};

}  // namespace echoform
