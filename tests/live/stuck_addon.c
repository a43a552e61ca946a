// A native addon that never returns, in code that no unwinder can follow: built without .eh_frame, and its frame pointer
// register holds something else.
#include <unistd.h>

void* napi_register_module_v1(void* env, void* exports) {
  (void)env;
  static const char kReady[] = "ready\n";
  if (write(1, kReady, sizeof kReady - 1) < 0) return exports;
  __asm__ volatile(
      "push %rbp\n"
      "push $0\n"
      "push $0\n"
      "mov $12345, %rbp\n"
      "1: jmp 1b\n");
  return exports;
}
