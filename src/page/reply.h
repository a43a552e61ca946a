#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_sink.h"
#include "json/writer.h"
#include "page/replies.h"

namespace nodescope::page {

// Writes a reply: an object of JSON, and columns of numbers beside it.
class ReplyWriter {
 public:
  ReplyWriter();

  // The members of `reply`, whose columns are gone afterwards: the largest are hundreds of megabytes.
  template <WireStruct Reply>
  void members(Reply&& reply, const std::string& prefix = "") {
    boost::mp11::mp_for_each<wire::Members<Reply>>(
        [&](auto member) { this->member(member.name, reply.*member.pointer, prefix); });
  }

  // { u32 total_bytes; u32 json_bytes; JSON; zeros up to a multiple of 8; columns }.  The last call.
  std::string finish();

 private:
  struct Placed {
    std::string name;
    const char* type;
    std::size_t offset;  // in data_
    std::size_t count;
  };

  template <typename T>
  void member(const char* name, T& value, const std::string& prefix) {
    if constexpr (wire::Optional<T>::kIs) {
      if (value) member(name, *value, prefix);
    } else if constexpr (wire::Column<T>) {
      column(prefix + name, std::exchange(value, {}));
    } else {
      json_.key(name);
      if constexpr (WireStruct<T>) {
        json_.begin_object();
        members(std::move(value), prefix + name + ".");
        json_.end_object();
      } else {
        this->value(value);
      }
    }
  }

  template <typename T>
  void value(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      json_.boolean(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      json_.number(value);
    } else if constexpr (std::is_signed_v<T>) {
      json_.integer(value);
    } else if constexpr (std::is_unsigned_v<T>) {
      json_.count(value);
    } else if constexpr (WireEnumeration<T>) {
      json_.string(WireEnum<T>::word(value));
    } else if constexpr (wire::Text<T>) {
      json_.string(value);
    } else if constexpr (WireStruct<T>) {
      json_.begin_object();
      members(std::move(value));
      json_.end_object();
    } else if constexpr (wire::List<T>::kIs) {
      json_.begin_array();
      for (auto& item : value) this->value(item);
      json_.end_array();
    } else {
      words(value);
    }
  }

  void words(const std::map<std::string, std::string>& words);

  template <typename T>
  void column(std::string name, std::vector<T> values) {
    static_assert(sizeof(T) == 1 || sizeof(T) == sizeof(std::uint32_t) || std::is_same_v<T, double>);
    const char* const type = sizeof(T) == 1 ? "u8" : std::is_same_v<T, double> ? "f64" : "u32";
    bytes(std::move(name), type, values.size(), std::as_bytes(std::span(values)));
  }
  void bytes(std::string name, const char* type, std::size_t count, std::span<const std::byte> values);
  std::string columns_json(std::size_t data_begin) const;

  StringSink sink_;
  json::Writer json_;
  std::vector<Placed> columns_;
  std::string data_;
};

template <WireStruct Reply>
std::string write_reply(Reply reply) {
  ReplyWriter writer;
  writer.members(std::move(reply));
  return writer.finish();
}

std::string error_reply(std::string_view message);

// A column of `count` values, each made by `make(i)`.
template <typename T>
std::vector<T> make_column(std::size_t count, const auto& make) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(make(i));
  return values;
}

}  // namespace nodescope::page
