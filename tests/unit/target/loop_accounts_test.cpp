#include "target/loop_accounts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <vector>

#include "os/file.h"
#include "target/event_loops.h"

namespace nodescope {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

template <typename T>
void store(std::vector<std::byte>& into, std::size_t offset, T value) {
  std::memcpy(into.data() + offset, &value, sizeof value);
}

// As compilers make them: node 18, node 26 with its frame pointer, Debian's libuv.
TEST(LoopAccounts, AreFoundInTheCodeOfExportedFunctions) {
  const auto node =
      bytes({0x55, 0x48, 0x89, 0xE5, 0x53, 0x48, 0x83, 0xEC, 0x08, 0x48, 0x8B, 0x1D, 0xA8, 0xCC, 0xBA, 0x03});
  EXPECT_EQ(loaded_address(node, FileAddress{0x1674ab0}), FileAddress{0x5221768});
  const auto r12 = bytes({0x55, 0x4C, 0x8B, 0x25, 0xF0, 0xFF, 0xFF, 0xFF});
  EXPECT_EQ(loaded_address(r12, FileAddress{0x1000}), FileAddress{0xFF8});
  EXPECT_EQ(loaded_address(bytes({0x55, 0xC3}), FileAddress{0}), std::nullopt);
  EXPECT_EQ(loaded_address(bytes({0x48, 0x8B, 0x1D, 0xA8}), FileAddress{0}), std::nullopt);

  EXPECT_EQ(returned_constant(bytes({0x55, 0x48, 0x89, 0xE5, 0xB8, 0x01, 0x34, 0x01, 0x00, 0x5D, 0xC3})),
            0x013401u);
  EXPECT_EQ(returned_constant(bytes({0xB8, 0x02})), std::nullopt);
  EXPECT_EQ(loaded_member(bytes({0x48, 0x8B, 0x87, 0x20, 0x02, 0x00, 0x00, 0xC3})), 0x220u);
  EXPECT_EQ(loaded_member(bytes({0x55, 0x48, 0x89, 0xE5, 0x48, 0x8B, 0x47, 0x70})), 0x70u);
  EXPECT_EQ(loaded_member(bytes({0xC3})), std::nullopt);
}

TEST(LoopAccounts, OfEachLayout) {
  const LoopLayout old{0x012c02, 0x220};
  const LoopLayout counted{0x013401, 0x220};
  EXPECT_FALSE(old.counts_turns());
  EXPECT_TRUE(counted.counts_turns());
  EXPECT_TRUE(old.is_known());
  EXPECT_FALSE((LoopLayout{0x012600, 0x220}.is_known()));

  std::vector<std::byte> fields(160);
  store(fields, 0, std::uint32_t{1});
  store(fields, 8, std::uint64_t{4711});
  store(fields, 16, std::uint64_t{5});
  EXPECT_EQ(parse_account(old, fields), (LoopAccount{0, 4711, 5}));
  store(fields, 136, std::uint64_t{0});
  store(fields, 144, std::uint64_t{99});
  EXPECT_EQ(parse_account(counted, fields), (LoopAccount{4711, 0, 99}));
  EXPECT_EQ(parse_account(counted, std::span(fields).first(account_bytes(counted) - 1)), std::nullopt);
  EXPECT_EQ(parse_account(old, {}), std::nullopt);
  // A loop that keeps no account, and what is no loop.
  store(fields, 0, std::uint32_t{0});
  EXPECT_EQ(parse_account(counted, fields), std::nullopt);
  store(fields, 0, std::uint32_t{0x7f001});
  EXPECT_EQ(parse_account(counted, fields), std::nullopt);
}

TEST(LoopAccounts, OfALoopOnly) {
  std::vector<std::byte> loop(kLoopHeadBytes);
  EXPECT_FALSE(parse_loop_head(loop));
  store(loop, kLoopFields, std::uint64_t{0x7f0000001000});
  store(loop, kLoopBackend, std::int32_t{13});
  const auto head = parse_loop_head(loop);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->fields, Address{0x7f0000001000});
  EXPECT_EQ(head->backend_fd, 13);
  std::vector<std::byte> body(kLoopBodyBytes);
  EXPECT_FALSE(has_own_handle(body, Address{0x1000}));
  store(body, 184, std::uint64_t{0x1000});
  EXPECT_TRUE(has_own_handle(body, Address{0x1000}));
  EXPECT_FALSE(has_own_handle(std::span(body).first(190), Address{0x1000}));
  EXPECT_FALSE(parse_loop_head(std::span(loop).first(kLoopHeadBytes - 8)));
  store(loop, kLoopBackend, std::int32_t{-1});
  EXPECT_FALSE(parse_loop_head(loop));
  store(loop, kLoopBackend, std::int32_t{13});
  store(loop, kLoopFields, std::uint64_t{0x7f0000001001});
  EXPECT_FALSE(parse_loop_head(loop));
}

TEST(LoopAccounts, BelongToTheThreadOfTheStack) {
  constexpr std::size_t kBytes = 8192;
  const Address end{0x7f0000010000};
  const std::size_t block = kBytes - 2304;
  std::vector<std::byte> stack(kBytes);
  const std::uint64_t self = (end - kBytes + block).value;
  store(stack, block, self);
  store(stack, block + 16, self);
  store(stack, block + 720, std::int32_t{4125});
  const std::array<pid_t, 2> threads = {4120, 4125};
  EXPECT_EQ(owner_of_stack(stack, end, threads), 4125);
  EXPECT_EQ(owner_of_stack(stack, end, std::span(threads).first(1)), 0);
  EXPECT_EQ(owner_of_stack(stack, end + 8, threads), 0);
  for (std::size_t size = 0; size < 64; ++size)
    EXPECT_EQ(owner_of_stack(std::span(stack).first(size), end, threads), 0);
}

// Whatever is in the file of the process: nothing is read beyond its end.
TEST(LoopAccounts, AreNotInOtherPrograms) {
  auto source = open_file("/proc/self/exe");
  ASSERT_TRUE(source);
  const auto elf = OwnedElf::read(std::move(*source));
  ASSERT_TRUE(elf);
  EXPECT_FALSE(find_loop_symbols(elf->file()));
}

TEST(LoopFinder, SaysWhereThereIsNone) {
  LoopFinder finder(getpid());
  const auto loops = finder.find_new();
  ASSERT_FALSE(loops);
  EXPECT_EQ(loops.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace nodescope
