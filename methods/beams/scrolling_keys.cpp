#include "config/key_types.hpp"
#include "methods/beams/keys.hpp"
#include "methods/beams/section.hpp"
#include "stages/line_spectrum/line_spectrum.hpp"
#include "stages/windows/window_words.hpp"

namespace echoform {

void add_scrolling_keys(std::vector<Key>& k) {
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  k.push_back(number(
      {"beams", "frame_rate", "Hz", "Frames a second, by which the frames of [m_mode] and [spectrum] become seconds.",
       "images that scroll are refused", LiveEffect::imaging},
      within(0.001, 1e6), [](auto& c) -> auto& { return beams(c).frame_rate; }));
  k.back().only_where = "m_mode.line or spectrum.line";
  k.push_back(integer(
      {"m_mode", "line", "", "Line of the image whose envelope scrolls, 0 the first.", "no M-mode", LiveEffect::display},
      within(0, 65535), [](auto& c) -> auto& { return m_mode(c).line; }));
  k.push_back(number(
      {"m_mode", "seconds", "", "Of the past that are shown.", {}, LiveEffect::imaging}, within(scrolling_seconds),
      [](auto& c) -> auto& { return m_mode(c).seconds; }));
  k.back().only_where = "m_mode.line";
  k.push_back(integer(
      {"spectrum", "line", "", "Line of the image that the gate lies on, 0 the first.", "no spectrum", LiveEffect::display},
      within(0, 65535), [](auto& c) -> auto& { return spectrum(c).line; }));
  k.push_back(number_pair(
      {"spectrum", "gate", "m", "First and last range of the gate along the line.", "none, which [spectrum] line wants",
       LiveEffect::display},
      within(0.0, 10.0), [](auto& c) -> auto& { return spectrum(c).gate; }));
  k.back().only_where = "spectrum.line";
  k.push_back(integer(
      {"spectrum", "samples", "", "Of a spectrum. Fewer than an ensemble has give several spectra a frame.",
       "all that the wall filter leaves of an ensemble", LiveEffect::imaging},
      within(LineSpectrumOptions::least_samples, LineSpectrumOptions::most_samples),
      [](auto& c) -> auto& { return spectrum(c).samples; }));
  k.back().only_where = "spectrum.line";
  k.push_back(number(
      {"spectrum", "overlap", "", "Part of its samples that a spectrum shares with the next.", {}, LiveEffect::imaging},
      within(SpectrumSection::overlaps), [](auto& c) -> auto& { return spectrum(c).overlap; }));
  k.back().only_where = "spectrum.line";
  k.push_back(word(
      {"spectrum", "window", "", "Taper over the samples of a spectrum.", {}, LiveEffect::imaging}, words::window,
      [](auto& c) -> auto& { return spectrum(c).window; }));
  k.back().only_where = "spectrum.line";
  k.push_back(integer(
      {"spectrum",
       "velocities",
       "",
       "Of a spectrum, evenly from minus the Nyquist velocity to the Nyquist velocity.",
       {},
       LiveEffect::imaging},
      within(8, LineSpectrumOptions::most_bins), [](auto& c) -> auto& { return spectrum(c).velocities; }));
  k.back().only_where = "spectrum.line";
  k.push_back(number(
      {"spectrum", "seconds", "", "Of the past that are shown.", {}, LiveEffect::imaging}, within(scrolling_seconds),
      [](auto& c) -> auto& { return spectrum(c).seconds; }));
  k.back().only_where = "spectrum.line";
}

}  // namespace echoform
