#include "analysis/code_origin.h"

#include <gtest/gtest.h>

#include "model/name_marks.h"

namespace nodescope {
namespace {

CodeOrigin origin(std::string_view file, FrameKind kind = FrameKind::kJs, std::string_view function = "f") {
  static Profile profile;
  Frame frame;
  frame.function = profile.strings.intern(function);
  frame.file = profile.strings.intern(file);
  frame.kind = kind;
  return origin_of(profile, frame);
}

TEST(CodeOrigin, TellsOwnCodeFromPackagesAndNode) {
  EXPECT_EQ(origin("/app/server.js").origin, Origin::kOwn);
  EXPECT_EQ(origin("file:///app/server.mjs").origin, Origin::kOwn);
  EXPECT_EQ(origin("server.js").origin, Origin::kOwn);
  EXPECT_EQ(origin("").origin, Origin::kOwn);
  EXPECT_EQ(origin("node:internal/timers").origin, Origin::kNode);
  EXPECT_EQ(origin("internal/process/next_tick.js").origin, Origin::kNode);
  EXPECT_EQ(origin("events.js").origin, Origin::kNode);
  EXPECT_EQ(origin("_http_server.js").origin, Origin::kNode);
  EXPECT_EQ(origin("/app/events.js").origin, Origin::kOwn);
  EXPECT_EQ(origin("/app/node_modules/express/lib/router.js"), (CodeOrigin{Origin::kPackage, "express"}));
}

TEST(CodeOrigin, TellsSourcesInsideOfBundles) {
  EXPECT_EQ(origin("webpack://app/src/a.ts").origin, Origin::kOwn);
  EXPECT_EQ(origin("webpack://app/node_modules/express/lib/a.js"), (CodeOrigin{Origin::kPackage, "express"}));
  EXPECT_EQ(origin("webpack://app/webpack/bootstrap"), (CodeOrigin{Origin::kPackage, "webpack"}));
  EXPECT_EQ(origin("webpack:///webpack/runtime/define"), (CodeOrigin{Origin::kPackage, "webpack"}));
  Profile profile;
  Frame frame;
  frame.kind = FrameKind::kJs;
  frame.file = profile.strings.intern("/vendor/a.ts");
  frame.module = profile.strings.intern(kIgnoredModule);
  EXPECT_EQ(origin_of(profile, frame).origin, Origin::kPackage);
}

TEST(CodeOrigin, FindsTheInnermostPackage) {
  EXPECT_EQ(package_of_file("/a/node_modules/x/node_modules/y/i.js"), "y");
  EXPECT_EQ(package_of_file("/a/node_modules/@scope/name/i.js"), "@scope/name");
  EXPECT_EQ(package_of_file("node_modules/x/i.js"), "x");
  EXPECT_EQ(package_of_file("/a/my_node_modules/x/i.js"), "");
  EXPECT_EQ(package_of_file("/a/node_modules/.pnpm/x@1.0.0/node_modules/x/i.js"), "x");
  EXPECT_EQ(package_of_file("/a/node_modules/"), "");
  EXPECT_EQ(package_of_file("/a/node_modules/@scope"), "@scope");
}

TEST(CodeOrigin, FollowsTheKindOfOtherCode) {
  EXPECT_EQ(origin("/app/x.cc", FrameKind::kNative).origin, Origin::kNative);
  EXPECT_EQ(origin("", FrameKind::kKernel).origin, Origin::kKernel);
  EXPECT_EQ(origin("", FrameKind::kGc).origin, Origin::kGc);
  EXPECT_EQ(origin("", FrameKind::kUnknown).origin, Origin::kUnknown);
  EXPECT_EQ(origin("/app/x.wasm", FrameKind::kWasm).origin, Origin::kOwn);
}

// The leaves that only-my-code makes keep their origin when they are looked at again.
TEST(CodeOrigin, KnowsItsOwnNames) {
  for (const CodeOrigin& kept : {CodeOrigin{Origin::kNode, {}}, CodeOrigin{Origin::kPackage, "@a/b"}}) {
    EXPECT_EQ(origin("", FrameKind::kJs, to_string(kept)), kept);
  }
}

}  // namespace
}  // namespace nodescope
