#include "formats/symbol_name.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nodescope {
namespace {

struct Case {
  std::string_view symbol;
  SymbolName name;
};

SymbolName js(std::string_view function, std::string_view file, std::uint32_t line, std::uint32_t column,
              JsTier tier) {
  SymbolName name;
  name.function = function;
  name.file = file;
  name.line = line;
  name.column = column;
  name.kind = FrameKind::kJs;
  name.tier = tier;
  return name;
}

SymbolName plain(std::string_view function, FrameKind kind, JsTier tier = JsTier::kNone) {
  SymbolName name;
  name.function = function;
  name.kind = kind;
  name.tier = tier;
  return name;
}

void expect_names(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const SymbolName name = parse_symbol_name(c.symbol);
    EXPECT_EQ(name, c.name) << c.symbol << " -> function '" << name.function << "' file '" << name.file
                            << "' line " << name.line << " column " << name.column << " kind "
                            << to_string(name.kind) << " tier " << to_string(name.tier);
  }
}

constexpr auto kInterpreted = JsTier::kInterpreted;
constexpr auto kBaseline = JsTier::kBaseline;
constexpr auto kMaglev = JsTier::kMaglev;
constexpr auto kTurbofan = JsTier::kTurbofan;
constexpr auto kNone = JsTier::kNone;

// Written by Node 0.11 to 5.
TEST(SymbolName, ReadsFullCodegenNames) {
  expect_names({
      {"LazyCompile:~nextTick node.js:389", js("nextTick", "node.js", 389, 0, kInterpreted)},
      {"LazyCompile:_tickDomainCallback node.js:387", js("_tickDomainCallback", "node.js", 387, 0, kNone)},
      {"LazyCompile:*forEach native array.js:1122", js("forEach", "native array.js", 1122, 0, kTurbofan)},
      {"LazyCompile:~ native runtime.js:3", js("", "native runtime.js", 3, 0, kInterpreted)},
      {"LazyCompile:~body_0 evalmachine.<anonymous>:1",
       js("body_0", "evalmachine.<anonymous>", 1, 0, kInterpreted)},
      {"Function:~Async$consume /srv/app/async.js:39",
       js("Async$consume", "/srv/app/async.js", 39, 0, kInterpreted)},
      {"Script:~/srv/app/index.js", js("", "/srv/app/index.js", 0, 0, kInterpreted)},
      {"Builtin:A builtin from the snapshot", plain("A builtin from the snapshot", FrameKind::kBuiltin)},
      {"Stub:JSEntryStub", plain("Stub:JSEntryStub", FrameKind::kBuiltin)},
      {"KeyedLoadIC:A keyed load IC from the snapshot",
       plain("KeyedLoadIC:A keyed load IC from the snapshot", FrameKind::kBuiltin)},
      {"LoadIC:", plain("LoadIC:", FrameKind::kBuiltin)},
      {"CallIC:foo", plain("CallIC:foo", FrameKind::kBuiltin)},
      {"CallMegamorphic:args_count: 2", plain("CallMegamorphic:args_count: 2", FrameKind::kBuiltin)},
      {"KeyedStorePolymorphicIC:x", plain("KeyedStorePolymorphicIC:x", FrameKind::kBuiltin)},
      {"StoreInitialize:x", plain("StoreInitialize:x", FrameKind::kBuiltin)},
      {"Handler:length", plain("Handler:length", FrameKind::kBuiltin)},
  });
}

// As recorded from Node 16, 18 (no column), 20, 22, 24 and 26.
TEST(SymbolName, ReadsNamesOfEveryNodeOfToday) {
  expect_names({
      {"LazyCompile:*hot /srv/t.js:6", js("hot", "/srv/t.js", 6, 0, kTurbofan)},
      {"Function:^set foo /srv/t.js:3", js("set foo", "/srv/t.js", 3, 0, kBaseline)},
      {"InterpretedFunction:hot /srv/t.js:6", js("hot", "/srv/t.js", 6, 0, kNone)},
      {"Eval:~ /srv/t.js:1", js("", "/srv/t.js", 1, 0, kInterpreted)},
      {"Eval:~ :1:1", js("", "", 1, 1, kInterpreted)},
      {"Script:~ node:internal/main/run_main_module:1:1",
       js("", "node:internal/main/run_main_module", 1, 1, kInterpreted)},
      {"JS:*hot /srv/t.js:6:13", js("hot", "/srv/t.js", 6, 13, kTurbofan)},
      {"JS:+hot /srv/t.js:6:13", js("hot", "/srv/t.js", 6, 13, kMaglev)},
      {"JS:+'get foo /srv/t.js:3:18", js("get foo", "/srv/t.js", 3, 18, kMaglev)},
      {"JS:*'hot /srv/t.js:6:13", js("hot", "/srv/t.js", 6, 13, kTurbofan)},
      {"JS:o+hot /srv/t.js:6:13", js("hot", "/srv/t.js", 6, 13, kMaglev)},
      {"JS:o* /srv/t.js:1:1", js("", "/srv/t.js", 1, 1, kTurbofan)},
      {"JS:o*'hot /srv/t.js:6:13", js("hot", "/srv/t.js", 6, 13, kTurbofan)},
      {"JS:~ /srv/t.js:3:187", js("", "/srv/t.js", 3, 187, kInterpreted)},
      {"JS:~#priv /srv/t.js:3:132", js("#priv", "/srv/t.js", 3, 132, kInterpreted)},
      {"JS:^a b c /srv/t.js:5:26", js("a b c", "/srv/t.js", 5, 26, kBaseline)},
      {"JS:^q/z.js:1:2 /srv/t.js:5:74", js("q/z.js:1:2", "/srv/t.js", 5, 74, kBaseline)},
      {"JS:~x:y /srv/t.js:5:46", js("x:y", "/srv/t.js", 5, 46, kInterpreted)},
      {"JS:*\xC3\xBCn\xC3\xAF /srv/t.js:5:91", js("\xC3\xBCn\xC3\xAF", "/srv/t.js", 5, 91, kTurbofan)},
      {"JS:~[Symbol.iterator] /srv/t.js:3:70", js("[Symbol.iterator]", "/srv/t.js", 3, 70, kInterpreted)},
      {"JS:~<static_initializer> /srv/t.js:3:7", js("<static_initializer>", "/srv/t.js", 3, 7, kInterpreted)},
      {"JS:~get [Symbol.toStringTag] node:internal/url:12:3",
       js("get [Symbol.toStringTag]", "node:internal/url", 12, 3, kInterpreted)},
      {"JS:ordinary /srv/t.js:3:7", js("ordinary", "/srv/t.js", 3, 7, kNone)},
      {"JS:o /srv/t.js:3:7", js("o", "/srv/t.js", 3, 7, kNone)},
      {"RegExp:^\\/api\\/(\\w+)", plain("^\\/api\\/(\\w+)", FrameKind::kRegExp)},
      {"RegExp:", plain("", FrameKind::kRegExp)},
      {"BytecodeHandler:LdaSmi.Wide", plain("BytecodeHandler:LdaSmi.Wide", FrameKind::kBuiltin)},
      {"Builtin:InterpreterEntryTrampoline", plain("InterpreterEntryTrampoline", FrameKind::kBuiltin)},
      {"Builtins_ArrayMap", plain("ArrayMap", FrameKind::kBuiltin)},
      {"Builtins_InterpreterEntryTrampoline", plain("InterpreterEntryTrampoline", FrameKind::kBuiltin)},
  });
}

TEST(SymbolName, ReadsRegExpWithFlags) {
  for (const std::string_view symbol : {"RegExp.> src: '^\\/api\\/(\\w+) x'y\"z' flags: 'gi'",
                                        "RegExp.< src: '^\\/api\\/(\\w+) x'y\"z' flags: 'gi'"}) {
    const SymbolName name = parse_symbol_name(symbol);
    EXPECT_EQ(name.kind, FrameKind::kRegExp);
    EXPECT_EQ(name.function, "^\\/api\\/(\\w+) x'y\"z");
    EXPECT_EQ(name.regexp_flags, "gi");
  }
  Profile profile;
  const Frame flags = frame_of_symbol(profile, "RegExp.> src: 'a+' flags: 'g'", "/tmp/perf-1.map");
  EXPECT_EQ(profile.text(flags.function), "/a+/g");
  const Frame none = frame_of_symbol(profile, "RegExp.> src: 'a+' flags: ''", "/tmp/perf-1.map");
  EXPECT_EQ(profile.text(none.function), "a+");
}

TEST(SymbolName, FindsTheScriptBehindNamesAndPathsWithSpaces) {
  expect_names({
      {"JS:~GET /users /srv/routes.js:3:9", js("GET /users", "/srv/routes.js", 3, 9, kInterpreted)},
      {"JS:~foo /home/me/my app/x.js:3:9", js("foo", "/home/me/my app/x.js", 3, 9, kInterpreted)},
      {"JS:~foo C:\\Program Files\\x.js:3:9", js("foo", "C:\\Program Files\\x.js", 3, 9, kInterpreted)},
      {"JS:~foo c:/My Files/x.js:3:9", js("foo", "c:/My Files/x.js", 3, 9, kInterpreted)},
      {"JS:*foo file:///srv/my app/x.mjs:3:9", js("foo", "file:///srv/my app/x.mjs", 3, 9, kTurbofan)},
      {"JS:*foo webpack-internal:///./src/a b.js:3:9",
       js("foo", "webpack-internal:///./src/a b.js", 3, 9, kTurbofan)},
      {"JS:~foo \\\\server\\share\\x.js:3:9", js("foo", "\\\\server\\share\\x.js", 3, 9, kInterpreted)},
      {"JS:~foo /srv/x.js", js("foo", "/srv/x.js", 0, 0, kInterpreted)},
      {"JS:~get foo", js("get foo", "", 0, 0, kInterpreted)},
      {"JS:~foo", js("foo", "", 0, 0, kInterpreted)},
      {"JS:~", js("", "", 0, 0, kInterpreted)},
      {"JS:", js("", "", 0, 0, kNone)},
      {"JS:~foo /srv/x.js:99999999999:1", js("foo", "/srv/x.js:99999999999", 1, 0, kInterpreted)},
  });
}

TEST(SymbolName, ReadsWasm) {
  expect_names({
      {"Function:wasm-function[0]-0-liftoff", plain("wasm-function[0]", FrameKind::kWasm, kBaseline)},
      {"JS:wasm-function[7]-7-turbofan", plain("wasm-function[7]", FrameKind::kWasm, kTurbofan)},
      {"JS:fib-3-turbofan", plain("fib", FrameKind::kWasm, kTurbofan)},
      {"JS:js-to-wasm:i:i-<anonymous>-turbofan", plain("js-to-wasm:i:i", FrameKind::kWasm, kTurbofan)},
      {"Function:wasm-function[12]-12", plain("wasm-function[12]", FrameKind::kWasm)},
      {"Wasm:*fib", plain("fib", FrameKind::kWasm, kTurbofan)},
      {"JS:not-wasm-liftoff", js("not-wasm-liftoff", "", 0, 0, kNone)},
  });
}

TEST(SymbolName, KnowsTheCollector) {
  for (const std::string_view symbol : {
           "v8::internal::Heap::Scavenge()",
           "v8::internal::Heap::CollectGarbage(v8::internal::AllocationSpace, "
           "v8::internal::GarbageCollectionReason)",
           "v8::internal::MarkCompactCollector::ProcessMarkingWorklist",
           "v8::internal::ScavengerCollector::JobTask::ProcessItems(v8::JobDelegate*, "
           "v8::internal::Scavenger*)",
           "v8::internal::ConcurrentMarking::RunMajor",
           "v8::internal::Sweeper::RawSweep",
           "v8::internal::IncrementalMarking::AdvanceOnAllocation",
           "void "
           "v8::internal::BodyDescriptorBase::IteratePointers<v8::internal::ConcurrentMarkingVisitor>(int)",
           "cppgc::internal::MarkerBase::ProcessWorklistsWithDeadline",
           "cppgc::internal::Sweeper::SweeperImpl::Finish",
           "v8::internal::(anonymous namespace)::YoungGenerationEvacuator::RawEvacuatePage",
           "_ZN2v88internal4Heap8ScavengeEv",
           "(garbage collector)",
       }) {
    EXPECT_EQ(parse_symbol_name(symbol), plain(symbol, FrameKind::kGc)) << symbol;
  }
}

TEST(SymbolName, LeavesEverythingElseWhole) {
  for (const std::string_view symbol : {
           "main",
           "",
           "v8::internal::Runtime_StackGuard(int, unsigned long*, v8::internal::Isolate*)",
           "v8::internal::CodeKindToMarker(v8::internal::CodeKind)",
           "v8::internal::compiler::PipelineImpl::Sweeping",
           "_ZN2v88internal8compiler9ScavengerEv",
           "v8::internal::compiler::VisitNode<(v8::internal::compiler::Phase)0>",
           "node::fs::FSReqAfterScope::FSReqAfterScope(node::fs::FSReqBase*, uv_fs_s*)",
           "Scavenger::run",
           "std::function<void ()>::operator()() const",
           "Load:x",
           "Foo::~Foo",
           "Ljava/lang/String;::hashCode",
           "[unknown]",
       }) {
    EXPECT_EQ(parse_symbol_name(symbol), plain(symbol, FrameKind::kUnknown)) << symbol;
  }
}

TEST(SymbolName, TakesTheKindFromTheModule) {
  Profile profile;
  const auto kind = [&](std::string_view symbol, std::string_view module) {
    return frame_of_symbol(profile, symbol, module).kind;
  };
  EXPECT_EQ(kind("do_syscall_64", "[kernel.kallsyms]"), FrameKind::kKernel);
  EXPECT_EQ(kind("do_syscall_64", "[guest.kernel.kallsyms]"), FrameKind::kKernel);
  EXPECT_EQ(kind("ipv4_conntrack_local", "[nf_conntrack_ipv4]"), FrameKind::kKernel);
  EXPECT_EQ(kind("ext4_read", "/lib/modules/6.1/kernel/fs/ext4/ext4.ko.zst"), FrameKind::kKernel);
  EXPECT_EQ(kind("tcp_sendmsg", "/lib/modules/4.3.0-rc1-virtual/build/vmlinux"), FrameKind::kKernel);
  EXPECT_EQ(kind("__vdso_clock_gettime", "[vdso]"), FrameKind::kNative);
  EXPECT_EQ(kind("main", "/usr/bin/node"), FrameKind::kNative);
  EXPECT_EQ(kind("main", ""), FrameKind::kNative);
  EXPECT_EQ(kind("JS:~a /x.js:1:1", "/tmp/perf-12.map"), FrameKind::kJs);
  EXPECT_EQ(kind("Builtins_ArrayMap", "/usr/bin/node"), FrameKind::kBuiltin);
  EXPECT_EQ(kind("[unknown]", "/usr/bin/node"), FrameKind::kUnknown);
  EXPECT_EQ(kind("", "[kernel.kallsyms]"), FrameKind::kKernel);

  const Frame unknown = frame_of_symbol(profile, "[unknown]", "/usr/lib/libc.so.6", true);
  EXPECT_EQ(profile.text(unknown.function), "");
  EXPECT_EQ(profile.text(unknown.module), "/usr/lib/libc.so.6");
  EXPECT_TRUE(unknown.inlined);
}

// Frame -> symbol -> frame is the same frame.
TEST(SymbolName, RoundTrips) {
  Profile profile;
  for (const std::string_view symbol : {
           "JS:*hot /srv/t.js:6:13",
           "JS:+'get foo /srv/my app/t.js:3:18",
           "JS:ordinary fs.js:3",
           "LazyCompile:*forEach native array.js:1122",
           "Script:~/srv/app/index.js",
           "Eval:~ :1:1",
           "JS:~ /srv/t.js:1:1",
           "JS:~x y.js:0",
           "JS:~x y.js:0:7",
           "JS:~get foo",
           "JS:~",
           "RegExp:^\\/api\\/(\\w+)",
           "RegExp.> src: '^\\/api' flags: 'gi'",
           "Builtin:ArrayMap",
           "Builtins_ArrayMap",
           "BytecodeHandler:Star",
           "KeyedLoadIC:A keyed load IC from the snapshot",
           "Stub:CEntryStub",
           "JS:wasm-function[7]-7-turbofan",
           "Function:fib-1-liftoff",
           "v8::internal::Heap::Scavenge()",
           "(garbage collector)",
           "main",
           "VisitNode<(Phase)0>",
           "[unknown]",
       }) {
    const Frame frame = frame_of_symbol(profile, symbol, "");
    const std::string written = symbol_of_frame(profile, frame);
    EXPECT_EQ(frame_of_symbol(profile, written, ""), frame) << symbol << " -> " << written;
    EXPECT_EQ(symbol_of_frame(profile, frame_of_symbol(profile, written, "")), written);
  }
  EXPECT_EQ(symbol_of_frame(profile, frame_of_symbol(profile, "LazyCompile:*fib /app/x.js:3", "")),
            "JS:*fib /app/x.js:3");
  EXPECT_EQ(symbol_of_frame(profile, frame_of_symbol(profile, "Builtins_ArrayMap", "")), "Builtin:ArrayMap");
  EXPECT_EQ(symbol_of_frame(profile, Frame{}), "[unknown]");
}

TEST(SymbolName, IsLinearOnHostileText) {
  const std::string spaces = "JS:~" + std::string(1 << 20, ' ') + ":1:1";
  EXPECT_EQ(parse_symbol_name(spaces).kind, FrameKind::kJs);
  const std::string colons = "JS:~" + std::string(1 << 20, ':');
  EXPECT_EQ(parse_symbol_name(colons).kind, FrameKind::kJs);
}

}  // namespace
TEST(SymbolName, ANameThatBeginsLikeAMarkIsReadAgain) {
  Profile profile;
  for (const JsTier tier : {JsTier::kNone, JsTier::kBaseline, JsTier::kMaglev, JsTier::kTurbofan}) {
    Frame frame;
    frame.function = profile.strings.intern("''quoted");
    frame.kind = FrameKind::kJs;
    frame.tier = tier;
    const std::string written = symbol_of_frame(profile, frame);
    EXPECT_EQ(parse_symbol_name(written).function, "''quoted") << written;
    EXPECT_EQ(parse_symbol_name(written).tier, tier) << written;
  }
}

}  // namespace nodescope
