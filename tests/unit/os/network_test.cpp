#include "os/network.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace nodescope {
namespace {

constexpr std::string_view kTable =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    "   0: 0100007F:240D 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 48213 1 0 "
    "100 0 0 10 0\n"
    "   1: 0100007F:240D 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1000        0 48214 1 0 "
    "100 0 0 10 0\n"
    "   2: 00000000000000000000000001000000:0BB8 00000000000000000000000000000000:0000 0A "
    "00000000:00000000 00:00000000 00000000     0        0 77 1 0 100 0 0 10 0\n";

TEST(Network, FindsWhatListens) {
  const auto sockets = parse_listening_sockets(kTable);
  ASSERT_EQ(sockets.size(), 2u);
  EXPECT_EQ(sockets[0], (ListeningSocket{"127.0.0.1", 9229, 48213}));
  EXPECT_EQ(sockets[1], (ListeningSocket{"::1", 3000, 77}));
  EXPECT_TRUE(sockets[0].is_loopback());
}

TEST(Network, SurvivesEveryPrefixOfTheTable) {
  for (std::size_t size = 0; size < kTable.size(); ++size)
    EXPECT_LE(parse_listening_sockets(kTable.substr(0, size)).size(), 2u);
}

TEST(Network, NamesAreNotLookedUp) {
  const auto connected = connect_to("example.invalid", 80, std::chrono::milliseconds(10));
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace nodescope
