// Keys of [input.micropulse].
#include "config/key_types.hpp"
#include "instruments/micropulse/micropulse_door.hpp"
#include "instruments/micropulse/micropulse_section.hpp"

namespace echoform {
namespace {

using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table

constexpr std::string_view here = "input.micropulse";
constexpr LiveEffect live = LiveEffect::instrument;

template <class Member>
auto member(Member pointer) {
  return [pointer](auto& c) -> auto& {
    return section<MicropulseSection>(c).*pointer;
  };
}

void add_probe_keys(std::vector<Key>& k) {
  k.push_back(text({here, "connect", "", "The instrument, usually 10.1.1.2:1067; empty: none."}, "HOST:PORT", any_text,
                   member(&MicropulseSection::connect)));
  k.push_back(
      integer({here, "elements", "", "Elements of the linear array."}, within(1, 256), member(&MicropulseSection::elements)));
  k.push_back(number({here, "pitch", "m", "Distance of neighbouring element centres."}, within(1e-6, 0.1),
                     member(&MicropulseSection::pitch)));
  k.push_back(number({here, "element_width", "m", "Size of an element along x.", "unknown"}, within(0.0, 0.1),
                     member(&MicropulseSection::element_width)));
  k.push_back(
      number({here, "centre_frequency", "Hz", "Of the probe."}, within(1.0, 1e9), member(&MicropulseSection::centre_frequency)));
  k.push_back(integer({here, "first_channel", "", "The instrument's channel, counted from 1, of element 0; the others follow."},
                      within(1, 2048), member(&MicropulseSection::first_channel)));
  k.push_back(integer({here, "channel_base", "", "What the instrument calls its first channel in what it sends."}, within(0, 1),
                      member(&MicropulseSection::channel_base)));
}

void add_frame_keys(std::vector<Key>& k) {
  k.push_back(
      word({here, "transmit", "",
            "What a frame is: a full matrix (fmc), half of one (hmc), single elements that `fire` lists, or plane waves."},
           words::micropulse_firings, member(&MicropulseSection::transmit)));
  k.push_back(integer_list({here, "fire", "", "Elements that fire one after the other, of transmit = \"elements\"; empty: all."},
                           within(0, 255), 256, member(&MicropulseSection::fire)));
  k.push_back(number_pair({here, "angles", "degrees",
                           "Of the first and the last plane wave, in the couplant or, without one, longitudinal in the part."},
                          within(-80.0, 80.0), member(&MicropulseSection::angles)));
  k.push_back(integer({here, "events", "", "Plane waves a frame."}, within(1, 1024), member(&MicropulseSection::events)));
  k.push_back(number({here, "sample_rate", "Hz", "10, 25, 40, 50, 80 or 100 MHz."}, within(10e6, 100e6),
                     member(&MicropulseSection::sample_rate)));
  k.push_back(integer({here, "gate_start", "samples", "First sample of an A-scan, counted from the firing.", {}, live},
                      within(0, 1e6), member(&MicropulseSection::gate_start)));
  k.push_back(
      integer({here, "samples", "", "Samples of an A-scan.", {}, live}, within(2, 8000), member(&MicropulseSection::samples)));
  k.push_back(integer({here, "bits", "", "Of a sample: 8, 10, 12 or 16."}, within(8, 16), member(&MicropulseSection::bits)));
  k.push_back(word({here, "justified", "", "Where the 10 or 12 bits of a sample stand in its 16: high or low."},
                   words::micropulse_justified, member(&MicropulseSection::justified)));
}

void add_firing_keys(std::vector<Key>& k) {
  k.push_back(
      word({here, "cycling", "",
            "Who fires: the instrument, through its buffer (STRS) or without (STPS), or the server asks for each frame (CALS)."},
           words::micropulse_cycling, member(&MicropulseSection::cycling)));
  k.push_back(integer({here, "pulse_repetition", "Hz", "Firings a second; an LT2 has 20000 at most.", {}, live}, within(1, 55000),
                      member(&MicropulseSection::pulse_repetition)));
  k.push_back(integer({here, "averages", "", "Firings that are averaged: a power of two."}, within(1, 64),
                      member(&MicropulseSection::averages)));
  k.push_back(number({here, "gain", "dB", "Of all receivers, in steps of 0.25.", {}, live}, within(0.0, 70.0),
                     member(&MicropulseSection::gain)));
  k.push_back(
      integer({here, "pulse_voltage", "V", "In steps of 25."}, within(50, 200), member(&MicropulseSection::pulse_voltage)));
  k.push_back(number({here, "pulse_width", "s", "20 to 500 ns in steps of 2."}, within(20e-9, 500e-9),
                     member(&MicropulseSection::pulse_width)));
  k.push_back(integer({here, "filter", "", "1: 5 to 10 MHz, 2: 2 to 10, 3: 0.75 to 5, 4: 0.75 to 20."}, within(1, 4),
                      member(&MicropulseSection::filter)));
  k.push_back(
      integer({here, "smoothing", "", "The second number of FRQS."}, within(0, 1), member(&MicropulseSection::smoothing)));
  k.push_back(integer({here, "encoder_axis", "", "Axis, 1 to 4, whose count is a frame's position; 0: frames state none."},
                      within(0, 4), member(&MicropulseSection::encoder_axis)));
  k.push_back(text_list({here, "commands", "", "Lines of commands that are sent behind the set-up, as they are."}, 0, 256,
                        member(&MicropulseSection::commands)));
  k.push_back(number({here, "reset_wait", "s", "After the answer to a reset, before the set-up."}, within(0.0, 60.0),
                     member(&MicropulseSection::reset_wait)));
  k.push_back(
      number({here, "answer_timeout", "s", "Without an answer to a reset or a set-up for this time, it is connected to anew."},
             within(0.1, 600.0), member(&MicropulseSection::answer_timeout)));
  k.push_back(number({here, "silence_timeout", "s", "Silent for this time while it is to fire, it is connected to anew."},
                     within(0.1, 600.0), member(&MicropulseSection::silence_timeout)));
}

}  // namespace

KeyGroup micropulse_keys() {
  KeyGroup group;
  group.sections = {
      {here,
       "A Peak MicroPulse that the server connects to, sets up and reads (docs/micropulse.md), of `echoform serve` and "
       "`echoform record`; and what `echoform instrument micropulse` is set up for."}};
  add_probe_keys(group.keys);
  add_frame_keys(group.keys);
  add_firing_keys(group.keys);
  return group;
}

}  // namespace echoform
