#include "analysis/function_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::profile_of;

std::string rows(const FunctionTable& table) {
  std::string text;
  std::uint64_t self = 0;
  for (const FunctionRow& row : table.rows) {
    text += fmt::format("{} {}/{} ", row.name, row.self, row.total);
    self += row.self;
  }
  EXPECT_EQ(self, table.total);
  return text;
}

std::string rows_of(const Profile& profile, GroupBy group, SortBy sort = SortBy::kSelf) {
  FunctionTableOptions options;
  options.group = group;
  options.sort = sort;
  return rows(derive_function_table(profile, options));
}

TEST(FunctionTable, CountsRecursionOnce) {
  EXPECT_EQ(rows_of(profile_of("main;f;g;f 3\nmain;f 2\nmain;g 4"), GroupBy::kFunction),
            "f 5/5 g 4/7 main 0/9 ");
}

TEST(FunctionTable, Sorts) {
  const Profile profile = profile_of("main;f;g;f 3\nmain;f 2\nmain;g 4");
  EXPECT_EQ(rows_of(profile, GroupBy::kFunction, SortBy::kTotal), "main 0/9 g 4/7 f 5/5 ");
  EXPECT_EQ(rows_of(profile, GroupBy::kFunction, SortBy::kName), "f 5/5 g 4/7 main 0/9 ");
}

TEST(FunctionTable, KeepsSamplesWithoutFrames) {
  Profile profile = profile_of("main 3");
  profile.samples.add({0, kEmptyStack, {ThreadId{}, 0, EventId{}}, 5});
  EXPECT_EQ(rows_of(profile, GroupBy::kFunction), "[no stack] 5/5 main 3/3 ");
  EXPECT_EQ(rows_of(Profile(), GroupBy::kFunction), "");
}

TEST(FunctionTable, GroupsByKind) {
  EXPECT_EQ(rows_of(profile_of("main;js:a;kernel:x 3\nmain;js:a;js:b 2\ngc:s 1"), GroupBy::kKind),
            "kernel 3/3 js 2/5 gc 1/1 native 0/5 ");
}

TEST(FunctionTable, GroupsByFilePackageAndModule) {
  Profile profile;
  const EventId event = profile.intern_event("cpu", Unit::kNanoseconds);
  const auto frame = [&](FrameKind kind, std::string_view function, std::string_view file,
                         std::string_view module) {
    Frame made;
    made.kind = kind;
    made.function = profile.strings.intern(function);
    made.file = profile.strings.intern(file);
    made.module = profile.strings.intern(module);
    return profile.frames.intern(made);
  };
  StackId stack = kEmptyStack;
  std::uint64_t weight = 1;
  for (const FrameId id :
       {frame(FrameKind::kNative, "main", "", "/usr/bin/node"), frame(FrameKind::kJs, "tick", "node:t", ""),
        frame(FrameKind::kJs, "own", "/app/a.js", ""),
        frame(FrameKind::kJs, "lib", "/app/node_modules/@s/p/i.js", ""),
        frame(FrameKind::kBuiltin, "Map", "", ""),
        frame(FrameKind::kNative, "crypt", "", "/lib/libcrypto.so.3"),
        frame(FrameKind::kKernel, "read", "", "[kernel.kallsyms]")}) {
    stack = profile.stacks.push(stack, id);
    profile.samples.add({0, stack, {ThreadId{}, 0, event}, weight});
    weight *= 2;
  }
  EXPECT_EQ(rows_of(profile, GroupBy::kPackage),
            "[kernel] 64/64 libcrypto.so.3 32/96 (builtin) 16/112 @s/p 8/120 (my code) 4/124 (node "
            "internals) 2/126 "
            "node 1/127 ");
  EXPECT_EQ(rows_of(profile, GroupBy::kFile),
            "[kernel.kallsyms] 64/64 libcrypto.so.3 32/96 (builtin) 16/112 /app/node_modules/@s/p/i.js 8/120 "
            "/app/a.js 4/124 node:t 2/126 node 1/127 ");
  EXPECT_EQ(rows_of(profile, GroupBy::kModule),
            "[kernel.kallsyms] 64/64 libcrypto.so.3 32/96 (builtin) 16/112 (node_modules)/@s/p 8/120 (my "
            "code) 4/124 "
            "(node internals) 2/126 node 1/127 ");
  FunctionTableOptions options;
  options.count = CountBy::kSamples;
  const FunctionTable table = derive_function_table(profile, options);
  EXPECT_EQ(table.total, 7u);
  EXPECT_EQ(table.unit, Unit::kSamples);
}

TEST(FunctionTable, GroupsByProcessAndThread) {
  Profile profile = profile_of("f 1");
  for (int i = 0; i < 4; ++i) {
    const ProcessId process = profile.intern_process(10 + i / 2, "node");
    const ThreadId thread = profile.intern_thread(process, 100 + i, i % 2 == 0 ? "" : "worker");
    profile.samples.add({0, kEmptyStack, {thread, 0, EventId{}}, 10u + static_cast<unsigned>(i)});
  }
  EXPECT_EQ(rows_of(profile, GroupBy::kProcess), "node 11 25/25 node 10 21/21 [unknown] 1/1 ");
  EXPECT_EQ(rows_of(profile, GroupBy::kThread),
            "worker 103 13/13 node 102 12/12 worker 101 11/11 node 100 10/10 [unknown] 1/1 ");
}

TEST(FunctionTable, GroupsHaveNames) {
  for (const std::string_view name : {"function", "file", "package", "module", "kind", "process", "thread"}) {
    ASSERT_TRUE(group_by_of(name)) << name;
    EXPECT_EQ(to_string(*group_by_of(name)), name);
  }
  EXPECT_FALSE(group_by_of("colour"));
}

TEST(FunctionTable, TakesAMillionFrames) {
  Profile profile;
  profile.intern_event("samples", Unit::kSamples);
  Frame frame;
  frame.function = profile.strings.intern("f");
  StackId stack = kEmptyStack;
  for (int i = 0; i < 1'000'000; ++i) stack = profile.stacks.push(stack, profile.frames.intern(frame));
  profile.samples.add({0, stack, {ThreadId{}, 0, EventId{}}, 3});
  EXPECT_EQ(rows_of(profile, GroupBy::kFunction), "f 3/3 ");
}

TEST(HumanCount, HasTheUnitInIt) {
  EXPECT_EQ(human_count(1234, Unit::kSamples), "1,234");
  EXPECT_EQ(human_count(1'500'000'000, Unit::kNanoseconds), "1.50 s");
  EXPECT_EQ(human_count(1536, Unit::kBytes), "1.5 KB");
}

}  // namespace
}  // namespace nodescope
