#include "rays/surface_kind.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/errors.hpp"

// The built-in kinds, one a line: KIND(NAME) is `SurfaceKind NAME_kind()` of rays/NAME.cpp.
#define ECHOFORM_SURFACE_KINDS(KIND) \
  KIND(plane)                        \
  KIND(cylinder)                     \
  KIND(profile)                      \
  KIND(sphere)                       \
  KIND(revolved)                     \
  KIND(stl)

namespace echoform {

#define ECHOFORM_DECLARE(NAME) SurfaceKind NAME##_kind();
ECHOFORM_SURFACE_KINDS(ECHOFORM_DECLARE)
#undef ECHOFORM_DECLARE

namespace {

std::vector<SurfaceKind>& registry() {
#define ECHOFORM_MAKE(NAME) NAME##_kind(),
  static std::vector<SurfaceKind> kinds{ECHOFORM_SURFACE_KINDS(ECHOFORM_MAKE)};
#undef ECHOFORM_MAKE
  return kinds;
}

std::string names() {
  std::vector<std::string> all;
  for (const SurfaceKind& kind : registry()) all.push_back(kind.name);
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string parameter_names(const SurfaceKind& kind) {
  std::vector<std::string_view> all;
  for (const SurfaceParameter& parameter : kind.parameters) all.push_back(parameter.name);
  return fmt::format("{}", fmt::join(all, ", "));
}

void refuse_strangers(const SurfaceKind& kind, const SurfaceDescription& description) {
  const auto check = [&](const std::string& name, bool word) {
    const auto known = [&](const SurfaceParameter& parameter) { return parameter.name == name && parameter.word == word; };
    if (std::any_of(kind.parameters.begin(), kind.parameters.end(), known)) return;
    throw InputError(fmt::format("{} {}", description.where, name), fmt::format("a key for kind = \"{}\"", kind.name),
                     fmt::format("only {}; live, \"{}=\" in the same change clears it", parameter_names(kind), name));
  };
  for (const auto& [name, value] : description.numbers) check(name, false);
  for (const auto& [name, value] : description.words) check(name, true);
}

}  // namespace

const std::vector<SurfaceKind>& surface_kinds() {
  return registry();
}

void add_surface_kind(SurfaceKind kind) {
  for (const SurfaceKind& known : registry()) {
    if (known.name == kind.name) {
      throw InputError("surface kind", fmt::format("a second kind named \"{}\"", kind.name), "a name of its own");
    }
  }
  registry().push_back(std::move(kind));
}

MadeSurface make_any_surface(SurfaceDescription description) {
  const auto& kinds = registry();
  const auto kind =
      std::find_if(kinds.begin(), kinds.end(), [&](const SurfaceKind& known) { return known.name == description.kind; });
  if (kind == kinds.end()) {
    throw InputError(fmt::format("{} kind", description.where), fmt::format("\"{}\"", description.kind),
                     fmt::format("one of {}", names()));
  }
  refuse_strangers(*kind, description);
  for (const SurfaceParameter& parameter : kind->parameters) {
    if (parameter.word) continue;
    const auto stated = description.numbers.find(parameter.name);
    if (stated == description.numbers.end()) {
      if (!parameter.otherwise) {
        throw InputError(fmt::format("{} {}", description.where, parameter.name), "no value",
                         fmt::format("a number in {}, which kind = \"{}\" needs", parameter.unit, kind->name));
      }
      description.numbers.emplace(parameter.name, *parameter.otherwise);
      continue;
    }
    if (!(stated->second >= parameter.low && stated->second <= parameter.high)) {
      throw InputError(fmt::format("{} {}", description.where, parameter.name), fmt::format("{:g}", stated->second),
                       fmt::format("a number in {}, {:g} to {:g}", parameter.unit, parameter.low, parameter.high));
    }
  }
  if (kind->make_spatial) {
    if (auto spatial = kind->make_spatial(description)) return {nullptr, std::move(spatial)};
  }
  return {std::make_shared<const Surface>(kind->make(description)), nullptr};
}

std::shared_ptr<const Surface> make_surface(SurfaceDescription description) {
  const std::string where = description.where;
  const std::string kind = description.kind;
  MadeSurface made = make_any_surface(std::move(description));
  if (made.curve == nullptr) {
    throw InputError(where, fmt::format("a {} in three dimensions", kind),
                     "what is drawn out along y: a plane that is not tilted across, a cylinder along y, a profile");
  }
  return std::move(made.curve);
}

bool side_of(const SurfaceDescription& description) {
  const auto stated = description.words.find("side");
  if (stated == description.words.end() || stated->second == "outside") return false;
  if (stated->second == "inside") return true;
  throw InputError(fmt::format("{} side", description.where), fmt::format("\"{}\"", stated->second), "\"outside\" or \"inside\"");
}

}  // namespace echoform
