// Boost.Beast is compiled here, once for the whole program.
#include <boost/beast/src.hpp>
