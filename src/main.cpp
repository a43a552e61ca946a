#include "app/app.h"

int main(int argc, char** argv) {
  return nodescope::run_app(argc, argv);
}
