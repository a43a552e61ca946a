#include "capture/frame_builder.h"

#include <gtest/gtest.h>

#include <cstring>

#include "binary/debug_files.h"
#include "support/fake_process.h"
#include "support/memory_files.h"
#include "support/perf_data_records.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::FakeProcess;
using testing::MemoryFiles;
using testing::PerfDataBuilder;

constexpr std::uint64_t kBase = 0x7F0000000000;
constexpr std::string_view kPath = "/srv/app/spin";

// A small real program with the functions serve, handle, parse, count_down.
std::string spin() {
  return testing::read_test_file("tests/golden/perf-data/files/srv/app/spin");
}

// Without section headers nobody finds its symbols.
std::string stripped(std::string elf) {
  constexpr std::size_t kSectionsOffset = 0x28;
  constexpr std::size_t kSectionCount = 0x3C;
  std::memset(elf.data() + kSectionsOffset, 0, 8);
  std::memset(elf.data() + kSectionCount, 0, 4);
  return elf;
}

std::vector<Address> places_in(const std::string& program) {
  const auto file = ElfFile::parse(as_byte_span(program));
  std::vector<Address> places;
  for (const char* function : {"parse", "handle", "serve", "count_down"}) {
    const auto symbol = file->symtab().find(function);
    const Address begin = Address{kBase} + file->to_offset(FileAddress{symbol->value})->value;
    for (const std::uint64_t offset :
         {std::uint64_t{0}, std::uint64_t{1}, symbol->size_bytes, symbol->size_bytes + 1})
      places.push_back(begin + offset);
  }
  return places;
}

struct Names {
  std::vector<std::string> live;
  std::vector<std::string> imported;
};

// The first place is where the processor was, the others are return addresses.
Names names_of(const std::string& mapped, const std::vector<Address>& places, MemoryFiles& files) {
  Names names;
  const auto name_of = [](const Profile& profile, FrameId id) {
    const Frame& frame = profile.frames[id];
    return std::string(profile.text(frame.function)) + " (" + std::string(profile.text(frame.module)) + ")";
  };
  files.add(std::string(kPath), mapped);

  auto process = std::make_unique<FakeProcess>(std::string(kPath));
  process->map_file(Address{kBase}, std::string(kPath), mapped);
  Profile profile;
  v8::ViewCache cache(&files);
  const auto view = v8::ProcessView::open_any(std::move(process), cache, profile.diagnostics);
  FrameBuilder builder(profile, *view);
  for (std::size_t i = 0; i < places.size(); ++i)
    names.live.push_back(
        name_of(profile, builder.build(v8::StackEntry(v8::NativeFrame{places[i], i != 0})).frame));

  PerfDataBuilder recording;
  recording.attribute(testing::plain_attribute());
  recording.record(testing::kMmap, testing::kUser, testing::mmap_body(kBase, mapped.size(), kPath, 0));
  std::vector<std::uint64_t> chain = {testing::kContextUser};
  for (const Address place : places) chain.push_back(place.value);
  recording.record(testing::kSample, testing::kUser, testing::sample_body(10, 100, chain));
  const Profile imported = testing::read_good(recording.file(), &files);
  for (const FrameId id : imported.stacks.unwind(imported.samples.stack(0)))
    names.imported.push_back(name_of(imported, id));
  std::ranges::reverse(names.imported);
  return names;
}

TEST(FrameBuilder, NamesNativeCodeOfAProcessAsOfARecordingOfIt) {
  MemoryFiles files;
  const Names names = names_of(spin(), places_in(spin()), files);
  EXPECT_EQ(names.live, names.imported);
  EXPECT_EQ(names.live[0], "parse (/srv/app/spin)");
}

TEST(FrameBuilder, TakesNamesFromTheSameSeparateDebugFile) {
  const std::string program = spin();
  const auto id = ElfFile::parse(as_byte_span(program))->build_id();
  MemoryFiles files;
  const Names without = names_of(stripped(program), places_in(program), files);
  EXPECT_EQ(without.live[0], " (/srv/app/spin)");
  EXPECT_EQ(without.live, without.imported);

  files.add("/usr/lib/debug/.build-id/" + id->to_hex().insert(2, "/") + ".debug", program);
  const Names with = names_of(stripped(program), places_in(program), files);
  EXPECT_EQ(with.live[0], "parse (/srv/app/spin)");
  EXPECT_EQ(with.live, with.imported);
}

// What was not called returns to the first instruction of a function; a call is before everything else.
TEST(FrameBuilder, AReturnAddressBelongsToItsCall) {
  const auto resolve = [](Address address) -> std::string_view {
    if (address >= Address{0x100} && address < Address{0x120}) return "caller";
    if (address >= Address{0x120} && address < Address{0x130}) return "__pfx_handler";
    if (address >= Address{0x130}) return "handler";
    return "";
  };
  const auto name_of = [](std::string_view name) { return name; };
  EXPECT_EQ(resolve_caller(Address{0x120}, resolve, name_of), "caller") << "its last instruction is the call";
  EXPECT_EQ(resolve_caller(Address{0x130}, resolve, name_of), "handler") << "after the padding";
  EXPECT_EQ(resolve_caller(Address{0x100}, resolve, name_of), "caller") << "after what has no name";
}

}  // namespace
}  // namespace nodescope
