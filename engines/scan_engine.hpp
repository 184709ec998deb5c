// The engine of scans, on any backend: each frame is imaged by an engine of its position, and what the slot gets is the image
// that has grown so far.
#pragma once

#include <memory>

#include "pipeline/engine.hpp"

namespace echoform {

/// Makes engines of single positions.
using PositionEngine = std::unique_ptr<Engine> (*)(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                                   const EngineOptions& options);

/// `setup` is one with a scan. Frames of a cell that has contributed, from where no pixel is covered, or without a position are
/// counted and change nothing: their slots get the image as it is. A frame that cannot be imaged leaves its cell open for the
/// next. A position costs delay tables and an engine, which submit() makes.
[[nodiscard]] std::unique_ptr<Engine> make_scan_engine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                                       const EngineOptions& options, PositionEngine make);

}  // namespace echoform
