// TLS of the web server.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <string>

namespace echoform {

/// TLS 1.2 and 1.3, with forward secrecy, for a certificate (PEM, with those that it rests on behind it) and its private key
/// (PEM, without a password, which others than its owner and group may not read). Throws InputError, naming the file, if either
/// cannot be used or they do not belong together. A certificate that is not valid today is used, with a warning in the log.
[[nodiscard]] std::unique_ptr<boost::asio::ssl::context> make_tls_context(const std::string& certificate, const std::string& key);

}  // namespace echoform
