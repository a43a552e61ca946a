#include "app/diff_gate.h"

#include <gtest/gtest.h>

namespace nodescope {
namespace {

TEST(GateRule, IsRead) {
  const auto own = parse_gate_rule("own:total > 10%");
  ASSERT_TRUE(own);
  EXPECT_EQ(own->subject, GateRule::Subject::kOwn);
  EXPECT_EQ(own->limit, GateRule::Limit::kPercent);
  EXPECT_EQ(own->value, 10);
  const auto function = parse_gate_rule("node:fs::read:self>200ms");
  ASSERT_TRUE(function);
  EXPECT_EQ(function->name, "node:fs::read");
  EXPECT_TRUE(function->self);
  EXPECT_TRUE(function->is_time);
  EXPECT_EQ(function->value, 200e6);
  EXPECT_EQ(parse_gate_rule("package:@a/b:total>5MB")->name, "@a/b");
  EXPECT_EQ(parse_gate_rule("package:@a/b:total>5MB")->value, 5.0 * 1024 * 1024);
  EXPECT_EQ(parse_gate_rule("a>b:total>3pt")->name, "a>b");
}

TEST(GateRule, IsRefused) {
  for (const char* text : {"", ">", "total", "total>", "total>-1%", "total>nan%", "total>infs", "self>1x",
                           "x:>1%", ":total>1%", "xtotal>1%", "package::total>1%", "total<1%"})
    EXPECT_FALSE(parse_gate_rule(text)) << text;
}

}  // namespace
}  // namespace nodescope
