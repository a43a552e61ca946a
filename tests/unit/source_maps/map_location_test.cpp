#include "source_maps/map_location.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace nodescope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

TEST(SourceMapInside, IsDecodedWhateverItsLength) {
  const std::string mark = "x()\n//# sourceMappingURL=data:application/json;base64,";
  EXPECT_EQ(source_map_inside(mark + "e30="), "{}");
  EXPECT_EQ(source_map_inside(mark + "eyAgfQ==\n"), "{  }");
  EXPECT_EQ(source_map_inside("//# sourceMappingURL=data:application/json;charset=utf-8,%7B%22a%22:1%7D"),
            "{\"a\":1}");
  std::string zeros;
  for (int i = 0; i < 5000; ++i) zeros += "AAAA";
  EXPECT_EQ(source_map_inside(mark + zeros)->size(), 15'000u);
  for (const std::string& text : {mark + "e3~=", std::string("//# sourceMappingURL=a.map"),
                                  std::string("//# sourceMappingURL=data:text/html;base64,e30=")}) {
    EXPECT_EQ(source_map_inside(text), std::nullopt) << text;
  }
}

std::vector<std::string> originals(std::string_view sources,
                                   std::string_view name = "/srv/app/dist/a.js.map") {
  return originals_without_text(name,
                                fmt::format(R"({{"version":3,"sources":[{}],"mappings":""}})", sources));
}

TEST(Originals, AreFoundFromWhereTheMapIs) {
  EXPECT_THAT(originals(R"("../src/a.ts","b.js","./c/../d%20+.vue","/srv/app/e.mts","file:///srv/app/f.ts")"),
              ElementsAre("/srv/app/src/a.ts", "/srv/app/dist/b.js", "/srv/app/dist/d +.vue",
                          "/srv/app/e.mts", "/srv/app/f.ts"));
  EXPECT_THAT(originals(R"("../src/a.ts")", "file:///srv/my%20app/dist/a.js.map"),
              ElementsAre("/srv/my app/src/a.ts"));
  EXPECT_THAT(originals(R"("%zz.ts")"), ElementsAre("/srv/app/dist/%zz.ts"));
  EXPECT_THAT(originals_without_text("/app/dist/a.js.map",
                                     R"({"mappings":"","sources":["a.ts","b.ts"],"sourceRoot":"../src"})"),
              ElementsAre("/app/src/a.ts", "/app/src/b.ts"));
  EXPECT_THAT(originals(R"("webpack:///./src/a.ts","https://example.org/a.ts","file://host/a.ts",null,"",7)"),
              IsEmpty());
  EXPECT_THAT(originals(R"("a.ts")", "node:fs"), IsEmpty());
}

TEST(Originals, AreThoseWithoutText) {
  EXPECT_THAT(originals_without_text("/app/a.js.map",
                                     R"({"sourcesContent":["let a",null],"sources":["a.ts","b.ts","c.ts"]})"),
              ElementsAre("/app/b.ts", "/app/c.ts"));
}

TEST(Originals, OfAMapThatConsistsOfOthers) {
  EXPECT_THAT(originals_without_text("/app/a.js.map", R"()]}'
    {"version":3,"sections":[{"offset":{"line":0,"column":0},"map":{"sources":["a.ts"],"mappings":""}},
      {"map":{"sources":["b.ts"],"sections":[{"map":{"sources":["deep.ts"]}}]}}]})"),
              ElementsAre("/app/a.ts", "/app/b.ts"));
}

// Whoever wrote a map may be somebody else than who looks at the profile.
TEST(Originals, AreNothingButSourcesOfTheSameProject) {
  EXPECT_THAT(originals(R"("../../../etc/passwd","/etc/shadow","../.env","../key.pem","../config.json")"),
              IsEmpty());
  // Ends like a source, but another project, another user, a hidden folder.
  EXPECT_THAT(originals(R"("../../other/secret.ts","/home/me/notes/secret.ts","../.ssh/a.js","x/.git/a.ts")"),
              IsEmpty());
  EXPECT_THAT(originals(R"("../../../../../../../srv/other/a.ts")"), IsEmpty());
  EXPECT_THAT(originals(R"("../other/a.ts","../../x/a.ts")", "/home/me/app/dist/a.js.map"),
              ElementsAre("/home/me/app/other/a.ts"));
  EXPECT_THAT(originals(R"("../../other/a.ts")", "/home/me/app/a.js.map"), IsEmpty());
  EXPECT_THAT(originals(R"("../other/a.ts","b.ts")", "/home/me/a.js.map"), ElementsAre("/home/me/b.ts"));
  EXPECT_THAT(originals(R"("../src/a.ts")", "/app/dist/a.js.map"), ElementsAre("/app/src/a.ts"));
  EXPECT_THAT(originals(R"("a\u0000.ts","../src/a\u0000/../../x.ts")"), IsEmpty());
}

TEST(Originals, OfDamagedMapsAreWhatCanBeRead) {
  const std::string map =
      R"({"version":3,"sourceRoot":"..","sources":["src/a.ts","b.ts"],"sections":[{"map":{}}]})";
  for (std::size_t length = 0; length < map.size(); ++length)
    EXPECT_LE(originals_without_text("/app/dist/a.js.map", map.substr(0, length)).size(), 2u);
  EXPECT_THAT(originals_without_text("/app/a.js.map", R"({"sources":{"a":1},"sourceRoot":[1],"sections":7})"),
              IsEmpty());
  EXPECT_THAT(originals_without_text("/app/a.js.map", std::string(100'000, '[')), IsEmpty());
  std::string many = R"("a.ts")";
  for (int i = 0; i < 2000; ++i) many += R"(,"a.ts")";
  EXPECT_EQ(originals(many).size(), 1000u);
}

TEST(ShownSources, ArePathsOrAddressesWithoutDots) {
  EXPECT_EQ(shown_source("/app/dist/a.js.map", "", "../src/a.ts"), "/app/src/a.ts");
  EXPECT_EQ(shown_source("file:///app/dist/a.js", "..", "src/./a%20b.ts"), "/app/src/a b.ts");
  EXPECT_EQ(shown_source("/app/dist/a.js.map", "", "webpack://app/./src/../a.ts"), "webpack://app/a.ts");
  EXPECT_EQ(shown_source("/app/dist/a.js.map", "webpack://app", "./a.ts"), "webpack://app/a.ts");
  EXPECT_EQ(shown_source("/app/a.js.map", "", "../../../../etc/x.ts"), "/etc/x.ts");
}

TEST(FilesOfSources, AreThoseThatACompilerCouldHaveRead) {
  EXPECT_EQ(file_of_source("/app/dist/a.js.map", "", "../src/a.ts"), "/app/src/a.ts");
  EXPECT_EQ(file_of_source("/app/dist/a.js.map", "", "/etc/passwd"), std::nullopt);
  EXPECT_EQ(file_of_source("/app/dist/a.js.map", "", "../../etc/keys.ts"), std::nullopt);
  EXPECT_EQ(file_of_source("/app/dist/a.js.map", "", "../.git/a.ts"), std::nullopt);
}

TEST(DebugIds, AreInTheLastLinesAndInTheMap) {
  EXPECT_EQ(debug_id_of("x()\n//# debugId=85314830-023f-4cf1-a267-535f4e37bb17\n//# sourceMappingURL=a.map"),
            "85314830-023f-4cf1-a267-535f4e37bb17");
  EXPECT_EQ(debug_id_of("x()"), "");
  EXPECT_EQ(debug_id_of_map(R"({"version":3,"debugId":"85-3","mappings":""})"), "85-3");
  EXPECT_EQ(debug_id_of_map("["), "");
}

TEST(CodeOfAFile, IsWithoutTheCommentThatNamesItsMap) {
  EXPECT_EQ(code_of("x()\n//# sourceMappingURL=a.map\n"), "x()");
  EXPECT_EQ(code_of("x()\n"), "x()");
  EXPECT_EQ(code_of(""), "");
}

}  // namespace
}  // namespace nodescope
