#include "tests/formats/mat_maker.hpp"

#include <zlib.h>

#include <cstring>

namespace echoform::test {
namespace {

void append(Bytes& to, const Bytes& more) {
  to.insert(to.end(), more.begin(), more.end());
}
void append_word(Bytes& to, std::uint32_t word) {
  for (int shift = 0; shift < 32; shift += 8) to.push_back(static_cast<std::uint8_t>(word >> shift));
}
Bytes bytes_of_words(const std::vector<std::uint32_t>& values) {
  Bytes bytes;
  for (const auto value : values) append_word(bytes, value);
  return bytes;
}
Bytes text_bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

Bytes array_head(std::uint32_t array_class, const std::vector<std::uint32_t>& shape, const std::string& name) {
  Bytes head = mat_element(6, bytes_of_words({array_class, 0}));
  append(head, mat_element(5, bytes_of_words(shape)));
  append(head, mat_element(1, text_bytes(name)));
  return head;
}

}  // namespace

Bytes mat_element(std::uint32_t type, const Bytes& data) {
  Bytes element;
  append_word(element, type);
  append_word(element, static_cast<std::uint32_t>(data.size()));
  append(element, data);
  while (type != 15 && element.size() % 8 != 0) element.push_back(0);
  return element;
}

Bytes mat_doubles(const std::string& name, const std::vector<std::uint32_t>& shape, const std::vector<double>& values) {
  Bytes body = array_head(6, shape, name);
  Bytes data(values.size() * sizeof(double));
  if (!values.empty()) std::memcpy(data.data(), values.data(), data.size());
  append(body, mat_element(9, data));
  return mat_element(14, body);
}

Bytes mat_text(const std::string& name, const std::string& text) {
  Bytes body = array_head(4, {1, static_cast<std::uint32_t>(text.size())}, name);
  append(body, mat_element(16, text_bytes(text)));
  return mat_element(14, body);
}

Bytes mat_structure(const std::string& name, const std::vector<std::pair<std::string, Bytes>>& fields) {
  Bytes body = array_head(2, {1, 1}, name);
  Bytes length;  // a small element
  append_word(length, 4u << 16 | 5u);
  append_word(length, 32);
  append(body, length);
  Bytes names;
  for (const auto& [field, value] : fields) {
    Bytes padded = text_bytes(field);
    padded.resize(32);
    append(names, padded);
  }
  append(body, mat_element(1, names));
  for (const auto& [field, value] : fields) append(body, value);
  return mat_element(14, body);
}

Bytes mat_compressed(const Bytes& matrix) {
  uLongf size = compressBound(static_cast<uLong>(matrix.size()));
  Bytes packed(size);
  compress2(packed.data(), &size, matrix.data(), static_cast<uLong>(matrix.size()), 6);
  packed.resize(size);
  return mat_element(15, packed);
}

Bytes mat_file(const std::vector<Bytes>& elements) {
  Bytes file = text_bytes("MATLAB 5.0 MAT-file, made by a test");
  file.resize(124, ' ');
  append(file, {0x00, 0x01, 'I', 'M'});
  for (const auto& element : elements) append(file, element);
  return file;
}

Bytes BrainMaker::structure() const {
  auto list = pairs;
  if (list.empty()) {
    for (std::size_t i = 0; i < elements; ++i) {
      for (std::size_t j = i; j < elements; ++j) list.emplace_back(i, j);
    }
  }
  std::vector<double> tx, rx, data, time, x, edge;
  for (const auto& [i, j] : list) {
    tx.push_back(static_cast<double>(i + 1));
    rx.push_back(static_cast<double>(j + 1));
    for (std::size_t n = 0; n < samples; ++n) data.push_back(brain_sample(i, j, n));
  }
  for (std::size_t n = 0; n < samples; ++n) time.push_back(start + static_cast<double>(n) * step);
  for (std::size_t i = 0; i < elements; ++i) {
    x.push_back(6e-4 * static_cast<double>(i));
    edge.push_back(x.back() + 2.5e-4);
  }
  const auto count = static_cast<std::uint32_t>(list.size());
  const auto n_elements = static_cast<std::uint32_t>(elements);
  const auto n_samples = static_cast<std::uint32_t>(samples);
  using Fields = std::vector<std::pair<std::string, Bytes>>;
  const auto apply = [](Fields fields, const std::map<std::string, Bytes>& changes) {
    for (const auto& [name, bytes] : changes) {
      std::erase_if(fields, [&name = name](const auto& field) { return field.first == name; });
      if (!bytes.empty()) fields.emplace_back(name, bytes);
    }
    return fields;
  };
  const std::vector<double> zero(elements, 0.0);
  Fields array{{"el_xc", mat_doubles("", {1, n_elements}, x)},
               {"el_yc", mat_doubles("", {1, n_elements}, zero)},
               {"el_zc", mat_doubles("", {1, n_elements}, zero)},
               {"el_x1", mat_doubles("", {1, n_elements}, edge)},
               {"el_y2", mat_doubles("", {1, n_elements}, std::vector<double>(elements, 5e-3))},
               {"centre_freq", mat_doubles("", {1, 1}, {5e6})},
               {"manufacturer", mat_text("", "a maker")}};
  Fields fields{{"time_data", mat_doubles("", {n_samples, count}, data)},
                {"tx", mat_doubles("", {1, count}, tx)},
                {"rx", mat_doubles("", {1, count}, rx)},
                {"time", mat_doubles("", {n_samples, 1}, time)},
                {"ph_velocity", mat_doubles("", {1, 1}, {6300.0})},
                {"array", mat_structure("", apply(array, replaced_in_array))}};
  return mat_structure("exp_data", apply(fields, replaced));
}

Bytes BrainMaker::file() const {
  return mat_file({compressed ? mat_compressed(structure()) : structure()});
}

}  // namespace echoform::test
