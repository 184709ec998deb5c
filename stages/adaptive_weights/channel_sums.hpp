// What is summed over the channels of a point beside their weighted sum, in the same pass.
#pragma once

namespace echoform {

/// With s the aligned value of a channel and w its weight; channels whose weight is 0 are in none of them.
///   none             nothing
///   squares          sum of w s^2
///   signs            sum of w sign(s), sign(0) = 0
///   roots            instead of the weighted sum that of x = sign(s) sqrt(w |s|); beside it that of x^2 = w |s|
///   low_frequencies  sum of s^2; and of the DFT over the channels heard, S(m), the sum of |S(m)|^2 over -M0 <= m <= M0
///   channels         no sums: the values themselves
enum class ChannelSums : unsigned char { none, squares, signs, roots, low_frequencies, channels };

}  // namespace echoform
