#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "binary/unwinder.h"

// Where things are in the notes of x86-64 cores.
namespace nodescope::core_notes {

inline constexpr std::uint32_t kFileNote = 0x46494C45;    // NT_FILE
inline constexpr std::uint32_t kSignalNote = 0x53494749;  // NT_SIGINFO

// struct elf_prstatus.
inline constexpr std::size_t kStatusBytes = 336;
inline constexpr std::size_t kStatusSignal = 12;
inline constexpr std::size_t kStatusTid = 32;
inline constexpr std::size_t kStatusProcess = 40;  // its group
inline constexpr std::size_t kStatusRegisters = 112;

// struct user_regs_struct, in words.
inline constexpr std::size_t kRegisterWords = 27;
inline constexpr std::size_t kSystemCallWord = 15;
inline constexpr std::size_t kCodeWord = 17;
inline constexpr std::size_t kFlagsWord = 18;
inline constexpr std::size_t kStackWord = 20;
inline constexpr std::size_t kFsBaseWord = 21;
inline constexpr std::pair<Register, std::size_t> kRegisterPlaces[] = {
    {Register::kR15, 0},  {Register::kR14, 1},  {Register::kR13, 2},  {Register::kR12, 3},
    {Register::kRbp, 4},  {Register::kRbx, 5},  {Register::kR11, 6},  {Register::kR10, 7},
    {Register::kR9, 8},   {Register::kR8, 9},   {Register::kRax, 10}, {Register::kRcx, 11},
    {Register::kRdx, 12}, {Register::kRsi, 13}, {Register::kRdi, 14}, {Register::kRip, 16},
    {Register::kRsp, 19},
};

// struct elf_prpsinfo.
inline constexpr std::size_t kProcessBytes = 136;
inline constexpr std::size_t kProcessPid = 24;
inline constexpr std::size_t kProcessName = 40;
inline constexpr std::size_t kNameBytes = 16;
inline constexpr std::size_t kProcessArguments = 56;
inline constexpr std::size_t kArgumentBytes = 80;

}  // namespace nodescope::core_notes
