#include "target/work_pool.h"

#include <gtest/gtest.h>

namespace nodescope {
namespace {

TEST(WorkPool, CallsWorkAsItsUsersDo) {
  EXPECT_EQ(name_of_work("_ZTVN4node6crypto13DeriveBitsJobINS0_12PBKDF2TraitsEEE"), "crypto.pbkdf2");
  EXPECT_EQ(name_of_work("_ZTVN4node6crypto13DeriveBitsJobINS0_12ScryptTraitsEEE"), "crypto.scrypt");
  EXPECT_EQ(name_of_work("_ZTVN4node12_GLOBAL__N_110ZlibStreamE"), "zlib");
  EXPECT_EQ(name_of_work("_ZTVN12_GLOBAL__N_16uvimpl4WorkE"), "an addon");
  EXPECT_EQ(name_of_work("_ZTVN4node5other7ThingsE"), "node::other::Things");
}

TEST(WorkPool, IsFullWhenNoThreadIsLeft) {
  EXPECT_TRUE((PoolState{.threads = 4, .idle = 0, .has_queue = true}).is_full());
  EXPECT_FALSE((PoolState{.threads = 4, .idle = 0, .has_queue = false}).is_full());
  EXPECT_FALSE((PoolState{.threads = 4, .idle = 1, .has_queue = true}).is_full());
  EXPECT_FALSE((PoolState{.threads = 0, .idle = 0, .has_queue = true}).is_full());
}

}  // namespace
}  // namespace nodescope
