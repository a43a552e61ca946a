#include "source_maps/apply.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "model/name_marks.h"
#include "source_maps/source_map.h"

namespace nodescope {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two functions of a source in one line of a file, as a minifier writes them.
constexpr std::string_view kSource =
    "export function parseInput(text: string) {\n  return text.trim();\n}\nexport const runAll = (jobs: "
    "Job[]) => jobs.map((job) => job.run());\n";
constexpr std::string_view kGenerated = "function a(b){return b.trim()}const c=d=>d.map(e=>e.run());";
// function, a, (b, return, b, .trim; const, c, d, d.map, e, e.run
constexpr std::string_view kMap =
    R"({"version":3,"sources":["../src/jobs.ts"],"names":[],)"
    R"("mappings":"AAAO,SAAS,EAAW,GACzB,OAAO,EAAK,OAEP,MAAM,EAAU,GAAgB,EAAK,IAAK,GAAQ,EAAI")";

std::string map_with_source() {
  std::string text(kSource);
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) text.replace(at, 1, "\\n");
  return fmt::format(R"({},"sourcesContent":["{}"]}})", kMap, text);
}

class ApplyTest : public ::testing::Test {
 protected:
  FrameId add(std::string_view function, std::string_view file, TextPlace place, TextPlace begin) {
    Frame frame;
    frame.kind = FrameKind::kJs;
    frame.function = profile_.strings.intern(function);
    frame.file = profile_.strings.intern(file);
    frame.line = place.line;
    frame.column = place.column;
    frame.function_line = begin.line;
    frame.function_column = begin.column;
    return profile_.frames.intern(frame);
  }
  void apply() {
    MapSources sources;
    sources.read = [this](const std::string& name, std::uint64_t) -> Result<std::string> {
      ++reads_[name];
      const auto file = disk_.find(name);
      if (file == disk_.end()) return fail(ErrorCode::kNotFound, name);
      return file->second;
    };
    sources.keeps_texts = keeps_texts_;
    apply_source_maps(profile_, sources);
  }
  // "parseInput /app/src/jobs.ts:2:3 from 1:27"
  std::string shown(FrameId id) const {
    const Frame& frame = profile_.frames[id];
    return fmt::format("{} {}:{}:{} from {}:{}", profile_.text(frame.function), profile_.text(frame.file),
                       frame.line, frame.column, frame.function_line, frame.function_column);
  }
  std::string noticed() const {
    std::string text;
    for (const Diagnostic& entry : profile_.diagnostics.entries())
      text += entry.what + ": " + entry.example + "\n";
    return text;
  }

  Profile profile_;
  std::map<std::string, std::string> disk_ = {{"/app/dist/jobs.js", std::string(kGenerated)},
                                              {"/app/dist/jobs.js.map", map_with_source()}};
  std::map<std::string, int> reads_;
  bool keeps_texts_ = false;
};

TEST_F(ApplyTest, LeadsFunctionsAndPlacesToTheSource) {
  const FrameId declared = add("a", "/app/dist/jobs.js", {1, 22}, {1, 11});
  const FrameId arrow = add("c", "/app/dist/jobs.js", {1, 43}, {1, 39});
  const FrameId callback = add("", "/app/dist/jobs.js", {1, 51}, {1, 48});
  apply();
  EXPECT_THAT(shown(declared), HasSubstr("parseInput /app/src/jobs.ts:2:"));
  EXPECT_THAT(shown(declared), HasSubstr("from 1:27"));
  EXPECT_THAT(shown(arrow), HasSubstr("runAll /app/src/jobs.ts:4:"));
  EXPECT_THAT(shown(callback), HasSubstr(" /app/src/jobs.ts:4:"));
  EXPECT_EQ(profile_.text(profile_.frames[declared].generated), "a /app/dist/jobs.js:1:22");
  EXPECT_THAT(noticed(), HasSubstr("places mapped to sources by /app/dist/jobs.js.map"));
  EXPECT_EQ(profile_.facts["source maps"], "1 file mapped to sources");
  EXPECT_EQ(reads_["/app/dist/jobs.js.map"], 1);
}

TEST_F(ApplyTest, KeepsTheMarkOfAsynchronousCallers) {
  const FrameId id = add("async a", "/app/dist/jobs.js", {1, 22}, {1, 11});
  apply();
  EXPECT_THAT(shown(id), HasSubstr("async parseInput "));
}

TEST_F(ApplyTest, TakesTextsAndMapsOfTheRecordingFirst) {
  const FrameId id = add("a", "/gone/dist/jobs.js", {1, 22}, {1, 11});
  profile_.sources.push_back({profile_.strings.intern("/gone/dist/jobs.js"), std::string(kGenerated)});
  profile_.sources.push_back({profile_.strings.intern("/gone/dist/jobs.js.map"), map_with_source()});
  apply();
  EXPECT_THAT(shown(id), HasSubstr("parseInput /gone/src/jobs.ts"));
  EXPECT_THAT(reads_, IsEmpty());
  ASSERT_NE(profile_.find_source("/gone/src/jobs.ts"), nullptr);
  EXPECT_EQ(profile_.find_source("/gone/src/jobs.ts")->text, kSource);
}

TEST_F(ApplyTest, ReadsSourcesThatTheMapDoesNotHaveFromTheirFiles) {
  disk_["/app/dist/jobs.js.map"] = std::string(kMap) + "}";
  disk_["/app/src/jobs.ts"] = kSource;
  const FrameId id = add("a", "/app/dist/jobs.js", {1, 22}, {1, 11});
  apply();
  EXPECT_THAT(shown(id), HasSubstr("parseInput "));
}

TEST_F(ApplyTest, LeavesTheNameWhereNothingTellsIt) {
  disk_["/app/dist/jobs.js.map"] = std::string(kMap) + "}";
  const FrameId id = add("a", "/app/dist/jobs.js", {1, 22}, {1, 11});
  apply();
  EXPECT_THAT(shown(id), HasSubstr("a /app/src/jobs.ts:2:"));
}

TEST_F(ApplyTest, MarksWhatTheMapIgnores) {
  disk_["/app/dist/jobs.js.map"].insert(1, R"("ignoreList":[0],)");
  const FrameId id = add("a", "/app/dist/jobs.js", {1, 22}, {1, 11});
  apply();
  EXPECT_EQ(profile_.text(profile_.frames[id].module), kIgnoredModule);
}

TEST_F(ApplyTest, DoesNothingTwice) {
  const FrameId id = add("a", "/app/dist/jobs.js", {1, 22}, {1, 11});
  apply();
  const std::string once = shown(id);
  apply();
  EXPECT_EQ(shown(id), once);
  EXPECT_EQ(reads_["/app/dist/jobs.js.map"], 1);
}

TEST_F(ApplyTest, RefusesAFileThatHasChanged) {
  disk_["/app/dist/jobs.js"] = "/* a line that was not there */ " + std::string(kGenerated);
  const FrameId one = add("a", "/app/dist/jobs.js", {1, 22}, {1, 11});
  const FrameId two = add("c", "/app/dist/jobs.js", {1, 43}, {1, 39});
  apply();
  EXPECT_THAT(shown(one), HasSubstr("a /app/dist/jobs.js:1:22"));
  EXPECT_THAT(shown(two), HasSubstr("c /app/dist/jobs.js:1:43"));
  EXPECT_THAT(noticed(), HasSubstr("the file has changed"));
}

TEST_F(ApplyTest, RefusesAMapThatReachesBeyondItsFile) {
  disk_["/app/dist/jobs.js"] = kGenerated.substr(0, 40);
  const FrameId id = add("a", "/app/dist/jobs.js", {1, 22}, {1, 11});
  apply();
  EXPECT_THAT(shown(id), HasSubstr("a /app/dist/jobs.js"));
  EXPECT_THAT(noticed(), HasSubstr("stale"));
}

TEST_F(ApplyTest, RefusesAMapWithAnotherDebugId) {
  disk_["/app/dist/jobs.js"] += "\n//# debugId=1\n";
  disk_["/app/dist/jobs.js.map"].insert(1, R"("debugId":"2",)");
  const FrameId id = add("a", "/app/dist/jobs.js", {1, 22}, {1, 11});
  apply();
  EXPECT_THAT(shown(id), HasSubstr("a /app/dist/jobs.js"));
  EXPECT_THAT(noticed(), HasSubstr("debugId"));
}

TEST_F(ApplyTest, TellsWhichMapIsMissingOrDamaged) {
  disk_["/app/dist/jobs.js"] += "\n//# sourceMappingURL=elsewhere.map\n";
  add("a", "/app/dist/jobs.js", {1, 22}, {1, 11});
  apply();
  EXPECT_THAT(noticed(), HasSubstr("missing: /app/dist/elsewhere.map"));
  disk_["/app/dist/elsewhere.map"] = "{\"version\":3";
  apply();
  EXPECT_THAT(noticed(), HasSubstr("source maps that were not applied"));
}

TEST_F(ApplyTest, TellsOnceWhatWasNotAppliedHoweverOftenARecordingIsRead) {
  disk_["/app/dist/jobs.js.map"] = "{\"version\":3}";
  add("a", "/app/dist/jobs.js", {1, 22}, {1, 11});
  apply();
  EXPECT_THAT(noticed(), HasSubstr("source maps that were not applied"));
  const Diagnostics before = profile_.diagnostics;
  apply();
  EXPECT_EQ(profile_.diagnostics, before);
}

TEST_F(ApplyTest, LeavesFramesWithoutAColumnAlone) {
  const FrameId id = add("a", "/app/dist/jobs.js", {1, 0}, {0, 0});
  apply();
  EXPECT_THAT(shown(id), HasSubstr("a /app/dist/jobs.js:1:0"));
}

TEST_F(ApplyTest, DoesNotTakeAPlaceInAFunctionForItsBeginning) {
  // As other programs' pprof files have it: the place is that of a call.
  const FrameId id = add("a", "/app/dist/jobs.js", {1, 24}, {0, 0});
  apply();
  EXPECT_THAT(shown(id), HasSubstr("a /app/src/jobs.ts:2:"));
}

}  // namespace
}  // namespace nodescope
