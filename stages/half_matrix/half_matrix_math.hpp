// Which A-scans make one A-scan of the reduced matrix, and with what weight.
#pragma once

#include <cstddef>

#include "acquisition/acquisition.hpp"
#include "gpu/host_device.hpp"

namespace echoform {

/// out = weight * (input[first] + input[second]), or weight * input[first] where the two are the same.
/// A weight of 0 means a row of zeros: neither is read.
struct PairSource {
  std::size_t first = 0;
  std::size_t second = 0;
  float weight = 0.0F;
};

/// Pair (i, j) of the output, i <= j unless `to` is full. `scale` is the amplitude of one unit of a sample.
/// From full to half_summed the two orders are added and the diagonal is taken once; half has weight 2 off the diagonal,
/// half_summed has 1. Other combinations: the same kind, and half_summed to half. There is no way from half to full.
ECHOFORM_HOST_DEVICE PairSource pair_source(MatrixKind from, MatrixKind to, std::size_t i, std::size_t j, std::size_t elements,
                                            float scale) {
  if (from == MatrixKind::full) {
    const std::size_t forward = i * elements + j;
    return {forward, to == MatrixKind::full ? forward : j * elements + i, scale};
  }
  const std::size_t pair = i * elements - i * (i + 1) / 2 + j;
  float weight = scale;
  if (i != j && from != to) weight *= from == MatrixKind::half ? 2.0F : 0.5F;
  return {pair, pair, weight};
}

}  // namespace echoform
