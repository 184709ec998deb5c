// The sums over the channels of a point that are formed in the same pass as their weighted sum.
#pragma once

namespace echoform {

/// The additional sums, where s is the aligned value of a channel and w its weight. No sum contains channels whose weight is 0.
///   none             nothing
///   squares          sum of w s^2
///   signs            sum of w sign(s), sign(0) = 0
///   roots            sum of x = sign(s) sqrt(w |s|) instead of the weighted sum, and sum of x^2 = w |s|
///   low_frequencies  sum of s^2, and the sum of |S(m)|^2 over -M0 <= m <= M0, S the DFT over the channels of weight > 0
///   channels         no sums: the values of the channels themselves
enum class ChannelSums : unsigned char { none, squares, signs, roots, low_frequencies, channels };

}  // namespace echoform
