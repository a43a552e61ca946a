#pragma once

#include <cstddef>

namespace nodescope {

bool standard_input_is_terminal();
bool standard_output_is_terminal();
bool standard_error_is_terminal();

// Columns of the terminal behind standard output; 100 where there is none.
std::size_t terminal_columns();

// Cores that this process may use.
unsigned available_cores();

}  // namespace nodescope
