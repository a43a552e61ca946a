#include "app/source_files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "os/process.h"

namespace nodescope {
namespace {

void add_file(Profile& profile, const std::string& file) {
  Frame frame;
  frame.function = profile.strings.intern("f");
  frame.file = profile.strings.intern(file);
  frame.kind = FrameKind::kJs;
  profile.frames.intern(frame);
}

class SourceFilesTest : public ::testing::Test {
 protected:
  std::string put(const std::string& name, const std::string& content) {
    const std::string path = folder_->path() + "/" + name;
    std::ofstream(path) << content;
    return path;
  }
  void name(const std::string& file) {
    Profile profile;
    add_file(profile, file);
    sources_.add(profile);
  }
  ErrorCode refusal(const std::string& path) {
    const auto content = sources_.read(path);
    EXPECT_FALSE(content.has_value()) << path;
    return content ? ErrorCode::kUsage : content.error().code;
  }

  Result<TemporaryFolder> folder_ = TemporaryFolder::create();
  SourceFiles sources_;
};

TEST_F(SourceFilesTest, AFileThatAFrameNamesIsGiven) {
  const std::string path = put("a.js", "let x;");
  EXPECT_EQ(refusal(path), ErrorCode::kPermission);
  name(path);
  EXPECT_EQ(sources_.read(path), "let x;");
}

TEST_F(SourceFilesTest, AnAddressOfAFileIsGivenToo) {
  put("a b+.mjs", "export {}");
  const std::string address = "file://" + folder_->path() + "/a%20b+.mjs";
  name(address);
  EXPECT_EQ(sources_.read(address), "export {}");
}

TEST_F(SourceFilesTest, SourceMapsBesideItAreGiven) {
  name(put("a.js", "x"));
  EXPECT_EQ(sources_.read(put("a.js.map", "{}")), "{}");
  EXPECT_EQ(sources_.read(put("other.map", "{1}")), "{1}");
  EXPECT_EQ(refusal("/etc/other.map"), ErrorCode::kPermission);
  EXPECT_EQ(refusal(folder_->path() + "/.map"), ErrorCode::kPermission);
}

TEST_F(SourceFilesTest, NamesAreComparedAsTheyAre) {
  const std::string path = put("a.js", "x");
  name(path);
  EXPECT_EQ(refusal(folder_->path() + "/./a.js"), ErrorCode::kPermission);
  EXPECT_EQ(refusal(folder_->path() + "//a.js"), ErrorCode::kPermission);
  EXPECT_EQ(refusal(folder_->path() + "/x/../a.js"), ErrorCode::kPermission);
  EXPECT_EQ(refusal(path + "x"), ErrorCode::kPermission);
  EXPECT_EQ(refusal("/etc/passwd"), ErrorCode::kPermission);
}

TEST_F(SourceFilesTest, OnlyPlainFilesAreGiven) {
  const std::string target = put("target.js", "secret");
  const std::string link = folder_->path() + "/link.js";
  std::filesystem::create_symlink(target, link);
  const std::string fifo = folder_->path() + "/fifo.js";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path :
       {link, fifo, folder_->path(), std::string("/dev/zero"), std::string("/proc/self/environ"),
        std::string("node:fs"), std::string("relative.js"), folder_->path() + "/gone.js"}) {
    name(path);
    EXPECT_EQ(refusal(path), ErrorCode::kNotFound) << path;
  }
}

TEST_F(SourceFilesTest, ALargeFileIsNotGiven) {
  const std::string path = put("large.js", "x");
  name(path);
  std::filesystem::resize_file(path, 8u << 20);
  EXPECT_TRUE(sources_.read(path).has_value());
  std::filesystem::resize_file(path, (8u << 20) + 1);
  EXPECT_EQ(refusal(path), ErrorCode::kNotFound);
}

TEST_F(SourceFilesTest, WhatASourceMapLeadsToIsGiven) {
  std::filesystem::create_directory(folder_->path() + "/dist");
  std::filesystem::create_directory(folder_->path() + "/src");
  const std::string generated = put("dist/a.js", "a\n//# sourceMappingURL=a.js.map");
  put("dist/a.js.map", R"({"sources":["../src/a.ts","../src/link.ts","../src/gone.ts","/etc/passwd"]})");
  const std::string original = put("src/a.ts", "let a: number;");
  const std::string other = put("src/b.ts", "secret");
  std::filesystem::create_symlink(other, folder_->path() + "/src/link.ts");
  const auto refusal_of = [&](const std::string& path) {
    return sources_.read_original(path, generated).error().code;
  };
  EXPECT_EQ(refusal_of(original), ErrorCode::kPermission) << "no frame names the file";
  sources_ = {};
  name(generated);
  EXPECT_EQ(sources_.read_original(original, generated), "let a: number;");
  EXPECT_EQ(refusal_of(other), ErrorCode::kPermission);
  EXPECT_EQ(refusal_of("/etc/passwd"), ErrorCode::kPermission);
  EXPECT_EQ(refusal_of(folder_->path() + "/dist/../src/a.ts"), ErrorCode::kPermission);
  EXPECT_EQ(refusal_of(folder_->path() + "/src/link.ts"), ErrorCode::kNotFound);
  EXPECT_EQ(refusal_of(folder_->path() + "/src/gone.ts"), ErrorCode::kNotFound);
  EXPECT_EQ(refusal(original), ErrorCode::kPermission) << "without saying whose original it is";
}

TEST_F(SourceFilesTest, AContainersFilesAreOthers) {
  const std::string path = put("a.js", "of the host");
  Profile profile;
  profile.facts["container"] = "0123456789ab";
  add_file(profile, path);
  sources_.add(profile);
  EXPECT_EQ(refusal(path), ErrorCode::kPermission);
}

}  // namespace
}  // namespace nodescope
