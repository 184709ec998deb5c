// Scans in files: what a scan has come to, and what it is made of, so that it goes on when the program starts again.
//
// HDF5. Attributes of the file: TYPE "ECHOFORM_SCAN", VERSION "1", composition, acquisition (for people). Datasets: `settings`
// and `hello`, bytes of text and of the acquisition as a Hello states it; `cells`, int64, ascending; `counts`, uint64: frames
// repeated, outside, without a position, refused; `x`, `z` and, of volumes, `y`, centres of pixels in m. Of each view, numbered
// from 0: `envelope.0` float32 [z, x] or [z, y, x], NaN where nothing has covered the pixel, with the attribute `view`; of
// coherent scans `sum.0`, the same of complex numbers as {r, i}, and `covered.0`, uint32, positions that cover the pixel.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/grid.hpp"
#include "formats/input_file.hpp"
#include "pipeline/scan.hpp"

namespace echoform {

/// What a file says that its scan is made of.
struct ScanFileMakings {
  std::vector<std::string> settings;  ///< as ScanMakings has them
  std::string acquisition;            ///< a line for people
  std::string hello;                  ///< all of it, in bytes
};
[[nodiscard]] ScanFileMakings makings_of(const ScanMakings& makings);

/// Where both differ first, as "found ...; expected ..." has them; `found` is empty where they do not. Settings by name:
/// "[material] longitudinal_velocity = 6320".
struct ScanDifference {
  std::string found;
  std::string expected;
};
[[nodiscard]] ScanDifference settings_difference(const std::vector<std::string>& found, const std::vector<std::string>& expected);
[[nodiscard]] ScanDifference difference(const ScanFileMakings& found, const ScanFileMakings& expected);

/// Whole or not at all, also where the power fails. Throws InputError as AtomicFile, RuntimeFault where it cannot be written.
void write_scan_file(const std::filesystem::path& path, const ScanFileMakings& makings, Composition composition, const Grid& grid,
                     const ScanRecord::Contents& contents);

/// HDF5 crashes on some damaged files: a copy of this process reads all of it first, and what goes wrong there is an InputError.
/// While no other thread uses HDF5.
void try_scan_file(const InputFile& input);
/// Throws InputError, naming the file and the place in it, where it is missing, damaged, or no such file.
[[nodiscard]] ScanFileMakings read_scan_makings(const InputFile& input);
/// What the scan has come to. Throws as read_scan_makings(), also where its images are not of these views and this grid.
[[nodiscard]] ScanRecord::Contents read_scan_contents(const InputFile& input, const ScanRecord& record);

}  // namespace echoform
