#include "instruments/instrument.hpp"

// The list of instruments: INSTRUMENT(NAME) stands for `Instrument NAME_instrument()` of instruments/NAME/.
#define ECHOFORM_INSTRUMENTS(INSTRUMENT) INSTRUMENT(micropulse) INSTRUMENT(us_lab4a)

namespace echoform {

#define ECHOFORM_DECLARE(NAME) Instrument NAME##_instrument();
ECHOFORM_INSTRUMENTS(ECHOFORM_DECLARE)
#undef ECHOFORM_DECLARE

const std::vector<Instrument>& instruments() {
  static const std::vector<Instrument> list = [] {
    std::vector<Instrument> all;
#define ECHOFORM_MAKE(NAME) all.push_back(NAME##_instrument());
    ECHOFORM_INSTRUMENTS(ECHOFORM_MAKE)
#undef ECHOFORM_MAKE
    return all;
  }();
  return list;
}

}  // namespace echoform
