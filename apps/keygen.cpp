// echoform keygen: a pair of CURVE keys.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "apps/command.hpp"
#include "transport/zeromq/curve_keys.hpp"

namespace echoform {

Action define_keygen(CLI::App& options) {
  auto prefix = std::make_shared<std::string>();
  options.add_option("--output", *prefix, "Writes PREFIX.secret and PREFIX.public")->required()->option_text("PREFIX");
  return [prefix] {
    const CurvePair pair = make_curve_pair();
    write_curve_pair(*prefix, pair);
    fmt::print("wrote {0}.secret, which stays here, and {0}.public: {1}\n", *prefix, curve_text(pair.public_key));
    return 0;
  };
}

}  // namespace echoform
