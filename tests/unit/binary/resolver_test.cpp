#include "binary/resolver.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/memory_files.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::MemoryFiles;
using testing::read_test_file;

constexpr std::uint64_t kBase = 0x7F0000000000;

// A small real program with the functions serve, handle, parse, count_down.
const std::string& spin() {
  static const std::string content = read_test_file("tests/golden/perf-data/files/srv/app/spin");
  return content;
}

BuildId spin_build_id() {
  return ElfFile::parse(as_byte_span(spin()))->build_id().value();
}

// Where `function` is in a process that mapped the whole file at kBase.
Address address_of(std::string_view function) {
  const auto file = ElfFile::parse(as_byte_span(spin()));
  const auto symbol = file->symtab().find(function);
  return Address{kBase} + file->to_offset(FileAddress{symbol.value().value}).value().value;
}

struct ResolverTest : ::testing::Test {
  MemoryFiles files;
  Diagnostics diagnostics;

  std::unique_ptr<Resolver> make_resolver() {
    return std::make_unique<Resolver>(
        ResolverOptions{&files, "/rec", {.debug_root = "/debug", .perf_cache = "~/.debug"}}, diagnostics);
  }

  static MappedImage map_whole(ImageId image) {
    return {image, {Address{kBase}, Address{kBase + 0x100000}}, FileOffset{0}};
  }

  // "name (module)".
  static std::string describe(const Resolver& resolver, ResolvedSymbolId id) {
    return fmt::format("{} ({})", resolver[id].name, resolver[id].module);
  }

  std::string resolve_in(std::string_view path, const std::optional<BuildId>& id, Address address) {
    const auto resolver = make_resolver();
    return describe(*resolver, resolver->resolve(map_whole(resolver->intern_image(path, id, 1)), address));
  }
};

TEST_F(ResolverTest, NamesFunctionsOfABinary) {
  files.add("/srv/app/spin", spin());
  EXPECT_EQ(resolve_in("/srv/app/spin", std::nullopt, address_of("parse")), "parse (/srv/app/spin)");
  EXPECT_EQ(resolve_in("/srv/app/spin", spin_build_id(), address_of("handle") + 1), "handle (/srv/app/spin)");
  EXPECT_EQ(resolve_in("/srv/app/spin", std::nullopt, Address{kBase}), " (/srv/app/spin)")
      << "the ELF header";
  EXPECT_TRUE(diagnostics.entries().empty());
}

TEST_F(ResolverTest, TheSameSymbolHasTheSameId) {
  files.add("/srv/app/spin", spin());
  const auto resolver = make_resolver();
  const MappedImage mapped = map_whole(resolver->intern_image("/srv/app/spin", std::nullopt, 1));
  EXPECT_EQ(resolver->resolve(mapped, address_of("parse")),
            resolver->resolve(mapped, address_of("parse") + 1));
  EXPECT_NE(resolver->resolve(mapped, address_of("parse")), resolver->resolve(mapped, address_of("handle")));
}

TEST_F(ResolverTest, ABinaryThatChangedGivesNoNames) {
  files.add("/srv/app/spin", spin());
  const auto other = BuildId::from_hex("00112233445566778899aabbccddeeff00112233");
  EXPECT_EQ(resolve_in("/srv/app/spin", other, address_of("parse")), " (/srv/app/spin)");
  EXPECT_EQ(diagnostics.count("binary not found or changed since the recording: no names from it"), 1u);
  EXPECT_EQ(diagnostics.entries()[0].example, "/srv/app/spin");
}

TEST_F(ResolverTest, SaysOncePerFileThatABinaryIsMissing) {
  const auto resolver = make_resolver();
  const MappedImage mapped = map_whole(resolver->intern_image("/gone", std::nullopt, 1));
  for (int i = 0; i < 10; ++i) resolver->resolve(mapped, Address{kBase + i});
  EXPECT_EQ(diagnostics.count("binary not found or changed since the recording: no names from it"), 1u);
}

TEST_F(ResolverTest, FindsAReplacedBinaryInPerfsCache) {
  const BuildId id = spin_build_id();
  files.add(binary_paths(id, {.debug_root = "/debug", .perf_cache = "~/.debug"}).front(), spin());
  EXPECT_EQ(resolve_in("/srv/app/spin", id, address_of("parse")), "parse (/srv/app/spin)");
}

TEST_F(ResolverTest, ADeletedBinaryCountsOnlyIfItIsTheSame) {
  files.add("/srv/app/spin", spin());
  EXPECT_EQ(resolve_in("/srv/app/spin (deleted)", spin_build_id(), address_of("parse")),
            "parse (/srv/app/spin (deleted))");
  EXPECT_EQ(resolve_in("/srv/app/spin (deleted)", std::nullopt, address_of("parse")),
            " (/srv/app/spin (deleted))");
}

TEST_F(ResolverTest, TheVdsoComesFromPerfsCache) {
  const BuildId id = spin_build_id();
  files.add(perf_cache_path(id, "vdso", {.perf_cache = "~/.debug"}), spin());
  EXPECT_EQ(resolve_in("[vdso]", id, address_of("parse")), "parse ([vdso])");
  EXPECT_EQ(resolve_in("[vdso]", std::nullopt, address_of("parse")), " ([vdso])");
}

TEST_F(ResolverTest, FindsImagesOfInjectedCodeBesideTheRecording) {
  files.add("/rec/jitted-5-1.so", spin());
  EXPECT_EQ(resolve_in("/elsewhere/jitted-5-1.so", std::nullopt, address_of("parse")),
            "parse (/elsewhere/jitted-5-1.so)");
  files.add("/rec/lib.so", spin());
  EXPECT_EQ(resolve_in("/elsewhere/lib.so", std::nullopt, address_of("parse")), " (/elsewhere/lib.so)");
}

TEST_F(ResolverTest, GeneratedCodeHasTheNamesOfThePerfMap) {
  files.add("/tmp/perf-42.map", "7f0000000010 10 JS:*a /x.js:1:1\n");
  const auto resolver = make_resolver();
  const ImageId image = resolver->intern_image("//anon", std::nullopt, 42);
  EXPECT_TRUE(resolver->is_generated(image));
  EXPECT_EQ(image, resolver->intern_image("[anon:v8]", std::nullopt, 42)) << "one process, one map";
  EXPECT_EQ(describe(*resolver, resolver->resolve(map_whole(image), Address{kBase + 0x18})),
            "JS:*a /x.js:1:1 (/tmp/perf-42.map)");
  EXPECT_EQ(describe(*resolver, resolver->resolve(map_whole(image), Address{kBase + 0x20})),
            " (/tmp/perf-42.map)");
  EXPECT_EQ(
      describe(*resolver, resolver->resolve(map_whole(resolver->intern_image("//anon", std::nullopt, 43)),
                                            Address{kBase})),
      " (/tmp/perf-43.map)");
  EXPECT_EQ(diagnostics.entries().size(), 1u);
  EXPECT_EQ(diagnostics.entries()[0].example, "/tmp/perf-43.map");
}

TEST_F(ResolverTest, AMapBesideTheRecordingComesFirst) {
  files.add("/tmp/perf-42.map", "7f0000000010 10 stale\n");
  files.add("/rec/perf-42.map", "7f0000000010 10 kept\n");
  EXPECT_EQ(resolve_in("//anon", std::nullopt, Address{kBase + 0x10}), " (/tmp/perf-1.map)");
  const auto resolver = make_resolver();
  const ImageId image = resolver->intern_image("//anon", std::nullopt, 42);
  EXPECT_EQ(describe(*resolver, resolver->resolve(map_whole(image), Address{kBase + 0x10})),
            "kept (/tmp/perf-42.map)");
}

TEST_F(ResolverTest, WithoutFilesNothingHasAName) {
  Resolver resolver({}, diagnostics);
  const MappedImage mapped = map_whole(resolver.intern_image("/srv/app/spin", std::nullopt, 1));
  EXPECT_EQ(describe(resolver, resolver.resolve(mapped, Address{kBase})), " (/srv/app/spin)");
  EXPECT_EQ(describe(resolver, resolver.resolve_kernel(Address{0xFFFFFFFF81000000})), " ([kernel.kallsyms])");
  EXPECT_TRUE(diagnostics.entries().empty());
}

constexpr std::string_view kKallsyms =
    "ffffffff81000000 T _text\n"
    "ffffffff81000100 T do_work\n"
    "ffffffff81000200 T _etext\n"
    "ffffffffc0001000 t nft_do_chain\t[nf_tables]\n"
    "ffffffffc0001100 t nft_end\t[nf_tables]\n";

struct KernelTest : ResolverTest {
  KernelTest() {
    files.add("/proc/kallsyms", std::string(kKallsyms));
    files.add("/proc/sys/kernel/osrelease", "6.1.0-nodescope\n");
    std::string notes;
    for (const std::uint32_t word : {4u, 4u, 1u}) notes.append(reinterpret_cast<const char*>(&word), 4);
    notes += std::string("ABC\0wxyz", 8);
    for (const std::uint32_t word : {4u, 4u, 3u}) notes.append(reinterpret_cast<const char*>(&word), 4);
    notes += std::string("GNU\0\xDE\xAD\xBE\xEF", 8);
    files.add("/sys/kernel/notes", notes);
  }

  std::string kernel_name(const KernelIdentity& identity, std::uint64_t address) {
    const auto resolver = make_resolver();
    resolver->kernel().identity() = identity;
    return describe(*resolver, resolver->resolve_kernel(Address{address}));
  }
};

KernelIdentity kernel_of(std::optional<BuildId> id, std::string release) {
  return {.build_id = id,
          .release = std::move(release),
          .text = {Address{0xFFFFFFFF81000000}, Address{0xFFFFFFFF81000200}},
          .reference_symbol = "_text",
          .reference_address = Address{0xFFFFFFFF81000000}};
}

TEST_F(KernelTest, TheRunningKernelIsRecognisedByItsBuildId) {
  EXPECT_EQ(kernel_name(kernel_of(BuildId::from_hex("deadbeef"), "other"), 0xFFFFFFFF81000110),
            "do_work ([kernel.kallsyms])");
  EXPECT_EQ(kernel_name(kernel_of(BuildId::from_hex("deadbee0"), "6.1.0-nodescope"), 0xFFFFFFFF81000110),
            " ([kernel.kallsyms])");
  EXPECT_EQ(diagnostics.count("the recording is of another kernel: no names for the kernel"), 1u);
}

TEST_F(KernelTest, WithoutABuildIdByItsRelease) {
  EXPECT_EQ(kernel_name(kernel_of(std::nullopt, "6.1.0-nodescope"), 0xFFFFFFFF81000110),
            "do_work ([kernel.kallsyms])");
  EXPECT_EQ(kernel_name(kernel_of(std::nullopt, "6.1.0"), 0xFFFFFFFF81000110), " ([kernel.kallsyms])");
}

TEST_F(KernelTest, WithNeitherByTheSizeOfItsCode) {
  KernelIdentity identity = kernel_of(std::nullopt, "");
  EXPECT_EQ(kernel_name(identity, 0xFFFFFFFF81000110), "do_work ([kernel.kallsyms])");
  identity.text.end = identity.text.end + 16;
  EXPECT_EQ(kernel_name(identity, 0xFFFFFFFF81000110), " ([kernel.kallsyms])");
}

TEST_F(KernelTest, AnotherKernelHasItsNamesInPerfsCache) {
  const auto id = BuildId::from_hex("00112233445566778899aabbccddeeff00112233");
  files.add(perf_cache_path(*id, "kallsyms", {.perf_cache = "~/.debug"}),
            "ffffffff81000000 T _text\nffffffff81000080 T older_work\nffffffff81000200 T _etext\n");
  EXPECT_EQ(kernel_name(kernel_of(id, ""), 0xFFFFFFFF81000110), "older_work ([kernel.kallsyms])");
}

// Each boot puts the kernel elsewhere.
TEST_F(KernelTest, TheKernelOfAnotherBootIsFoundByItsReferenceSymbol) {
  KernelIdentity identity = kernel_of(BuildId::from_hex("deadbeef"), "");
  identity.reference_address = Address{0xFFFFFFFF9A000000};
  EXPECT_EQ(kernel_name(identity, 0xFFFFFFFF9A000110), "do_work ([kernel.kallsyms])");
  EXPECT_EQ(kernel_name(identity, 0xFFFFFFFFD9001010), " ([kernel.kallsyms])")
      << "modules do not move together with the kernel";
}

TEST_F(KernelTest, ModulesCountWhereTheRecordingHasThem) {
  const auto resolver = make_resolver();
  resolver->kernel().identity() = kernel_of(BuildId::from_hex("deadbeef"), "");
  EXPECT_EQ(describe(*resolver, resolver->resolve_kernel(Address{0xFFFFFFFFC0001010})),
            "nft_do_chain ([nf_tables])");
  resolver->kernel().map_module({Address{0xFFFFFFFFC0001000}, Address{0xFFFFFFFFC0002000}},
                                "/lib/modules/6.1.0/kernel/net/nf-tables.ko.xz");
  EXPECT_EQ(describe(*resolver, resolver->resolve_kernel(Address{0xFFFFFFFFC0001010})),
            "nft_do_chain ([nf_tables])");
  resolver->kernel().map_module({Address{0xFFFFFFFFC0001000}, Address{0xFFFFFFFFC0002000}}, "[xfs]");
  EXPECT_EQ(describe(*resolver, resolver->resolve_kernel(Address{0xFFFFFFFFC0001010})),
            " ([kernel.kallsyms])");
}

TEST_F(KernelTest, GeneratedCodeOfTheKernelComesAndGoes) {
  const auto resolver = make_resolver();
  resolver->kernel().identity() = kernel_of(BuildId::from_hex("deadbeef"), "");
  const Range<Address> range{Address{0xFFFFFFFFA0000000}, Address{0xFFFFFFFFA0000100}};
  const auto name = [&] { return describe(*resolver, resolver->resolve_kernel(range.begin + 8)); };
  resolver->kernel().add_generated(range, "bpf_prog_1");
  EXPECT_EQ(name(), "bpf_prog_1 (bpf_prog_1)");
  resolver->kernel().remove_generated(range);
  EXPECT_EQ(name(), " ([kernel.kallsyms])");
  resolver->kernel().add_generated(range, "bpf_prog_2");
  EXPECT_EQ(name(), "bpf_prog_2 (bpf_prog_2)");
}

TEST(BuildIdOfNotes, SurvivesDamage) {
  EXPECT_FALSE(build_id_of_notes(""));
  EXPECT_FALSE(build_id_of_notes("abc"));
  EXPECT_FALSE(build_id_of_notes(std::string(12, '\xFF')));
  EXPECT_FALSE(build_id_of_notes(std::string(64, '\0')));
}

}  // namespace
}  // namespace nodescope
