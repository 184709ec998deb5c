// Received A-scans as blocks: their encoding, and the part of them that is imaged.
#pragma once

#include <cstddef>

#include "acquisition/acquisition.hpp"
#include "pipeline/block.hpp"
#include "pipeline/sample_gate.hpp"

namespace echoform {

/// Type of the blocks in which A-scans of an encoding arrive.
[[nodiscard]] ElementType raw_element_type(SampleEncoding encoding);
/// And back; int16, packed12 or float32 only.
[[nodiscard]] SampleEncoding encoding_of(ElementType type);
/// Distance of the rows of a raw block in bytes.
[[nodiscard]] std::size_t raw_row_bytes(const BlockSpec& raw);
/// Bytes that `samples` samples of a row take: of an even number of them, where two share three bytes.
[[nodiscard]] std::size_t raw_bytes(ElementType type, std::size_t samples);

/// The block in which frames of `acquisition` arrive: [a_scans, samples], rows without gaps.
[[nodiscard]] BlockSpec raw_block(const Acquisition& acquisition);

/// Samples of the gate alone, of rows that lie as in `raw`: a block that begins first_byte behind it.
struct GatedSamples {
  BlockSpec spec;
  std::size_t first_byte = 0;
};
/// `gate` lies within the rows; of packed12 it begins with an even sample.
[[nodiscard]] GatedSamples gated(const BlockSpec& raw, const SampleGate& gate);

/// The same on a device, where rows start on 16 bytes, which kernels load at a time.
struct DeviceRows {
  BlockSpec spec;
  std::size_t pitch = 0;      ///< bytes from row to row
  std::size_t row_bytes = 0;  ///< of them, those of samples
};
[[nodiscard]] DeviceRows device_rows(const BlockSpec& raw, const SampleGate& gate);

}  // namespace echoform
