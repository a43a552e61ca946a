#include "json/sniff.h"

#include <algorithm>

#include "base/byte_source.h"
#include "json/reader.h"

namespace nodescope::json {

namespace {

// A hostile head with a key every four bytes is not worth more; every format shows itself sooner.
constexpr std::size_t kMaxPaths = 200;
constexpr std::size_t kMaxTextBytes = 200;

void add(Outline& outline, std::string path) {
  if (outline.paths.size() < kMaxPaths && !outline.has(path)) outline.paths.push_back(std::move(path));
}

void add_keys(Reader& reader, Outline& outline, const std::string& prefix) {
  auto members = reader.object();
  while (const auto key = members.next()) add(outline, prefix + "." + std::string(*key));
}

void add_first_element(Reader& reader, Outline& outline, const std::string& path) {
  auto elements = reader.array();
  bool first = true;
  while (elements.next()) {
    if (first && reader.peek() == Type::kObject) add_keys(reader, outline, path + "[]");
    if (first && reader.peek() == Type::kNumber) add(outline, path + "[]#");
    first = false;
  }
}

void add_member(Reader& reader, Outline& outline, const std::string& key) {
  add(outline, key);
  switch (reader.peek()) {
    case Type::kObject:
      return add_keys(reader, outline, key);
    case Type::kArray:
      return add_first_element(reader, outline, key);
    case Type::kString:
      if (const auto text = reader.string(); text && outline.texts.size() < kMaxPaths) {
        outline.texts.push_back(key + "=" + std::string(text->substr(0, kMaxTextBytes)));
      }
      return;
    default:
      return;
  }
}

void add_members(Reader& reader, Outline& outline, int wrappers) {
  auto members = reader.object();
  while (const auto key = members.next()) {
    if (wrappers < kMaxWrappers && is_wrapper(*key) && reader.peek() == Type::kObject) {
      add_members(reader, outline, wrappers + 1);
    } else {
      add_member(reader, outline, std::string(*key));
    }
  }
}

}  // namespace

bool Outline::has(std::string_view path) const {
  return std::ranges::find(paths, path) != paths.end();
}

bool Outline::has_text(std::string_view key, std::string_view part_of_value) const {
  return std::ranges::any_of(texts, [&](std::string_view text) {
    return text.starts_with(key) && text.substr(key.size()).starts_with('=') &&
           text.substr(key.size() + 1).find(part_of_value) != std::string_view::npos;
  });
}

Outline outline_of(std::string_view head) {
  Outline outline;
  MemorySource source(head, "head");
  Reader reader(source);
  if (reader.peek() == Type::kArray) {
    add_first_element(reader, outline, "");
  } else if (reader.peek() == Type::kObject) {
    add_members(reader, outline, 0);
  }
  return outline;
}

}  // namespace nodescope::json
