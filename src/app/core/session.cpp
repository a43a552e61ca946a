#include "app/core/session.h"

#include <fmt/format.h>

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

Result<std::unique_ptr<CoreSession>> CoreSession::open(const CoreSessionOptions& options) {
  std::unique_ptr<CoreSession> session(new CoreSession());
  std::unique_ptr<TargetProcess> process;
  if (options.file.empty()) {
    auto live = LiveProcess::open(options.pid);
    if (!live) return std::unexpected(live.error());
    process = std::move(*live);
    session->name_ = fmt::format("process {}", options.pid);
  } else {
    auto source = open_core(options.file);
    if (!source) return std::unexpected(source.error());
    auto core = CoreProcess::open(std::move(*source), options.binaries, session->diagnostics_);
    if (!core) return std::unexpected(core.error());
    session->core_ = core->get();
    process = std::move(*core);
    session->name_ = options.file;
  }
  auto view = v8::ProcessView::open(std::move(process), session->cache_, session->diagnostics_);
  if (!view) return fail(view.error(), session->name_);
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

void CoreSession::release() {
  held_.reset();
}

}  // namespace nodescope
