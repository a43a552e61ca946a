#include "v8/await_chains.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

#include "support/fake_promises.h"

namespace nodescope::v8 {
namespace {

using testing::FakeHeap;
using testing::FakeMemory;
using testing::FakePromises;

class AwaitChainsTest : public ::testing::Test {
 protected:
  TaggedWord function(std::string_view name, TaggedWord awaited) {
    const auto result = promises.promise();
    const auto generator = promises.async_function(name, result);
    promises.await(generator, awaited);
    results[generator.value] = result;
    return generator;
  }
  TaggedWord result_of(TaggedWord generator) { return results[generator.value]; }

  AwaitChains chains() {
    heap.forget();
    reader.begin_generation();
    const Range<Address> all{Address{FakeMemory::kBegin},
                             Address{FakeMemory::kBegin + fake.memory.bytes.size()}};
    const HeapPage page{.range = all, .objects = all, .heap = {}, .kind = SpaceKind::kOld, .is_large = true};
    const HeapImage image({{page, fake.memory.bytes}}, fake.memory);
    Progress progress;
    return derive_await_chains(reader, find_async_objects(image, layout, async, progress));
  }

  // "query < handler" -> 750
  static std::map<std::string, std::uint64_t> counts(const AwaitChains& chains) {
    std::map<std::string, std::uint64_t> counts;
    for (const auto& chain : chains.chains) {
      std::string text;
      for (const std::uint32_t place : chain.places) {
        const AsyncCaller& caller = chains.places[place];
        text += (text.empty() ? "" : " < ") + caller.frame.function;
        if (caller.combinator != Combinator::kNone) text += " " + std::to_string(caller.index);
      }
      counts[text + (chain.is_circle ? " circle" : "")] += chain.count;
    }
    return counts;
  }

  FakeHeap fake;
  FakePromises promises{fake};
  std::map<std::uint64_t, TaggedWord> results;
  Layout layout = testing::layout_with_closures();
  AsyncLayout async = testing::async_layout_of_node_20();
  Heap heap{fake.memory, layout};
  CodeSpace space;
  Scripts scripts;
  AsyncReader reader{heap, async, space, scripts};
};

using Counts = std::map<std::string, std::uint64_t>;

TEST_F(AwaitChainsTest, NothingWaits) {
  const auto none = chains();
  EXPECT_TRUE(none.chains.empty());
  EXPECT_EQ(none.suspended, 0u);
}

TEST_F(AwaitChainsTest, CountsChains) {
  for (int i = 0; i < 3; ++i) function("handler", result_of(function("query", promises.promise())));
  function("query", promises.promise());
  const auto found = chains();
  EXPECT_EQ(counts(found), (Counts{{"query", 1}, {"query < handler", 3}}));
  EXPECT_EQ(found.chains[0].count, 3u);
  EXPECT_EQ(found.suspended, 7u);
}

TEST_F(AwaitChainsTest, AChainForEachWaiter) {
  const auto lock = function("lock", promises.promise());
  for (int i = 0; i < 70; ++i) function("outer", result_of(function("waits", result_of(lock))));
  const auto callback = fake.function(fake.shared("callback", {}, {}));
  promises.react(result_of(lock), callback, callback, promises.promise());
  EXPECT_EQ(counts(chains()), (Counts{{"lock < waits < outer", 70}}));
}

TEST_F(AwaitChainsTest, ShowsCombinatorsWithAndWithoutAFunctionBelow) {
  const auto all = promises.promise();
  function("fan", all);
  const auto element = promises.element(1201, 1, all);
  promises.react(result_of(function("part", promises.promise())), element, element, {});
  const auto bare = promises.promise();
  function("bare", bare);
  const auto only = promises.element(1201, 0, bare);
  promises.react(promises.promise(), only, only, {});
  EXPECT_EQ(counts(chains()), (Counts{{"part < Promise.all 1 < fan", 1}, {"Promise.all 0 < bare", 1}}));
  const auto other = promises.element(1201, 1, bare);
  promises.react(promises.promise(), other, other, {});
  EXPECT_EQ(counts(chains()), (Counts{{"part < Promise.all 1 < fan", 1}, {"Promise.all -1 < bare", 1}}));
}

TEST_F(AwaitChainsTest, FunctionsThatWaitForEachOther) {
  const auto first = promises.promise();
  const auto second = promises.promise();
  promises.await(promises.async_function("egg", first), second);
  promises.await(promises.async_function("chicken", second), first);
  const auto found = counts(chains());
  EXPECT_EQ(found.size(), 1u);
  EXPECT_TRUE(found.begin()->first.ends_with(" circle"));
  EXPECT_EQ(found.begin()->second, 1u);
}

TEST_F(AwaitChainsTest, LeavesOutWhatDoesNotWait) {
  const auto ended = function("ended", promises.promise());
  promises.run(ended);
  promises.async_function("ready", promises.promise());        // nothing pending will resume it
  promises.async_generator("resting", fake.object(131, {0}));  // no call of next()
  const auto found = chains();
  EXPECT_TRUE(found.chains.empty());
  EXPECT_EQ(found.ready, 1u);
  EXPECT_EQ(found.resting, 1u);
}

TEST_F(AwaitChainsTest, SurvivesDamagedMemory) {
  const auto lock = function("lock", promises.promise());
  for (int i = 0; i < 3; ++i) function("waits", result_of(lock));
  const auto all = promises.promise();
  function("fan", all);
  const auto element = promises.element(1201, 1, all);
  promises.react(result_of(function("part", promises.promise())), element, element, {});
  const auto good = fake.memory.bytes;
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    fake.memory.bytes = good;
    for (int i = 0; i < 4; ++i) {
      const auto at = random() % (good.size() / 8) * 8;
      const std::uint64_t other = FakeMemory::kBegin + random() % (good.size() / 8) * 8 + 1;
      const std::uint64_t words[] = {other, other, FakeHeap::smi(-2), random()};
      fake.memory.put(Address{FakeMemory::kBegin + at}, words[random() % std::size(words)]);
    }
    const auto found = chains();
    for (const auto& chain : found.chains) {
      for (const std::uint32_t place : chain.places) EXPECT_LT(place, found.places.size());
    }
  }
}

}  // namespace
}  // namespace nodescope::v8
