#include "page/typescript/wire_types.h"

#include <fmt/format.h>

#include <set>

#include "page/heap/views.h"
#include "page/views.h"

namespace nodescope::page {

namespace {

class TypeWriter {
 public:
  template <WireStruct Struct>
  void add() {
    if (!known_.insert(wire_name(static_cast<const Struct*>(nullptr))).second) return;
    std::string members;
    boost::mp11::mp_for_each<wire::Members<Struct>>([&](auto member) {
      using T = std::remove_cvref_t<decltype(std::declval<Struct&>().*member.pointer)>;
      const bool optional = wire::Optional<T>::kIs;
      members += fmt::format("  {}{}: {};\n", member.name, optional ? "?" : "",
                             this->type<typename wire::Optional<T>::Value>());
    });
    text_ += fmt::format("export interface {} {{\n{}}}\n\n", wire_name(static_cast<const Struct*>(nullptr)),
                         members);
  }

  std::string& text() { return text_; }

 private:
  // The name in TypeScript, which is written first where it is not built in.
  template <typename T>
  std::string type() {
    if constexpr (wire::Column<T>) {
      using Item = typename wire::List<T>::Item;
      if constexpr (WireEnumeration<Item>) add_enum<Item>();
      return sizeof(Item) == 1 ? "Uint8Array" : std::is_same_v<Item, double> ? "Float64Array" : "Uint32Array";
    } else if constexpr (std::is_same_v<T, bool>) {
      return "boolean";
    } else if constexpr (std::is_arithmetic_v<T>) {
      return "number";
    } else if constexpr (wire::Text<T>) {
      return "string";
    } else if constexpr (WireEnumeration<T>) {
      add_words<T>();
      return std::string(WireEnum<T>::kName) + "Name";
    } else if constexpr (WireStruct<T>) {
      add<T>();
      return std::string(wire_name(static_cast<const T*>(nullptr)));
    } else if constexpr (wire::List<T>::kIs) {
      return type<typename wire::List<T>::Item>() + "[]";
    } else {
      static_assert(std::is_same_v<T, std::map<std::string, std::string>>);
      return "Record<string, string>";
    }
  }

  // What columns have: its values by number.
  template <typename E>
  void add_enum() {
    if (!known_.insert(WireEnum<E>::kName).second) return;
    std::string values;
    for (std::size_t i = 0; i < WireEnum<E>::kCount; ++i) {
      values += fmt::format("  {} = {},\n", WireEnum<E>::word(static_cast<E>(i)), i);
    }
    text_ += fmt::format("export const enum {} {{\n{}}}\n\n", WireEnum<E>::kName, values);
  }

  // What JSON has: its words.
  template <typename E>
  void add_words() {
    if (!has_words_.insert(WireEnum<E>::kName).second) return;
    std::string words;
    for (std::size_t i = 0; i < WireEnum<E>::kCount; ++i) {
      words += fmt::format("{}'{}'", i == 0 ? "" : ", ", WireEnum<E>::word(static_cast<E>(i)));
    }
    text_ += fmt::format(
        "export const k{0}Names = [{1}] as const;\nexport type {0}Name = (typeof k{0}Names)[number];\n\n",
        WireEnum<E>::kName, words);
  }

  std::string text_ = "// Made of src/page/replies.h by wire_types: change that.\n\n";
  std::set<std::string_view> known_;
  std::set<std::string_view> has_words_;
};

// "about: About;": what each view replies.
template <typename Views>
std::string replies_of(TypeWriter& writer, const Views& views) {
  std::string replies;
  const auto add = [&]<template <typename> typename View, typename Reply>(const View<Reply>& view) {
    writer.add<Reply>();
    replies += fmt::format("  {}: {};\n", view.name, wire_name(static_cast<const Reply*>(nullptr)));
  };
  std::apply([&](const auto&... view) { (add(view), ...); }, views);
  return replies;
}

}  // namespace

std::string wire_types() {
  TypeWriter writer;
  const std::string replies = replies_of(writer, kViews);
  const std::string heap_replies = replies_of(writer, kHeapViews);
  return std::move(writer.text()) +
         fmt::format("// By the view= of a question.\nexport interface Replies {{\n{}}}\n\n", replies) +
         fmt::format("// The same of heap snapshots.\nexport interface HeapReplies {{\n{}}}\n", heap_replies);
}

}  // namespace nodescope::page
