#include <gtest/gtest.h>

#include "app/walker_check.h"

namespace nodescope {
namespace {

WalkerCounts good() {
  WalkerCounts counts;
  counts.stops = 20;
  counts.js = 100;
  counts.optimized = 10;
  counts.inlined = 3;
  return counts;
}

TEST(WalkerVerdict, EverythingWasTold) {
  const WalkerVerdict verdict = derive_verdict(good(), true);
  EXPECT_EQ(verdict.names.trust, Trust::kTrusted);
  EXPECT_EQ(verdict.lines.trust, Trust::kTrusted);
  EXPECT_EQ(verdict.inlined.trust, Trust::kTrusted);
}

TEST(WalkerVerdict, NothingRan) {
  const WalkerVerdict verdict = derive_verdict({}, true);
  EXPECT_EQ(verdict.names.trust, Trust::kNotSeen);
  EXPECT_EQ(verdict.lines.trust, Trust::kNotSeen);
  EXPECT_EQ(verdict.inlined.trust, Trust::kNotSeen);
}

TEST(WalkerVerdict, DoubtIsSaid) {
  WalkerCounts counts = good();
  counts.unknown = 2;
  counts.unsure = 1;
  counts.without_line = 4;
  const WalkerVerdict verdict = derive_verdict(counts, true);
  EXPECT_EQ(verdict.names.trust, Trust::kDoubtful);
  EXPECT_NE(verdict.names.why.find("2 of 100"), std::string::npos);
  EXPECT_EQ(verdict.lines.trust, Trust::kDoubtful);
  EXPECT_NE(verdict.lines.why.find("of 98 frames 4 have none and 1"), std::string::npos);
}

TEST(WalkerVerdict, OnlyUnknownFrames) {
  WalkerCounts counts;
  counts.js = 5;
  counts.unknown = 5;
  EXPECT_EQ(derive_verdict(counts, true).lines.trust, Trust::kNotSeen);
}

TEST(WalkerVerdict, ANewerV8HasNames) {
  const WalkerVerdict verdict = derive_verdict(good(), false);
  EXPECT_EQ(verdict.names.trust, Trust::kTrusted);
  EXPECT_EQ(verdict.lines.trust, Trust::kDoubtful);
  EXPECT_EQ(verdict.inlined.trust, Trust::kDoubtful);
}

}  // namespace
}  // namespace nodescope
