// Sections of a configuration that methods/ owns. Each is a struct, and is found by its type.
#pragma once

#include <any>
#include <map>
#include <typeindex>

namespace echoform {

/// Holds the sections by value, so that a copy has its own. A section that nobody has changed equals a default-constructed one.
class Sections {
 public:
  template <class Section>
  [[nodiscard]] const Section& get() const {
    static const Section untouched;
    const auto found = held_.find(typeid(Section));
    return found == held_.end() ? untouched : *std::any_cast<Section>(&found->second);
  }
  template <class Section>
  [[nodiscard]] Section& edit() {
    return *std::any_cast<Section>(&held_.try_emplace(typeid(Section), std::in_place_type<Section>).first->second);
  }

 private:
  std::map<std::type_index, std::any> held_;
};

}  // namespace echoform
