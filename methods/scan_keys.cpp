// Keys of [scan].
#include "config/key_types.hpp"
#include "methods/scan_settings.hpp"
#include "methods/shared_keys.hpp"

namespace echoform {
namespace {

constexpr auto path_words =
    make_words(std::pair{ScanPath::none, std::string_view("none")}, std::pair{ScanPath::line, std::string_view("line")},
               std::pair{ScanPath::circle, std::string_view("circle")});
constexpr auto composition_words = make_words(std::pair{Composition::maximum, std::string_view("maximum")},
                                              std::pair{Composition::coherent, std::string_view("coherent")});

constexpr auto resume_words =
    make_words(std::pair{ScanResume::same, std::string_view("same")}, std::pair{ScanResume::never, std::string_view("never")});

}  // namespace

void add_scan_keys(std::vector<Key>& k) {
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  k.push_back(word(
      {"scan", "path", "",
       "How the probe moves with the encoder's count: not at all (each frame is an image of its own), along a line, or "
       "turning about an axis."},
      path_words, [](auto& c) -> auto& { return section<ScanSection>(c).path; }));
  k.back().unread = Unread::refused;
  k.push_back(number_triple(
      {"scan", "direction", "", "Of a line: where the probe goes as s grows; of any length.", {}, LiveEffect::imaging},
      within(-1e6, 1e6), [](auto& c) -> auto& { return section<ScanSection>(c).direction; }));
  k.back().only_where = "scan.path=line";
  k.push_back(number_triple(
      {"scan", "centre", "m", "Of a circle: a place on its axis.", {}, LiveEffect::imaging}, within(-10.0, 10.0),
      [](auto& c) -> auto& { return section<ScanSection>(c).centre; }));
  k.back().only_where = "scan.path=circle";
  k.push_back(number_triple(
      {"scan",
       "axis",
       "",
       "Of a circle: the probe turns about it as a right-handed screw as s grows. s is the way of the middle of its elements.",
       {},
       LiveEffect::imaging},
      within(-1e6, 1e6), [](auto& c) -> auto& { return section<ScanSection>(c).axis; }));
  k.back().only_where = "scan.path=circle";
  k.push_back(number(
      {"scan",
       "origin",
       "m",
       "Way s along the path where the encoder counts 0; at s = 0 the probe is where [probe] and the data "
       "place it.",
       {},
       LiveEffect::imaging},
      within(-1000.0, 1000.0), [](auto& c) -> auto& { return section<ScanSection>(c).origin; }));
  k.back().only_where = "scan.path!=none";
  k.push_back(number(
      {"scan", "sign", "", "1 where s grows with the encoder's count, -1 where it falls.", {}, LiveEffect::imaging},
      within(-1.0, 1.0), [](auto& c) -> auto& { return section<ScanSection>(c).sign; }));
  k.back().only_where = "scan.path!=none";
  k.push_back(number(
      {"scan", "encoder_step", "m", "Way along the path a count.", {}, LiveEffect::imaging}, within(1e-9, 10.0),
      [](auto& c) -> auto& { return section<ScanSection>(c).encoder_step; }));
  k.back().only_where = "scan.path!=none";
  k.push_back(number(
      {"scan", "step", "m",
       "Length of the cells into which the path is cut: the first complete frame of a cell contributes, later ones are counted "
       "as repeated.",
       "encoder_step", LiveEffect::imaging},
      within(1e-9, 10.0), [](auto& c) -> auto& { return section<ScanSection>(c).step; }));
  k.back().only_where = "scan.path!=none";
  k.push_back(number(
      {"scan",
       "tolerance",
       "m",
       "Of files that place each frame: how far beside the path an element may lie, and its count from the placement.",
       {},
       LiveEffect::imaging},
      within(1e-9, 0.1), [](auto& c) -> auto& { return section<ScanSection>(c).tolerance; }));
  k.back().only_where = "scan.path!=none";
  k.push_back(number(
      {"scan", "coverage", "m",
       "How far to either side of the middle of its elements, along the path, pixels take part in a position's image; others "
       "are not computed.",
       "the whole grid", LiveEffect::imaging},
      within(1e-6, 100.0), [](auto& c) -> auto& { return section<ScanSection>(c).coverage; }));
  k.back().only_where = "scan.path!=none";
  k.push_back(number(
      {"scan", "depth", "m",
       "How far before the middle of its elements, the way they emit, pixels take part in a position's image; others, and what "
       "lies "
       "behind, are not computed.",
       "the whole grid", LiveEffect::imaging},
      within(1e-6, 100.0), [](auto& c) -> auto& { return section<ScanSection>(c).depth; }));
  k.back().only_where = "scan.path!=none";
  k.push_back(word(
      {"scan",
       "composition",
       "",
       "What a pixel shows that several positions cover: the maximum of their envelopes, or the envelope of the mean of their "
       "complex images.",
       {},
       LiveEffect::imaging},
      composition_words, [](auto& c) -> auto& { return section<ScanSection>(c).composition; }));
  k.back().only_where = "scan.path!=none";
  k.push_back(text(
      {"scan", "file", "",
       "HDF5 file in which a server keeps the scan, so that it goes on when the program starts again; written "
       "whole or not at all.",
       "none"},
      "", any_text, [](auto& c) -> auto& { return section<ScanSection>(c).file; }));
  k.back().only_where = "scan.path!=none";
  k.push_back(number(
      {"scan", "save_every", "s", "How often the file is written, beside when the scan is cleared and at the end."},
      within(0.001, 1e6), [](auto& c) -> auto& { return section<ScanSection>(c).save_every; }));
  k.back().only_where = "scan.path!=none";
  k.push_back(word(
      {"scan", "resume", "",
       "When the program starts and the file is there. same: the scan in it goes on, and one that is made of anything "
       "else is refused. never: it is written over."},
      resume_words, [](auto& c) -> auto& { return section<ScanSection>(c).resume; }));
  k.back().only_where = "scan.path!=none";
}

}  // namespace echoform
