#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace nodescope::page {

// Replies to the page are structs whose members are named once, by NODESCOPE_WIRE.  write_reply() sends them,
// and wire_types() turns them into the TypeScript that the page is compiled with, so neither side knows a
// member that the other does not.  On the wire
//  - numbers, texts, enums and structs are JSON; so are lists of texts and of structs,
//  - lists of numbers and of enums are columns; those of a struct inside are called "callers.total",
//  - a member that is std::optional is left out where it has no value.
#define NODESCOPE_WIRE(Struct, members)                                              \
  BOOST_DESCRIBE_STRUCT(Struct, (), members)                                         \
  [[maybe_unused]] consteval std::string_view wire_name(const Struct* /*of_type*/) { \
    return #Struct;                                                                  \
  }

template <typename T>
concept WireStruct = requires {
  { wire_name(static_cast<const T*>(nullptr)) } -> std::same_as<std::string_view>;
};

// Specialised in page/replies.h: what an enum is called there, how many values it has, and their words.
template <typename E>
struct WireEnum;

template <typename T>
concept WireEnumeration = std::is_enum_v<T> && requires { WireEnum<T>::kCount; };

namespace wire {

template <typename T>
struct Optional {
  static constexpr bool kIs = false;
  using Value = T;
};
template <typename T>
struct Optional<std::optional<T>> {
  static constexpr bool kIs = true;
  using Value = T;
};

template <typename T>
struct List {
  static constexpr bool kIs = false;
  using Item = void;
};
template <typename T>
struct List<std::vector<T>> {
  static constexpr bool kIs = true;
  using Item = T;
};

template <typename T>
concept Text = std::is_convertible_v<T, std::string_view>;

template <typename T>
concept Column =
    List<T>::kIs && (std::is_arithmetic_v<typename List<T>::Item> || std::is_enum_v<typename List<T>::Item>);

template <typename Struct>
using Members = boost::describe::describe_members<Struct, boost::describe::mod_public>;

}  // namespace wire

}  // namespace nodescope::page
