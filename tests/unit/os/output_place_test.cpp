// Output files in folders that somebody else may write to.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "os/output_file.h"
#include "os/process.h"

namespace nodescope {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kSomebody = 1234;

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

mode_t mode_of(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & ACCESSPERMS : 0;
}

Result<void> write_whole(const std::string& path, Readers readers = Readers::kByUmask) {
  auto file = OutputFile::create(path, readers);
  if (!file) return std::unexpected(file.error());
  if (auto written = (*file)->write("new"); !written) return written;
  return (*file)->commit();
}

class OutputPlaceTest : public ::testing::Test {
 protected:
  OutputPlaceTest() : folder_(*TemporaryFolder::create()) { umask_ = ::umask(022); }
  ~OutputPlaceTest() override { ::umask(umask_); }

  std::string in_folder(const std::string& name) const { return folder_.path() + "/" + name; }
  std::size_t files() const {
    const fs::directory_iterator all(folder_.path());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  TemporaryFolder folder_;
  mode_t umask_ = 0;
};

// The folder belongs to somebody who wants us to write elsewhere.
class HostileFolder : public OutputPlaceTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to make a folder of somebody else";
    ::chmod(folder_.path().c_str(), 0755);
    hostile_ = in_folder("theirs");
    fs::create_directory(hostile_);
    ::lchown(hostile_.c_str(), kSomebody, kSomebody);
    secret_ = in_folder("secret");
    std::ofstream(secret_) << "old";
    ::chmod(secret_.c_str(), 0600);
  }

  std::string link_to(const std::string& target, const std::string& name = "out") const {
    const std::string link = hostile_ + "/" + name;
    fs::create_symlink(target, link);
    ::lchown(link.c_str(), kSomebody, kSomebody);
    return link;
  }

  std::string hostile_, secret_;
};

TEST_F(OutputPlaceTest, ANewFileIsAsReadableAsTheUmaskSays) {
  ASSERT_TRUE(write_whole(in_folder("a")));
  EXPECT_EQ(mode_of(in_folder("a")), 0644u);
  EXPECT_EQ(content_of(in_folder("a")), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputPlaceTest, WhatHoldsSecretsIsTheOwnersAlone) {
  ASSERT_TRUE(write_whole(in_folder("a"), Readers::kOwner));
  EXPECT_EQ(mode_of(in_folder("a")), 0600u);
  ASSERT_TRUE(GrowingFile::create(in_folder("b"), Readers::kOwner));
  EXPECT_EQ(mode_of(in_folder("b")), 0600u);
}

TEST_F(OutputPlaceTest, AReplacedFileStaysAsPrivateAsItWas) {
  for (const mode_t mode : {0600u, 0640u, 0666u}) {
    std::ofstream(in_folder("a")) << "old";
    ::chmod(in_folder("a").c_str(), mode);
    ASSERT_TRUE(write_whole(in_folder("a")));
    EXPECT_EQ(mode_of(in_folder("a")), mode & 0644u);
    ::chmod(in_folder("a").c_str(), mode);
    ASSERT_TRUE(GrowingFile::create(in_folder("a")));
    EXPECT_EQ(mode_of(in_folder("a")), mode & 0644u);
  }
}

TEST_F(OutputPlaceTest, WithoutCommitNothingIsLeft) {
  {
    auto file = OutputFile::create(in_folder("a"));
    ASSERT_TRUE(file);
    EXPECT_EQ(files(), 1u);
  }
  EXPECT_TRUE(check_output(in_folder("a")));
  EXPECT_EQ(files(), 0u);
}

TEST_F(OutputPlaceTest, DevicesAndOwnDescriptorsAreWrittenInPlace) {
  ASSERT_TRUE(write_whole("/dev/null"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const FileDescriptor file(::open(in_folder("a").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(write_whole("/dev/fd/" + std::to_string(file.get())));
  EXPECT_EQ(content_of(in_folder("a")), "new");
  EXPECT_EQ(files(), 1u);
}

// A result on standard output that is a file: /dev/stdout was replaced by a file once.
TEST_F(OutputPlaceTest, StandardOutputStaysALink) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int file = ::open(in_folder("a").c_str(), O_RDWR | O_CREAT, 0600);
    ::dup2(file, STDOUT_FILENO);
    ::_exit(write_whole("/dev/stdout") ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(fs::is_symlink("/dev/stdout"));
  EXPECT_EQ(content_of(in_folder("a")), "new");
}

TEST_F(OutputPlaceTest, OwnLinksToFoldersAndDevicesAreFollowed) {
  fs::create_directory(in_folder("real"));
  fs::create_directory_symlink("real", in_folder("link"));
  ASSERT_TRUE(write_whole(in_folder("link/a")));
  EXPECT_EQ(content_of(in_folder("real/a")), "new");
  fs::create_symlink("/dev/null", in_folder("nothing"));
  ASSERT_TRUE(write_whole(in_folder("nothing")));
  EXPECT_TRUE(fs::is_symlink(in_folder("nothing")));
}

TEST_F(OutputPlaceTest, ALinkToAFileIsReplacedItself) {
  std::ofstream(in_folder("target")) << "old";
  fs::create_symlink("target", in_folder("link"));
  fs::create_symlink("missing", in_folder("dangling"));
  for (const std::string name : {"link", "dangling"}) {
    ASSERT_TRUE(write_whole(in_folder(name)));
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(in_folder(name))));
  }
  EXPECT_EQ(content_of(in_folder("target")), "old");
}

TEST_F(OutputPlaceTest, FoldersLoopsAndMissingFoldersAreErrors) {
  fs::create_symlink("loop", in_folder("loop"));
  for (const std::string& path : {folder_.path(), folder_.path() + "/", in_folder("."), in_folder("loop/a"),
                                  in_folder("missing/a"), std::string("/"), std::string()}) {
    EXPECT_FALSE(check_output(path)) << path;
  }
}

TEST_F(HostileFolder, LinksAreNotFollowed) {
  for (const std::string target : {"/dev/null", "/dev/zero", "/dev/tty"}) {
    const std::string link = link_to(target);
    ASSERT_TRUE(write_whole(link));
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(link)));
    fs::remove(link);
  }
  ASSERT_TRUE(write_whole(link_to(secret_)));
  EXPECT_EQ(content_of(secret_), "old");
}

TEST_F(HostileFolder, LinksToFoldersAreRefused) {
  const auto written = write_whole(link_to(folder_.path(), "way") + "/secret");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kPermission);
  EXPECT_NE(written.error().message.find("is a link of user 1234"), std::string::npos);
  EXPECT_EQ(content_of(secret_), "old");
}

TEST_F(HostileFolder, TheirFifoIsRefused) {
  const std::string fifo = hostile_ + "/fifo";
  ::mkfifo(fifo.c_str(), 0666);
  ::lchown(fifo.c_str(), kSomebody, kSomebody);
  EXPECT_FALSE(write_whole(fifo));
  EXPECT_FALSE(GrowingFile::create(fifo));
}

TEST_F(HostileFolder, BlockDevicesAreRefusedEverywhere) {
  const std::string device = in_folder("disk");
  if (::mknod(device.c_str(), S_IFBLK | 0600, makedev(7, 250)) != 0)
    GTEST_SKIP() << "no devices can be made here";
  fs::create_symlink(device, in_folder("link"));
  for (const std::string& path : {device, in_folder("link")}) {
    EXPECT_FALSE(write_whole(path));
    EXPECT_FALSE(GrowingFile::create(path));
  }
}

// Somebody exchanges a file and a link to a file of root, as fast as possible.
TEST_F(HostileFolder, ARaceWritesNothingElsewhere) {
  const std::string path = hostile_ + "/out";
  const pid_t attacker = ::fork();
  if (attacker == 0) {
    if (::setresuid(kSomebody, kSomebody, kSomebody) != 0) ::_exit(1);
    for (;;) {
      ::unlink(path.c_str());
      [[maybe_unused]] const int linked = ::symlink(secret_.c_str(), path.c_str());
      ::unlink(path.c_str());
      ::close(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
      ::unlink(path.c_str());
      ::mkfifo(path.c_str(), 0666);
    }
  }
  for (int i = 0; i < 200; ++i) {
    [[maybe_unused]] const auto whole = write_whole(path);
    const auto growing = GrowingFile::create(path);
    EXPECT_TRUE(!growing || (*growing)->write("new"));
  }
  ::kill(attacker, SIGKILL);
  ::waitpid(attacker, nullptr, 0);
  EXPECT_EQ(content_of(secret_), "old");
}

TEST_F(OutputPlaceTest, AGrowingFileThatIsRemovedIsNoticed) {
  auto file = GrowingFile::create(in_folder("a"));
  ASSERT_TRUE(file);
  EXPECT_TRUE((*file)->check_is_there());
  fs::remove(in_folder("a"));
  EXPECT_FALSE((*file)->check_is_there());
  std::ofstream(in_folder("a")) << "another";
  EXPECT_FALSE((*file)->check_is_there());
}

}  // namespace
}  // namespace nodescope
