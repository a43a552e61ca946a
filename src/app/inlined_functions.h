#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostics.h"

namespace nodescope {

// For `collapse --inline`: the functions at an address as stackcollapse-perf.pl finds them, by asking
// addr2line and, where that knows nothing, nm for the function's address.  Each distinct address is asked for
// once.
class InlinedFunctions {
 public:
  InlinedFunctions(bool with_places, Diagnostics& diagnostics)
      : with_places_(with_places), diagnostics_(diagnostics) {}

  // Outermost first, joined by ';'.  `function` may end in +0xOFFSET.
  std::string at(std::string_view address, std::string_view function, std::string_view module);

 private:
  using Key = std::pair<std::string, std::string>;

  std::string find(const std::string& address, std::string_view function, const std::string& module);
  std::string ask_addr2line(const std::string& address, const std::string& module);
  std::string address_of(std::string_view function, const std::string& module);
  std::string run(const std::vector<std::string>& arguments);

  bool with_places_;
  Diagnostics& diagnostics_;
  std::map<Key, std::string> known_;
  std::map<std::string, std::string> symbols_;  // what nm printed, by module
};

}  // namespace nodescope
