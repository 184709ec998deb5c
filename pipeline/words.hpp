// The names, for users, of the pipeline's enumerations: one place for configuration, command line and messages.
#pragma once

#include "base/text.hpp"
#include "pipeline/backend.hpp"
#include "pipeline/block.hpp"
#include "pipeline/frame_slot.hpp"

namespace echoform::words {

inline constexpr auto drop_policy = make_words(Word<DropPolicy>{DropPolicy::block_sender, "block_sender"},
                                               Word<DropPolicy>{DropPolicy::drop_oldest, "drop_oldest"},
                                               Word<DropPolicy>{DropPolicy::drop_newest, "drop_newest"});
inline constexpr auto drop_reason =
    make_words(Word<DropReason>{DropReason::incomplete, "incomplete"}, Word<DropReason>{DropReason::ring_full, "ring_full"},
               Word<DropReason>{DropReason::superseded, "superseded"}, Word<DropReason>{DropReason::failed, "failed"},
               Word<DropReason>{DropReason::stopped, "stopped"});
inline constexpr auto backend_kind =
    make_words(Word<BackendKind>{BackendKind::cpu, "cpu"}, Word<BackendKind>{BackendKind::cuda, "cuda"});
inline constexpr auto element_type = make_words(
    Word<ElementType>{ElementType::raw, "raw samples"}, Word<ElementType>{ElementType::float32, "float32"},
    Word<ElementType>{ElementType::complex64, "complex64"}, Word<ElementType>{ElementType::planar_complex64, "planar complex64"},
    Word<ElementType>{ElementType::uint8, "uint8"},
    Word<ElementType>{ElementType::complex_half_slope, "complex half with slope"});

}  // namespace echoform::words
