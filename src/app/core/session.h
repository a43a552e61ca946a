#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/diagnostics.h"
#include "base/result.h"
#include "target/core_process.h"
#include "v8/process_view.h"
#include "v8/value_decoder.h"

namespace nodescope {

struct CoreSessionOptions {
  std::string file;           // empty: a running process
  pid_t pid = 0;              // of that
  CoreOptions binaries = {};  // where those of the core are
};

class WalkedHeap;

// A process that is examined: dead, in a core file, or alive, then stopped while hold() lasts.
class CoreSession {
 public:
  static Result<std::unique_ptr<CoreSession>> open(const CoreSessionOptions& options);
  ~CoreSession();

  v8::ProcessView& view() { return *view_; }
  // Why nothing of JavaScript can be read: the binary with V8 is missing.  Then the view has native code
  // only.
  const std::optional<Error>& without_v8() const { return without_v8_; }
  // Null for a running process.
  CoreProcess* core() { return core_; }
  Diagnostics& diagnostics() { return diagnostics_; }
  const std::string& name() const { return name_; }

  // From now on the process stands still and its objects can be read.
  Result<void> hold();
  void release();
  std::span<const TargetThread> threads() const { return held_->threads(); }  // while it is held
  v8::ValueDecoder& decoder() { return *decoder_; }                           // the same
  // All objects, of a session that is held; those of a core are walked once.  Valid until the next call.
  Result<WalkedHeap*> heap();

 private:
  CoreSession();

  Result<std::unique_ptr<TargetProcess>> open_process(const CoreSessionOptions& options);

  std::string name_;
  Diagnostics diagnostics_;
  std::optional<Error> without_v8_;
  v8::ViewCache cache_;
  std::unique_ptr<v8::ProcessView> view_;
  CoreProcess* core_ = nullptr;
  std::unique_ptr<Standstill> held_;
  std::optional<v8::ValueDecoder> decoder_;
  std::unique_ptr<WalkedHeap> heap_;
};

}  // namespace nodescope
