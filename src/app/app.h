#pragma once

namespace nodescope {

// Runs one command and returns the exit code: 0 done, 1 failed, 2 wrong usage.  A signal ends the program as
// signals do, after the unfinished output file has been removed.
int run_app(int argc, char** argv);

}  // namespace nodescope
