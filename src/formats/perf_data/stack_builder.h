#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/flat_map.h"
#include "binary/resolver.h"
#include "binary/unwinder.h"
#include "formats/perf_data/processes.h"
#include "model/profile.h"
#include "perf/event_attributes.h"
#include "perf/sample_record.h"

namespace nodescope::perf {

// Turns the addresses of samples into stacks of the model.
//
// A recording repeats itself: of 320,000 samples of a busy server every third has a call chain that was not
// there before, and all of them have 60,000 different addresses.  So a whole chain is looked up first, then
// its addresses; only an address that was never seen is looked up in a binary.
class StackBuilder {
 public:
  // `architecture` is that of the recording, empty when it does not say; it may become known later.
  StackBuilder(Profile& profile, Resolver& resolver, const std::string& architecture,
               bool name_unknown_by_address)
      : profile_(profile),
        resolver_(resolver),
        architecture_(architecture),
        name_unknown_by_address_(name_unknown_by_address) {}

  StackId build(const EventAttribute& event, const SampleRecord& sample, std::uint16_t cpu_mode,
                ProcessState& process);

  // Whatever was remembered about addresses of the kernel no longer counts.
  void forget_kernel(PlaceNumber place) { kernel_place_ = place; }

 private:
  enum class Mode : std::uint8_t { kKernel, kUser, kHypervisor, kGuestKernel, kGuestUser };

  // Addresses of one mode, innermost first.
  struct Part {
    Mode mode = Mode::kUser;
    std::span<const std::byte> addresses;
  };

  // 128 bits of hash stand for a whole chain: that two chains of a recording have the same is impossible in
  // practice.
  struct ChainKey {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    bool operator==(const ChainKey&) const = default;
  };
  struct AddressKey {
    std::uint64_t address = 0;
    PlaceNumber place = 0;
    bool is_return = false;
    bool operator==(const AddressKey&) const = default;
  };
  struct KeyHash {
    using is_avalanching = void;
    std::uint64_t operator()(const ChainKey& key) const { return key.low; }
    std::uint64_t operator()(const AddressKey& key) const {
      return mix(key.address ^ 0xA0761D6478BD642Fu,
                 (std::uint64_t{key.place} << 1 | (key.is_return ? 1u : 0u)) ^ 0xE7037ED1A0B428DBu);
    }
  };

  struct Step {
    AddressKey key;
    StackId stack;  // with this address and all outer ones
  };

  // A cache that is full is emptied: these numbers only bound what a hostile file can make us remember.
  static constexpr std::size_t kMaxChains = 4'000'000;
  static constexpr std::size_t kMaxAddresses = 4'000'000;

  static Mode mode_of_cpu(std::uint16_t cpu_mode);
  static std::optional<Mode> mode_of_marker(std::uint64_t marker);

  void split(std::span<const std::byte> callchain, Mode mode);
  bool can_unwind(const EventAttribute& event) const;
  void unwind(const EventAttribute& event, const SampleRecord& sample, ProcessState& process);
  PlaceNumber place_of(Mode mode, const ProcessState& process) const;

  ChainKey key_of(std::span<const std::byte> callchain, Mode mode, const ProcessState& process) const;
  StackId build_parts(ProcessState& process);
  FrameId find_frame(const AddressKey& key, Mode mode, ProcessState& process);
  ResolvedSymbolId resolve(Address address, Mode mode, ProcessState& process);
  FrameId frame_of(ResolvedSymbolId symbol, Mode mode);
  FrameId frame_of_address(Address address, std::string_view module);

  Profile& profile_;
  Resolver& resolver_;
  Unwinder unwinder_;
  const std::string& architecture_;
  const bool name_unknown_by_address_;
  PlaceNumber kernel_place_ = 0;
  FlatMap<ChainKey, StackId, KeyHash> chains_;
  FlatMap<AddressKey, FrameId, KeyHash> frames_;
  std::vector<std::optional<FrameId>> frames_of_symbols_;
  std::vector<Step> last_steps_;  // of the last stack that was built, outermost first: the next begins alike
  // Something in the current stack has no name but may get one: code that is generated later.
  bool answer_may_change_ = false;

  std::vector<Part> parts_;
  std::vector<std::byte> unwound_;
};

}  // namespace nodescope::perf
