#include "app/core/handles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "app/core/value_text.h"
#include "app/core/walked_heap.h"
#include "base/text.h"
#include "json/writer.h"
#include "target/loop_handles.h"

namespace nodescope {

namespace {

using v8::DecodedValue;

constexpr std::size_t kMaxListed = 1 << 20;

// node::BaseObject begins with a pointer to its functions; then comes the handle of its object.
constexpr std::uint64_t kPersistent = 8;

// Symbols of the binary for debuggers (src/node_postmortem_metadata.cc): node fills them in when it starts.
struct NodeOffsets {
  std::optional<std::uint32_t> handle_queue, handle_node, request_queue, request_node, next;
};
constexpr std::pair<std::string_view, std::optional<std::uint32_t> NodeOffsets::*> kNodeSymbols[] = {
    {"nodedbg_offset_Environment__handle_wrap_queue___Environment_HandleWrapQueue",
     &NodeOffsets::handle_queue},
    {"nodedbg_offset_HandleWrap__handle_wrap_queue___ListNode_HandleWrap", &NodeOffsets::handle_node},
    {"nodedbg_offset_Environment__req_wrap_queue___Environment_ReqWrapQueue", &NodeOffsets::request_queue},
    {"nodedbg_offset_ReqWrap__req_wrap_queue___ListNode_ReqWrapQueue", &NodeOffsets::request_node},
    {"nodedbg_offset_ListNode_ReqWrap__next___uintptr_t", &NodeOffsets::next},
};

NodeOffsets read_node_offsets(TargetProcess& process) {
  NodeOffsets offsets;
  for (const Region& region : process.map().regions()) {
    if (!region.executable || !region.has_file() || offsets.next) continue;
    const auto elf = process.open_image(region);
    const auto code = elf ? elf->file().to_address(region.offset) : std::nullopt;
    if (!code) continue;
    const ElfSymbols symbols = elf->file().dynsym();
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      const std::string_view name = symbols.name(symbols[i]);
      if (!name.starts_with("nodedbg_offset_")) continue;
      for (const auto& [known, field] : kNodeSymbols) {
        const Address place = region.range.begin + (FileAddress{symbols[i].value} - *code);
        if (name == known) offsets.*field = process.memory().load<std::uint32_t>(place);
      }
    }
  }
  return offsets;
}

const DecodedValue* member(const DecodedValue& value, std::string_view name) {
  const auto found = std::ranges::find(value.properties, name, &v8::NamedValue::name);
  return found == value.properties.end() ? nullptr : &found->value;
}

// Objects of JavaScript behind those of C++.
class Owners {
 public:
  explicit Owners(CoreSession& session)
      : session_(session),
        memory_(session.view().process().memory()),
        heap_(session.view().heap()),
        offsets_(read_node_offsets(session.view().process())) {}

  // Of a node::BaseObject.
  std::optional<DecodedValue> object_of(Address base_object) {
    const auto handle = memory_.load<std::uint64_t>(base_object + kPersistent);
    const auto word = handle && *handle != 0 ? memory_.load<v8::TaggedWord>(Address{*handle}) : std::nullopt;
    if (!word || !word->is_object() || heap_.type(*word) < heap_.layout().type_js_proxy.value)
      return std::nullopt;
    return session_.decoder().decode(*word, {.depth = 1});
  }

  // The lists of the node::Environment that a handle belongs to.
  std::vector<DecodedValue> requests_of(Address handle_wrap) {
    std::vector<DecodedValue> requests;
    const auto offset = offsets_.request_queue;
    const auto node = offsets_.request_node;
    const auto environment = environment_of(handle_wrap);
    if (!offset || !node || !environment) return requests;
    for (const Address each : list(*environment + *offset)) {
      if (auto request = object_of(Address{each.value - *node})) requests.push_back(std::move(*request));
    }
    return requests;
  }

 private:
  // All handles and the head of their list, which is in the environment, make a circle; which of the nodes is
  // the head is told by the list of requests that must lie beside it.
  std::optional<Address> environment_of(Address handle_wrap) {
    if (!offsets_.handle_queue || !offsets_.handle_node || !offsets_.request_queue) return std::nullopt;
    for (const Address node : list(handle_wrap + *offsets_.handle_node)) {
      const Address environment{node.value - *offsets_.handle_queue};
      const Address head = environment + *offsets_.request_queue;
      const auto next = memory_.load<std::uint64_t>(head + next_offset());
      const auto back =
          next ? memory_.load<std::uint64_t>(Address{*next} + (8 - next_offset())) : std::nullopt;
      if (back == head.value) return environment;
    }
    return std::nullopt;
  }

  // Both pointers of a node are words.
  std::uint32_t next_offset() const { return offsets_.next.value_or(8) == 0 ? 0 : 8; }

  // A node::ListHead: a circle of nodes, itself left out.  Empty where it is none.
  std::vector<Address> list(Address head) {
    std::vector<Address> nodes;
    for (Address at = head; nodes.size() < kMaxListed;) {
      const auto next = memory_.load<std::uint64_t>(at + next_offset());
      if (!next || *next == 0) return {};
      at = Address{*next};
      if (at == head) return nodes;
      nodes.push_back(at);
    }
    return {};
  }

  CoreSession& session_;
  Memory& memory_;
  v8::Heap& heap_;
  NodeOffsets offsets_;
};

struct OwnedHandle {
  LoopHandle handle;
  std::optional<DecodedValue> wrap;   // of Node.js: a TCP, a Pipe
  std::optional<DecodedValue> owner;  // the object of the program: a Socket, a Server
};

struct LoopView {
  HandleLoop loop;
  std::vector<OwnedHandle> handles;
};

std::vector<LoopView> own_handles(CoreSession& session, std::vector<HandleLoop> loops) {
  Owners owners(session);
  std::vector<LoopView> views;
  for (HandleLoop& loop : loops) {
    LoopView& view = views.emplace_back();
    for (const LoopHandle& handle : loop.handles) {
      OwnedHandle& owned = view.handles.emplace_back();
      owned.handle = handle;
      if (handle.data.value == 0) continue;
      owned.wrap = owners.object_of(handle.data);
      const DecodedValue* owner = owned.wrap ? member(*owned.wrap, "Symbol(owner_symbol)") : nullptr;
      if (owner == nullptr && owned.wrap) owner = member(*owned.wrap, "owner");
      if (owner != nullptr && owner->address && owner->type != v8::ValueType::kUndefined)
        owned.owner = session.decoder().decode({owner->address->value + 1}, {.depth = 0});
    }
    view.loop = std::move(loop);
  }
  return views;
}

// Objects of this class that live.
std::vector<DecodedValue> live_objects(CoreSession& session, WalkedHeap::IsolateObjects& isolate,
                                       std::string_view name) {
  std::vector<DecodedValue> found;
  isolate.objects.for_each([&](std::uint32_t, const v8::HeapObject& object) {
    if (!object.shape->is_receiver || found.size() >= kMaxListed) return;
    if (isolate.names->name(isolate.names->of(object).name) == name)
      found.push_back(session.decoder().decode({object.tagged()}, {.depth = 1}));
  });
  return found;
}

std::vector<DecodedValue> find_timers(CoreSession& session) {
  std::vector<DecodedValue> timers;
  const auto heap = session.heap();
  if (!heap) return timers;
  for (WalkedHeap::IsolateObjects& isolate : (*heap)->isolates()) {
    for (DecodedValue& timer : live_objects(session, isolate, "Timeout")) {
      const DecodedValue* destroyed = member(timer, "_destroyed");
      const DecodedValue* callback = member(timer, "_onTimeout");
      const bool waits = destroyed != nullptr && destroyed->type == v8::ValueType::kBoolean &&
                         !destroyed->boolean && callback != nullptr &&
                         callback->type == v8::ValueType::kFunction;
      if (waits) timers.push_back(std::move(timer));
    }
  }
  return timers;
}

std::string handle_text(const OwnedHandle& owned) {
  const LoopHandle& handle = owned.handle;
  std::string text = fmt::format("  {:<9}", handle.type);
  text += handle.is_closing ? "closing  " : handle.is_active ? "active   " : "inactive ";
  text += handle.is_referenced ? "      " : "unref ";
  if (handle.descriptor) text += fmt::format(" fd {}", *handle.descriptor);
  if (handle.pid) text += fmt::format(" process {}", *handle.pid);
  if (handle.signal) text += fmt::format(" signal {}", *handle.signal);
  if (handle.due_ms) text += fmt::format(" due in {} ms", with_thousands(*handle.due_ms));
  if (owned.wrap) text += "  " + value_summary(*owned.wrap);
  if (owned.owner) text += " of " + value_summary(*owned.owner);
  return text + "\n";
}

std::string timer_text(const DecodedValue& timer) {
  std::string text = "  " + value_summary(timer);
  if (const DecodedValue* after = member(timer, "_idleTimeout"))
    text += fmt::format("  {} ms", with_thousands(static_cast<std::uint64_t>(std::max(after->number, 0.0))));
  const DecodedValue* repeat = member(timer, "_repeat");
  if (repeat != nullptr && repeat->type == v8::ValueType::kNumber) text += ", again and again";
  if (const DecodedValue* callback = member(timer, "_onTimeout")) text += "  " + value_summary(*callback);
  return text + "\n";
}

void write_reference(json::Writer& json, std::string_view key, const std::optional<DecodedValue>& value) {
  json.key(key);
  if (!value || !value->address) {
    json.null();
    return;
  }
  json.begin_object().key("class").string(value->class_name);
  json.key("address").string(fmt::format("0x{:x}", value->address->value)).end_object();
}

template <typename T>
void write_number(json::Writer& json, std::string_view key, const std::optional<T>& number) {
  if (number) json.key(key).integer(static_cast<std::int64_t>(*number));
}

void write_handle(json::Writer& json, const OwnedHandle& owned, pid_t tid) {
  const LoopHandle& handle = owned.handle;
  json.line().begin_object();
  json.key("thread").integer(tid);
  json.key("type").string(handle.type);
  json.key("address").string(fmt::format("0x{:x}", handle.address.value));
  json.key("active").boolean(handle.is_active);
  json.key("referenced").boolean(handle.is_referenced);
  json.key("closing").boolean(handle.is_closing);
  write_number(json, "fd", handle.descriptor);
  write_number(json, "pid", handle.pid);
  write_number(json, "signal", handle.signal);
  write_number(json, "due_ms", handle.due_ms);
  write_reference(json, "object", owned.wrap);
  write_reference(json, "owner", owned.owner);
  json.end_object();
}

Result<void> write_handles_json(const std::vector<LoopView>& loops, const std::vector<DecodedValue>& timers,
                                ByteSink& sink) {
  json::Writer json(sink);
  json.begin_object().key("handles").begin_array();
  for (const LoopView& view : loops) {
    for (const OwnedHandle& handle : view.handles) write_handle(json, handle, view.loop.tid);
  }
  json.end_array();
  json.line().key("timers").begin_array();
  for (const DecodedValue& timer : timers) {
    json.line();
    write_value(json, timer);
  }
  json.end_array().end_object();
  return json.finish();
}

}  // namespace

Result<void> write_handles(CoreSession& session, bool json, ByteSink& sink) {
  auto loops = find_handle_loops(session.view().process(), session.threads());
  if (!loops) return std::unexpected(loops.error());
  const std::vector<LoopView> views = own_handles(session, std::move(*loops));
  const std::vector<DecodedValue> timers = find_timers(session);
  if (json) return write_handles_json(views, timers, sink);
  std::string text;
  for (const LoopView& view : views) {
    text += fmt::format("Event loop of thread {}: {} handles\n", view.loop.tid,
                        with_thousands(view.handles.size()));
    for (const OwnedHandle& handle : view.handles) text += handle_text(handle);
  }
  text += fmt::format("{} timers of JavaScript\n", with_thousands(timers.size()));
  for (const DecodedValue& timer : timers) text += timer_text(timer);
  return sink.write(text);
}

Result<void> write_requests(CoreSession& session, bool json, ByteSink& sink) {
  auto loops = find_handle_loops(session.view().process(), session.threads());
  if (!loops) return std::unexpected(loops.error());
  Owners owners(session);
  std::string text;
  json::Writer writer(sink);
  if (json) writer.begin_object().key("loops").begin_array();
  for (const HandleLoop& loop : *loops) {
    std::vector<DecodedValue> requests;
    for (const LoopHandle& handle : loop.handles) {
      if (handle.data.value == 0 || !owners.object_of(handle.data)) continue;
      requests = owners.requests_of(handle.data);
      break;
    }
    if (json) {
      writer.line().begin_object().key("thread").integer(loop.tid);
      writer.key("active_requests").count(loop.active_requests);
      writer.key("requests").begin_array();
      for (const DecodedValue& request : requests) {
        writer.line();
        write_value(writer, request);
      }
      writer.end_array().end_object();
      continue;
    }
    text += fmt::format("Event loop of thread {}: {} requests of the loop, {} with objects of JavaScript\n",
                        loop.tid, with_thousands(loop.active_requests), with_thousands(requests.size()));
    for (const DecodedValue& request : requests) {
      text += "  " + value_summary(request);
      const DecodedValue* callback = member(request, "oncomplete");
      if (callback != nullptr) text += "  " + value_summary(*callback);
      text += "\n";
    }
  }
  if (!json) return sink.write(text);
  writer.end_array().end_object();
  return writer.finish();
}

}  // namespace nodescope
