#include "capture/source_keeper.h"

#include <gmock/gmock.h>

#include <map>

#include "capture/process_sources.h"
#include "os/procfs.h"

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

TEST(SourceNames, ArePathsOrAddressesOfFiles) {
  EXPECT_EQ(path_of_source("/app/a b.js"), "/app/a b.js");
  EXPECT_EQ(path_of_source("file:///app/a%20b+.mjs"), "/app/a b+.mjs");
  for (const char* other : {"", "node:fs", "wasm://wasm/1", "evalmachine.<anonymous>", "file://host/a.js",
                            "file:///%zz", "file:///a%00.js", "a.js"}) {
    EXPECT_EQ(path_of_source(other), std::nullopt) << other;
  }
}

TEST(SourceMapNames, AreInTheLastLines) {
  EXPECT_EQ(name_of_source_map("/app/a.js", "x();\n//# sourceMappingURL=a.js.map\n"), "/app/a.js.map");
  EXPECT_EQ(name_of_source_map("file:///app/a.js", "/*# sourceMappingURL=m%2B/a.map */"),
            "file:///app/m+/a.map");
  EXPECT_EQ(name_of_source_map("/a.js", "//# sourceMappingURL=old\n//# sourceMappingURL=new"), "/new");
  for (const char* text :
       {"", "x()", "//# sourceMappingURL=", "//# sourceMappingURL=data:application/json,{}",
        "//# sourceMappingURL=https://example.org/a.map"}) {
    EXPECT_EQ(name_of_source_map("/app/a.js", text), std::nullopt) << text;
  }
  EXPECT_EQ(name_of_source_map("/a.js", "//# sourceMappingURL=a.map" + std::string(5000, '\n')),
            std::nullopt);
}

class SourceKeeperTest : public ::testing::Test {
 protected:
  void keep() {
    keeper_.keep_new(profile_, [this](const std::string& path, std::uint64_t limit) -> Result<std::string> {
      asked_.push_back(path);
      const auto file = disk_.find(path);
      if (file == disk_.end()) return fail(ErrorCode::kNotFound, "no " + path);
      if (file->second.size() > limit) return fail(ErrorCode::kLimit, "too large");
      return file->second;
    });
  }
  std::vector<std::string> kept() const {
    std::vector<std::string> names;
    for (const SourceText& source : profile_.sources) names.emplace_back(profile_.text(source.file));
    return names;
  }

  std::map<std::string, std::string> disk_;
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
  const std::string path = std::string(NODESCOPE_SOURCE_DIR) + "/tests/live/busy.js";
  const auto text = read_source_of({own_pid()}, path, 1 << 20, diagnostics);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_THAT(*text, HasSubstr("function"));
  EXPECT_THAT(diagnostics.entries(), IsEmpty());
  EXPECT_FALSE(read_source_of({own_pid()}, path, 10, diagnostics));
  EXPECT_FALSE(read_source_of({own_pid()}, "/no/such.js", 1 << 20, diagnostics));
  EXPECT_FALSE(read_source_of({own_pid()}, "/tmp", 1 << 20, diagnostics));
  EXPECT_FALSE(read_source_of({}, path, 1 << 20, diagnostics));
}

}  // namespace
}  // namespace nodescope
