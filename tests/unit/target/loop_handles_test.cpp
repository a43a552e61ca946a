#include "target/loop_handles.h"

#include <gmock/gmock.h>

#include <cstring>
#include <string>

#include "target/core_process.h"

namespace nodescope {
namespace {

using ::testing::SizeIs;

constexpr Address kLoop{0x10000};
constexpr Address kSocket{0x10400};
constexpr Address kTimer{0x10600};
constexpr LoopLayout kLayout{0x013401, 0x220};

// A loop with a socket and a timer, as uv.h lays them out.
class Image {
 public:
  Image() {
    put(kLoop + 16, (kSocket + 32).value);
    put(kLoop + 24, (kTimer + 32).value);
    put(kLoop + 32, 3);
    put(kLoop + 40, 0x20000);
    put(kLoop + 64, 7);
    put(kLoop + 96, kLoop.value);  // of its own handle for threads
    put(kLoop + 0x220, 1000);
    put_handle(kSocket, 12, kLoop + 16, kTimer + 32, 4 | 8);
    put(kSocket, 0x30000);
    put(kSocket + 184, 21);
    put_handle(kTimer, 13, kSocket + 32, kLoop + 16, 4);
    put(kTimer + 128, 1250);
  }

  void put(Address address, std::uint64_t value) {
    std::memcpy(bytes_.data() + (address - kLoop), &value, sizeof value);
  }
  std::optional<HandleLoop> read(std::size_t size) {
    memory_.set_pieces({{{kLoop, kLoop + size}, as_byte_span(bytes_).data()}});
    return read_handle_loop(memory_, kLayout, kLoop);
  }
  std::size_t size() const { return bytes_.size(); }

 private:
  void put_handle(Address at, std::uint64_t type, Address before, Address next, std::uint64_t flags) {
    put(at + 8, kLoop.value);
    put(at + 16, type);
    put(at + 32, next.value);
    put(at + 40, before.value);
    put(at + 88, flags);
  }

  std::string bytes_ = std::string(0x800, '\0');
  DeadMemory memory_;
};

TEST(LoopHandles, AreReadInTheirOrder) {
  Image image;
  const auto loop = image.read(image.size());
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->active_requests, 3u);
  ASSERT_THAT(loop->handles, SizeIs(2));
  const LoopHandle& socket = loop->handles[0];
  EXPECT_EQ(socket.type, "tcp");
  EXPECT_EQ(socket.descriptor, 21);
  EXPECT_EQ(socket.data, Address{0x30000});
  EXPECT_TRUE(socket.is_active && socket.is_referenced && !socket.is_closing);
  const LoopHandle& timer = loop->handles[1];
  EXPECT_EQ(timer.type, "timer");
  EXPECT_EQ(timer.due_ms, 250u);
  EXPECT_FALSE(timer.is_referenced);
}

TEST(LoopHandles, OfADamagedListEndWhereItDoes) {
  Image image;
  image.put(kSocket + 32, (kSocket + 32).value);  // itself
  EXPECT_THAT(image.read(image.size())->handles, SizeIs(1));
  image.put(kSocket + 8, 0);
  EXPECT_FALSE(image.read(image.size()));
}

TEST(LoopHandles, EveryPrefixIsSafe) {
  Image image;
  for (std::size_t size = 0; size < image.size(); size += 8) {
    const auto loop = image.read(size);
    EXPECT_TRUE(!loop || loop->handles.size() <= 2) << size;
  }
}

}  // namespace
}  // namespace nodescope
