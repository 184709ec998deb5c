#include "simulators/event_synthesis.hpp"

#include <algorithm>
#include <utility>

#include "acquisition/frame_layout.hpp"

namespace echoform {

/// The signals that one receiver gets from each single element. The echoes of a pair are computed once. If some event fires the
/// element without delay, as all events of a code do, a signal is made from them; then an event only adds it up. With delays the
/// echoes are added one by one or, if there are many, from a signal that is sampled for all delays.
class EventSynthesis::Receiver {
 public:
  Receiver(const EventSynthesis& events, const EchoesOfPair& echoes_of_pair)
      : events_(events), echoes_of_pair_(echoes_of_pair), elements_(events.acquisition_.elements()) {}

  void move_to(std::size_t receiver) {
    receiver_ = receiver;
    for (Element& element : elements_) element.known = element.sampled = element.sampled_densely = false;
  }

  void add(const Firing& firing, std::span<float> sum) {
    Element& element = elements_[firing.element];
    if (!element.known) {
      const std::size_t fires = firing.element;
      element.echoes = echoes_of_pair_(std::min(fires, receiver_), std::max(fires, receiver_));
      element.known = true;
    }
    if (firing.delay != 0.0) {
      add_delayed(element, firing, sum);
      return;
    }
    if (!element.sampled) {
      element.signal.assign(sum.size(), 0.0F);
      for (const Echo& echo : element.echoes) {
        add_pulse(events_.acquisition_, events_.fractional_bandwidth_, echo, element.signal);
      }
      element.sampled = true;
    }
    const auto weight = static_cast<float>(firing.weight);
    for (std::size_t n = 0; n < sum.size(); ++n) sum[n] += weight * element.signal[n];
  }

 private:
  struct Element {
    bool known = false;
    bool sampled = false;
    bool sampled_densely = false;
    std::vector<Echo> echoes;
    std::vector<float> signal;
    std::vector<float> dense;
  };

  void add_delayed(Element& element, const Firing& firing, std::span<float> sum) {
    const std::size_t echoes = element.echoes.size();
    const std::size_t delays = events_.delayed_[firing.element];
    const PulseTable& pulses = events_.pulses_;
    if (DelaySampling::direct_cost(pulses, echoes, delays) <= events_.delays_.cost(pulses, echoes, delays)) {
      for (const Echo& echo : element.echoes) pulses.add({echo.time + firing.delay, echo.amplitude * firing.weight}, sum);
      return;
    }
    if (!element.sampled_densely) events_.delays_.sample(pulses, element.echoes, element.dense);
    element.sampled_densely = true;
    events_.delays_.add(element.dense, firing.delay, firing.weight, sum);
  }

  const EventSynthesis& events_;
  const EchoesOfPair& echoes_of_pair_;
  std::size_t receiver_ = 0;
  std::vector<Element> elements_;
};

namespace {

/// The minimum and the maximum over all firings.
std::pair<double, double> delays_of(const Acquisition& acquisition) {
  std::pair<double, double> ends{0.0, 0.0};
  for (std::size_t event = 0; event < acquisition.event_count(); ++event) {
    for (const Firing& firing : firings_of(acquisition, event)) {
      ends = {std::min(ends.first, firing.delay), std::max(ends.second, firing.delay)};
    }
  }
  return ends;
}

}  // namespace

EventSynthesis::EventSynthesis(Acquisition acquisition, double fractional_bandwidth)
    : acquisition_(std::move(acquisition)),
      fractional_bandwidth_(fractional_bandwidth),
      rows_(acquisition_.elements()),
      delayed_(acquisition_.elements()),
      pulses_(acquisition_, fractional_bandwidth),
      delays_(acquisition_, fractional_bandwidth, delays_of(acquisition_).first, delays_of(acquisition_).second) {
  for (std::size_t event = 0; event < acquisition_.event_count(); ++event) {
    firings_.push_back(firings_of(acquisition_, event));
    std::erase_if(firings_.back(), [&](const Firing& firing) { return acquisition_.probe.elements[firing.element].dead; });
    for (const Firing& firing : firings_.back()) delayed_[firing.element] += firing.delay != 0.0 ? 1 : 0;
  }
  std::size_t row = 0;
  for (const EventReceiver pair : FrameLayout(acquisition_).pairs()) rows_[pair.receiver].push_back({pair.event, row++});
}

void EventSynthesis::write(const EchoesOfPair& echoes_of_pair, AScanWriter& writer, std::span<std::byte> frame) const {
  const std::size_t size = acquisition_.bytes_per_a_scan();
  Receiver receiver(*this, echoes_of_pair);
  std::vector<float> sum(acquisition_.samples);
  for (std::size_t index = 0; index < rows_.size(); ++index) {
    receiver.move_to(index);
    for (const Row& row : rows_[index]) {
      const std::span<std::byte> bytes = frame.subspan(row.row * size, size);
      if (acquisition_.probe.elements[index].dead || firings_[row.event].empty()) {
        std::ranges::fill(bytes, std::byte{0});
        continue;
      }
      std::ranges::fill(sum, 0.0F);
      for (const Firing& firing : firings_[row.event]) receiver.add(firing, sum);
      const auto alone = firing_element(acquisition_, row.event);
      writer.write(sum, alone.value_or(acquisition_.elements() + row.event), index, bytes);
    }
  }
}

}  // namespace echoform
