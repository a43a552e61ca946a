#include "v8/engine.h"

#include <algorithm>

#include "binary/embedded_builtins.h"
#include "target/process.h"
#include "v8/metadata.h"

namespace nodescope::v8 {

Result<Engine> Engine::read(const ElfFile& file) {
  if (!has_v8_metadata(file)) return fail(ErrorCode::kNotFound, "does not hold V8");
  auto layout = Layout::build(file);
  if (!layout) return std::unexpected(layout.error());
  const auto builtins = find_embedded_builtins(file);
  const auto begin = builtins ? file.to_offset(builtins->begin) : std::nullopt;
  if (!begin) return fail(ErrorCode::kUnsupported, "V8's builtins were not found");
  const ValueFacts values = ValueFacts::read(Metadata::read(file), *layout);
  const AsyncLayout async = AsyncLayout::build(file, *layout);
  return Engine{std::move(*layout), {*begin, *begin + builtins->size_bytes()}, values, async};
}

void ViewCache::read_ahead(const std::string& path) {
  const auto key = images_.read_ahead(path);
  if (!key) return;
  const auto image = images_.find(*key);
  [[maybe_unused]] const auto read = engine(*key, image->file());
  image->prepare();
}

Result<std::shared_ptr<const Engine>> ViewCache::engine(const ImageKey& key, const ElfFile& file) {
  const auto known = std::ranges::find(engines_, key, &decltype(engines_)::value_type::first);
  if (known != engines_.end()) return known->second;
  auto engine = Engine::read(file);
  Result<std::shared_ptr<const Engine>> shared =
      engine ? Result<std::shared_ptr<const Engine>>(std::make_shared<const Engine>(std::move(*engine)))
             : std::unexpected(engine.error());
  engines_.emplace_back(key, shared);
  return shared;
}

}  // namespace nodescope::v8
