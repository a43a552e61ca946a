#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/byte_sink.h"
#include "json/writer.h"

namespace nodescope::page {

// An answer: an object of JSON, and columns of numbers beside it.
class Reply {
 public:
  Reply();

  // Members of the object; whoever opens something closes it.
  json::Writer& json() { return json_; }

  void member(std::string_view key, std::string_view text) { json_.key(key).string(text); }
  void member(std::string_view key, const char* text) { member(key, std::string_view(text)); }
  void member(std::string_view key, bool value) { json_.key(key).boolean(value); }
  void member(std::string_view key, double value) { json_.key(key).number(value); }
  template <typename Integer>
    requires std::is_integral_v<Integer>
  void member(std::string_view key, Integer value) {
    if constexpr (std::is_signed_v<Integer>) {
      json_.key(key).integer(value);
    } else {
      json_.key(key).count(value);
    }
  }

  void column(std::string_view name, std::span<const std::uint8_t> values) { add("u8", name, values); }
  void column(std::string_view name, std::span<const std::uint32_t> values) { add("u32", name, values); }
  void column(std::string_view name, std::span<const double> values) { add("f64", name, values); }
  // A column of `count` numbers, each made by `make(i)`.
  template <typename T>
  void make_column(std::string_view name, std::size_t count, const auto& make) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(make(i));
    column(name, std::span<const T>(values));
  }

  // { u32 total_bytes; u32 json_bytes; JSON; zeros up to a multiple of 8; columns }.  The last call.
  std::string finish();

 private:
  struct Column {
    std::string name;
    const char* type;
    std::size_t offset;  // in data_
    std::size_t count;
  };

  template <typename T>
  void add(const char* type, std::string_view name, std::span<const T> values) {
    data_.resize((data_.size() + 7) / 8 * 8);
    columns_.push_back({std::string(name), type, data_.size(), values.size()});
    if (!values.empty()) data_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }
  std::string columns_json(std::size_t data_begin) const;

  StringSink sink_;
  json::Writer json_;
  std::vector<Column> columns_;
  std::string data_;
};

std::string error_reply(std::string_view message);

}  // namespace nodescope::page
