#include "source_maps/source_names.h"

#include <gmock/gmock.h>

namespace nodescope {
namespace {

TEST(SourceNames, ArePathsOrAddressesOfFiles) {
  EXPECT_EQ(path_of_source("/app/a b.js"), "/app/a b.js");
  EXPECT_EQ(path_of_source("file:///app/a%20b+.mjs"), "/app/a b+.mjs");
  for (const char* other : {"", "node:fs", "wasm://wasm/1", "evalmachine.<anonymous>", "file://host/a.js",
                            "file:///%zz", "file:///a%00.js", "a.js"}) {
    EXPECT_EQ(path_of_source(other), std::nullopt) << other;
  }
}

TEST(SourceNames, EndLikeTheirLanguage) {
  EXPECT_TRUE(ends_like_javascript("/a/b.mts"));
  EXPECT_FALSE(ends_like_javascript("/a/b.vue"));
  EXPECT_TRUE(ends_like_original("/a/b.vue"));
  EXPECT_TRUE(ends_like_original("/a/b.tsx"));
  for (const char* other : {"", "/etc/shadow", "/a/config.json", "/a/.env", "/a/ts", "/a/b.ts.bak"})
    EXPECT_FALSE(ends_like_original(other)) << other;
}

}  // namespace
}  // namespace nodescope
