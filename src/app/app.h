#pragma once

namespace nodescope {

// Runs one command and returns the exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
int run_app(int argc, char** argv);

}  // namespace nodescope
