#include "target/usr1_handler.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace nodescope {
namespace {

class Bytes final : public Memory {
 public:
  bool read(Address address, std::span<std::byte> into) override {
    if (address.value < 0x1000 || address.value - 0x1000 + into.size() > bytes_.size()) return false;
    std::memcpy(into.data(), bytes_.data() + (address.value - 0x1000), into.size());
    return true;
  }
  template <typename T>
  void put(std::uint64_t address, T value) {
    std::memcpy(bytes_.data() + (address - 0x1000), &value, sizeof value);
  }
  void put_handle(std::uint64_t address, int signal, std::uint64_t left, std::uint64_t right) {
    put<std::uint32_t>(address + 16, 16);
    put<std::int32_t>(address + 104, signal);
    put<std::uint64_t>(address + 112, left);
    put<std::uint64_t>(address + 120, right);
  }

 private:
  std::string bytes_ = std::string(0x1000, '\0');
};

TEST(Usr1Handler, ReadsTheMasks) {
  const auto status = [](const char* ignored, const char* caught, const char* blocked) {
    return std::string("Name:\tnode\nSigBlk:\t") + blocked + "\nSigIgn:\t" + ignored + "\nSigCgt:\t" +
           caught + "\n";
  };
  EXPECT_EQ(parse_usr1_disposition(status("0", "0000000188004a00", "0")), Usr1Handler::kNode);
  EXPECT_EQ(parse_usr1_disposition(status("0", "0", "0")), Usr1Handler::kNone);
  EXPECT_EQ(parse_usr1_disposition(status("200", "0", "0")), Usr1Handler::kIgnored);
  EXPECT_EQ(parse_usr1_disposition(status("0", "200", "200")), Usr1Handler::kBlocked);
  EXPECT_EQ(parse_usr1_disposition(""), Usr1Handler::kNone);
}

TEST(Usr1Handler, SearchesTheTree) {
  Bytes memory;
  EXPECT_FALSE(has_uv_handler(memory, Address{0x1000}, 10).value());
  memory.put<std::uint64_t>(0x1000, 0x1100);
  memory.put_handle(0x1100, 2, 0, 0x1200);
  memory.put_handle(0x1200, 15, 0x1300, 0);
  memory.put_handle(0x1300, 12, 0, 0);
  EXPECT_FALSE(has_uv_handler(memory, Address{0x1000}, 10).value());
  EXPECT_TRUE(has_uv_handler(memory, Address{0x1000}, 12).value());
}

TEST(Usr1Handler, DoesNotTrustATreeThatIsNone) {
  Bytes memory;
  EXPECT_FALSE(has_uv_handler(memory, Address{0x10}, 10));
  memory.put<std::uint64_t>(0x1000, 0x1100);
  EXPECT_FALSE(has_uv_handler(memory, Address{0x1000}, 10));  // no signal handle
  memory.put_handle(0x1100, 2, 0x1100, 0x1100);
  EXPECT_FALSE(has_uv_handler(memory, Address{0x1000}, 10));  // a circle
  memory.put_handle(0x1100, 2, 0, 0x9999999);
  EXPECT_FALSE(has_uv_handler(memory, Address{0x1000}, 10));
}

}  // namespace
}  // namespace nodescope
