// Keys of [output] and [display].
#include "config/key_types.hpp"
#include "methods/display_settings.hpp"
#include "methods/shared_keys.hpp"
#include "stages/compression/compression_words.hpp"
#include "stages/scan_conversion/scan_conversion_words.hpp"

namespace echoform {

void add_display_keys(std::vector<Key>& k) {
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  const Range place = within(-10.0, 10.0);
  k.push_back(number(
      {"output", "dynamic_range_db", "dB", "Range below the reference that the display shows.", {}, LiveEffect::display},
      within(Compression::dynamic_ranges), [](auto& c) -> auto& { return section<OutputSection>(c).dynamic_range_db; }));
  k.push_back(number(
      {"output",
       "gain_db",
       "dB",
       "Gain of the display; it brings the end of a scale of numbers down, unless that is fixed.",
       {},
       LiveEffect::display},
      within(Compression::gains), [](auto& c) -> auto& { return section<OutputSection>(c).gain_db; }));
  k.push_back(word(
      {"output",
       "reference",
       "",
       "What is 0 dB, or the end of a scale of numbers: the running peak of the images, or reference_value.",
       {},
       LiveEffect::display},
      words::reference_mode, [](auto& c) -> auto& { return section<OutputSection>(c).reference; }));
  k.push_back(number(
      {"output",
       "reference_value",
       "",
       "The envelope that a fixed reference shows as 0 dB, or the number at the end of a scale.",
       {},
       LiveEffect::display},
      within(1e-30, 1e30), [](auto& c) -> auto& { return section<OutputSection>(c).reference_value; }));
  k.back().only_where = "output.reference=fixed";
  k.push_back(number(
      {"output",
       "running_fraction",
       "",
       "How far the running reference falls towards a lower peak with each frame; 1 follows at once.",
       {},
       LiveEffect::display},
      within(Compression::running_fractions), [](auto& c) -> auto& { return section<OutputSection>(c).running_fraction; }));
  k.back().only_where = "output.reference=running";

  k.push_back(number_pair(
      {"display", "x", "m", "First and last pixel centre of the display image.", "as [grid]", LiveEffect::imaging}, place,
      [](auto& c) -> auto& { return section<DisplaySection>(c).x; }));
  k.push_back(number_pair(
      {"display", "z", "m", "First and last pixel centre of the display image.", "as [grid]", LiveEffect::imaging}, place,
      [](auto& c) -> auto& { return section<DisplaySection>(c).z; }));
  k.push_back(integer_pair(
      {"display", "pixels", "", "Numbers of pixels [nx, nz] of the display image.", "as [grid]", LiveEffect::imaging},
      within(1, 65536), [](auto& c) -> auto& { return section<DisplaySection>(c).pixels; }));
  k.push_back(word(
      {"display",
       "interpolation",
       "",
       "Between the pixels of the imaging grid. Of numbers, and where the display reaches beyond [grid], cubic is bilinear; of "
       "numbers that wrap round, or of which some are no value, all is nearest.",
       {},
       LiveEffect::imaging},
      words::scan_interpolation, [](auto& c) -> auto& { return section<DisplaySection>(c).interpolation; }));
  k.push_back(number(
      {"display", "cubic_alpha", "", "Free parameter of cubic convolution.", {}, LiveEffect::imaging}, within(cubic_alphas),
      [](auto& c) -> auto& { return section<DisplaySection>(c).cubic_alpha; }));
  k.back().only_where = "display.interpolation=cubic";
}

}  // namespace echoform
