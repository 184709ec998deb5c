#include "formats/array_files.hpp"

#include <algorithm>
#include <bit>
#include <ostream>
#include <span>
#include <vector>

#include "formats/atomic_file.hpp"
#include "formats/envelope_view.hpp"

namespace echoform::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "values are written as they lie in memory");

template <class Value>
void put(std::ostream& out, std::span<const Value> values) {
  out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
}

void put_computed_envelope(std::ostream& out, const EnvelopeView& envelope) {
  std::vector<float> block(std::min<std::size_t>(envelope.size(), 65536));
  for (std::size_t first = 0; first < envelope.size(); first += block.size()) {
    const auto values = std::span(block).first(std::min(block.size(), envelope.size() - first));
    envelope.copy(first, values);
    put(out, std::span<const float>(values));
  }
}

}  // namespace

void write_array_file(const std::filesystem::path& path, const ImageFile& image, const ArrayText& text) {
  write_stream(path, [&](std::ostream& out) {
    out << text.before;
    if (image.field == ImageField::analytic) {
      put(out, image.analytic);
    } else if (!image.envelope.empty()) {
      put(out, image.envelope);
    } else {
      put_computed_envelope(out, EnvelopeView(image));
    }
    out << text.after;
  });
}

}  // namespace echoform::formats
