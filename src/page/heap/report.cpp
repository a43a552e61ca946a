#include "page/heap/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "page/heap/views.h"

namespace nodescope::page {

namespace {

constexpr std::size_t kClasses = 40;
constexpr std::size_t kObjectsOfClass = 8;
constexpr std::size_t kMaxObjects = 500;

}  // namespace

std::vector<std::string> questions_of_a_report(const HeapSession& session) {
  const Query any = *Query::parse("");
  std::vector<std::string> questions = {"view=about", "view=classes", "view=dominators"};
  std::vector<double> objects;
  const auto about = answer_heap_about(session, any);
  if (about && about->object) objects.push_back(*about->object);
  const auto classes = answer_heap_classes(session, any);
  const std::size_t count = classes ? std::min(kClasses, classes->heap_class.size()) : 0;
  const std::string_view only_new = session.diff() == nullptr ? "" : "&new=1";
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t number = classes->heap_class[i];
    if (number == kNoRow) continue;
    questions.push_back(fmt::format("view=holder&class={}", number));
    questions.push_back(fmt::format("view=objects&class={}{}", number, only_new));
    const auto query = Query::parse(questions.back());
    const auto largest = answer_heap_objects(session, *query);
    if (!largest) continue;
    for (std::size_t k = 0; k < std::min(kObjectsOfClass, largest->id.size()); ++k)
      objects.push_back(largest->id[k]);
    const auto holder = answer_heap_holder(session, *Query::parse(fmt::format("class={}", number)));
    if (holder) objects.insert(objects.end(), holder->path.id.begin(), holder->path.id.end());
  }
  if (const auto tree = answer_heap_dominators(session, any))
    std::ranges::copy_if(tree->id, std::back_inserter(objects), [](double id) { return id != 0; });
  std::set<double> known;
  for (const double id : objects) {
    if (known.size() < kMaxObjects && known.insert(id).second)
      questions.push_back(fmt::format("view=object&id={:.0f}", id));
  }
  return questions;
}

}  // namespace nodescope::page
