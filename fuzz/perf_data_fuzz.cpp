#include <algorithm>
#include <array>

#include "formats/perf_data/perf_data.h"
#include "read_one.h"

namespace {

using namespace nodescope;

// An input may carry the files that its recording refers to, each behind a separator: a perf map, a jitdump,
// kallsyms, the kernel's notes, and one binary that stands for all others.
constexpr std::string_view kSeparator = "\nNODESCOPE-FILE\n";
constexpr std::array<std::string_view, 5> kEndings = {".map", ".dump", "kallsyms", "notes", ""};

class InputFiles final : public FileOpener {
 public:
  // Takes the files off the end of `input`.
  explicit InputFiles(std::string_view& input) {
    std::string_view rest = input.substr(std::min(input.find(kSeparator), input.size()));
    input.remove_suffix(rest.size());
    for (std::string_view& content : contents_) {
      if (rest.empty()) return;
      rest.remove_prefix(kSeparator.size());
      const std::size_t end = std::min(rest.find(kSeparator), rest.size());
      content = rest.substr(0, end);
      rest.remove_prefix(end);
    }
  }

  Result<std::unique_ptr<ByteSource>> open(const std::string& path) override {
    const auto ending =
        std::ranges::find_if(kEndings, [&](std::string_view text) { return path.ends_with(text); });
    const std::string_view content = contents_[static_cast<std::size_t>(ending - kEndings.begin())];
    if (content.empty()) return fail(ErrorCode::kNotFound, path);
    return std::make_unique<MemorySource>(content, path);
  }

 private:
  std::array<std::string_view, kEndings.size()> contents_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  InputFiles files(input);
  return fuzz_reader(kPerfDataFormat, data, input.size(), &files);
}
