#include "transport/web/tls.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <spdlog/spdlog.h>

#include <boost/asio/buffer.hpp>

#include "base/errors.hpp"
#include "transport/peers/key_file.hpp"

namespace echoform {
namespace {

namespace ssl = boost::asio::ssl;

constexpr std::string_view certificate_key = "[server] tls_certificate";
constexpr std::string_view private_key = "[server] tls_key";

void check_dates(SSL_CTX* context, const std::string& file) {
  const X509* certificate = SSL_CTX_get0_certificate(context);
  if (certificate == nullptr) return;
  if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0) {
    spdlog::warn("{}: {}: the certificate has expired: browsers will refuse it", certificate_key, file);
  } else if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0) {
    spdlog::warn("{}: {}: the certificate is not valid yet: browsers will refuse it", certificate_key, file);
  }
}

}  // namespace

std::unique_ptr<ssl::context> make_tls_context(const std::string& certificate, const std::string& key) {
  const std::string chain = read_key_file(certificate, certificate_key, false);
  std::string secret = read_key_file(key, private_key, true);
  auto context = std::make_unique<ssl::context>(ssl::context::tls_server);
  SSL_CTX* const handle = context->native_handle();
  context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 | ssl::context::no_sslv3 |
                       ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1 | ssl::context::no_compression);
  SSL_CTX_set_min_proto_version(handle, TLS1_2_VERSION);
  SSL_CTX_set_options(handle, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_cipher_list(handle, "ECDHE+AESGCM:ECDHE+CHACHA20");
  SSL_CTX_set_session_cache_mode(handle, SSL_SESS_CACHE_OFF);
  // A key with a password must not make the server wait for input at a terminal.
  context->set_password_callback([](std::size_t, ssl::context::password_purpose) { return std::string(); });

  boost::system::error_code error;
  context->use_certificate_chain(boost::asio::buffer(chain), error);
  if (error) {
    throw InputError(place_of(certificate_key, certificate), error.message(), "a certificate in PEM (docs/security.md)");
  }
  context->use_private_key(boost::asio::buffer(secret), ssl::context::pem, error);
  OPENSSL_cleanse(secret.data(), secret.size());
  if (error) {
    const bool other = ERR_GET_REASON(static_cast<unsigned long>(error.value())) == X509_R_KEY_VALUES_MISMATCH;
    throw InputError(place_of(private_key, key), other ? "a key of another certificate" : error.message(),
                     "the certificate's private key in PEM, without a password");
  }
  if (SSL_CTX_check_private_key(handle) != 1) {
    throw InputError(place_of(private_key, key), "a key of another certificate", "the certificate's private key in PEM");
  }
  ERR_clear_error();
  check_dates(handle, certificate);
  return context;
}

}  // namespace echoform
