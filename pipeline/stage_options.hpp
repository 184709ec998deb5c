// The options of a stage by value, whatever their type: recipes keep, compare and hand them on without knowing any stage.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace echoform {

class StageOptions {
 public:
  StageOptions() = default;
  /// Holds options of any copyable type with ==. The value never changes, and copies share it.
  template <class T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, StageOptions>) StageOptions(T&& options)  // NOLINT: options are options
      : held_(std::make_shared<const Held<std::remove_cvref_t<T>>>(std::forward<T>(options))) {}

  template <class T>
  [[nodiscard]] const T* get() const noexcept {
    return held_ && held_->type() == typeid(T) ? &static_cast<const Held<T>&>(*held_).value : nullptr;
  }
  /// std::logic_error unless they are of this type: a recipe that hands a stage another's options is a mistake in its code.
  template <class T>
  [[nodiscard]] const T& as() const {
    if (const T* options = get<T>()) return *options;
    throw std::logic_error(std::string("found stage options of another type; expected ") + typeid(T).name());
  }

  [[nodiscard]] friend bool operator==(const StageOptions& a, const StageOptions& b) {
    return a.held_ == b.held_ || (a.held_ && b.held_ && a.held_->equals(*b.held_));
  }

 private:
  struct AnyHeld {
    virtual ~AnyHeld() = default;
    [[nodiscard]] virtual const std::type_info& type() const noexcept = 0;
    [[nodiscard]] virtual bool equals(const AnyHeld& other) const = 0;
  };
  template <class T>
  struct Held final : AnyHeld {
    template <class From>
    explicit Held(From&& from) : value(std::forward<From>(from)) {}
    [[nodiscard]] const std::type_info& type() const noexcept override { return typeid(T); }
    [[nodiscard]] bool equals(const AnyHeld& other) const override {
      return other.type() == typeid(T) && static_cast<const Held&>(other).value == value;
    }
    T value;
  };

  std::shared_ptr<const AnyHeld> held_;
};

}  // namespace echoform
