#include "formats/compression.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "formats/lz4.h"

namespace nodescope {
namespace {

// Gives a byte at a time, as a slow pipe does.
class Drip final : public ByteSource {
 public:
  explicit Drip(std::string text) : text_(std::move(text)) {}
  Result<std::size_t> read(std::span<std::byte> into) override {
    if (position_ == text_.size() || into.empty()) return 0;
    into[0] = static_cast<std::byte>(text_[position_++]);
    return 1;
  }
  std::string_view name() const override { return "drip"; }

 private:
  std::string text_;
  std::size_t position_ = 0;
};

class Broken final : public ByteSource {
 public:
  Result<std::size_t> read(std::span<std::byte>) override {
    return fail(ErrorCode::kSystem, "input/output error");
  }
  std::string_view name() const override { return "broken"; }
};

std::string gzip(std::string_view text) {
  StringSink out;
  GzipSink sink(out);
  EXPECT_TRUE(sink.write(text));
  EXPECT_TRUE(sink.finish());
  return out.text();
}

std::string zstd(std::string_view text, int level = 3) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), level));
  return out;
}

std::string lz4(std::string_view text) {
  std::string out(LZ4F_compressFrameBound(text.size(), nullptr), '\0');
  out.resize(LZ4F_compressFrame(out.data(), out.size(), text.data(), text.size(), nullptr));
  return out;
}

std::string zeros(std::size_t count) {
  return std::string(count, '\0');
}

std::string sample_text() {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "node;main;f" + std::to_string(i * 7919 % 1000) + " 1\n";
  return text;
}

struct Unpacked {
  std::string text;
  Diagnostics damage;
};

template <typename Source>
Unpacked unpack(std::unique_ptr<ByteSource> compressed, std::size_t step = 4096) {
  Unpacked result;
  Source source(std::move(compressed), result.damage);
  std::string part(step, '\0');
  for (;;) {
    const auto count = source.read(std::as_writable_bytes(std::span(part)));
    EXPECT_TRUE(count);
    if (!count || *count == 0) break;
    result.text.append(part, 0, *count);
  }
  const auto after = source.read(std::as_writable_bytes(std::span(part)));
  EXPECT_TRUE(after && *after == 0) << "the end stays the end";
  return result;
}

template <typename Source>
Unpacked unpack(const std::string& compressed, std::size_t step = 4096) {
  return unpack<Source>(std::make_unique<MemorySource>(compressed, "memory"), step);
}

TEST(Compression, IsRecognisedByItsFirstBytes) {
  EXPECT_EQ(compression_of(gzip("x")), Compression::kGzip);
  EXPECT_EQ(compression_of(zstd("x")), Compression::kZstd);
  EXPECT_EQ(compression_of("\x53\x2A\x4D\x18\x01"), Compression::kZstd) << "skippable frame";
  EXPECT_EQ(compression_of(lz4("x")), Compression::kLz4);
  EXPECT_EQ(compression_of("\x1F\x8B"), Compression::kNone);
  EXPECT_EQ(compression_of(""), Compression::kNone);
  EXPECT_EQ(compression_of("node;main 1\n"), Compression::kNone);
}

TEST(Compression, UndoesGzip) {
  const std::string text = sample_text();
  for (const std::size_t step : {1u, 7u, 4096u, 1u << 20}) {
    const Unpacked unpacked = unpack<GzipSource>(gzip(text), step);
    EXPECT_EQ(unpacked.text, text);
    EXPECT_TRUE(unpacked.damage.entries().empty());
  }
  EXPECT_EQ(unpack<GzipSource>(std::make_unique<Drip>(gzip(text))).text, text);
  EXPECT_EQ(unpack<GzipSource>(gzip("")).text, "");
}

TEST(Compression, UndoesZstd) {
  const std::string text = sample_text();
  for (const std::size_t step : {1u, 7u, 4096u, 1u << 20}) {
    const Unpacked unpacked = unpack<ZstdSource>(zstd(text), step);
    EXPECT_EQ(unpacked.text, text);
    EXPECT_TRUE(unpacked.damage.entries().empty());
  }
  EXPECT_EQ(unpack<ZstdSource>(std::make_unique<Drip>(zstd(text))).text, text);
  EXPECT_EQ(unpack<ZstdSource>(zstd("")).text, "");
}

TEST(Compression, UndoesLz4) {
  const std::string text = sample_text();
  for (const std::size_t step : {1u, 7u, 4096u, 1u << 20}) {
    const Unpacked unpacked = unpack<Lz4Source>(lz4(text) + lz4("") + lz4("tail"), step);
    EXPECT_EQ(unpacked.text, text + "tail");
    EXPECT_TRUE(unpacked.damage.entries().empty());
  }
  EXPECT_EQ(unpack<Lz4Source>(std::make_unique<Drip>(lz4(text))).text, text);
  const Unpacked followed = unpack<Lz4Source>(lz4("text") + "garbage");
  EXPECT_EQ(followed.text, "text");
  EXPECT_EQ(followed.damage.count("bytes after the compressed content are ignored"), 1u);
}

TEST(Compression, UndoesSeveralInARow) {
  const std::string text = sample_text();
  const Unpacked members = unpack<GzipSource>(gzip(text) + gzip("") + gzip("tail") + zeros(1000));
  EXPECT_EQ(members.text, text + "tail");
  EXPECT_TRUE(members.damage.entries().empty()) << "zeros are padding";

  const std::string skippable("\x50\x2A\x4D\x18\x03\0\0\0abc", 11);
  const Unpacked frames = unpack<ZstdSource>(skippable + zstd(text) + skippable + zstd("") + zstd("tail"));
  EXPECT_EQ(frames.text, text + "tail");
  EXPECT_TRUE(frames.damage.entries().empty());
}

TEST(Compression, IgnoresWhatFollows) {
  const Unpacked after_gzip = unpack<GzipSource>(gzip("text") + "garbage");
  EXPECT_EQ(after_gzip.text, "text");
  EXPECT_EQ(after_gzip.damage.count("bytes after the compressed content are ignored"), 1u);
  const Unpacked after_member = unpack<GzipSource>(gzip("text") + "\x1F garbage");
  EXPECT_EQ(after_member.text, "text");
  EXPECT_EQ(after_member.damage.count("bytes after the compressed content are ignored"), 1u);
  const Unpacked after_zstd = unpack<ZstdSource>(zstd("text") + "garbage");
  EXPECT_EQ(after_zstd.text, "text");
  EXPECT_EQ(after_zstd.damage.count("bytes after the compressed content are ignored"), 1u);
}

// All that was whole before the cut is given, and the cut is told.
template <typename Source>
void check_every_prefix(const std::string& text, const std::string& compressed) {
  for (std::size_t size = 1; size < compressed.size(); ++size) {
    const Unpacked unpacked = unpack<Source>(compressed.substr(0, size), 1 << 16);
    EXPECT_TRUE(text.starts_with(unpacked.text)) << size;
    EXPECT_EQ(unpacked.damage.count("compressed content is cut short"), 1u) << size;
  }
}

TEST(Compression, GivesWhatComesBeforeACut) {
  std::string text = sample_text().substr(0, 20'000);
  check_every_prefix<GzipSource>(text, gzip(text));
  check_every_prefix<ZstdSource>(text, zstd(text));
  check_every_prefix<Lz4Source>(text, lz4(text));
}

TEST(Compression, KeepsMostOfALongStreamThatIsCut) {
  const std::string text = sample_text();
  const std::string compressed = gzip(text);
  EXPECT_GT(unpack<GzipSource>(compressed.substr(0, compressed.size() * 9 / 10)).text.size(),
            text.size() * 8 / 10);
}

TEST(Compression, TellsDamage) {
  const std::string text = sample_text();
  std::string compressed = gzip(text);
  compressed[compressed.size() - 6] ^= 1;  // the checksum
  const Unpacked unpacked = unpack<GzipSource>(compressed);
  EXPECT_EQ(unpacked.text, text);
  EXPECT_EQ(unpacked.damage.count("compressed content is damaged"), 1u);

  std::string frame = zstd(text);
  frame[frame.size() / 2] ^= 0x55;
  const Unpacked damaged = unpack<ZstdSource>(frame);
  EXPECT_TRUE(damaged.damage.has(Severity::kWarning) || damaged.text.size() == text.size());
}

TEST(Compression, RefusesAHugeWindow) {
  // A frame header that asks for a window of 2 GB: descriptor 0 (no content size), window byte 21 << 3.
  const std::string frame("\x28\xB5\x2F\xFD\x00\xA8\x01\x00\x00", 9);
  const Unpacked unpacked = unpack<ZstdSource>(frame);
  EXPECT_EQ(unpacked.text, "");
  EXPECT_EQ(unpacked.damage.count("compressed content is damaged"), 1u);
}

// 6 KB that unpack to a gigabyte.
TEST(Compression, IsBoundedByWhatItIsMadeOf) {
  const std::string frame = zstd(zeros(64 << 20));
  std::string compressed;
  for (int i = 0; i < 16; ++i) compressed += frame;
  Diagnostics damage;
  ZstdSource source(std::make_unique<MemorySource>(compressed, "bomb"), damage);
  std::string part(1 << 20, '\0');
  std::uint64_t total = 0;
  for (;;) {
    const auto count = source.read(std::as_writable_bytes(std::span(part)));
    ASSERT_TRUE(count);
    if (*count == 0) break;
    total += *count;
  }
  EXPECT_LT(total, std::uint64_t{300} << 20);
  EXPECT_EQ(damage.count("compressed content unpacks to more than 1,100 times its size"), 1u);
}

TEST(Compression, PassesErrorsOn) {
  Diagnostics damage;
  std::string into(10, '\0');
  GzipSource gzip_source(std::make_unique<Broken>(), damage);
  EXPECT_EQ(gzip_source.read(std::as_writable_bytes(std::span(into))).error().message, "input/output error");
  ZstdSource zstd_source(std::make_unique<Broken>(), damage);
  EXPECT_EQ(zstd_source.read(std::as_writable_bytes(std::span(into))).error().message, "input/output error");
}

TEST(GzipSink, GivesTheSameBytesForTheSameText) {
  const std::string text = sample_text();
  EXPECT_EQ(gzip(text), gzip(text));
  StringSink out;
  GzipSink pieces(out);
  for (std::size_t i = 0; i < text.size(); i += 1000)
    EXPECT_TRUE(pieces.write(std::string_view(text).substr(i, 1000)));
  EXPECT_TRUE(pieces.finish());
  EXPECT_EQ(unpack<GzipSource>(out.text()).text, text);
}

}  // namespace
}  // namespace nodescope
