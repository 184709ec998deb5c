#include "methods/beams/keys.hpp"

#include <fmt/format.h>

#include "config/key_types.hpp"
#include "methods/adaptive_keys.hpp"
#include "methods/beams/path_words.hpp"
#include "methods/beams/section.hpp"
#include "methods/flow.hpp"
#include "stages/demodulation/demodulation.hpp"
#include "stages/scan_lines/delay_filter_kind.hpp"
#include "stages/windows/window_words.hpp"

namespace echoform {
namespace {

std::vector<std::string> filter_names() {
  std::vector<std::string> names;
  for (const DelayFilterKind& kind : delay_filter_kinds()) names.emplace_back(kind.name);
  return names;
}

std::string_view filter_help() {
  static const std::string help = [] {
    std::string text = "How samples between those of an A-scan are found.";
    for (const DelayFilterKind& kind : delay_filter_kinds()) text += fmt::format(" {}: {}", kind.name, kind.meaning);
    return text;
  }();
  return help;
}

void add_doppler_keys(std::vector<Key>& k) {
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  k.push_back(number(
      {"doppler", "pulse_repetition", "Hz",
       "Transmit events a second within a frame. Events that are alike are the samples of an ensemble, by which flow is found. "
       "0: "
       "no flow is looked for.",
       "with the section [doppler]: as the data state it; else no flow is looked for", LiveEffect::imaging},
      within(0.0, 1e6), [](auto& c) -> auto& { return doppler(c).pulse_repetition; }));
  k.push_back(word(
      {"doppler",
       "wall_filter",
       "",
       "What takes echoes of what hardly moves off ensembles. regression: the polynomial that fits each ensemble best is taken "
       "away; fir: a filter along the ensemble, whose first outputs are left out; svd: the strongest components of the frame "
       "are taken away; none.",
       {},
       LiveEffect::imaging},
      words::wall_filter, [](auto& c) -> auto& { return doppler(c).wall_filter; }));
  k.back().only_where = "doppler.pulse_repetition!=0";
  k.push_back(integer(
      {"doppler",
       "order",
       "",
       "Of the polynomial of regression, or of differences that fir takes where it has no taps.",
       {},
       LiveEffect::imaging},
      within(0, 32), [](auto& c) -> auto& { return doppler(c).order; }));
  k.back().only_where = "doppler.wall_filter=regression or doppler.wall_filter=fir";
  k.push_back(number_list(
      {"doppler",
       "taps",
       "",
       "Of fir, that of the newest sample first. Empty is (1 - z^-1)^order / 2^order.",
       {},
       LiveEffect::imaging},
      within(-1e6, 1e6), WallFilterOptions::most_ensemble - 1, [](auto& c) -> auto& { return doppler(c).taps; }));
  k.back().only_where = "doppler.wall_filter=fir";
  k.push_back(integer(
      {"doppler", "components", "", "That svd takes away.", {}, LiveEffect::imaging},
      within(1, WallFilterOptions::most_ensemble - 1), [](auto& c) -> auto& { return doppler(c).components; }));
  k.back().only_where = "doppler.wall_filter=svd";
  k.push_back(number(
      {"doppler",
       "window",
       "",
       "Length along the line over which autocorrelations are averaged, in periods; 0 is the point alone.",
       {},
       LiveEffect::imaging},
      within(DopplerSection::windows), [](auto& c) -> auto& { return doppler(c).window; }));
  k.back().only_where = "doppler.pulse_repetition!=0";
  k.push_back(number(
      {"doppler", "frequency", "Hz", "Of the echoes, by which turns become velocities.", "the probe's centre frequency",
       LiveEffect::imaging},
      within(DopplerSection::frequencies), [](auto& c) -> auto& { return doppler(c).frequency; }));
  k.back().only_where = "doppler.pulse_repetition!=0";
  k.push_back(number(
      {"doppler",
       "threshold_db",
       "dB",
       "Power beside the frame's greatest below which there is no flow to speak of: velocity and variance are 0 there.",
       {},
       LiveEffect::display},
      within(DopplerSection::thresholds), [](auto& c) -> auto& { return doppler(c).threshold_db; }));
  k.back().only_where = "doppler.pulse_repetition!=0";
}

}  // namespace

std::vector<Section> beams_sections() {
  return {{"beams", "The method of scan lines ([imaging] method = \"beams\")."},
          {"doppler",
           "Images of flow beside those of either method, of transmit events that are repeated. The section alone asks for them "
           "where the data state how often events fire.",
           [](Configuration& c) { doppler(c).stated = true; }},
          {"m_mode", "M-mode beside the image of the method of scan lines: a line of it over the frames."},
          {"spectrum", "Spectral Doppler beside images of flow: velocities in a gate on a line, over time."}};
}

void add_beams_keys(std::vector<Key>& k) {
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  k.push_back(number_pair(
      {"beams", "depth", "m", "First and last range of the lines, from where they begin.", "what the A-scans hold",
       LiveEffect::imaging},
      within(0.0, 10.0), [](auto& c) -> auto& { return beams(c).depth; }));
  k.push_back(integer(
      {"beams", "ranges", "", "Points of a line.", "one for each sample of the A-scans", LiveEffect::imaging}, within(2, 65535),
      [](auto& c) -> auto& { return beams(c).ranges; }));
  k.push_back(integer(
      {"beams",
       "lines",
       "",
       "Lines that are formed of each transmit event (multi-line acquisition), beside each other within its share of the image.",
       {},
       LiveEffect::imaging},
      within(1, BeamsSection::most_lines), [](auto& c) -> auto& { return beams(c).lines; }));
  k.push_back(integer(
      {"beams",
       "lines_across",
       "",
       "Likewise in elevation, of volumes: how many rows of lines are formed of each transmit event.",
       {},
       LiveEffect::imaging},
      within(1, BeamsSection::most_lines), [](auto& c) -> auto& { return beams(c).lines_across; }));
  k.push_back(boolean(
      {"beams",
       "blend",
       "",
       "Whether each line between two transmit events is the sum of both events' lines at its place, with weights linear in its "
       "place between them, so that no seams show where the lines of one event end and those of the next begin. Nearly twice "
       "the work, of volumes nearly four times.",
       {},
       LiveEffect::imaging},
      [](auto& c) -> auto& { return beams(c).blend; }));
  k.back().only_where = "beams.lines!=1 or beams.lines_across!=1";
  k.push_back(boolean(
      {"beams",
       "equalise",
       "",
       "Of blend: whether a line between two transmit events is amplified by as much as their beams are weaker there than along "
       "their "
       "own lines at the same range, which follows from when their elements fire and from the probe's band; at most 12 dB.",
       {},
       LiveEffect::imaging},
      [](auto& c) -> auto& { return beams(c).equalise; }));
  k.push_back(name(
      {"beams", "delay_filter", "", filter_help(), {}, LiveEffect::imaging}, filter_names(),
      [](auto& c) -> auto& { return beams(c).filter.kind; }));
  k.push_back(integer(
      {"beams", "taps", "", "Order or taps of the delay filter; 0 is its usual one.", {}, LiveEffect::imaging}, within(0, 16),
      [](auto& c) -> auto& { return beams(c).filter.order_or_taps; }));
  k.back().only_where =
      "beams.delay_filter=lagrange or beams.delay_filter=windowed_sinc or beams.delay_filter=least_squares or "
      "beams.delay_filter=upsampled";
  k.push_back(number(
      {"beams", "delay_filter_beta", "", "Kaiser window of the delay filter.", "5, of windowed_sinc with 14 taps and more 8",
       LiveEffect::imaging},
      within(DelayFilterOptions::betas), [](auto& c) -> auto& { return beams(c).filter.kaiser_beta; }));
  k.back().only_where = "beams.delay_filter=windowed_sinc or beams.delay_filter=upsampled";
  k.push_back(word(
      {"beams", "window", "", "Taper over the receiving aperture.", {}, LiveEffect::imaging}, words::window,
      [](auto& c) -> auto& { return beams(c).window.kind; }));
  k.push_back(number(
      {"beams", "tukey_fraction", "", "Tapered part of the Tukey window.", {}, LiveEffect::imaging},
      within(Window::tukey_fractions), [](auto& c) -> auto& { return beams(c).window.tukey_fraction; }));
  k.back().only_where = "beams.window=tukey";
  k.push_back(number(
      {"beams", "kaiser_beta", "", "Of the Kaiser window over the aperture.", {}, LiveEffect::imaging},
      within(Window::kaiser_betas), [](auto& c) -> auto& { return beams(c).window.kaiser_beta; }));
  k.back().only_where = "beams.window=kaiser";
  k.push_back(number(
      {"beams", "gauss_width", "", "Standard deviation of the Gauss window over half the aperture.", {}, LiveEffect::imaging},
      within(Window::gauss_widths), [](auto& c) -> auto& { return beams(c).window.gauss_width; }));
  k.back().only_where = "beams.window=gauss";
  k.push_back(number(
      {"beams", "f_number", "",
       "Range over the width of the receiving aperture, which grows with the range until all elements hear.",
       "the whole aperture at every range", LiveEffect::imaging},
      within(BeamsSection::f_numbers), [](auto& c) -> auto& { return beams(c).f_number; }));
  k.push_back(word(
      {"beams",
       "path",
       "",
       "What lines are summed of: rf, samples as they were received; iq, samples in baseband, at as many as their band needs.",
       {},
       LiveEffect::imaging},
      words::line_path, [](auto& c) -> auto& { return beams(c).path; }));
  k.push_back(number(
      {"beams", "demodulation_frequency", "Hz", "Of path iq: what becomes 0 Hz.", "the probe's centre frequency",
       LiveEffect::imaging},
      within(1.0, 1e9), [](auto& c) -> auto& { return beams(c).demodulation_frequency; }));
  k.back().only_where = "beams.path=iq";
  k.push_back(integer(
      {"beams", "decimation", "", "Of path iq: samples of an A-scan for one in baseband.",
       "the largest whose sample rate holds the band", LiveEffect::imaging},
      within(1, DemodulationOptions::most_decimation), [](auto& c) -> auto& { return beams(c).decimation; }));
  k.back().only_where = "beams.path=iq";
  k.push_back(number(
      {"beams", "iq_bandwidth", "Hz", "Of path iq: the band about the demodulation frequency that is kept.",
       "2.8 times the probe's bandwidth; where that is more than 1.5 times the demodulation frequency, from 0 Hz on",
       LiveEffect::imaging},
      within(1.0, 1e9), [](auto& c) -> auto& { return beams(c).iq_bandwidth; }));
  k.back().only_where = "beams.path=iq";
  k.push_back(boolean(
      {"beams",
       "normalise",
       "",
       "Whether sums are divided by the weights that are in them, so that a growing aperture does not brighten.",
       {},
       LiveEffect::imaging},
      [](auto& c) -> auto& { return beams(c).normalise; }));
  add_adaptive_keys(
      k, "beams", WeightedPoints::lines, [](auto& c) -> auto& { return beams(c); });
  k.push_back(number_list(
      {"beams",
       "time_gain",
       "dB",
       "Gain of samples by their depth c t / 2, linear between depths and constant beyond them: evenly over [beams] depth, or at "
       "time_gain_depths. Empty is none.",
       {},
       LiveEffect::display},
      within(BeamsSection::gains), BeamsSection::most_gain_points, [](auto& c) -> auto& { return beams(c).time_gain; }));
  k.push_back(number_list(
      {"beams", "time_gain_depths", "m", "Depths of time_gain, ascending and as many. Empty is evenly.", {}, LiveEffect::display},
      within(0.0, 10.0), BeamsSection::most_gain_points, [](auto& c) -> auto& { return beams(c).time_gain_depths; }));
  k.push_back(number_list(
      {"beams",
       "lateral_gain",
       "dB",
       "Gain of the image's lines, from the first to the last one evenly and linear between them. Empty is none.",
       {},
       LiveEffect::display},
      within(BeamsSection::gains), BeamsSection::most_gain_points, [](auto& c) -> auto& { return beams(c).lateral_gain; }));
  k.push_back(boolean(
      {"beams",
       "compound",
       "",
       "Of data with parallel lines of several steering angles: whether the image is the mean of all that cover a place (spatial "
       "compounding), or that of the least steered ones alone.",
       {},
       LiveEffect::display},
      [](auto& c) -> auto& { return beams(c).compound; }));
  k.push_back(number(
      {"beams", "persistence", "", "Part of the image before that stays in each image; 0 is none.", {}, LiveEffect::display},
      within(BeamsSection::persistences), [](auto& c) -> auto& { return beams(c).persistence; }));
  k.push_back(number_list(
      {"beams",
       "pulse_weights",
       "",
       "Weights by which transmit events that are alike, soundings of one beam, are added to one line, in the order in which "
       "they "
       "fire. [1, 1] of pulses of opposite polarity is pulse inversion: what is linear cancels, even harmonics stay. Empty: each "
       "event has a line of its own.",
       {},
       LiveEffect::imaging},
      within(BeamsSection::pulse_weight_range), BeamsSection::most_pulses,
      [](auto& c) -> auto& { return beams(c).pulse_weights; }));
  add_doppler_keys(k);
  add_scrolling_keys(k);
}

}  // namespace echoform
