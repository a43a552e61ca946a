#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace nodescope {

// So many bytes from the kernel's generator, in lower-case hexadecimal: nobody can guess them.
Result<std::string> random_hex(std::size_t bytes);

}  // namespace nodescope
