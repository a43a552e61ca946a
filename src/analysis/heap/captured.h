#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/heap/heap_analysis.h"
#include "analysis/heap/reach.h"

namespace nodescope {

// Scopes with the same variables that functions of one place keep alive.
struct CapturedScope {
  struct Variable {
    std::string name;
    std::uint32_t largest = 0;  // the value that retains the most
  };

  std::string function;  // one that was made there; empty: none is left, or it has no name
  std::string file;      // whole
  std::uint64_t count = 0;
  std::uint64_t functions = 0;  // all that keep them
  std::uint64_t retained_bytes = 0;
  std::vector<Variable> variables;
};

// What closures capture, largest first.
std::vector<CapturedScope> derive_captured_scopes(const HeapAnalysis& heap, const Reach& reach);

}  // namespace nodescope
