#include "methods/tfm/keys.hpp"

#include "config/key_types.hpp"
#include "methods/adaptive_keys.hpp"
#include "methods/tfm/section.hpp"
#include "stages/beamform/beamform_words.hpp"

namespace echoform {
namespace {

constexpr auto crop_words =
    make_words(std::pair{CropWish::live, std::string_view("live")}, std::pair{CropWish::always, std::string_view("always")},
               std::pair{CropWish::never, std::string_view("never")});
constexpr auto travel_times_words = make_words(std::pair{TravelTimes::exact, std::string_view("exact")},
                                               std::pair{TravelTimes::interpolated, std::string_view("interpolated")});

}  // namespace

std::vector<Section> tfm_sections() {
  return {{"apodization", "Weights of the transmitting and receiving elements."}};
}

void add_tfm_keys(std::vector<Key>& k) {
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  k.push_back(text(
      {"imaging",
       "delay_law",
       "",
       "How travel times follow from geometry: contact is rays from elements on the part; immersion is rays through a couplant "
       "or "
       "wedge, refracted at [surface].",
       {},
       LiveEffect::imaging},
      "a law that `echoform info` lists", not_empty, [](auto& c) -> auto& { return tfm(c).delay_law; }));
  k.back().unread = Unread::refused;
  k.push_back(word(
      {"imaging",
       "travel_times",
       "",
       "Of rays that meet surfaces: exact finds a ray for every element and pixel; interpolated finds fewer and fills in between "
       "them, within a hundredth of the period of [probe] centre_frequency for a pair, which makes tables quicker.",
       {},
       LiveEffect::imaging},
      travel_times_words, [](auto& c) -> auto& { return tfm(c).travel_times; }));
  k.push_back(text_list(
      {"imaging",
       "views",
       "",
       "Transmit path and receive path of each image by the modes of their legs: LL, TT, LT, TL, and skips such as TT-T "
       "(docs/views.md).",
       {},
       LiveEffect::imaging},
      1, 16, [](auto& c) -> auto& { return tfm(c).views; }));
  k.back().unread = Unread::refused;
  k.push_back(integer_list(
      {"imaging",
       "events",
       "",
       "Which of a frame's transmit events are imaged, by their place from 0 on; empty is all of them.",
       {},
       LiveEffect::imaging},
      within(0, 4095), 4096, [](auto& c) -> auto& { return tfm(c).events; }));
  k.back().unread = Unread::refused;
  k.push_back(integer(
      {"imaging",
       "compounded",
       "",
       "How many of those events are compounded, evenly spread over them: fewer are quicker, more are clearer; 0 is all of them.",
       {},
       LiveEffect::imaging},
      within(0, 4096), [](auto& c) -> auto& { return tfm(c).compounded; }));
  k.back().unread = Unread::refused;
  k.push_back(word(
      {"imaging", "interpolation", "", "Between samples: nearest is faster, linear is more exact.", {}, LiveEffect::imaging},
      words::interpolation, [](auto& c) -> auto& { return tfm(c).interpolation; }));
  k.back().unread = Unread::refused;
  k.push_back(number(
      {"imaging", "accuracy", "",
       "Relative error (L2) of complex images that will do. From 1e-3 on a GPU keeps analytic signals in half precision (16-bit "
       "floats scaled by each frame's peak), which is faster; below, and on the CPU always, in single precision."},
      within(1e-6, 0.1), [](auto& c) -> auto& { return tfm(c).accuracy; }));
  k.push_back(word(
      {"imaging", "crop", "",
       "Whether only the samples that the image can reach are transformed and imaged: of live runs, of recordings too (always), "
       "or never."},
      crop_words, [](auto& c) -> auto& { return tfm(c).crop; }));
  k.push_back(integer(
      {"imaging", "guard", "",
       "Samples that are kept on either side of those, since the transform rings at the ends of its data. Up to 7 more before, "
       "and an "
       "eighth and 24 more behind, make a length that is quick to transform."},
      within(0, 65536), [](auto& c) -> auto& { return tfm(c).guard; }));
  add_adaptive_keys(
      k, "imaging", WeightedPoints::pixels, [](auto& c) -> auto& { return tfm(c); });
  k.push_back(word(
      {"apodization",
       "window",
       "",
       "Taper over the aperture, in the order in which its elements stand; over matrix arrays along x and y.",
       {},
       LiveEffect::imaging},
      words::apodization_window, [](auto& c) -> auto& { return tfm(c).apodization.window; }));
  k.back().unread = Unread::refused;
  k.push_back(word(
      {"apodization",
       "event_window",
       "",
       "Taper over the events of a frame that are waves of several elements: plane waves by their angles, virtual sources and "
       "foci by "
       "their places where they lie at one depth, else by the angles at which they go.",
       {},
       LiveEffect::imaging},
      words::apodization_window, [](auto& c) -> auto& { return tfm(c).event_window; }));
  k.back().unread = Unread::refused;
  k.push_back(number(
      {"apodization",
       "tukey_fraction",
       "",
       "Tapered part of the Tukey window: 0 is rectangular, 1 is Hann.",
       {},
       LiveEffect::imaging},
      within(Apodization::tukey_fractions), [](auto& c) -> auto& { return tfm(c).apodization.tukey_fraction; }));
  k.back().unread = Unread::refused;
  k.back().only_where = "apodization.window=tukey or apodization.event_window=tukey";
  k.push_back(word(
      {"apodization",
       "sides",
       "",
       "Which side is weighted; one side alone needs both halves of the matrix looked up.",
       {},
       LiveEffect::imaging},
      words::apodization_sides, [](auto& c) -> auto& { return tfm(c).apodization.sides; }));
  k.back().unread = Unread::refused;
  k.push_back(boolean(
      {"apodization",
       "directivity",
       "",
       "Whether pairs are weighted by the elements' directivity at the centre frequency, where waves leave them.",
       {},
       LiveEffect::imaging},
      [](auto& c) -> auto& { return tfm(c).apodization.directivity; }));
  k.back().unread = Unread::refused;
  k.push_back(number(
      {"apodization",
       "angle_limit",
       "degrees",
       "Beyond this angle from its normal, at which the ray to the pixel leaves, an element has weight 0; 90 is no limit.",
       {},
       LiveEffect::imaging},
      within(Apodization::angle_limits), [](auto& c) -> auto& { return tfm(c).apodization.angle_limit; }));
  k.back().unread = Unread::refused;
}

}  // namespace echoform
