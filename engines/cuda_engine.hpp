// The CUDA engine: uploads, the stages as one graph a frame, and downloads on three streams, several frames under way.
//
//   upload     raw samples of the gate, in pieces of at least 4 MiB as shots arrive, the rest on submit()
//   compute    pairing to display, in order: one set of blocks between the stages, received samples and results by slot
//   download   display image, envelope where it is wanted, complex image where it is kept, facts about the frame
//
// Each waits for the one before by an event; the host waits for nothing. A thread calls done() in order of submission once
// the download is through; a slot may only be filled again after that, so its staging memory is not written while it is read.
//
// Timings: "upload" (what was left to upload on submit()), "compute", "download"; with EngineOptions::eager the stages by
// name in the place of "compute".
#pragma once

#include <memory>

#include "pipeline/engine.hpp"

namespace echoform {

/// On choice.device. RuntimeFault if the device is not to be had or its memory does not suffice: then the line says how much is
/// needed, what is free and what would fit. Its equip() throws InputError if a frame takes the device more than half of
/// choice.gpu_timeout.
[[nodiscard]] std::unique_ptr<Engine> make_cuda_engine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                                       const EngineOptions& options);

}  // namespace echoform
