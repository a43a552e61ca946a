#include "capture/source_keeper.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <map>

#include "capture/process_sources.h"
#include "os/procfs.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void add_frame(Profile& profile, std::string_view file, FrameKind kind = FrameKind::kJs) {
  Frame frame;
  frame.function = profile.strings.intern("f");
  frame.file = profile.strings.intern(file);
  frame.kind = kind;
  profile.frames.intern(frame);
}

class SourceKeeperTest : public ::testing::Test {
 protected:
  void keep() { keeper_.keep_new(profile_, reader()); }
  void keep_named(std::string_view file, std::int32_t pid) {
    keeper_.keep_named(profile_, profile_.strings.intern(file), pid, reader());
  }
  SourceKeeper::Read reader() {
    return [this](const std::string& path, std::uint64_t limit) -> Result<SourceFile> {
      asked_.push_back(path);
      const auto file = disk_.find(path);
      if (file == disk_.end()) return fail(ErrorCode::kNotFound, "no " + path);
      if (file->second.size() > limit) return fail(ErrorCode::kLimit, "too large");
      const auto link = links_.find(path);
      return SourceFile{file->second, link == links_.end() ? path : link->second};
    };
  }
  std::vector<std::string> kept() const {
    std::vector<std::string> names;
    for (const SourceText& source : profile_.sources) names.emplace_back(profile_.text(source.file));
    return names;
  }

  std::map<std::string, std::string> disk_;
  std::map<std::string, std::string> links_;
  std::vector<std::string> asked_;
  Profile profile_;
  SourceKeeper keeper_;
};

TEST_F(SourceKeeperTest, KeepsEachFileOfJavaScriptOnce) {
  disk_ = {{"/a.js", "a"}, {"/b.mjs", "b"}, {"/x.so", "native"}};
  add_frame(profile_, "/a.js");
  add_frame(profile_, "/x.so", FrameKind::kNative);
  add_frame(profile_, "node:fs");
  keep();
  EXPECT_THAT(kept(), ElementsAre("/a.js"));
  add_frame(profile_, "file:///b.mjs");
  add_frame(profile_, "/a.js", FrameKind::kJs);
  keep();
  keep();
  EXPECT_THAT(kept(), ElementsAre("/a.js", "file:///b.mjs"));
  EXPECT_THAT(asked_, ElementsAre("/a.js", "/b.mjs"));
  EXPECT_THAT(profile_.diagnostics.entries(), IsEmpty());
}

TEST_F(SourceKeeperTest, KeepsSourceMaps) {
  disk_ = {{"/d/a.js", "a\n//# sourceMappingURL=a.js.map"},
           {"/d/a.js.map", R"({"version":3,"mappings":""})"}};
  add_frame(profile_, "/d/a.js");
  keep();
  EXPECT_THAT(kept(), ElementsAre("/d/a.js", "/d/a.js.map"));
}

// As `tsc` writes it by default.
TEST_F(SourceKeeperTest, KeepsWhatAMapHasNoTextOf) {
  disk_ = {
      {"/app/dist/a.js", "a\n//# sourceMappingURL=a.js.map"},
      {"/app/dist/a.js.map", R"({"version":3,"sources":["../src/a.ts","../../etc/shadow"],"mappings":""})"},
      {"/app/src/a.ts", "let a: number;"},
      {"/etc/shadow", "root:"}};
  add_frame(profile_, "file:///app/dist/a.js");
  keep();
  EXPECT_THAT(kept(), ElementsAre("file:///app/dist/a.js", "file:///app/dist/a.js.map", "/app/src/a.ts"));
  EXPECT_THAT(asked_, ElementsAre("/app/dist/a.js", "/app/dist/a.js.map", "/app/src/a.ts"));
  EXPECT_THAT(profile_.diagnostics.entries(), IsEmpty());
}

TEST_F(SourceKeeperTest, KeepsWhatAMapInsideHasNoTextOf) {
  // {"version":3,"sources":["a.ts"],"mappings":""}
  disk_ = {{"/app/a.js",
            "a\n//# sourceMappingURL=data:application/json;charset=utf-8;base64,"
            "eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImEudHMiXSwibWFwcGluZ3MiOiIifQ==\n"},
           {"/app/a.ts", "let a;"}};
  add_frame(profile_, "/app/a.js");
  keep();
  EXPECT_THAT(kept(), ElementsAre("/app/a.js", "/app/a.ts"));
}

TEST_F(SourceKeeperTest, TellsOriginalsThatCouldNotBeKept) {
  disk_ = {{"/app/a.js", "a\n//# sourceMappingURL=a.js.map"},
           {"/app/a.js.map", R"({"sources":["gone.ts"],"mappings":""})"}};
  add_frame(profile_, "/app/a.js");
  keep();
  ASSERT_EQ(profile_.diagnostics.entries().size(), 1u);
  EXPECT_EQ(profile_.diagnostics.entries().front().what, "originals of source maps that were not kept");
}

// A profile that somebody else made may name anything.
TEST_F(SourceKeeperTest, KeepsNothingThatIsNoSource) {
  disk_ = {{"/root/.ssh/id", "-----BEGIN"},
           {"/usr/bin/tool", "#!/usr/bin/env node\n"},
           {"/e.js", "//# sourceMappingURL=secret"},
           {"/secret", "{ \"password\": 1 }"}};
  for (const auto& [path, text] : disk_) add_frame(profile_, path);
  keep();
  EXPECT_THAT(kept(), ::testing::UnorderedElementsAre("/e.js", "/usr/bin/tool"));
  ASSERT_EQ(profile_.diagnostics.entries().size(), 1u);
  EXPECT_EQ(profile_.diagnostics.entries().front().what, "source files that were not kept");
}

// A link's name says nothing about the file.
TEST_F(SourceKeeperTest, WhatAFileReallyIsDecides) {
  disk_ = {{"/app/x.js", "root:$6$salt"},
           {"/app/y.js", "y"},
           {"/app/a.js", "a\n//# sourceMappingURL=a.js.map"},
           {"/app/a.js.map", R"({"sources":["b.ts"],"mappings":""})"},
           {"/app/b.ts", "-----BEGIN"}};
  links_ = {{"/app/x.js", "/etc/shadow"}, {"/app/y.js", "/store/y.js"}, {"/app/b.ts", "/root/.ssh/id"}};
  for (const char* name : {"/app/x.js", "/app/y.js", "/app/a.js"}) add_frame(profile_, name);
  keep();
  EXPECT_THAT(kept(), ElementsAre("/app/y.js", "/app/a.js", "/app/a.js.map"));
}

TEST_F(SourceKeeperTest, WhatOneProcessMayNotReadAnotherMay) {
  keep_named("/a.js", 1);
  keep_named("/a.js", 1);
  EXPECT_THAT(kept(), IsEmpty());
  disk_ = {{"/a.js", "a"}};
  keep_named("/a.js", 1);
  EXPECT_THAT(kept(), IsEmpty());
  keep_named("/a.js", 2);
  keep_named("/a.js", 3);
  EXPECT_THAT(kept(), ElementsAre("/a.js"));
  EXPECT_THAT(asked_, ElementsAre("/a.js", "/a.js"));
}

TEST_F(SourceKeeperTest, TellsWhatCouldNotBeKept) {
  disk_["/big.js"] = std::string(9 << 20, ' ');
  add_frame(profile_, "/big.js");
  add_frame(profile_, "/gone.js");
  keep();
  EXPECT_THAT(kept(), IsEmpty());
  ASSERT_EQ(profile_.diagnostics.entries().size(), 1u);
  EXPECT_EQ(profile_.diagnostics.entries().front().count, 2u);
}

TEST(ProcessSources, AreReadAsTheProcessSeesThem) {
  Diagnostics diagnostics;
  const std::string path = testing::source_path("tests/live/busy.js");
  ProcessSources sources;
  const auto read = [&](const std::string& file, std::uint64_t limit) {
    return sources.read(own_pid(), {own_pid()}, file, limit, diagnostics);
  };
  const auto file = read(path, 1 << 20);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_THAT(file->text, HasSubstr("function"));
  EXPECT_EQ(file->real_path, std::filesystem::canonical(path));
  EXPECT_THAT(diagnostics.entries(), IsEmpty());
  EXPECT_FALSE(read(path, 10));
  EXPECT_FALSE(read("/no/such.js", 1 << 20));
  EXPECT_FALSE(read("/tmp", 1 << 20));
  EXPECT_FALSE(sources.read(0x3FFFFFFF, {}, path, 1 << 20, diagnostics));
}

}  // namespace
}  // namespace nodescope
