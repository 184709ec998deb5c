// The web server over TLS: who does not trust its certificate, or speaks less, gets nothing.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "proto/image.pb.h"
#include "tests/support/certificate.hpp"
#include "tests/transport_publish/synthetic_stream.hpp"
#include "transport/web/web_sink.hpp"

namespace echoform {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace ssl = asio::ssl;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using boost::system::error_code;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class WebTls : public testing::Test {
 protected:
  WebTls() {
    std::filesystem::create_directories(folder_);
    sink_ = make_web_sink({.port = 0,
                           .token = "secret",
                           .tls_certificate = test::write_file(folder_ / "certificate.pem", certificate_.certificate),
                           .tls_key = test::write_file(folder_ / "key.pem", certificate_.key)});
    trusting_.set_verify_mode(ssl::verify_peer);
    trusting_.add_certificate_authority(asio::buffer(certificate_.certificate));
    sink_->setup_changed(stream_.setup());
    sink_->publish(stream_.frame(7));
  }
  ~WebTls() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] tcp::endpoint place() const { return {asio::ip::address_v4::loopback(), sink_->port()}; }
  [[nodiscard]] std::string here() const { return fmt::format("127.0.0.1:{}", sink_->port()); }

  // Nothing where the handshake fails.
  error_code handshake(ssl::context& context, std::string* answer = nullptr, const std::string& request = "") {
    asio::io_context io;
    ssl::stream<tcp::socket> stream(io, context);
    stream.next_layer().connect(place());
    stream.set_verify_callback(ssl::host_name_verification("127.0.0.1"));
    error_code error;
    stream.handshake(ssl::stream_base::client, error);
    if (error || answer == nullptr) return error;
    asio::write(stream, asio::buffer(request));
    error_code end;
    asio::read(stream, asio::dynamic_buffer(*answer), end);
    return {};
  }

  // A good client beside it all.
  void expect_a_good_client_is_served() {
    std::string answer;
    EXPECT_FALSE(
        handshake(trusting_, &answer,
                  fmt::format("GET /streams.json?token=secret HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", here())));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
    EXPECT_THAT(answer, HasSubstr("echoform.display"));
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("echoform-tls-") + std::to_string(::getpid()) + testing::UnitTest::GetInstance()->current_test_info()->name());
  const test::Certificate certificate_ = test::make_certificate();
  ssl::context trusting_{ssl::context::tls_client};
  synthetic::Stream stream_;
  std::unique_ptr<WebSink> sink_;
};

TEST_F(WebTls, ServesPageAndImagesToWhoTrustsTheCertificate) {
  EXPECT_EQ(sink_->url(), fmt::format("https://{}/?token=secret", here()));
  expect_a_good_client_is_served();
  asio::io_context io;
  websocket::stream<beast::ssl_stream<tcp::socket>> viewer(io, trusting_);
  beast::get_lowest_layer(viewer).connect(place());
  viewer.next_layer().handshake(ssl::stream_base::client);
  viewer.set_option(websocket::stream_base::decorator(
      [this](websocket::request_type& request) { request.set(http::field::origin, "https://" + here()); }));
  viewer.handshake(here(), "/images?token=secret");
  beast::flat_buffer buffer;
  viewer.read(buffer);
  wire::Image image;
  ASSERT_TRUE(image.ParseFromArray(buffer.data().data(), static_cast<int>(buffer.size())));
  EXPECT_EQ(image.sequence(), 7u);
}

TEST_F(WebTls, AClientThatDoesNotTrustTheCertificateGetsNothing) {
  const test::Certificate other = test::make_certificate();
  ssl::context wary(ssl::context::tls_client);
  wary.set_verify_mode(ssl::verify_peer);
  wary.add_certificate_authority(asio::buffer(other.certificate));
  EXPECT_TRUE(handshake(wary));
  expect_a_good_client_is_served();
}

TEST_F(WebTls, PlainHttpGetsNothing) {
  asio::io_context io;
  tcp::socket socket(io);
  socket.connect(place());
  asio::write(socket, asio::buffer(fmt::format("GET /?token=secret HTTP/1.1\r\nHost: {}\r\n\r\n", here())));
  std::string answer;
  error_code end;
  asio::read(socket, asio::dynamic_buffer(answer), end);
  EXPECT_LT(answer.size(), 16u) << "an alert at most";
  EXPECT_THAT(answer, Not(HasSubstr("HTTP/1.1")));
  EXPECT_EQ(sink_->peers().refused_for(PeerRefusal::bad_handshake), 1u);
  expect_a_good_client_is_served();
}

TEST_F(WebTls, OlderProtocolsAreRefused) {
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    ssl::context old(ssl::context::tls_client);
    SSL_CTX_set_security_level(old.native_handle(), 0);
    SSL_CTX_set_min_proto_version(old.native_handle(), version);
    SSL_CTX_set_max_proto_version(old.native_handle(), version);
    EXPECT_TRUE(handshake(old)) << version;
  }
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    SSL_CTX_set_min_proto_version(trusting_.native_handle(), version);
    SSL_CTX_set_max_proto_version(trusting_.native_handle(), version);
    expect_a_good_client_is_served();
  }
  EXPECT_EQ(sink_->peers().refused_for(PeerRefusal::bad_handshake), 2u);
}

/// A client of TLS 1.2 that offers these ciphers in this order.
class CipherClient {
 public:
  explicit CipherClient(const char* ciphers) {
    SSL_CTX* const handle = context_.native_handle();
    SSL_CTX_set_security_level(handle, 0);
    SSL_CTX_set_max_proto_version(handle, TLS1_2_VERSION);
    if (SSL_CTX_set_cipher_list(handle, ciphers) != 1) throw std::runtime_error(std::string("no such ciphers: ") + ciphers);
    SSL_CTX_set_options(handle, SSL_OP_NO_TICKET);
  }
  ~CipherClient() { SSL_SESSION_free(session_); }
  CipherClient(const CipherClient&) = delete;
  CipherClient& operator=(const CipherClient&) = delete;

  /// The cipher that is agreed upon; empty where the handshake fails.
  std::string agree(const tcp::endpoint& place) {
    asio::io_context io;
    ssl::stream<tcp::socket> stream(io, context_);
    stream.next_layer().connect(place);
    if (session_ != nullptr) SSL_set_session(stream.native_handle(), session_);
    error_code error;
    stream.handshake(ssl::stream_base::client, error);
    if (error) return "";
    resumed_ = SSL_session_reused(stream.native_handle()) == 1;
    SSL_SESSION_free(std::exchange(session_, SSL_get1_session(stream.native_handle())));
    const std::string cipher = SSL_get_cipher_name(stream.native_handle());
    stream.shutdown(error);  // a session that is cut off is not taken up again
    return cipher;
  }
  [[nodiscard]] bool resumed() const { return resumed_; }

 private:
  ssl::context context_{ssl::context::tls_client};
  SSL_SESSION* session_ = nullptr;
  bool resumed_ = false;
};

TEST_F(WebTls, OnlyCiphersThatAuthenticateAndForgetTheirKeysAreTaken) {
  const test::Certificate rsa = test::make_certificate(1, -30, EVP_RSA_gen(2048));
  const auto of_rsa = make_web_sink({.port = 0,
                                     .tls_certificate = test::write_file(folder_ / "rsa.pem", rsa.certificate),
                                     .tls_key = test::write_file(folder_ / "rsa_key.pem", rsa.key)});
  const tcp::endpoint place_of_rsa(asio::ip::address_v4::loopback(), of_rsa->port());
  const auto of_key = [&](std::string_view cipher) {
    return cipher.find("ECDSA") != std::string_view::npos ? place() : place_of_rsa;
  };
  for (const char* good : {"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305",
                           "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305"}) {
    EXPECT_EQ(CipherClient(good).agree(of_key(good)), good);
  }
  // Blocks that are chained, the key of the certificate for the secrecy of all, and none of either.
  for (const char* bad : {"ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES256-SHA384", "ECDHE-ECDSA-AES128-SHA",
                          "ECDHE-RSA-AES128-SHA256", "ECDHE-RSA-AES256-SHA384", "ECDHE-RSA-AES256-SHA", "AES128-GCM-SHA256",
                          "AES256-GCM-SHA384", "AES128-SHA", "ECDHE-RSA-NULL-SHA", "AECDH-AES128-SHA"}) {
    EXPECT_EQ(CipherClient(bad).agree(of_key(bad)), "") << bad;
  }
  expect_a_good_client_is_served();
}

TEST_F(WebTls, TheServersOrderOfCiphersHoldsAndNoSessionIsKept) {
  CipherClient client("ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256");
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(client.agree(place()), "ECDHE-ECDSA-AES128-GCM-SHA256") << "though the client would rather have the other";
    EXPECT_FALSE(client.resumed()) << "a key of before";
  }
}

TEST_F(WebTls, OriginAndTokenAreAskedForAsWell) {
  const auto ask = [&](const std::string& target, const std::string& header) {
    std::string answer;
    EXPECT_FALSE(handshake(trusting_, &answer,
                           fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n{}Connection: close\r\n\r\n", target, here(), header)));
    return answer.substr(0, 12);
  };
  EXPECT_EQ(ask("/streams.json", ""), "HTTP/1.1 401");
  EXPECT_EQ(ask("/streams.json?token=secret", "Origin: http://" + here() + "\r\n"), "HTTP/1.1 403") << "a page without TLS";
  EXPECT_EQ(ask("/streams.json?token=secret", "Origin: https://evil.example\r\n"), "HTTP/1.1 403");
  EXPECT_EQ(ask("/streams.json?token=secret", "Origin: https://" + here() + "\r\n"), "HTTP/1.1 200");
}

TEST_F(WebTls, OneFileWithoutTheOtherIsAnInputError) {
  EXPECT_THROW((void)make_web_sink({.port = 0, .tls_key = (folder_ / "key.pem").string()}), InputError);
}

}  // namespace
}  // namespace echoform
