// Keys of [input.us_lab4a].
#include "config/key_types.hpp"
#include "instruments/us_lab4a/us_lab4a_door.hpp"
#include "instruments/us_lab4a/us_lab4a_section.hpp"

namespace echoform {
namespace {

using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table

constexpr std::string_view of_us_lab4a = "input.us_lab4a";

template <class Member>
auto in_us_lab4a(Member pointer) {
  return [pointer](auto& c) -> auto& {
    return section<UsLab4aSection>(c).*pointer;
  };
}

}  // namespace

KeyGroup us_lab4a_keys() {
  KeyGroup group;
  group.sections = {{of_us_lab4a,
                     "An array behind a server of us_lab4a's protocol that the server connects to and asks for each shot "
                     "(docs/us_lab4a.md), of `echoform serve` and `echoform record`."}};
  std::vector<Key>& k = group.keys;
  using Stated = UsLab4aSection;
  k.push_back(text({of_us_lab4a, "connect", "", "The array's server, such as 127.0.0.1:55500; empty: none."}, "HOST:PORT",
                   any_text, in_us_lab4a(&Stated::connect)));
  k.push_back(
      integer({of_us_lab4a, "elements", "", "Elements of the linear array."}, within(1, 256), in_us_lab4a(&Stated::elements)));
  k.push_back(number({of_us_lab4a, "pitch", "m", "Distance of neighbouring element centres."}, within(1e-6, 0.1),
                     in_us_lab4a(&Stated::pitch)));
  k.push_back(number({of_us_lab4a, "element_width", "m", "Size of an element along x.", "unknown"}, within(0.0, 0.1),
                     in_us_lab4a(&Stated::element_width)));
  k.push_back(number({of_us_lab4a, "centre_frequency", "Hz", "Of the probe, and of what elements fire."}, within(1.0, 1e9),
                     in_us_lab4a(&Stated::centre_frequency)));
  k.push_back(integer({of_us_lab4a, "base_element", "", "Of the instrument's multiplexer, at element 0."}, within(0, 65535),
                      in_us_lab4a(&Stated::base_element)));
  k.push_back(integer_list({of_us_lab4a, "fire", "", "Elements that fire one after the other; empty: all, a full matrix."},
                           within(0, 255), 256, in_us_lab4a(&Stated::fire)));
  k.push_back(number({of_us_lab4a, "sample_rate", "Hz", "Of the samples."}, within(1e3, 1e9), in_us_lab4a(&Stated::sample_rate)));
  k.push_back(number({of_us_lab4a, "acquisition_time", "s", "Length of an A-scan, from the firing on."}, within(1e-8, 1.0),
                     in_us_lab4a(&Stated::acquisition_time)));
  k.push_back(number({of_us_lab4a, "gain", "dB", "Of all receivers, as the instrument understands it."}, within(0.0, 120.0),
                     in_us_lab4a(&Stated::gain)));
  k.push_back(
      integer({of_us_lab4a, "pulses", "", "Periods that an element fires."}, within(1, 100), in_us_lab4a(&Stated::pulses)));
  k.push_back(number({of_us_lab4a, "answer_timeout", "s", "Without an answer for this time, it is connected to anew."},
                     within(0.1, 600.0), in_us_lab4a(&Stated::answer_timeout)));
  return group;
}

}  // namespace echoform
