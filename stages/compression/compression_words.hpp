// What users call the compression's options.
#pragma once

#include "base/text.hpp"
#include "stages/compression/compression_options.hpp"

namespace echoform::words {

inline constexpr auto reference_mode =
    make_words(Word<ReferenceMode>{ReferenceMode::running, "running"}, Word<ReferenceMode>{ReferenceMode::fixed, "fixed"});

}  // namespace echoform::words
