#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/perf_script/collapse.h"

namespace nodescope {

// How stackcollapse-perf.pl reads a line.  Each function does what one regular expression of the script does,
// its backtracking included, in linear time.

// "V8 WorkerThread 24636/25607 [000] 94564.109216: 100 cycles:"
struct PerlHeader {
  std::string_view comm;
  std::string_view pid;  // "?" if there is only one number
  std::string_view tid;
};
std::optional<PerlHeader> match_perl_header(std::string_view line);

struct PerlEvent {
  std::string_view period;  // empty if there is none
  std::string_view name;
};
std::optional<PerlEvent> match_perl_event(std::string_view line);

// "7fffb84c9afc cpu_startup_entry+0x800047c022ec ([kernel.kallsyms])"
struct PerlFrame {
  std::string_view address;
  std::string_view function;  // with its offset
  std::string_view module;
};
std::optional<PerlFrame> match_perl_frame(std::string_view line);

// The one name of a frame from which perl_functions would take nothing but the offset: nearly every one.  A
// part of the frame's own text, so that a line that comes only once costs no memory but its name's.
std::optional<std::string_view> plain_perl_function(const PerlFrame& frame, bool is_java,
                                                    const CollapseOptions& options);

// The functions of a frame, outermost first: "a->b" are two.
struct PerlFunction {
  std::string name;
  bool takes_source_line = false;  // with --srcline the line that follows belongs to it
};
std::vector<PerlFunction> perl_functions(const PerlFrame& frame, bool is_java,
                                         const CollapseOptions& options);

// What a line of `perf script -F +srcline` adds to the function before it.
std::string perl_source_line(std::string_view line);

}  // namespace nodescope
