// Views with a name of their own, beside those that are named by the modes of their legs (view.hpp): waves that modes do not
// describe, such as head waves or surface waves. A new view is a file of its own and a line in view_kind.cpp, or a call of
// add_view_kind() in a program outside of the tree. Every delay law whose views are named by modes takes it
// (law_of_view.hpp).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "delay_laws/law_of_view.hpp"

namespace echoform {

struct ViewKind {
  std::string name;  ///< as [imaging] views has it: letters, digits, '-' and '_', up to 32, and no name by modes ("LT", "TT-T")
  std::string meaning;  ///< a sentence, for `echoform info`
  /// Both sides. `leg`, for the length of the call, gives the enclosing law's own leg of modes ("T": straight in contact,
  /// refracted at the surface in immersion), one object for all views. A leg of one's own that views share: request.legs->get(),
  /// under a key that is no modes. Throws InputError, as velocity_of_mode() does for a velocity that is missing. The law's name
  /// is filled in.
  std::function<DelayLaw(const DelayLawRequest& request, const LegMaker& leg)> make;
};

/// The view kinds, in the order of registration. add_view_kind throws InputError if the name is taken, is a name by modes,
/// or is no valid name. Additions are not thread-safe: make them before the first configuration is read.
[[nodiscard]] const std::vector<ViewKind>& view_kinds();
void add_view_kind(ViewKind kind);

/// The registered view of that name; null if there is none.
[[nodiscard]] const ViewKind* find_view_kind(std::string_view name);

}  // namespace echoform
