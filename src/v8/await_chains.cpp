#include "v8/await_chains.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "base/flat_map.h"

namespace nodescope::v8 {

namespace {

constexpr std::size_t kMaxWaiting = 1 << 20;  // for one promise
constexpr std::size_t kMaxReactionsRead = 1 << 26;
constexpr std::size_t kMaxSearched = 4096;   // promises below an awaited one
constexpr std::size_t kMaxCombinators = 16;  // below the innermost function

class ChainBuilder {
 public:
  ChainBuilder(AsyncReader& reader, const AsyncObjects& objects, RequestIds* requests)
      : reader_(reader), graph_(reader.graph()), objects_(objects), requests_(requests) {}

  AwaitChains build() {
    find_suspended();
    find_reactions();
    for (const TaggedWord generator : suspended_) {
      const auto awaited = awaited_.find(generator.value);
      if (awaited == awaited_.end()) {
        count_without_promise(generator);
      } else {
        ++result_.suspended;
        if (!is_settled_by_function(awaited->second.promise)) add_chains_of(generator, awaited->second);
      }
    }
    for (const TaggedWord generator : suspended_) {
      if (awaited_.contains(generator.value) && !seen_.contains(generator.value)) add_circle(generator);
    }
    finish();
    return std::move(result_);
  }

 private:
  using Path = std::vector<std::uint32_t>;

  // What chains that count together have in common.
  struct Kind {
    Path places;
    std::string request;
    bool is_circle = false;

    auto operator<=>(const Kind&) const = default;
  };
  struct Awaited {
    TaggedWord promise;
    TaggedWord reaction;  // that resumes the function
  };
  // A promise that settles another one, and through which combinator.
  struct Source {
    TaggedWord promise;
    std::optional<Awaiter> combinator;
  };
  struct Branch {
    TaggedWord promise;
    Path path;
    std::size_t steps = 0;
  };

  void find_suspended() {
    for (const TaggedWord generator : objects_.generators) {
      if (!graph_.is_generator(generator) || !graph_.is_suspended(generator)) continue;
      suspended_.push_back(generator);
      if (const TaggedWord promise = graph_.promise_of(generator); promise != TaggedWord{})
        settled_by_function_.insert(promise.value);
    }
  }

  void find_reactions() {
    std::size_t read = 0;
    for (const TaggedWord promise : objects_.promises) {
      const auto reactions = graph_.reactions(promise, kMaxWaiting);
      read += reactions.size();
      if (read > kMaxReactionsRead) {
        result_.has_more = true;
        return;
      }
      for (const TaggedWord reaction : reactions) {
        const AwaitGraph::Step step = graph_.step(reaction);
        if (step.awaiter && step.awaiter->combinator == Combinator::kNone) {
          awaited_.emplace(step.awaiter->generator.value, Awaited{promise, reaction});
        } else if (step.promise != TaggedWord{}) {
          sources_[step.promise.value].push_back({promise, step.awaiter});
        }
      }
    }
  }

  // An async function that is suspended where nothing pending will resume it goes on soon.
  void count_without_promise(TaggedWord generator) {
    const bool is_idle =
        reader_.is_async_generator(generator) && graph_.promise_of(generator) == TaggedWord{};
    is_idle ? ++result_.resting : ++result_.ready;
  }

  // By way of callbacks and combinators, too.
  bool is_settled_by_function(TaggedWord promise) const {
    std::vector<TaggedWord> open{promise};
    FlatSet<std::uint64_t> searched;
    while (!open.empty() && searched.size() < kMaxSearched) {
      const TaggedWord next = open.back();
      open.pop_back();
      if (!searched.insert(next.value).second) continue;
      if (settled_by_function_.contains(next.value)) return true;
      if (const auto sources = sources_.find(next.value); sources != sources_.end()) {
        for (const Source& source : sources->second) open.push_back(source.promise);
      }
    }
    return false;
  }

  std::uint32_t place(const Awaiter& awaiter) {
    auto caller = reader_.describe(awaiter);
    if (!caller) {
      caller.emplace();
      caller->frame.function = "[unknown]";
      ++result_.unreadable;
    }
    const PlaceKey key{caller->frame.shared.value, caller->frame.offset, caller->combinator, caller->index,
                       caller->frame.function};
    const auto [known, is_new] = places_.emplace(key, static_cast<std::uint32_t>(result_.places.size()));
    if (is_new) result_.places.push_back(std::move(*caller));
    return known->second;
  }

  // The combinators that the function waits through although no function is below them.
  Path combinators_below(TaggedWord promise) {
    Path below;
    for (std::size_t depth = 0; depth < kMaxCombinators; ++depth) {
      const auto sources = sources_.find(promise.value);
      if (sources == sources_.end()) break;
      if (auto combinator = sources->second[0].combinator) {
        if (sources->second.size() > 1) combinator->index = -1;
        below.push_back(place(*combinator));
      }
      promise = sources->second[0].promise;
    }
    std::ranges::reverse(below);
    return below;
  }

  std::string request_of(const Awaited& awaited) {
    return requests_ != nullptr ? requests_->of(awaited.reaction) : std::string();
  }

  void add_chains_of(TaggedWord generator, const Awaited& awaited) {
    seen_.insert(generator.value);
    const std::string request = request_of(awaited);
    Path path = combinators_below(awaited.promise);
    path.push_back(place({.generator = generator}));
    std::vector<Branch> open;
    open.push_back({graph_.promise_of(generator), std::move(path), 0});
    while (!open.empty() && counted_ <= kMaxChains && !result_.has_more) {
      Branch branch = std::move(open.back());
      open.pop_back();
      std::vector<Branch> next = branches_from(branch);
      if (next.empty()) count({std::move(branch.path), request});
      std::ranges::move(next, std::back_inserter(open));
    }
  }

  std::vector<Branch> branches_from(const Branch& branch) {
    std::vector<Branch> next;
    if (branch.promise == TaggedWord{} || branch.steps >= AwaitGraph::kMaxChain) return next;
    const auto reactions = graph_.reactions(branch.promise, kMaxWaiting);
    for (const TaggedWord reaction : reactions) {
      const AwaitGraph::Step step = graph_.step(reaction);
      // Beside others a callback that nobody waits for is no chain of its own.
      const bool leads_on = step.awaiter || reactions.size() == 1 || leads_to_function(step.promise);
      if (!leads_on || (!step.awaiter && step.promise == TaggedWord{})) continue;
      Branch& branched = next.emplace_back(Branch{step.promise, branch.path, branch.steps + 1});
      if (!step.awaiter) continue;
      branched.path.push_back(place(*step.awaiter));
      if (step.awaiter->combinator == Combinator::kNone) seen_.insert(step.awaiter->generator.value);
      if (counted_ + next.size() >= kMaxChains) break;
    }
    return next;
  }

  bool leads_to_function(TaggedWord promise) {
    for (std::size_t depth = 0; depth < AwaitGraph::kMaxChain && promise != TaggedWord{}; ++depth) {
      const auto reactions = graph_.reactions(promise);
      if (reactions.empty()) return false;
      if (reactions.size() > 1) return true;  // one of them may
      const AwaitGraph::Step step = graph_.step(reactions[0]);
      if (step.awaiter) return true;
      promise = step.promise;
    }
    return false;
  }

  // No function of a circle is the first.
  void add_circle(TaggedWord generator) {
    Path path;
    const std::string request = request_of(awaited_.at(generator.value));
    TaggedWord promise;
    for (std::size_t step = 0; step < AwaitGraph::kMaxChain; ++step) {
      if (!seen_.insert(generator.value).second) break;
      path.push_back(place({.generator = generator}));
      promise = graph_.promise_of(generator);
      const AwaitChain chain = promise == TaggedWord{} ? AwaitChain() : graph_.chain(promise);
      const auto next = std::ranges::find(chain.awaiters, Combinator::kNone, &Awaiter::combinator);
      if (next == chain.awaiters.end()) break;
      generator = next->generator;
    }
    count({std::move(path), request, /*is_circle=*/true});
  }

  void count(Kind kind) {
    if (counted_ >= kMaxChains) {
      result_.has_more = true;
      return;
    }
    ++counted_;
    ++counts_[std::move(kind)];
  }

  void finish() {
    for (const auto& [kind, number] : counts_)
      result_.chains.push_back({number, kind.places, kind.request, kind.is_circle});
    std::ranges::stable_sort(result_.chains, std::greater(), &AwaitChains::Chain::count);
  }

  using PlaceKey = std::tuple<std::uint64_t, std::int32_t, Combinator, std::int32_t, std::string>;

  AsyncReader& reader_;
  AwaitGraph& graph_;
  const AsyncObjects& objects_;
  RequestIds* requests_;
  AwaitChains result_;
  std::uint64_t counted_ = 0;
  std::vector<TaggedWord> suspended_;
  FlatSet<std::uint64_t> settled_by_function_;           // promises that suspended functions will settle
  FlatMap<std::uint64_t, Awaited> awaited_;              // by generator
  FlatMap<std::uint64_t, std::vector<Source>> sources_;  // by the promise that they settle
  FlatSet<std::uint64_t> seen_;                          // generators in a chain
  std::map<PlaceKey, std::uint32_t> places_;
  std::map<Kind, std::uint64_t> counts_;
};

}  // namespace

AwaitChains derive_await_chains(AsyncReader& reader, const AsyncObjects& objects, RequestIds* requests) {
  return ChainBuilder(reader, objects, requests).build();
}

}  // namespace nodescope::v8
