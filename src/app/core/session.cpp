#include "app/core/session.h"

#include <fmt/format.h>

#include "app/core/walked_heap.h"
#include "formats/input.h"
#include "os/file.h"
#include "target/live_process.h"

namespace nodescope {

namespace {

// Cores of systemd-coredump are compressed.
Result<std::unique_ptr<ByteSource>> open_core(const std::string& path) {
  auto file = open_file(path);
  if (!file) return std::unexpected(file.error());
  auto content = open_content(std::move(*file));
  if (!content) return std::unexpected(content.error());
  return std::unique_ptr<ByteSource>(std::move(*content));
}

}  // namespace

CoreSession::CoreSession() = default;
CoreSession::~CoreSession() = default;

Result<std::unique_ptr<TargetProcess>> CoreSession::open_process(const CoreSessionOptions& options) {
  if (options.file.empty()) {
    auto live = LiveProcess::open(options.pid);
    if (!live) return std::unexpected(live.error());
    name_ = fmt::format("process {}", options.pid);
    return std::unique_ptr<TargetProcess>(std::move(*live));
  }
  auto source = open_core(options.file);
  if (!source) return std::unexpected(source.error());
  auto core = CoreProcess::open(std::move(*source), options.binaries, diagnostics_);
  if (!core) return std::unexpected(core.error());
  core_ = core->get();
  name_ = options.file;
  return std::unique_ptr<TargetProcess>(std::move(*core));
}

Result<std::unique_ptr<CoreSession>> CoreSession::open(const CoreSessionOptions& options) {
  std::unique_ptr<CoreSession> session(new CoreSession());
  auto process = session->open_process(options);
  if (!process) return std::unexpected(process.error());
  auto view = v8::ProcessView::open(std::move(*process), session->cache_, session->diagnostics_);
  if (!view && session->core_ == nullptr) return fail(view.error(), session->name_);
  if (!view) {
    session->without_v8_ = view.error();
    session->diagnostics_ = {};
    process = session->open_process(options);
    if (!process) return std::unexpected(process.error());
    session->view_ = v8::ProcessView::open_any(std::move(*process), session->cache_, session->diagnostics_);
    return session;
  }
  session->view_ = std::move(*view);
  session->decoder_.emplace(session->view_->heap(), session->view_->engine()->values,
                            session->view_->scripts());
  return session;
}

Result<void> CoreSession::hold() {
  if (held_ != nullptr) return {};
  auto held = view_->process().stop();
  if (!held) return std::unexpected(held.error());
  if (auto refreshed = view_->refresh_map(diagnostics_); !refreshed) return refreshed;
  view_->begin_generation();
  held_ = std::move(*held);
  return {};
}

Result<WalkedHeap*> CoreSession::heap() {
  if (without_v8_) return std::unexpected(*without_v8_);
  if (core_ != nullptr && heap_ != nullptr) return heap_.get();
  heap_.reset();
  auto walked = WalkedHeap::walk(*this);
  if (!walked) return std::unexpected(walked.error());
  heap_ = std::move(*walked);
  return heap_.get();
}

void CoreSession::release() {
  held_.reset();
}

}  // namespace nodescope
