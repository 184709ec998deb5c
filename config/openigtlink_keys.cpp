// The keys of [openigtlink].
#include "config/openigtlink_section.hpp"

#include "base/text.hpp"
#include "config/common_keys.hpp"
#include "config/key_types.hpp"

namespace echoform {
namespace {

constexpr auto image_words = make_words(std::pair{OpenIgtlinkImages::display, std::string_view("display")},
                                        std::pair{OpenIgtlinkImages::envelope, std::string_view("envelope")},
                                        std::pair{OpenIgtlinkImages::both, std::string_view("both")});

}  // namespace

void add_openigtlink_keys(std::vector<Key>& k) {
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  k.push_back(text(
      {"openigtlink", "listen", "",
       "Where clients such as 3D Slicer connect, usually at port 18944; port 0 takes a free one, empty closes it."},
      "ADDRESS:PORT or empty", address_port_or_none, [](auto& c) -> auto& { return section<OpenIgtlinkSection>(c).listen; }));
  k.push_back(word(
      {"openigtlink", "images", "", "What is sent of each view: the 8-bit display image, the float32 envelope, or both."},
      image_words, [](auto& c) -> auto& { return section<OpenIgtlinkSection>(c).images; }));
  k.push_back(text_list(
      {"openigtlink", "views", "", "The views that are sent; none named is all."}, 0, 64,
      [](auto& c) -> auto& { return section<OpenIgtlinkSection>(c).views; }));
  k.push_back(number(
      {"openigtlink", "max_rate", "1/s",
       "Images of each stream that a client gets in a second, the newest ones; 0 is as many as it takes."},
      within(0.0, 10000.0), [](auto& c) -> auto& { return section<OpenIgtlinkSection>(c).max_rate; }));
  k.push_back(integer(
      {"openigtlink", "max_clients", "",
       "Clients at once, of which one address of another host has at most half; one more is disconnected."},
      within(1, 1024), [](auto& c) -> auto& { return section<OpenIgtlinkSection>(c).max_clients; }));
  k.push_back(number(
      {"openigtlink", "client_timeout", "s", "A client that takes nothing of what is sent for this time is disconnected."},
      within(1.0, 3600.0), [](auto& c) -> auto& { return section<OpenIgtlinkSection>(c).client_timeout; }));
}

}  // namespace echoform
