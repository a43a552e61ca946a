#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_source.h"
#include "base/diagnostics.h"
#include "base/result.h"

namespace nodescope {

// What a diagnostic report of Node.js ("report.20261119.120000.4711.0.001.json") says about a process at one
// moment.  Its environment variables, which hold secrets, are not read.
struct NodeReport {
  struct HeapSpace {
    std::string name;
    std::uint64_t used = 0;
    std::uint64_t committed = 0;
  };
  struct NativeFrame {
    std::string pc;
    std::string symbol;  // "node::TriggerNodeReport(…) [/usr/bin/node]"
  };
  // Of libuv.
  struct Handle {
    std::string type;  // "tcp", "timer"
    bool is_active = false;
    bool is_referenced = false;  // keeps the process alive
    std::string local;           // "127.0.0.1:8080"
    std::string remote;
    std::optional<std::int64_t> file_descriptor;
    std::optional<std::int64_t> fires_in_ms;
    std::string text;  // the path of a file that is watched, a child's pid
  };

  std::vector<std::pair<std::string, std::string>>
      header;  // "event", "trigger", "cwd", … as they are called there
  std::vector<std::string> command_line;
  std::string message;  // of the error or the exception
  std::vector<std::string> javascript_stack;
  std::vector<std::pair<std::string, std::uint64_t>> heap;  // "usedMemory", "memoryLimit", …
  std::vector<HeapSpace> heap_spaces;
  std::vector<NativeFrame> native_stack;
  std::vector<std::pair<std::string, std::string>>
      resources;  // "rss", "userCpuSeconds", …: numbers as they stand
  std::vector<Handle> handles;
  std::optional<double> loop_idle_seconds;
  std::uint64_t workers = 0;
  Diagnostics diagnostics;

  // Empty if it is not there.
  std::string_view header_value(std::string_view name) const;
};

bool is_node_report(std::string_view head);

// What stands before damage comes with a diagnostic; an Error only if nothing could be read.
Result<NodeReport> read_node_report(ByteSource& source);

}  // namespace nodescope
