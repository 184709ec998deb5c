#include "engines/cuda_chain.hpp"
#include "engines/frame_facts.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/cuda_check.hpp"
#include "gpu/stream_queue.hpp"

namespace echoform {

CudaChain::CudaChain(const ImagingSetup& setup, const BlockSpec& raw, Backend& backend)
    : plan_(*setup.plan),
      keep_complex_(wants(setup, OutputKind::complex_image)),
      display_(wants(setup, OutputKind::display)),
      backend_(backend) {
  half_matrix_ = add_step("pairing", 0, raw);
  analytic_signal_ = add_step("analytic-signal", 0, half_matrix_.output);
  for (std::size_t k = 0; k < plan_.laws.size(); ++k) {
    CudaView view;
    view.same_as = first_alike(plan_, k);
    if (view.same_as == k) {
      view.beamform = add_step("beamform", k, analytic_signal_.output);
      view.envelope = add_step("envelope", k, view.beamform.output);
      if (display_) {
        view.compression = add_step("compression", k, view.envelope.output);
        view.reference = view.compression.stage->device_facts().reference;
        if (plan_.display_grid) view.scan_conversion = add_step("scan-conversion", k, view.compression.output);
      }
    }
    views_.push_back(std::move(view));
  }
}

PreparedStep CudaChain::add_step(std::string_view name, std::size_t view, const BlockSpec& input) {
  PreparedStep step = make_step(name, plan_, view, backend_, input);
  bytes_ += step.stage->bytes();
  return step;
}

DeviceNeed CudaChain::need(DeviceNeed estimate) const {
  estimate.tables = 0;
  for (const CudaView& view : views_) estimate.tables += view.beamform.stage ? view.beamform.stage->bytes() : 0;
  estimate.fixed = bytes_ - estimate.tables + half_matrix_.output.bytes() + analytic_signal_.output.bytes();
  estimate.images = 0;
  estimate.images_of_slot = 0;
  for (const CudaView& view : views_) {
    if (!view.beamform.stage) continue;
    estimate.images_of_slot += view.envelope.output.bytes();
    (keep_complex_ ? estimate.images_of_slot : estimate.images) += view.beamform.output.bytes();
    if (!display_) continue;
    estimate.images_of_slot += view.display().output.bytes();
    if (view.scan_conversion.stage) estimate.images += view.compression.output.bytes();
  }
  return estimate;
}

/// Those whose output is not a result, which slots hold.
std::vector<PreparedStep*> CudaChain::steps_with_blocks() {
  std::vector<PreparedStep*> steps{&half_matrix_, &analytic_signal_};
  for (CudaView& view : views_) {
    if (!view.beamform.stage) continue;
    if (!keep_complex_) steps.push_back(&view.beamform);
    if (view.scan_conversion.stage) steps.push_back(&view.compression);
  }
  return steps;
}

void CudaChain::allocate_blocks() {
  for (PreparedStep* step : steps_with_blocks()) {
    step->block = backend_.allocate(step->output.bytes(), MemoryUse::working);
    bytes_ += step->block.size();
  }
  std::vector<const ShownReference*> references;
  for (const CudaView& view : views_) references.push_back(view.reference);
  references_ = backend_.allocate(references.size() * sizeof(const ShownReference*), MemoryUse::working);
  copy_now(references_.data(), references.data(), references_.size());
  bytes_ += references_.size();
}

void CudaChain::queue(const DeviceFrame& frame, ExecutionQueue& queue, bool timed) const noexcept {
  const cudaStream_t stream = gpu::stream_of(queue);
  std::size_t mark = 0;
  const auto note = [&] {
    if (timed) ECHOFORM_CUDA_QUEUED(cudaEventRecord(frame.marks[mark++].get(), stream));
  };
  const auto run = [&](const PreparedStep& step, const void* input, void* output) {
    step.stage->process({input}, {output}, queue);
    // The last mark is the end of all.
    if (mark + 1 < frame.marks.size()) note();
  };
  note();
  run(half_matrix_, frame.raw.data(), half_matrix_.block.data());
  run(analytic_signal_, half_matrix_.block.data(), analytic_signal_.block.data());
  for (std::size_t k = 0; k < views_.size(); ++k) {
    const CudaView& view = views_[k];
    if (!view.beamform.stage) continue;
    const DeviceResults& results = frame.results[k];
    void* const image = keep_complex_ ? results.analytic.data() : view.beamform.block.data();
    run(view.beamform, analytic_signal_.block.data(), image);
    run(view.envelope, image, results.envelope.data());
    if (!display_) continue;
    void* const compressed = view.scan_conversion.stage ? view.compression.block.data() : results.display.data();
    run(view.compression, results.envelope.data(), compressed);
    if (view.scan_conversion.stage) run(view.scan_conversion, compressed, results.display.data());
  }
  gpu::launch_gather_facts(quality_place(), static_cast<const ShownReference* const*>(references_.data()), views_.size(),
                           frame.facts.data(), stream);
  note();
}

const SampleQuality* CudaChain::quality_place() const noexcept {
  const auto offset = half_matrix_.stage->device_facts().quality;
  return offset ? reinterpret_cast<const SampleQuality*>(half_matrix_.block.bytes_begin() + *offset) : nullptr;
}

}  // namespace echoform
