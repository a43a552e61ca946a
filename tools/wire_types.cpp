// Prints the TypeScript that the page is compiled with.
#include "page/typescript/wire_types.h"

#include <cstdio>

int main() {
  const std::string types = nodescope::page::wire_types();
  return std::fwrite(types.data(), 1, types.size(), stdout) == types.size() ? 0 : 1;
}
