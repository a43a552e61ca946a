#include "binary/debug_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "elf_builder.h"

namespace nodescope {
namespace {

using testing::bytes_of;
using ::testing::ElementsAre;
using testing::ElfBuilder;

class MemoryFiles final : public FileOpener {
 public:
  std::map<std::string, std::string> files;

  Result<std::unique_ptr<ByteSource>> open(const std::string& path) override {
    const auto found = files.find(path);
    if (found == files.end()) return fail(ErrorCode::kNotFound, path + ": no such file");
    return std::make_unique<MemorySource>(std::string_view(found->second), path);
  }
};

constexpr std::string_view kId = "\xab\xcd\xef\x01\x02\x03\x04\x05";

struct Parts {
  std::string_view build_id = {};
  std::string debug_link = {};
  std::uint32_t crc = 0;
  bool symtab = false;
};

std::string elf(const Parts& parts) {
  ElfBuilder builder;
  builder.add_text(0x1000, "code");
  if (!parts.build_id.empty()) builder.add_build_id(parts.build_id);
  if (!parts.debug_link.empty()) {
    std::string link = parts.debug_link + '\0';
    link.resize((link.size() + 3) & ~std::size_t{3});
    builder.add({.name = ".gnu_debuglink", .content = link + bytes_of(parts.crc)});
  }
  if (parts.symtab) builder.add_symbols({{.name = "main", .value = 0x1000, .size_bytes = 4}});
  return builder.build();
}

ElfFile parse(const std::string& bytes) {
  return ElfFile::parse(as_byte_span(bytes)).value();
}

std::string found_name(const std::optional<OwnedElf>& elf) {
  return elf ? std::string(elf->name()) : "";
}

TEST(DebugFiles, LooksWhereDebiansPackagesAndPerfPutThem) {
  const std::string bytes = elf({.build_id = kId, .debug_link = "node.debug"});
  EXPECT_THAT(debug_file_paths(parse(bytes), "/usr/bin/node",
                               {.debug_root = "/usr/lib/debug", .perf_cache = "/root/.debug"}),
              ElementsAre("/usr/lib/debug/.build-id/ab/cdef0102030405.debug",
                          "/root/.debug/.build-id/ab/cdef0102030405/debug",
                          "/root/.debug/.build-id/ab/cdef0102030405/elf", "/usr/bin/node.debug",
                          "/usr/bin/.debug/node.debug", "/usr/lib/debug/usr/bin/node.debug"));
}

TEST(DebugFiles, ALinkCannotLeadOutOfItsFolders) {
  for (const std::string link : {"../../etc/shadow", "/etc/shadow", "..", "."}) {
    const std::string bytes = elf({.debug_link = link});
    EXPECT_THAT(debug_file_paths(parse(bytes), "/usr/bin/node", {}), ElementsAre()) << link;
  }
  // Nor to the binary itself.
  const std::string bytes = elf({.debug_link = "node"});
  EXPECT_THAT(debug_file_paths(parse(bytes), "/usr/bin/node", {}),
              ElementsAre("/usr/bin/.debug/node", "/usr/lib/debug/usr/bin/node"));
}

TEST(DebugFiles, TakesOnlyTheRightBuildId) {
  const std::string bytes = elf({.build_id = kId, .debug_link = "node.debug"});
  MemoryFiles files;
  EXPECT_FALSE(find_debug_file(parse(bytes), "/usr/bin/node", {}, files));
  files.files["/usr/lib/debug/.build-id/ab/cdef0102030405.debug"] =
      elf({.build_id = "another", .symtab = true});
  files.files["/usr/bin/node.debug"] = elf({.symtab = true});
  files.files["/usr/bin/.debug/node.debug"] = elf({.build_id = kId});  // no symbols: of no use
  EXPECT_FALSE(find_debug_file(parse(bytes), "/usr/bin/node", {}, files));
  files.files["/usr/lib/debug/usr/bin/node.debug"] = elf({.build_id = kId, .symtab = true});
  EXPECT_EQ(found_name(find_debug_file(parse(bytes), "/usr/bin/node", {}, files)),
            "/usr/lib/debug/usr/bin/node.debug");
}

TEST(DebugFiles, WithoutABuildIdTheChecksumMustFit) {
  // The CRC-32 of "123456789" is 0xCBF43926; here the whole debug file counts, so take it from a known one.
  const std::string debug = elf({.symtab = true});
  std::uint32_t crc = 0xFFFFFFFF;  // bit by bit, unlike the code under test
  for (const char c : debug) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320 : 0);
  }
  MemoryFiles files;
  files.files["/usr/bin/node.debug"] = debug;
  const std::string right = elf({.debug_link = "node.debug", .crc = ~crc});
  EXPECT_EQ(found_name(find_debug_file(parse(right), "/usr/bin/node", {}, files)), "/usr/bin/node.debug");
  const std::string wrong = elf({.debug_link = "node.debug", .crc = crc});
  EXPECT_FALSE(find_debug_file(parse(wrong), "/usr/bin/node", {}, files));
}

TEST(DebugFiles, FindsBinariesInPerfsCache) {
  const auto id = BuildId::from_bytes(as_byte_span(kId));
  const DebugFileSearch search{.debug_root = "/usr/lib/debug", .perf_cache = "/root/.debug"};
  MemoryFiles files;
  files.files["/root/.debug/.build-id/ab/cdef0102030405/elf"] = elf({.build_id = "another"});
  files.files["/root/.debug/.build-id/ab/cdef0102030405"] = "not an ELF file";
  EXPECT_FALSE(find_binary(*id, search, files));
  files.files["/usr/lib/debug/.build-id/ab/cdef0102030405"] = elf({.build_id = kId});
  EXPECT_EQ(found_name(find_binary(*id, search, files)), "/usr/lib/debug/.build-id/ab/cdef0102030405");
  EXPECT_EQ(perf_cache_path(*id, "kallsyms", search), "/root/.debug/.build-id/ab/cdef0102030405/kallsyms");
}

}  // namespace
}  // namespace nodescope
