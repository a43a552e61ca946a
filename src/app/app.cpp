#include "app/app.h"
#include <fmt/format.h>
namespace nodescope {
int run_app(int, char**) { fmt::print("hi\n"); return 0; }
}
