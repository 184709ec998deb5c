// Recording: what the writer makes of the disk, and what recording costs the pipeline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "benchmarks/turns.hpp"
#include "pipeline/pipeline.hpp"
#include "simulators/fmc_simulator.hpp"

namespace echoform::benchmarks {

struct RecordCase {
  SimulatorConfiguration simulator;
  SetupFactory setup;
  BackendChoice backend{false, BackendKind::cpu};
  std::filesystem::path folder;                      ///< on the disk that is measured; files are deleted
  std::size_t rounds = 5;                            ///< of everything, in turns
  double seconds = 2.0;                              ///< of a turn of the pipeline
  std::size_t file_bytes = std::size_t{256} << 20;   ///< of samples in a turn of the disk or the writer
  std::size_t memory_limit = std::size_t{16} << 30;  ///< of slots and engine, bytes
};

/// Rates of samples, which count as written once they are on the disk itself (fdatasync included).
struct RecordReport {
  std::size_t frame_bytes = 0;
  /// Frames a second into a plain file ("disk", the limit) and by the MFMC writer ("writer"); images a second over loopback TCP
  /// with the sender held back, nobody recording ("without") and with the recorder ("with").
  Turns turns;
  std::uint64_t recorded = 0;  ///< over all turns
  std::uint64_t not_recorded = 0;
  bool closes = true;  ///< every frame published in a turn with the recorder was recorded or counted as not recorded
};

[[nodiscard]] RecordReport measure_record(const RecordCase& test, const std::function<void(const std::string&)>& progress);

}  // namespace echoform::benchmarks
