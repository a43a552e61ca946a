#pragma once

#include <cstdint>
#include <span>

#include "os/foreign_files.h"

namespace nodescope {

// What is asked of the process that reads files with the rights of another: this, and the path behind it.
struct ReadRequest {
  std::uint64_t limit = 0;
  std::uint32_t path_bytes = 0;
};

// What it answers: this, the real path and the text behind it.
struct ReadReply {
  enum class Outcome : std::uint32_t { kRead, kSystemError, kNotRegular, kTooLarge, kNotPermitted };

  Outcome outcome = Outcome::kRead;
  std::int32_t error_number = 0;
  std::uint32_t path_bytes = 0;
  std::uint32_t text_bytes = 0;
  std::int64_t modified_ns = 0;
};

// Whole, or false: the other end is gone.
bool send_bytes(int channel, std::span<const std::byte> bytes);
bool receive_bytes(int channel, std::span<std::byte> into);

// The whole life of the helper, in a child process that was just forked: takes the rights, gives up all
// others, and answers until the channel's other end is closed.
[[noreturn]] void run_foreign_reader(const FileRights& rights, int root, int channel);

}  // namespace nodescope
