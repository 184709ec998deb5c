// Samples as a MicroPulse sends them, offset binary, into signed counts.
#pragma once

#include <cstddef>
#include <span>

#include "instruments/micropulse/instrument_settings.hpp"

namespace echoform::micropulse {

/// Writes an A-scan as int16 counts, for which sample_scale() holds: a raw value less the middle of its range, which is half of
/// 2^16 where 10 or 12 bits stand high. What is out of the range, such as bits above the 10 or 12 low ones, is held within it.
/// `raw` is bytes_per_sample(bits) for each two bytes of `counts`.
void decode_samples(std::span<const std::byte> raw, SampleBits bits, Justified justified, std::span<std::byte> counts) noexcept;

}  // namespace echoform::micropulse
