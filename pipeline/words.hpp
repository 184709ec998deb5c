// The words of every enumeration that a user may write or read: one place for config, command line and messages.
#pragma once

#include "acquisition/acquisition.hpp"
#include "base/text.hpp"
#include "pipeline/backend.hpp"
#include "pipeline/frame_slot.hpp"
#include "pipeline/imaging_plan.hpp"

namespace echoform::words {

template <class Enum>
using Word = std::pair<Enum, std::string_view>;

inline constexpr auto matrix_kind =
    make_words(Word<MatrixKind>{MatrixKind::full, "full"}, Word<MatrixKind>{MatrixKind::half, "half"},
               Word<MatrixKind>{MatrixKind::half_summed, "half_summed"});
inline constexpr auto sample_encoding =
    make_words(Word<SampleEncoding>{SampleEncoding::int16, "int16"}, Word<SampleEncoding>{SampleEncoding::packed12, "packed12"},
               Word<SampleEncoding>{SampleEncoding::float32, "float32"});
inline constexpr auto interpolation =
    make_words(Word<Interpolation>{Interpolation::nearest, "nearest"}, Word<Interpolation>{Interpolation::linear, "linear"});
inline constexpr auto scan_interpolation = make_words(Word<ScanInterpolation>{ScanInterpolation::nearest, "nearest"},
                                                      Word<ScanInterpolation>{ScanInterpolation::bilinear, "bilinear"},
                                                      Word<ScanInterpolation>{ScanInterpolation::cubic, "cubic"});
inline constexpr auto apodization_window =
    make_words(Word<ApodizationWindow>{ApodizationWindow::none, "none"}, Word<ApodizationWindow>{ApodizationWindow::hann, "hann"},
               Word<ApodizationWindow>{ApodizationWindow::tukey, "tukey"});
inline constexpr auto apodization_sides = make_words(Word<ApodizationSides>{ApodizationSides::both, "both"},
                                                     Word<ApodizationSides>{ApodizationSides::transmit, "transmit"},
                                                     Word<ApodizationSides>{ApodizationSides::receive, "receive"});
inline constexpr auto reference_mode =
    make_words(Word<ReferenceMode>{ReferenceMode::running, "running"}, Word<ReferenceMode>{ReferenceMode::fixed, "fixed"});
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
    Word<ElementType>{ElementType::int16, "int16"}, Word<ElementType>{ElementType::packed12, "packed12"},
    Word<ElementType>{ElementType::float32, "float32"}, Word<ElementType>{ElementType::complex64, "complex64"},
    Word<ElementType>{ElementType::planar_complex64, "planar complex64"}, Word<ElementType>{ElementType::uint8, "uint8"},
    Word<ElementType>{ElementType::complex_half_slope, "complex half with slope"});

}  // namespace echoform::words
