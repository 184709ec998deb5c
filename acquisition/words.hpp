// What users call the properties of an acquisition.
#pragma once

#include "acquisition/acquisition.hpp"
#include "acquisition/sample_encodings.hpp"
#include "base/text.hpp"

namespace echoform::words {

inline constexpr auto matrix_kind =
    make_words(Word<MatrixKind>{MatrixKind::full, "full"}, Word<MatrixKind>{MatrixKind::half, "half"},
               Word<MatrixKind>{MatrixKind::half_summed, "half_summed"});
inline constexpr auto sample_encoding = [] {
  Words<SampleEncoding, sample_encodings.size()> words;
  for (std::size_t k = 0; k < words.entries.size(); ++k) {
    words.entries[k] = {static_cast<SampleEncoding>(k), sample_encodings[k].word};
  }
  return words;
}();

}  // namespace echoform::words
