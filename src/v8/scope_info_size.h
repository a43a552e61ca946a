#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "v8/version.h"

namespace nodescope::v8 {

// Which optional parts a ScopeInfo has differs from version to version (src/objects/scope-info.tq); the bits
// of a variant say which.
namespace scope_info {
constexpr std::uint32_t kPositionsInHeader = 1;
constexpr std::uint32_t kRawFlags = 2;              // 32 bits rather than a Smi
constexpr std::uint32_t kLocalsBlockList = 4;       // by bit 28 of the flags
constexpr std::uint32_t kDependentCode = 8;         // by bit 4
constexpr std::uint32_t kUnusedParameterBits = 16;  // of functions
constexpr std::uint32_t kNewScopeTypes = 32;        // numbered from SCRIPT on
constexpr std::uint32_t kModuleCountInHeader = 64;
constexpr std::uint32_t kReceiverSlot = 128;  // and names are never in a hash table
constexpr std::uint32_t kVariants = 256;
}  // namespace scope_info

// The variant of this version as far as it is known from V8's source.
std::uint32_t scope_info_variant(const Version& version);

// The size of the ScopeInfo that begins with `bytes`; 0: it is none.
std::uint64_t scope_info_bytes(std::span<const std::byte> bytes, std::uint32_t variant);

}  // namespace nodescope::v8
