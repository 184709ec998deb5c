#include "pipeline/raw_samples.hpp"

namespace echoform {

BlockSpec raw_block(const Acquisition& acquisition) {
  BlockSpec spec;
  spec.type = ElementType::raw;
  spec.encoding = acquisition.encoding;
  spec.rows = acquisition.a_scans();
  spec.columns = acquisition.samples;
  spec.row_stride = acquisition.bytes_per_a_scan();
  return spec;
}

GatedSamples gated(const BlockSpec& raw, const SampleGate& gate) {
  GatedSamples samples{raw, facts_of(raw.encoding).bytes_of(gate.first)};
  samples.spec.columns = gate.count;
  return samples;
}

DeviceRows device_rows(const BlockSpec& raw, const SampleGate& gate) {
  DeviceRows rows;
  rows.row_bytes = facts_of(raw.encoding).bytes_of(gate.count);
  rows.pitch = (rows.row_bytes + 15) / 16 * 16;
  rows.spec = raw;
  rows.spec.columns = gate.count;
  rows.spec.row_stride = rows.pitch;
  return rows;
}

}  // namespace echoform
