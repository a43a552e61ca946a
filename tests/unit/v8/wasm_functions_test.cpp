#include "v8/wasm_functions.h"

#include <gtest/gtest.h>

#include "support/fake_v8.h"

namespace nodescope::v8 {
namespace {

TEST(WasmFunctions, HaveTheNamesAndPlacesOfTheirModule) {
  const auto functions = WasmFunctions::parse(testing::fake_wasm_module());
  EXPECT_EQ(functions.name(1), "inner");
  EXPECT_EQ(functions.name(2), "outer");
  EXPECT_EQ(functions.code_offset(1), 0x20u);
  EXPECT_EQ(functions.code_offset(2), 0x27u);
}

TEST(WasmFunctions, WithoutANameHaveTheirNumber) {
  const auto functions = WasmFunctions::parse(testing::fake_wasm_module());
  EXPECT_EQ(functions.name(0), "wasm-function[0]");
  EXPECT_EQ(functions.name(233), "wasm-function[233]");
  EXPECT_EQ(functions.code_offset(0), std::nullopt) << "imported";
  EXPECT_EQ(functions.code_offset(3), std::nullopt);
}

// A table, memories, globals and tags of every form, and functions between them.
TEST(WasmFunctions, CountOnlyImportedFunctions) {
  const std::string imports(
      "\x0a"
      "\0\0\0\0"              // function
      "\0\0\1\x70\1\1\2"      // table of at most 2
      "\0\0\1\x63\x80\1\0\1"  // table of a typed reference
      "\0\0\2\x00\x80\x02"    // memory
      "\0\0\2\x09\1\2\x10"    // with a size of pages
      "\0\0\3\x7f\0"          // global
      "\0\0\3\x64\x6f\1"      // of a typed reference
      "\0\0\4\0\0"            // tag
      "\0\0\0\0"              // function
      "\0\0\2\1\1\1",         // shared memory
      1 + 4 + 7 + 8 + 6 + 7 + 5 + 6 + 5 + 4 + 6);
  const std::string module = std::string("\0asm\1\0\0\0\2", 9) + static_cast<char>(imports.size()) + imports +
                             std::string("\x0a\4\1\2\0\x0b", 6);
  const auto functions = WasmFunctions::parse(module);
  EXPECT_EQ(functions.code_offset(1), std::nullopt);
  EXPECT_EQ(functions.code_offset(2), module.size() - 2);
}

// A wrong count would move every function to another's place.
TEST(WasmFunctions, HaveNoPlaceWhereAnImportIsOfNoKnownKind) {
  const std::string module("\0asm\1\0\0\0\2\5\1\0\0\x55\0\x0a\4\1\2\0\x0b", 21);
  EXPECT_EQ(WasmFunctions::parse(module).code_offset(0), std::nullopt);
}

TEST(WasmFunctions, NamesThatAreNoTextAreLeftOut) {
  std::string module = testing::fake_wasm_module();
  module[module.size() - 1] = '\xff';
  EXPECT_EQ(WasmFunctions::parse(module).name(1), "inner");
  EXPECT_EQ(WasmFunctions::parse(module).name(2), "wasm-function[2]");
}

TEST(WasmFunctions, EveryPrefixIsSafe) {
  const std::string module = testing::fake_wasm_module();
  for (std::size_t size = 0; size < module.size(); ++size) {
    const auto functions = WasmFunctions::parse(std::string_view(module).substr(0, size));
    EXPECT_TRUE(functions.name(2) == "outer" || functions.name(2) == "wasm-function[2]");
    functions.code_offset(2);
  }
}

}  // namespace
}  // namespace nodescope::v8
