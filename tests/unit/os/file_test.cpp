#include "os/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include "os/output_file.h"
#include "os/process.h"

namespace nodescope {
namespace {

class FileTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string put(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  static std::string content_of(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  TemporaryFolder folder_ = *TemporaryFolder::create();
};

TEST_F(FileTest, HostFilesKnowTheHomeFolderAndTheVdso) {
  put("x", "content");
  const std::string home = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "";
  ASSERT_EQ(::setenv("HOME", folder_.path().c_str(), 1), 0);
  const auto source = HostFiles().open("~/x");
  ASSERT_EQ(::setenv("HOME", home.c_str(), 1), 0);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(as_text(*(*source)->mapped()), "content");

  const auto vdso = HostFiles().open("[vdso]");
  ASSERT_TRUE(vdso) << vdso.error().message;
  const std::string_view image = as_text(*(*vdso)->mapped());
  EXPECT_TRUE(
      image.starts_with("\x7F"
                        "ELF"));
  EXPECT_TRUE(image.contains("__vdso_clock_gettime"));
}

TEST_F(FileTest, ReadsInOrderAtRandomAndMapped) {
  const auto source = *open_file(put("a", "0123456789"));
  EXPECT_EQ(source->size(), 10u);
  EXPECT_EQ(as_text(*source->mapped()), "0123456789");
  std::array<std::byte, 4> part{};
  EXPECT_EQ(source->read_at(8, part), 2u);
  EXPECT_EQ(as_text(std::span(part).first(2)), "89");
  EXPECT_EQ(source->read(part), 4u);
  EXPECT_EQ(as_text(part), "0123");
}

TEST_F(FileTest, ReadsProcAsAStream) {
  const auto source = *open_file("/proc/self/maps");
  EXPECT_FALSE(source->size());
  EXPECT_FALSE(source->mapped());
  std::string storage;
  EXPECT_NE(as_text(*read_whole(*source, storage, 1 << 24)).find("[stack]"), std::string_view::npos);
}

TEST_F(FileTest, NamesWhatIsWrong) {
  const auto missing = open_file(path("none"));
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_NE(missing.error().message.find("none: No such file"), std::string::npos);
  EXPECT_EQ(open_file(folder_.path()).error().code, ErrorCode::kUsage);
}

TEST_F(FileTest, TrustsNoLinkInAFolderThatEverybodyMayWriteTo) {
  ::chmod(folder_.path().c_str(), 01777);
  put("real", "1000 10 fib\n");
  ASSERT_EQ(::symlink(path("real").c_str(), path("perf-1.map").c_str()), 0);
  HostFiles files;
  EXPECT_TRUE(files.open(path("real")));
  EXPECT_FALSE(files.open(path("perf-1.map")));
}

TEST_F(FileTest, TrustsNoStrangerInAFolderThatEverybodyMayWriteTo) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ::chmod(folder_.path().c_str(), 01777);
  const std::string map = put("perf-1.map", "1000 10 fib\n");
  ASSERT_EQ(::chown(map.c_str(), 12345, 12345), 0);
  HostFiles files;
  const auto refused = files.open(map);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kPermission);
  ::chmod(folder_.path().c_str(), 0755);
  EXPECT_TRUE(files.open(map));
}

TEST_F(FileTest, DoesNotWaitForAFifo) {
  ASSERT_EQ(::mkfifo(path("perf-1.map").c_str(), 0600), 0);
  HostFiles files;
  EXPECT_FALSE(files.open(path("perf-1.map")));
}

TEST_F(FileTest, AnOutputFileAppearsWholeOrNotAtAll) {
  put("out", "old");
  {
    auto file = *OutputFile::create(path("out"));
    ASSERT_TRUE(file->write("half"));
  }
  EXPECT_EQ(content_of(path("out")), "old");
  EXPECT_EQ(files_in(folder_.path(), "").size(), 1u);
  auto file = *OutputFile::create(path("out"));
  const std::string large(1'000'000, 'x');
  ASSERT_TRUE(file->write("new "));
  ASSERT_TRUE(file->write(large));
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(content_of(path("out")), "new " + large);
  EXPECT_EQ(files_in(folder_.path(), "").size(), 1u);
}

TEST_F(FileTest, WritesIntoDevicesInPlace) {
  auto file = *OutputFile::create("/dev/null");
  ASSERT_TRUE(file->write("x"));
  EXPECT_TRUE(file->commit());
  EXPECT_TRUE(std::ifstream("/dev/null").good());
}

TEST_F(FileTest, SaysWhereItCannotWrite) {
  const auto refused = OutputFile::create(path("no/such/folder"));
  EXPECT_EQ(refused.error().code, ErrorCode::kNotFound);
}

TEST(Process, TellsHowAProgramEnded) {
  EXPECT_EQ(run_program({"sh", "-c", "exit 3"}), 3);
  EXPECT_EQ(run_program({"sh", "-c", "kill -9 $$"}), 128 + 9);
  EXPECT_EQ(run_program({"no-such-program-here"}).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace nodescope
