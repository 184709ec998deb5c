// The engine of scans, on any backend: each frame is imaged by an engine of its position, and the slot gets the image that
// has been composed so far.
#pragma once

#include <memory>

#include "pipeline/engine.hpp"

namespace echoform {

/// Makes engines of single positions.
using PositionEngine = std::unique_ptr<Engine> (*)(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                                   const EngineOptions& options);

/// `setup` has a scan. Some frames are counted and change nothing, and their slots get the image as it is: frames of a cell
/// that has contributed, frames from where no pixel is covered, and frames without a position. A frame that cannot be
/// imaged leaves its cell open for the next. A position costs delay tables and an engine, which submit() makes.
[[nodiscard]] std::unique_ptr<Engine> make_scan_engine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                                       const EngineOptions& options, PositionEngine make);

}  // namespace echoform
