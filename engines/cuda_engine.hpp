// The CUDA engine: uploads, the stages as one graph a frame, and downloads run on three streams, with several frames under
// way.
//
//   upload     raw samples of the gate, in pieces of at least 4 MiB as shots arrive, the rest on submit()
//   compute    pairing to display, in order; the blocks between the stages exist once, received samples and results once a slot
//   download   display image, envelope where it is wanted, complex image where it is kept, facts about the frame
//
// Each stream waits for the one before it by an event; the host waits for nothing. A thread calls done() in the order of
// submission once the download is through. A slot may only be filled again after that, so its staging memory is not written
// while it is read.
//
// Timings: "upload" (what was left to upload on submit()), "compute" and "download". With EngineOptions::eager the stages
// appear by name in place of "compute".
#pragma once

#include <memory>

#include "pipeline/engine.hpp"

namespace echoform {

/// Makes the engine on choice.device. Throws RuntimeFault if the device is not available, or if its memory does not
/// suffice: then the line states how much is needed, how much is free and what would fit. Its equip() throws InputError if
/// a frame takes the device more than half of choice.gpu_timeout.
[[nodiscard]] std::unique_ptr<Engine> make_cuda_engine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                                       const EngineOptions& options);

}  // namespace echoform
