#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/perf_data/perf_data.h"
#include "support/perf_data_builder.h"

// Records of perf.data for tests, and what a reader made of them.
namespace nodescope::testing {

constexpr std::uint64_t kIp = 1 << 0;
constexpr std::uint64_t kTid = 1 << 1;
constexpr std::uint64_t kTime = 1 << 2;
constexpr std::uint64_t kCallchain = 1 << 5;
constexpr std::uint64_t kPeriod = 1 << 8;
constexpr std::uint64_t kIdentifier = 1 << 16;
constexpr std::uint64_t kContextKernel = static_cast<std::uint64_t>(-128);
constexpr std::uint64_t kContextUser = static_cast<std::uint64_t>(-512);
constexpr std::uint16_t kUser = 2;

constexpr std::uint32_t kMmap = 1, kLost = 2, kComm = 3, kFork = 7, kSample = 9, kLostSamples = 13,
                        kNamespaces = 16, kKsymbol = 17, kFinishedRound = 68, kAuxtrace = 71,
                        kCompressed = 81;

inline Result<Profile> read_perf_data(const std::string& bytes, FileOpener* files = nullptr,
                                      std::string name = "/rec/perf.data") {
  MemorySource source(bytes, std::move(name));
  ReadOptions options;
  options.files = files;
  return kPerfDataFormat.read(source, options);
}

inline Profile read_good(const std::string& bytes, FileOpener* files = nullptr) {
  auto profile = read_perf_data(bytes, files);
  EXPECT_TRUE(profile) << (profile ? "" : profile.error().message);
  return profile ? std::move(*profile) : Profile();
}

// The modules of a sample's frames, innermost first.
inline std::vector<std::string> modules(const Profile& profile, std::size_t sample) {
  std::vector<std::string> texts;
  for (StackId stack = profile.samples.stack(sample); stack != kEmptyStack;
       stack = profile.stacks.caller(stack)) {
    texts.emplace_back(profile.text(profile.frames[profile.stacks.frame(stack)].module));
  }
  return texts;
}

inline PerfDataBuilder::Attribute plain_attribute() {
  return {.sample_type = kIp | kTid | kTime | kCallchain | kPeriod};
}

// A sample of plain_attribute().
inline Bytes sample_body(std::uint64_t time, std::uint32_t tid, std::vector<std::uint64_t> chain,
                         std::uint64_t period = 1) {
  Bytes body;
  body.put(std::uint64_t{0x1234}).put(std::uint32_t{100}).put(tid).words({time, period, chain.size()});
  for (const std::uint64_t address : chain) body.put(address);
  return body;
}

// The trailer of sample_id_all for plain_attribute().
inline Bytes& with_trailer(Bytes& body, std::uint64_t time) {
  return body.put(std::uint32_t{100}).put(std::uint32_t{100}).put(time);
}

inline Bytes mmap_body(std::uint64_t begin, std::uint64_t size, std::string_view path, std::uint64_t time,
                       std::uint32_t pid = 100) {
  Bytes body;
  body.put(pid).put(pid).words({begin, size, 0}).padded(path);
  return with_trailer(body, time);
}

inline Bytes comm_body(std::uint32_t pid, std::uint32_t tid, std::string_view name, std::uint64_t time) {
  Bytes body;
  body.put(pid).put(tid).padded(name);
  return with_trailer(body, time);
}

inline Bytes fork_body(std::uint32_t pid, std::uint32_t parent, std::uint32_t tid, std::uint32_t parent_tid,
                       std::uint64_t time) {
  Bytes body;
  body.put(pid).put(parent).put(tid).put(parent_tid).put(time);
  return with_trailer(body, time);
}

}  // namespace nodescope::testing
