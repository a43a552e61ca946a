#include "target/command_binary.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "os/process.h"

namespace nodescope {
namespace {

using Words = std::vector<std::string>;

TEST(InterpreterLine, WordsBehindTheMark) {
  EXPECT_EQ(parse_interpreter_line("#!/usr/bin/env node\nconsole.log(1)"), (Words{"/usr/bin/env", "node"}));
  EXPECT_EQ(parse_interpreter_line("#! /bin/sh\t-e\r\n"), (Words{"/bin/sh", "-e"}));
  EXPECT_EQ(parse_interpreter_line("#!/bin/sh"), Words{"/bin/sh"});
  EXPECT_EQ(parse_interpreter_line("#!\nx"), Words{});
  EXPECT_EQ(parse_interpreter_line("#"), Words{});
  EXPECT_EQ(parse_interpreter_line("\x7f"
                                   "ELF"),
            Words{});
}

TEST(InterpreterLine, OptionsOfEnvAreSkipped) {
  const Words words{"-S", "A=1", "node", "--expose-gc", "B=2"};
  const auto rest = skip_env_options(words);
  EXPECT_EQ(Words(rest.begin(), rest.end()), (Words{"node", "--expose-gc", "B=2"}));
  EXPECT_TRUE(skip_env_options({}).empty());
}

class CommandBinary : public ::testing::Test {
 protected:
  CommandBinary() : folder_(TemporaryFolder::create()) { std::filesystem::permissions(path(""), kOwn); }

  std::string path(const std::string& name) const { return folder_->path() + "/" + name; }
  std::string make_script(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    std::filesystem::permissions(path(name), kOwn);
    return path(name);
  }

 private:
  static constexpr auto kOwn = std::filesystem::perms::owner_all;
  Result<TemporaryFolder> folder_;
};

TEST_F(CommandBinary, ThroughScripts) {
  const std::string shell = make_script("a", "#!/usr/bin/env -S sh -e\n");
  const std::string twice = make_script("b", "#!" + shell + "\n");
  const auto sh = find_program("sh");
  ASSERT_TRUE(sh);
  EXPECT_EQ(find_binary_of_command(Words{"sh", "-c", "true"}), sh);
  EXPECT_EQ(find_binary_of_command(Words{shell}), sh);
  EXPECT_EQ(find_binary_of_command(Words{"env", "A=1", twice, "x"}), sh);
}

TEST_F(CommandBinary, WhatIsNotThereIsNotTold) {
  const std::string circle = path("circle");
  make_script("circle", "#!" + circle + "\n");
  EXPECT_EQ(find_binary_of_command(Words{circle}), std::nullopt);
  EXPECT_EQ(find_binary_of_command(Words{make_script("gone", "#!/nonexistent/node\n")}), std::nullopt);
  EXPECT_EQ(find_binary_of_command(Words{"no-such-program-here"}), std::nullopt);
  EXPECT_EQ(find_binary_of_command(Words{"env"}), std::nullopt);
  EXPECT_EQ(find_binary_of_command({}), std::nullopt);
}

}  // namespace
}  // namespace nodescope
