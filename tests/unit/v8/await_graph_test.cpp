#include "v8/await_graph.h"

#include <gtest/gtest.h>

#include <random>

#include "support/fake_promises.h"
#include "v8/async_reader.h"

namespace nodescope::v8 {
namespace {

using testing::FakeHeap;
using testing::FakePromises;

class AwaitGraphTest : public ::testing::Test {
 protected:
  // The functions of a chain, "Promise.all 1" for a combinator.
  std::string names(TaggedWord promise) {
    heap.forget();
    reader.begin_generation();
    std::string text;
    for (const Awaiter& awaiter : graph.chain(promise).awaiters) {
      const auto caller = reader.describe(awaiter);
      if (!text.empty()) text += " ";
      text += caller ? caller->frame.function : "?";
      if (caller && caller->combinator != Combinator::kNone) text += " " + std::to_string(caller->index);
    }
    return text;
  }
  ChainEnd end(TaggedWord promise) {
    heap.forget();
    return graph.chain(promise).end;
  }

  FakeHeap fake;
  FakePromises promises{fake};
  Layout layout = testing::layout_with_closures();
  AsyncLayout async = testing::async_layout_of_node_20();
  Heap heap{fake.memory, layout};
  AwaitGraph graph{heap, async};
  CodeSpace space;
  Scripts scripts;
  AsyncReader reader{heap, async, space, scripts};
};

TEST_F(AwaitGraphTest, FollowsWhoAwaitsWhom) {
  const auto leaf = promises.promise();
  const auto inner = promises.promise();
  const auto outer = promises.promise();
  promises.await(promises.async_function("query", inner), leaf);
  promises.await(promises.async_function("handler", outer), inner);
  EXPECT_EQ(names(leaf), "query handler");
  EXPECT_EQ(end(leaf), ChainEnd::kNobody);
  EXPECT_EQ(names(outer), "");
}

TEST_F(AwaitGraphTest, TellsWhereAFunctionWaits) {
  const auto waiting = promises.async_function("query", promises.promise());
  const auto caller = reader.describe({.generator = waiting});
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->frame.offset, 11);
  ASSERT_TRUE(caller->frame.script);
  EXPECT_EQ(scripts.place(*caller->frame.script, 11), (LineColumn{2, 3}));
  promises.run(waiting);
  EXPECT_EQ(reader.describe({.generator = waiting})->frame.offset, -1);
  EXPECT_FALSE(reader.describe({.generator = waiting})->frame.sure);
}

TEST_F(AwaitGraphTest, EndsWhereSeveralWait) {
  const auto leaf = promises.promise();
  promises.await(promises.async_function("one", promises.promise()), leaf);
  promises.await(promises.async_function("two", promises.promise()), leaf);
  EXPECT_EQ(names(leaf), "");
  EXPECT_EQ(end(leaf), ChainEnd::kSeveral);
  EXPECT_EQ(graph.reactions(leaf).size(), 2u);
}

TEST_F(AwaitGraphTest, EndsAtASettledPromise) {
  const auto leaf = promises.promise();
  const auto inner = promises.promise();
  promises.await(promises.async_function("query", inner), leaf);
  promises.await(promises.async_function("handler", promises.promise()), inner);
  promises.settle(inner);
  EXPECT_EQ(names(leaf), "query");
  EXPECT_EQ(end(leaf), ChainEnd::kSettled);
}

TEST_F(AwaitGraphTest, NamesCombinatorsAndTheirIndex) {
  for (const auto& [builtin, name] :
       {std::pair{1201, "Promise.all 2 fan"}, std::pair{1202, "Promise.allSettled 2 fan"}}) {
    const auto part = promises.promise();
    const auto all = promises.promise();
    promises.await(promises.async_function("fan", promises.promise()), all);
    const auto closure = promises.element(builtin, 2, all);
    promises.react(part, closure, closure, {});
    EXPECT_EQ(names(part), name);
  }
  const auto part = promises.promise();
  const auto any = promises.promise();
  promises.await(promises.async_function("fan", promises.promise()), any);
  const auto resolve = promises.closure(fake.object(241, {FakeHeap::smi(3), 0, 0, any.value}), 1204);
  promises.react(part, resolve, promises.element(1203, 0, any), {});
  EXPECT_EQ(names(part), "Promise.any 0 fan");
}

TEST_F(AwaitGraphTest, FollowsCallbacksToWhatTheySettle) {
  const auto leaf = promises.promise();
  const auto derived = promises.promise();
  const auto result = promises.promise();
  promises.await(promises.async_function("handler", promises.promise()), result);
  const auto callback = fake.function(fake.shared("callback", {}, {}));
  promises.react(leaf, callback, callback, derived);
  const auto resolve = promises.closure(fake.object(241, {FakeHeap::smi(3), 0, 0, result.value}), 1204);
  promises.react(derived, resolve, resolve, {});
  EXPECT_EQ(names(leaf), "handler");
}

TEST_F(AwaitGraphTest, FollowsTheCapabilityOfASubclass) {
  const auto leaf = promises.promise();
  const auto derived = promises.promise();
  promises.await(promises.async_function("handler", promises.promise()), derived);
  const auto callback = fake.function(fake.shared("callback", {}, {}));
  promises.react(leaf, callback, callback, promises.capability(derived));
  EXPECT_EQ(names(leaf), "handler");
}

TEST_F(AwaitGraphTest, FollowsTheOldestCallOfAnAsyncGenerator) {
  const auto leaf = promises.promise();
  const auto next = promises.promise();
  promises.await(promises.async_generator("rows", next), leaf);
  promises.await(promises.async_function("consume", promises.promise()), next);
  EXPECT_EQ(names(leaf), "rows consume");
}

TEST_F(AwaitGraphTest, DoesNotGuessWhatABuiltinIs) {
  async.builtin_all_element = {};
  const auto part = promises.promise();
  const auto closure = promises.element(1201, 2, promises.promise());
  promises.react(part, closure, closure, {});
  EXPECT_EQ(end(part), ChainEnd::kNotTold);
}

TEST_F(AwaitGraphTest, ACircleEnds) {
  const auto one = promises.promise();
  const auto other = promises.promise();
  promises.await(promises.async_function("one", other), one);
  promises.await(promises.async_function("other", one), other);
  EXPECT_EQ(names(one), "one other");
  EXPECT_EQ(end(one), ChainEnd::kTooLong);
}

TEST_F(AwaitGraphTest, AVeryLongChainEnds) {
  const auto leaf = promises.promise();
  auto awaited = leaf;
  for (std::size_t i = 0; i < 2 * AwaitGraph::kMaxChain; ++i) {
    const auto next = promises.promise();
    promises.await(promises.async_function("f", next), awaited);
    awaited = next;
  }
  EXPECT_EQ(graph.chain(leaf).awaiters.size(), AwaitGraph::kMaxChain);
  EXPECT_EQ(end(leaf), ChainEnd::kTooLong);
}

TEST_F(AwaitGraphTest, BeginsAtTheFunctionThatAMicrotaskResumed) {
  const auto result = promises.promise();
  const auto running = promises.async_function("running", result);
  const auto microtask = promises.job(promises.resumes(running), {});
  // It is suspended: what runs is another function.
  EXPECT_EQ(graph.start_of_microtask(microtask).kind, ChainStart::Kind::kNone);
  promises.run(running);
  EXPECT_EQ(graph.start_of_microtask(microtask).kind, ChainStart::Kind::kPromise);
  EXPECT_EQ(graph.start_of_microtask(microtask).promise, result);
  EXPECT_EQ(graph.start_of_microtask(microtask).generator, running);
}

TEST_F(AwaitGraphTest, BeginsAtThePromiseOfACallback) {
  const auto derived = promises.promise();
  const auto callback = fake.function(fake.shared("callback", {}, {}));
  EXPECT_EQ(graph.start_of_microtask(promises.job(callback, derived, 139)).promise, derived);
  EXPECT_EQ(graph.start_of_microtask(promises.job(callback, promises.capability(derived))).kind,
            ChainStart::Kind::kNone);
  EXPECT_EQ(graph.start_of_microtask(fake.object(136, {0, 0})).kind, ChainStart::Kind::kNone);
  EXPECT_TRUE(graph.is_microtask(fake.object(136, {0, 0})));
  EXPECT_FALSE(graph.is_microtask(derived));
}

TEST_F(AwaitGraphTest, BeginsAtWhatAThenableSettlesFromV8_14On) {
  const auto settled = promises.promise();
  const auto job = fake.object(140, {0, settled.value, 0, 0, 0});
  EXPECT_EQ(graph.start_of_microtask(job).kind, ChainStart::Kind::kNone);
  layout.version = {14, 6, 0};
  EXPECT_EQ(graph.start_of_microtask(job).promise, settled);
}

// Whatever the memory holds, a chain is bounded and nothing is read outside.
TEST_F(AwaitGraphTest, SurvivesDamagedMemory) {
  const auto leaf = promises.promise();
  const auto inner = promises.promise();
  const auto all = promises.promise();
  promises.await(promises.async_function("query", inner), leaf);
  const auto closure = promises.element(1201, 2, all);
  promises.react(inner, closure, closure, {});
  promises.await(promises.async_generator("rows", promises.promise()), all);
  const auto good = fake.memory.bytes;
  ASSERT_EQ(names(leaf), "query Promise.all 2 rows");
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    fake.memory.bytes = good;
    const auto at = random() % (good.size() / 8) * 8;
    const std::uint64_t words[] = {random(), FakeHeap::smi(-2), 0, leaf.value, all.value, ~std::uint64_t{0}};
    fake.memory.put(Address{testing::FakeMemory::kBegin + at}, words[random() % std::size(words)]);
    if (round % 3 == 0) fake.memory.bytes.resize(random() % good.size());
    heap.forget();
    reader.begin_generation();
    const AwaitChain chain = graph.chain(leaf);
    EXPECT_LE(chain.awaiters.size(), AwaitGraph::kMaxChain);
    for (const Awaiter& awaiter : chain.awaiters) reader.describe(awaiter);
  }
}

// A stack in which RunMicrotasks has called what resumes an async function.
class AsyncReaderTest : public AwaitGraphTest {
 protected:
  static constexpr Address kRunner{0x90000000}, kAwait{0x90001000}, kJob{0x90002000}, kOtherCode{0x90003000};

  AsyncReaderTest() {
    space = CodeSpace({{{kRunner, kRunner + 0x4000}, CodeSpace::Kind::kBuiltin}}, [](Address pc) {
      if (pc < kAwait) return std::string("Builtins_RunMicrotasks");
      if (pc < kJob) return std::string("Builtins_AsyncFunctionAwaitResolveClosure");
      if (pc < kOtherCode) return std::string("Builtins_PromiseFulfillReactionJob");
      return std::string("Builtins_ArrayMap");
    });
    leaf = promises.promise();
    running = promises.async_function("running", leaf);
    promises.run(running);
    promises.await(promises.async_function("caller", promises.promise()), leaf);
    pcs = {kOtherCode + 4, kAwait + 4, kRunner + 4};
    for (int i = 0; i < 3; ++i) {
      const Address slots = fake.memory.allocate(160);
      frames.push_back(slots + 144);
    }
  }

  AsyncCallers read(std::optional<Address> root = std::nullopt) {
    return read(AsyncReader::Reading{.root = root});
  }

  AsyncCallers read(const AsyncReader::Reading& reading) {
    heap.forget();
    reader.begin_generation();
    const auto runner = reader.find_runner(pcs);
    EXPECT_TRUE(runner);
    return runner ? reader.read({pcs, frames}, *runner, reading) : AsyncCallers();
  }

  TaggedWord leaf, running;
  std::vector<Address> pcs, frames;
};

TEST_F(AsyncReaderTest, FindsTheClosureOnTheStack) {
  fake.memory.put(frames[1] - 16, promises.resumes(running).value);
  const auto found = read();
  ASSERT_EQ(found.callers.size(), 1u);
  EXPECT_EQ(found.callers[0].frame.function, "caller");
  EXPECT_FALSE(found.lost);
}

TEST_F(AsyncReaderTest, FindsTheMicrotaskOnTheStack) {
  pcs[1] = kOtherCode + 8;
  fake.memory.put(frames[2] - 24, promises.job(promises.resumes(running), {}).value);
  EXPECT_EQ(read().callers.size(), 1u);
}

TEST_F(AsyncReaderTest, FindsThePromiseOfACallbackOnTheStack) {
  pcs[1] = kJob + 4;
  fake.memory.put(frames[1] - 32, leaf.value);
  EXPECT_EQ(read().callers.size(), 1u);
}

TEST_F(AsyncReaderTest, AMicrotaskWithoutAPromiseHasNoCallers) {
  EXPECT_FALSE(read().lost);
  EXPECT_TRUE(read().callers.empty());
}

TEST_F(AsyncReaderTest, SaysThatItFoundNothing) {
  pcs[1] = kJob + 4;
  EXPECT_TRUE(read().lost);
  EXPECT_TRUE(read().callers.empty());
}

TEST_F(AsyncReaderTest, BelievesTheRootOnlyIfItIsAMicrotask) {
  const Address root = fake.memory.allocate(8);
  async.root_current_microtask = {0, Origin::kCalibration};
  fake.memory.put(frames[1] - 16, promises.resumes(running).value);
  fake.memory.put(root, fake.object(131, {0, 0, 0, 0, 0}).value);  // undefined: none runs
  EXPECT_TRUE(read(root).callers.empty());
  fake.memory.put(root, std::uint64_t{0x1234});  // no such thing: the stack tells
  EXPECT_EQ(read(root).callers.size(), 1u);
  fake.memory.put(root, promises.job(promises.resumes(running), {}).value);
  EXPECT_EQ(read(root).callers.size(), 1u);
}

TEST_F(AsyncReaderTest, LaterASettledPromiseMeansThatItsCallersAreGone) {
  fake.memory.put(frames[1] - 16, promises.resumes(running).value);
  EXPECT_FALSE(read({.stands_still = false}).lost);
  EXPECT_EQ(read({.stands_still = false}).callers.size(), 1u);
  promises.settle(leaf);
  EXPECT_FALSE(read({.stands_still = true}).lost);
  EXPECT_TRUE(read({.stands_still = false}).lost);
  EXPECT_TRUE(read({.stands_still = false}).callers.empty());
}

TEST_F(AsyncReaderTest, LaterAnotherFunctionMayBeInTheSamePlace) {
  fake.memory.put(frames[1] - 16, promises.resumes(running).value);
  const auto other = fake.shared("other", {}, {});
  EXPECT_TRUE(read({.stands_still = false, .resumed = other}).lost);
  EXPECT_FALSE(read({.stands_still = true, .resumed = other}).lost);
}

TEST_F(AsyncReaderTest, NoMicrotasksRun) {
  EXPECT_FALSE(reader.find_runner(std::vector{kOtherCode + 4, kAwait + 4}));
}

}  // namespace
}  // namespace nodescope::v8
