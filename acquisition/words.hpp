// What users call the properties of an acquisition.
#pragma once

#include "acquisition/acquisition.hpp"
#include "base/text.hpp"

namespace echoform::words {

inline constexpr auto matrix_kind =
    make_words(Word<MatrixKind>{MatrixKind::full, "full"}, Word<MatrixKind>{MatrixKind::half, "half"},
               Word<MatrixKind>{MatrixKind::half_summed, "half_summed"});
inline constexpr auto sample_encoding =
    make_words(Word<SampleEncoding>{SampleEncoding::int16, "int16"}, Word<SampleEncoding>{SampleEncoding::packed12, "packed12"},
               Word<SampleEncoding>{SampleEncoding::float32, "float32"});

}  // namespace echoform::words
