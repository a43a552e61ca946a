#include "page/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "page/reply.h"
#include "page/views.h"

namespace nodescope::page {

namespace {

// The selection and its baseline, each for all threads and by thread.
constexpr std::size_t kMaxKept = 4;

// Beyond any recording, and a double has no fractions of it left.
constexpr double kMaxNs = 9e18;

Result<std::optional<TimeRange>> parse_time(const Query& query) {
  if (query.text("from").empty() && query.text("to").empty()) return std::nullopt;
  const auto from = query.number("from", 0, -kMaxNs, kMaxNs);
  if (!from) return std::unexpected(from.error());
  const auto to = query.number("to", kMaxNs, -kMaxNs, kMaxNs);
  if (!to) return std::unexpected(to.error());
  return TimeRange{std::llround(*from), std::llround(*to)};
}

Result<std::vector<FrameKind>> parse_kinds(const Query& query) {
  std::vector<FrameKind> kinds;
  for (const std::string& list : query.all("kinds")) {
    std::string_view rest = list;
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(name.size() + 1, rest.size()));
      const auto kind = frame_kind_of(name);
      if (!kind) return fail(ErrorCode::kUsage, fmt::format("kinds={}: not a kind of code", name));
      kinds.push_back(*kind);
    }
  }
  return kinds;
}

}  // namespace

std::string Session::open(std::span<const std::byte> file, std::string_view name,
                          recording::Decompress decompress) {
  auto profile = recording::read_recording(file, name, decompress, nullptr);
  if (!profile) return error_reply(profile.error().message);
  add(std::string(name), std::move(*profile));
  return write_reply(OpenReply{recordings_.size() - 1, recordings_.back()->profile.samples.size()});
}

void Session::add(std::string name, Profile profile) {
  auto recording = std::make_unique<Recording>();
  recording->name = std::move(name);
  recording->profile = std::move(profile);
  recording->profile.samples.sort_by_time();
  recording->causes = derive_causes(recording->profile);
  recording->overview = derive_overview(recording->profile);
  recordings_.push_back(std::move(recording));
}

std::string Session::ask(std::string_view text) {
  const auto query = Query::parse(text);
  if (!query) return error_reply(query.error().message);
  const std::string_view wanted = query->text("view");
  std::string reply;
  const auto try_view = [&](const auto& view) {
    if (view.name != wanted) return false;
    auto answer = view.answer(*this, *query);
    reply = answer ? write_reply(std::move(*answer)) : error_reply(answer.error().message);
    return true;
  };
  const bool known = std::apply([&](const auto&... views) { return (try_view(views) || ...); }, kViews);
  return known ? reply : error_reply(fmt::format("view={}: there is no such view", wanted));
}

Result<Asked> Session::parse_asked(const Query& query) const {
  if (recordings_.empty()) return fail(ErrorCode::kUsage, "no recording is open");
  Asked asked;
  const auto file = query.integer("file", 0, static_cast<std::uint32_t>(recordings_.size() - 1));
  if (!file) return std::unexpected(file.error());
  asked.file = *file;
  const Profile& profile = recordings_[asked.file]->profile;
  if (!profile.events().empty()) {
    const auto event = query.integer("event", 0, static_cast<std::uint32_t>(profile.events().size() - 1));
    if (!event) return std::unexpected(event.error());
    asked.selection.event = EventId{*event};
  }
  const auto time = parse_time(query);
  if (!time) return std::unexpected(time.error());
  asked.selection.time = *time;
  const auto threads = query.integers("threads", static_cast<std::uint32_t>(profile.threads().size() - 1));
  if (!threads) return std::unexpected(threads.error());
  for (const std::uint32_t thread : *threads) asked.selection.threads.emplace_back(thread);
  const auto kinds = parse_kinds(query);
  if (!kinds) return std::unexpected(kinds.error());
  asked.selection.kinds = *kinds;
  asked.selection.include = query.all("include");
  asked.selection.exclude = query.all("exclude");
  asked.selection.ignore_case = query.flag("ignore_case");
  asked.selection.only_my_code = query.flag("my");
  asked.selection.fold_event_loop = query.flag("fold");
  asked.selection.leave_out_async_callers = query.flag("no_async");
  const std::string_view count = query.text("count");
  if (count == "samples") {
    asked.count = CountBy::kSamples;
  } else if (!count.empty() && count != "weight") {
    return fail(ErrorCode::kUsage, fmt::format("count={}: neither samples nor weight", count));
  }
  return asked;
}

Result<std::shared_ptr<const SummedSelection>> Session::sums(const Asked& asked, bool by_thread) {
  const auto known = std::ranges::find_if(
      kept_, [&](const Kept& kept) { return kept.by_thread == by_thread && kept.asked == asked; });
  if (known != kept_.end()) {
    std::rotate(known, known + 1, kept_.end());
    return kept_.back().sums;
  }
  auto sums = derive_sums(recording(asked).profile, asked.selection, {asked.count, by_thread});
  if (!sums) return std::unexpected(sums.error());
  if (kept_.size() >= kMaxKept) kept_.erase(kept_.begin());
  kept_.push_back({asked, by_thread, std::make_shared<const SummedSelection>(std::move(*sums))});
  return kept_.back().sums;
}

}  // namespace nodescope::page
