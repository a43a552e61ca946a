#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "formats/symbol_name.h"
#include "formats/v8_log/read_log.h"
#include "formats/v8_log/vm_state.h"
#include "json/reader.h"

namespace nodescope::v8_log {

namespace {

constexpr int kMicrosecondDecimals = 3;  // from microseconds to nanoseconds

// The mark that V8 writes for the kind of a function's code.
std::string_view mark_of(std::string_view kind) {
  if (kind == "Opt" || kind == "Turbofan") return "*";
  if (kind == "Maglev" || kind == "Turboprop") return "+";
  if (kind == "Sparkplug" || kind == "Baseline") return "^";
  return kind == "Unopt" || kind == "Ignition" ? "~" : "";
}

class TicksReader {
 public:
  TicksReader(ByteSource& source, Progress* progress) : source_(source), reader_(source, progress) {}

  Result<Profile> read() {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "code") {
        read_codes();
      } else if (*key == "ticks") {
        read_ticks();
      }
    }
    const bool any = profile_.samples.size() != 0;
    if (const auto finished = reader_.finish(profile_.diagnostics, any); !finished)
      return std::unexpected(finished.error());
    if (!any)
      return fail(ErrorCode::kInvalidInput, fmt::format("{}: a log of V8 without ticks", source_.name()));
    return std::move(profile_);
  }

 private:
  void read_codes() {
    auto elements = reader_.array();
    while (elements.next()) codes_.push_back(read_code());
  }

  FrameId read_code() {
    std::string name;
    std::string type;
    std::string kind;
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "name") {
        name = reader_.string().value_or("");
      } else if (*key == "type") {
        type = reader_.string().value_or("");
      } else if (*key == "kind") {
        kind = reader_.string().value_or("");
      }
    }
    if (type == "JS") return intern(fmt::format("JS:{}{}", mark_of(kind), name));
    if (type == "CODE") return intern(fmt::format("{}:{}", kind, name));
    if (type != "SHARED_LIB") return intern(name);
    Frame library;
    library.module = profile_.strings.intern(name);
    library.kind = FrameKind::kNative;
    return profile_.frames.intern(library);
  }

  FrameId intern(const std::string& symbol) {
    return profile_.frames.intern(frame_of_symbol(profile_, symbol, {}));
  }

  void read_ticks() {
    const ContextId context =
        profile_.samples.intern({ThreadId{}, kUnknownCpu, profile_.intern_event("ticks", Unit::kSamples)});
    auto elements = reader_.array();
    while (elements.next()) {
      std::int64_t time_ns = 0;
      std::uint64_t state = 0;
      frames_.clear();
      auto members = reader_.object();
      while (const auto key = members.next()) {
        if (*key == "tm") {
          const auto time = reader_.number();
          time_ns = time ? time->scaled(kMicrosecondDecimals) : 0;
        } else if (*key == "vm") {
          const auto number = reader_.number();
          state = number ? number->as_count() : 0;
        } else if (*key == "s") {
          read_stack();
        }
      }
      if (reader_.failed()) return;
      profile_.samples.add(time_ns, stack_of(state), context, 1);
    }
  }

  // Pairs of a code's number and an offset in it, innermost first; -1 and an address where none is known.
  void read_stack() {
    bool is_code = true;
    reader_.numbers([&](const auto& number) {
      if (is_code) frames_.push_back(frame_of(number ? number->rounded() : -1));
      is_code = !is_code;
    });
  }

  FrameId frame_of(std::int64_t code) {
    const bool known = code >= 0 && static_cast<std::uint64_t>(code) < codes_.size();
    return known ? codes_[static_cast<std::size_t>(code)] : profile_.frames.intern(Frame{});
  }

  StackId stack_of(std::uint64_t state) {
    StackId stack = kEmptyStack;
    for (std::size_t i = frames_.size(); i-- > 1;) stack = profile_.stacks.push(stack, frames_[i]);
    if (const auto work = frame_of_vm_state(profile_, state, false))
      stack = profile_.stacks.push(stack, *work);
    return frames_.empty() ? stack : profile_.stacks.push(stack, frames_.front());
  }

  ByteSource& source_;
  json::Reader reader_;
  Profile profile_;
  std::vector<FrameId> codes_;
  std::vector<FrameId> frames_;  // of the tick being read
};

}  // namespace

Result<Profile> read_ticks(ByteSource& source, const ReadOptions& options) {
  return TicksReader(source, options.progress).read();
}

}  // namespace nodescope::v8_log
