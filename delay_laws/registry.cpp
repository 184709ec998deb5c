#include <fmt/format.h>

#include <map>

#include "acquisition/firings.hpp"
#include "base/errors.hpp"
#include "delay_laws/contact.hpp"
#include "delay_laws/delay_law.hpp"
#include "delay_laws/event_leg.hpp"
#include "delay_laws/immersion.hpp"

namespace echoform {
namespace {

std::map<std::string, DelayLawFactory, std::less<>>& registry() {
  static std::map<std::string, DelayLawFactory, std::less<>> laws{
      {"contact", make_contact_law},
      {"immersion", make_immersion_law},
  };
  return laws;
}

/// The path through the couplant, if it is what the waves of single elements cross first.
std::optional<CouplantWay> couplant_of(const DelayLawFactory& factory, const DelayLawRequest& request, const Leg& elements) {
  const MetresPerSecond velocity = request.scene.couplant;
  const Departures* const departures = elements.departures();
  if (!(velocity.value > 0.0) || departures == nullptr || departures->velocity() != velocity) return std::nullopt;
  CouplantWay way;
  way.velocity = velocity;
  way.elements = make_contact_law({request.acquisition, {velocity, velocity}, "LL"}).transmit;
  // From a tenth of a millimetre above the surface, rays reach it.
  way.within = [scene = request.scene](const Point& place) { return scene.below_front(place) < -1e-4; };
  way.leg_from = [&factory, &request](const std::vector<Point>& places) {
    Acquisition acquisition = request.acquisition;
    acquisition.events.clear();
    acquisition.probe.elements.assign(places.size(), Element{});
    for (std::size_t k = 0; k < places.size(); ++k) acquisition.probe.elements[k].centre = places[k];
    return factory({acquisition, request.material, request.view, request.scene}).transmit;
  };
  return way;
}

}  // namespace

void add_delay_law(std::string name, DelayLawFactory factory) {
  const auto [place, added] = registry().try_emplace(std::move(name), std::move(factory));
  if (!added) throw InputError("delay law", fmt::format("a second law named \"{}\"", place->first), "a name of its own");
}

std::vector<std::string> delay_law_names() {
  std::vector<std::string> names;
  for (const auto& [name, factory] : registry()) names.push_back(name);
  return names;
}

DelayLaw make_delay_law(std::string_view name, const DelayLawRequest& request) {
  const auto found = registry().find(name);
  if (found == registry().end()) {
    throw InputError("[imaging] delay_law", fmt::format("\"{}\"", name),
                     fmt::format("one of: {}", fmt::join(delay_law_names(), ", ")));
  }
  DelayLaw law = found->second(request);
  const Acquisition& acquisition = request.acquisition;
  if (!launches_waves(acquisition)) return law;
  // Views of one transmit path share the leg of the events, and also that of the elements.
  law.transmit = request.legs->get(fmt::format("events of {}", fmt::ptr(law.transmit.get())), [&](const std::string&) {
    return make_event_leg(acquisition, law.transmit, couplant_of(found->second, request, *law.transmit), request.chosen);
  });
  return law;
}

}  // namespace echoform
