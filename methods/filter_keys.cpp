// Keys of [filter].
#include "config/key_types.hpp"
#include "methods/filter_words.hpp"
#include "methods/shared_keys.hpp"

namespace echoform {
void add_filter_keys(std::vector<Key>& k) {
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  const Range frequency = within(0.0, 1e9);
  const Range width = within(1.0, 1e9);
  k.push_back(word(
      {"filter",
       "kind",
       "",
       "mean: the mean of each A-scan is taken away. band: what lies outside of a band. wiener: the pulse of pulse_file is taken "
       "back. auto: band where it is stated or the probe's centre frequency is known, else mean.",
       {},
       LiveEffect::imaging},
      words::filter_wish, [](auto& c) -> auto& { return section<FilterSection>(c).kind; }));
  Key band = number_pair(
      {"filter", "band", "Hz",
       "Lower and upper edge of the band, where half the amplitude passes (-6 dB), up to half the sample rate; an edge at 0 or "
       "there is none. Of band and auto.",
       "around the probe's bandwidth, or 60 % of its centre frequency", LiveEffect::imaging},
      frequency, [](auto& c) -> auto& { return section<FilterSection>(c).band; });
  // The edges are checked for every kind, because the kind may change live.
  band.read = [read = std::move(band.read)](Configuration& into, const toml::node& node, std::string_view where) {
    read(into, node, where);
    const auto& [low, high] = *section<FilterSection>(into).band;
    if (!(low < high)) refuse(where, node, "the lower edge first, 0 or more, and a higher one behind it");
  };
  k.push_back(std::move(band));
  k.push_back(number(
      {"filter", "skirt", "Hz",
       "How wide the edges of the band are, from 1 % to 99 % of the amplitude; the lower one alone where upper_skirt is stated. "
       "What is imaged reaches up to 2.8 / skirt farther into the A-scan, of the narrower one.",
       "half the band, and at the lower edge no more than that edge", LiveEffect::imaging},
      width, [](auto& c) -> auto& { return section<FilterSection>(c).skirt; }));
  k.push_back(number(
      {"filter", "upper_skirt", "Hz", "How wide the upper edge of the band is.", "skirt where that is stated, else half the band",
       LiveEffect::imaging},
      width, [](auto& c) -> auto& { return section<FilterSection>(c).upper_skirt; }));
  k.push_back(number_pair(
      {"filter", "notch", "Hz",
       "A frequency that is taken away, with every kind but none, and the width within which less than half the amplitude "
       "passes.",
       "none", LiveEffect::imaging},
      width, [](auto& c) -> auto& { return section<FilterSection>(c).notch; }));
  Key pulse = text(
      {"filter", "pulse_file", "",
       "Of wiener: an echo as it was measured, a CSV file with lines of time in s and amplitude, evenly spaced; relative to the "
       "configuration's folder."},
      "", any_text, [](auto& c) -> auto& { return section<FilterSection>(c).pulse_file; });
  pulse.names_file = true;
  // The file is resolved once, from the configuration's folder: live changes belong to no file.
  pulse.read = [expected = pulse.expected()](Configuration& into, const toml::node& node, std::string_view where) {
    const std::string name = read_text(node, where, expected);
    section<FilterSection>(into).pulse_file = name.empty() ? name : named_file(into, name).string();
  };
  k.push_back(std::move(pulse));
  k.push_back(number(
      {"filter",
       "noise",
       "",
       "Of wiener: power of the noise against that of the pulse where it is strongest; more sharpens less.",
       {},
       LiveEffect::imaging},
      within(FilterOptions::noises), [](auto& c) -> auto& { return section<FilterSection>(c).noise; }));
  k.push_back(number(
      {"filter", "mute", "s",
       "Samples before this time after the pulse are left out before anything else, with every kind: the laser's spike, the "
       "transmitter's pulse. Rounded up to a multiple of 8 samples of the A-scan.",
       "none are", LiveEffect::imaging},
      within(-0.999, 0.999), [](auto& c) -> auto& { return section<FilterSection>(c).mute; }));
}

}  // namespace echoform
