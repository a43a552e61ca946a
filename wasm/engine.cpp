// The functions that the page calls.  Memory is WebAssembly's own; the page looks into it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "page/session.h"

// NOLINTBEGIN(readability-identifier-naming): the page's side of the contract.

extern "C" {

// Fills `into` with what the zstd frame at `from` holds; 1 if that is exactly `into_bytes`.
__attribute__((import_module("env"), import_name("decompress_zstd"))) std::int32_t decompress_zstd(
    const void* from, std::uint32_t from_bytes, void* into, std::uint32_t into_bytes);
}

namespace {

nodescope::page::Session& session() {
  static nodescope::page::Session* const kSession = new nodescope::page::Session;
  return *kSession;
}

// The last reply: valid until the next call.
std::string& last_reply() {
  static std::string* const kReply = new std::string;
  return *kReply;
}

const char* give(std::string reply) {
  last_reply() = std::move(reply);
  return last_reply().data();
}

void forget_last_reply() {
  last_reply() = std::string();
}

bool decompress(std::span<const std::byte> stored, std::span<std::byte> raw) {
  return decompress_zstd(stored.data(), static_cast<std::uint32_t>(stored.size()), raw.data(),
                         static_cast<std::uint32_t>(raw.size())) == 1;
}

}  // namespace

extern "C" {

__attribute__((export_name("allocate"))) void* nodescope_allocate(std::uint32_t bytes) {
  return std::malloc(bytes == 0 ? 1 : bytes);
}

__attribute__((export_name("release"))) void nodescope_release(void* memory) {
  std::free(memory);
}

__attribute__((export_name("open"))) const char* nodescope_open(const std::byte* file, std::uint32_t bytes,
                                                                const char* name, std::uint32_t name_bytes) {
  forget_last_reply();
  return give(session().open({file, bytes}, {name, name_bytes}, decompress));
}

__attribute__((export_name("ask"))) const char* nodescope_ask(const char* query, std::uint32_t bytes) {
  forget_last_reply();
  return give(session().ask({query, bytes}));
}
}

// NOLINTEND(readability-identifier-naming)
