// Boost.Asio is compiled here, once, instead of into every file that uses it.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
