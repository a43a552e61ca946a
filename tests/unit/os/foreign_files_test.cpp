// Files that a process names are opened with the rights of that process, and no others.
#include "os/foreign_files.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "os/process.h"

namespace nodescope {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kSomebody = 1234;
constexpr gid_t kTheirGroup = 4321;
constexpr std::uint64_t kLimit = 1 << 20;

TEST(FileRights, AreReadFromStatus) {
  const auto rights = parse_file_rights(
      "Name:\tnode\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nGroups:\t30 20 \nCapEff:\t000000000000000f\n");
  ASSERT_TRUE(rights);
  EXPECT_EQ(rights->user, 4u);
  EXPECT_EQ(rights->group, 8u);
  EXPECT_EQ(rights->groups, (std::vector<gid_t>{20, 30}));
  EXPECT_EQ(rights->capabilities, 15u);
  EXPECT_TRUE(parse_file_rights("\nUid:\t1\t1\t1\t1\nGid:\t1\t1\t1\t1\nGroups:\t\nCapEff:\t0\n"));
}

TEST(FileRights, NothingIsGuessed) {
  const std::string whole = "Name:\tx\nUid:\t1\t1\t1\t1\nGid:\t1\t1\t1\t1\nGroups:\t7\nCapEff:\t0\n";
  EXPECT_TRUE(parse_file_rights(whole));
  for (std::size_t size = 0; size + 2 < whole.size(); ++size)
    EXPECT_FALSE(parse_file_rights(whole.substr(0, size))) << size;
  EXPECT_FALSE(parse_file_rights("\nUid:\t1\t1\t1\tx\nGid:\t1\t1\t1\t1\nGroups:\t\nCapEff:\t0\n"));
  EXPECT_FALSE(parse_file_rights("\nUid:\t1\t1\t1\t1\nGid:\t1\t1\t1\t1\nGroups:\tx\nCapEff:\t0\n"));
}

// A process of that user and these groups, which does nothing.
class Namer {
 public:
  Namer(uid_t user, gid_t group, const std::vector<gid_t>& groups) {
    std::array<int, 2> ready{};
    if (::pipe(ready.data()) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      const bool changed = ::setgroups(groups.size(), groups.data()) == 0 &&
                           ::setresgid(group, group, group) == 0 && ::setresuid(user, user, user) == 0;
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (!changed || ::write(ready[1], "r", 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char byte = 0;
    is_ready_ = ::read(ready[0], &byte, 1) == 1;
    ::close(ready[0]);
  }
  ~Namer() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Namer(const Namer&) = delete;
  Namer& operator=(const Namer&) = delete;

  bool is_ready() const { return is_ready_; }
  Result<ForeignText> read(const std::string& path, std::uint64_t limit = kLimit) const {
    auto files = ForeignFiles::open(pid_);
    if (!files) return std::unexpected(files.error());
    return files->read(path, limit);
  }

 private:
  pid_t pid_ = 0;
  bool is_ready_ = false;
};

class ForeignFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to be several users";
    ::chmod(folder_.path().c_str(), 0755);
    // As after `su -`, which is what gave us too much once.
    const gid_t root = 0;
    ASSERT_EQ(::setgroups(1, &root), 0);
  }

  std::string file(const std::string& name, uid_t user, gid_t group, mode_t mode) const {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << "text of " << name;
    EXPECT_EQ(::chown(path.c_str(), user, group), 0);
    ::chmod(path.c_str(), mode);
    return path;
  }

  TemporaryFolder folder_ = *TemporaryFolder::create();
};

TEST_F(ForeignFilesTest, OwnFilesAreRead) {
  const Namer namer(kSomebody, kSomebody, {});
  ASSERT_TRUE(namer.is_ready());
  const auto text = namer.read(file("a.js", kSomebody, kSomebody, 0600));
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(text->text, "text of a.js");
  EXPECT_TRUE(text->real_path.ends_with("/a.js"));
  EXPECT_GT(text->modified_ns, 0);
}

TEST_F(ForeignFilesTest, FilesOfRootAreNot) {
  const Namer namer(kSomebody, kSomebody, {});
  const std::string secret = file("secret.js", 0, 0, 0600);
  const auto text = namer.read(secret);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kPermission);
  EXPECT_TRUE(Namer(0, 0, {}).read(secret));
}

// Our own further groups do not help.
TEST_F(ForeignFilesTest, FilesInAFolderOfOurGroupAreNot) {
  const Namer namer(kSomebody, kSomebody, {});
  const std::string folder = folder_.path() + "/closed";
  fs::create_directory(folder);
  ::chmod(folder.c_str(), 0750);
  const std::string path = file("closed/a.js", 0, 0, 0644);
  EXPECT_FALSE(namer.read(path));
  const Namer member(kSomebody, kSomebody, {0});
  EXPECT_TRUE(member.read(path));
}

TEST_F(ForeignFilesTest, TheirGroupsCount) {
  const std::string path = file("group.js", 0, kTheirGroup, 0640);
  EXPECT_FALSE(Namer(kSomebody, kSomebody, {}).read(path));
  EXPECT_TRUE(Namer(kSomebody, kTheirGroup, {}).read(path));
  EXPECT_TRUE(Namer(kSomebody, kSomebody, {kTheirGroup}).read(path));
}

// An owner whom the mode forbids it may not, though the group or others may.
TEST_F(ForeignFilesTest, AnOwnerWithoutTheRightIsRefused) {
  EXPECT_FALSE(Namer(kSomebody, kSomebody, {}).read(file("a.js", kSomebody, kSomebody, 0044)));
}

TEST_F(ForeignFilesTest, LinksAreResolvedAndTold) {
  const Namer namer(kSomebody, kSomebody, {});
  const std::string link = folder_.path() + "/x.js";
  fs::create_symlink(file("plain", kSomebody, kSomebody, 0644), link);
  const auto text = namer.read(link);
  ASSERT_TRUE(text);
  EXPECT_TRUE(text->real_path.ends_with("/plain"));
}

TEST_F(ForeignFilesTest, OnlyRegularFilesAreOpened) {
  const Namer namer(0, 0, {});
  const std::string fifo = folder_.path() + "/fifo.js";
  ::mkfifo(fifo.c_str(), 0666);
  const std::string device = folder_.path() + "/device.js";
  ::mknod(device.c_str(), S_IFCHR | 0666, makedev(1, 5));
  for (const std::string& path : {fifo, device, folder_.path(), std::string("/proc/self/environ")}) {
    const auto text = namer.read(path);
    ASSERT_FALSE(text) << path;
    EXPECT_EQ(text.error().code, ErrorCode::kUnsupported) << path;
  }
  EXPECT_FALSE(namer.read("/no/such.js"));
  EXPECT_FALSE(namer.read(std::string(5000, 'x')));
}

TEST_F(ForeignFilesTest, TheLimitHolds) {
  const Namer namer(0, 0, {});
  const std::string path = file("a.js", 0, 0, 0600);
  EXPECT_TRUE(namer.read(path, 12));
  EXPECT_EQ(namer.read(path, 11).error().code, ErrorCode::kLimit);
}

// The kernel would wait 45 seconds for whoever holds the lease.
TEST_F(ForeignFilesTest, ALeaseKeepsNobodyWaiting) {
  const Namer namer(0, 0, {});
  const std::string path = file("a.js", 0, 0, 0600);
  const FileDescriptor held(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  ::signal(SIGIO, SIG_IGN);
  ASSERT_EQ(::fcntl(held.get(), F_SETLEASE, F_WRLCK), 0);
  EXPECT_FALSE(namer.read(path));
  ::signal(SIGIO, SIG_DFL);
}

TEST(ForeignFiles, OfOurselvesNeedNoRoot) {
  auto files = ForeignFiles::open(::getpid());
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_TRUE(files->read("/etc/hostname", kLimit) || files->read("/etc/passwd", kLimit));
  EXPECT_FALSE(ForeignFiles::open(0x3FFFFFFF));
}

}  // namespace
}  // namespace nodescope
