#include "target/core_fate.h"

#include <gtest/gtest.h>

namespace nodescope {
namespace {

constexpr std::string_view kLimits =
    "Limit                     Soft Limit           Hard Limit           Units     \n"
    "Max stack size            8388608              unlimited            bytes     \n"
    "Max core file size        0                    unlimited            bytes     \n";

TEST(CoreFate, ReadsTheSoftLimit) {
  EXPECT_EQ(parse_core_limit(kLimits), 0u);
  EXPECT_EQ(parse_core_limit("Max core file size   unlimited   unlimited bytes\n"), kUnlimited);
  EXPECT_EQ(parse_core_limit("Max core file size   1024   unlimited bytes\n"), 1024u);
  for (std::size_t size = 0; size < kLimits.size(); ++size) parse_core_limit(kLimits.substr(0, size));
  EXPECT_EQ(parse_core_limit(""), std::nullopt);
}

TEST(CoreFate, SaysWhere) {
  EXPECT_EQ(derive_core_check({"core", kUnlimited, "/srv/app"}).why, "the kernel writes it to /srv/app/core");
  EXPECT_EQ(derive_core_check({"/cores/%e.%p", kUnlimited, "/srv", true}).why,
            "the kernel writes it to /cores/%e.%p, in its container");
  const Check systemd = derive_core_check({"|/usr/lib/systemd/systemd-coredump %P %u", kUnlimited, "/"});
  EXPECT_EQ(systemd.verdict, Verdict::kYes);
  EXPECT_TRUE(systemd.why.contains("coredumpctl"));
  EXPECT_EQ(derive_core_check({"|/opt/collect %p", kUnlimited, "/"}).why,
            "the kernel gives it to /opt/collect");
}

TEST(CoreFate, SaysWhyNot) {
  const Check none = derive_core_check({"core", 0, "/srv"});
  EXPECT_EQ(none.verdict, Verdict::kNo);
  EXPECT_TRUE(none.remedy.contains("ulimit -c unlimited"));
  EXPECT_EQ(derive_core_check({"", kUnlimited, "/srv"}).verdict, Verdict::kNo);
  EXPECT_EQ(derive_core_check({"core", 4096, "/srv"}).verdict, Verdict::kPartly);
  EXPECT_EQ(derive_core_check({"core", std::nullopt, "/srv"}).verdict, Verdict::kPartly);
}

}  // namespace
}  // namespace nodescope
