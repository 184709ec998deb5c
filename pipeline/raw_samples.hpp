// Received A-scans as blocks: their encoding, and the part of them that is imaged.
#pragma once

#include <cstddef>

#include "acquisition/acquisition.hpp"
#include "pipeline/block.hpp"
#include "pipeline/sample_gate.hpp"

namespace echoform {

/// The block in which frames of `acquisition` arrive: [a_scans, samples], rows without gaps.
[[nodiscard]] BlockSpec raw_block(const Acquisition& acquisition);

/// The samples of the gate in rows laid out as in `raw`: a block that begins first_byte bytes after it.
struct GatedSamples {
  BlockSpec spec;
  std::size_t first_byte = 0;
};
/// `gate` lies within the rows; it begins where samples that are stored together do (acquisition/sample_encodings.hpp).
[[nodiscard]] GatedSamples gated(const BlockSpec& raw, const SampleGate& gate);

/// The same on a device, where rows start at multiples of 16 bytes, which kernels load at a time.
struct DeviceRows {
  BlockSpec spec;
  std::size_t pitch = 0;      ///< bytes from row to row
  std::size_t row_bytes = 0;  ///< bytes of samples in a row
};
[[nodiscard]] DeviceRows device_rows(const BlockSpec& raw, const SampleGate& gate);

}  // namespace echoform
