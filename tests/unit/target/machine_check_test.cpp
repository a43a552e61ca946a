#include "target/machine_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace nodescope {
namespace {

MachineFacts root() {
  MachineFacts facts;
  facts.privileges.capabilities = ~std::uint64_t{0};
  facts.perf_event_paranoid = 2;
  facts.kernel_addresses_shown = true;
  return facts;
}

MachineFacts plain_user() {
  MachineFacts facts;
  facts.privileges.user = 1000;
  facts.perf_event_paranoid = 2;
  facts.ptrace_scope = 0;
  facts.kptr_restrict = 1;
  facts.perf_own_kernel = EACCES;
  facts.perf_whole_machine = EACCES;
  return facts;
}

const Check& find(const std::vector<Check>& checks, std::string_view what) {
  for (const Check& check : checks) {
    if (check.what.starts_with(what)) return check;
  }
  ADD_FAILURE() << "no check " << what;
  return checks.front();
}

TEST(MachineCheck, RootMayEverything) {
  for (const Check& check : derive_checks(root())) {
    EXPECT_EQ(check.verdict, Verdict::kYes) << check.what;
    EXPECT_TRUE(check.remedy.empty()) << check.what;
  }
}

TEST(MachineCheck, AUserMayHisOwn) {
  const auto checks = derive_checks(plain_user());
  EXPECT_EQ(find(checks, "stop and read your own").verdict, Verdict::kYes);
  EXPECT_EQ(find(checks, "sample your own").verdict, Verdict::kYes);
  EXPECT_EQ(find(checks, "stop and read processes of other").verdict, Verdict::kNo);
  EXPECT_EQ(find(checks, "sample processes of other").verdict, Verdict::kNo);
  EXPECT_EQ(find(checks, "frames of the kernel").verdict, Verdict::kNo);
}

TEST(MachineCheck, EveryNoHasAReasonAndARemedy) {
  MachineFacts facts = plain_user();
  facts.trace_child = EPERM;
  facts.perf_own_user = EACCES;
  facts.privileges.has_seccomp_filter = true;
  for (const Check& check : derive_checks(facts)) {
    EXPECT_EQ(check.verdict, Verdict::kNo) << check.what;
    EXPECT_FALSE(check.why.empty()) << check.what;
    EXPECT_FALSE(check.remedy.empty()) << check.what;
  }
  EXPECT_NE(find(derive_checks(facts), "sample your own").remedy.find("seccomp"), std::string::npos);
}

TEST(MachineCheck, AFilterIsNamed) {
  MachineFacts facts = plain_user();
  facts.perf_own_user = ENOSYS;
  facts.perf_event_paranoid = 3;
  facts.perf_is_filtered = true;
  const Check check = find(derive_checks(facts), "sample your own");
  EXPECT_THAT(check.why, testing::HasSubstr("a seccomp filter blocks perf_event_open"));
  EXPECT_THAT(check.remedy, testing::AllOf(testing::HasSubstr("seccomp=unconfined"),
                                           testing::Not(testing::HasSubstr("sysctl"))));
}

TEST(MachineCheck, ASettingThatAllowsItIsNotToBeChanged) {
  MachineFacts facts = plain_user();
  facts.perf_own_user = EACCES;
  const auto remedy = [&](std::int64_t paranoid) {
    facts.perf_event_paranoid = paranoid;
    return find(derive_checks(facts), "sample your own").remedy;
  };
  EXPECT_THAT(remedy(3), testing::HasSubstr("sysctl kernel.perf_event_paranoid=2"));
  EXPECT_THAT(remedy(2),
              testing::AllOf(testing::HasSubstr("seccomp"), testing::Not(testing::HasSubstr("sysctl"))));
}

TEST(MachineCheck, Yama) {
  MachineFacts facts = plain_user();
  const auto verdict = [&](std::int64_t scope) {
    facts.ptrace_scope = scope;
    return find(derive_checks(facts), "stop and read your own").verdict;
  };
  EXPECT_EQ(verdict(0), Verdict::kYes);
  EXPECT_EQ(verdict(1), Verdict::kPartly);
  EXPECT_EQ(verdict(2), Verdict::kNo);
  EXPECT_EQ(verdict(3), Verdict::kNo);
  facts.privileges.capabilities = ~std::uint64_t{0};
  EXPECT_EQ(verdict(2), Verdict::kYes);
  EXPECT_EQ(verdict(3), Verdict::kNo);
}

TEST(MachineCheck, ThisMachineHasAKernel) {
  const MachineFacts facts = read_machine_facts();
  EXPECT_FALSE(facts.kernel.empty());
  EXPECT_EQ(derive_checks(facts).size(), 7u);
}

}  // namespace
}  // namespace nodescope
