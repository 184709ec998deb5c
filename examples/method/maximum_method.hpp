// A method of one's own: the total focusing method's images of two views, and the greater of the two.
#pragma once

#include <memory>

#include "methods/method.hpp"

/// "maximum", with the section [maximum].
[[nodiscard]] std::unique_ptr<const echoform::Method> make_maximum_method();
