#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nodescope::testing {

// Writes a jitdump as jitdump-specification.txt describes it.
class DumpBuilder {
 public:
  explicit DumpBuilder(std::uint64_t flags = 0) {
    for (const std::uint32_t word : {0x4A695444u, 1u, 40u, 62u, 0u, 123u}) put(bytes_, word);
    put<std::uint64_t>(bytes_, 5);
    put(bytes_, flags);
  }

  DumpBuilder& load(std::uint64_t time, std::uint64_t address, std::string code, std::string name,
                    std::uint64_t index = 0) {
    std::string body;
    for (const std::uint32_t id : {123u, 124u}) put(body, id);
    for (const std::uint64_t word : {address, address, std::uint64_t{code.size()}, index}) put(body, word);
    body += name + '\0' + code;
    return record(0, time, body);
  }

  DumpBuilder& move(std::uint64_t time, std::uint64_t from, std::uint64_t to, std::uint64_t size,
                    std::uint64_t index) {
    std::string body;
    for (const std::uint32_t id : {123u, 124u}) put(body, id);
    for (const std::uint64_t word : {to, from, to, size, index}) put(body, word);
    return record(1, time, body);
  }

  // `extra` bytes more than there are is what the record says it has.
  DumpBuilder& lines(std::uint64_t time, std::uint64_t address, std::string_view file, std::uint32_t line,
                     std::uint32_t extra = 0) {
    std::string body;
    put(body, address);
    put<std::uint64_t>(body, 1);
    put(body, address);
    put(body, line);
    put<std::uint32_t>(body, 7);
    body += std::string(file) + '\0';
    return record(2, time, body, extra);
  }

  DumpBuilder& record(std::uint32_t kind, std::uint64_t time, const std::string& body,
                      std::uint32_t extra = 0) {
    put(bytes_, kind);
    put(bytes_, static_cast<std::uint32_t>(16 + body.size()) + extra);
    put(bytes_, time);
    bytes_ += body;
    return *this;
  }

  std::string& bytes() { return bytes_; }

 private:
  template <typename T>
  static void put(std::string& bytes, T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }

  std::string bytes_;
};

}  // namespace nodescope::testing
