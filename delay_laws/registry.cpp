#include <fmt/format.h>

#include <map>

#include "base/errors.hpp"
#include "delay_laws/contact.hpp"
#include "delay_laws/delay_law.hpp"
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
  return found->second(request);
}

}  // namespace echoform
