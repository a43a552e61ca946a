#include "binary/address_space.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace nodescope {
namespace {

MappedImage mapped(std::size_t image, std::uint64_t begin, std::uint64_t end, std::uint64_t offset = 0) {
  return {ImageId{image}, {Address{begin}, Address{end}}, FileOffset{offset}};
}

// The image at `address`; -1: none.
int image_at(const AddressSpace& space, std::uint64_t address) {
  const MappedImage* found = space.find(Address{address});
  return found == nullptr ? -1 : static_cast<int>(found->image.index());
}

TEST(AddressSpace, FindsWhatIsMapped) {
  AddressSpace space;
  EXPECT_EQ(image_at(space, 0x1000), -1);
  space.map(mapped(7, 0x1000, 0x3000, 0x500));
  EXPECT_EQ(image_at(space, 0xFFF), -1);
  EXPECT_EQ(image_at(space, 0x1000), 7);
  EXPECT_EQ(image_at(space, 0x2FFF), 7);
  EXPECT_EQ(image_at(space, 0x3000), -1);
  EXPECT_EQ(space.find(Address{0x2010})->offset_of(Address{0x2010}), FileOffset{0x1510});
}

TEST(AddressSpace, ALaterMappingReplacesWhatItOverlaps) {
  AddressSpace space;
  space.map(mapped(1, 0x1000, 0x5000, 0x10000));
  space.map(mapped(2, 0x2000, 0x3000));
  EXPECT_EQ(image_at(space, 0x1FFF), 1);
  EXPECT_EQ(image_at(space, 0x2000), 2);
  EXPECT_EQ(image_at(space, 0x3000), 1);
  // The part behind the hole still knows where it is in its file.
  EXPECT_EQ(space.find(Address{0x3000})->offset_of(Address{0x3000}), FileOffset{0x12000});
  EXPECT_EQ(space.extent(Address{0x4000}), (Range<Address>{Address{0x3000}, Address{0x5000}}));
  space.map(mapped(3, 0x0, 0x10000));
  EXPECT_EQ(space.size(), 1u);
}

TEST(AddressSpace, SaysWhatChanged) {
  using Change = AddressSpace::Change;
  AddressSpace space;
  EXPECT_EQ(space.map(mapped(1, 0x1000, 0x2000)), Change::kAdded);
  EXPECT_EQ(space.map(mapped(1, 0x1000, 0x2000)), Change::kNone);
  EXPECT_EQ(space.map(mapped(1, 0x1800, 0x1900, 0x800)), Change::kNone) << "the same bytes of the same image";
  EXPECT_EQ(space.map(mapped(1, 0x1800, 0x2800, 0x800)), Change::kAdded);
  EXPECT_EQ(space.map(mapped(1, 0x1000, 0x1100, 0x40)), Change::kReplaced) << "other bytes of the same image";
  EXPECT_EQ(space.map(mapped(2, 0x2700, 0x2900)), Change::kReplaced);
  EXPECT_EQ(space.map(mapped(2, 0x9000, 0x9000)), Change::kNone) << "empty";
}

TEST(AddressSpace, AForkedChildHasItsOwn) {
  AddressSpace parent;
  parent.map(mapped(1, 0x1000, 0x2000));
  AddressSpace child = parent.fork();
  EXPECT_EQ(child.shared_mappings(), 1u);
  child.map(mapped(2, 0x1000, 0x2000));
  EXPECT_EQ(child.shared_mappings(), 0u);
  EXPECT_EQ(image_at(parent, 0x1000), 1);
  EXPECT_EQ(image_at(child, 0x1000), 2);
  child.clear();
  EXPECT_EQ(image_at(child, 0x1000), -1);
}

TEST(AddressSpace, WorksUpToTheLastAddress) {
  AddressSpace space;
  space.map(mapped(1, UINT64_MAX - 0x1000, UINT64_MAX));
  EXPECT_EQ(image_at(space, UINT64_MAX - 1), 1);
  EXPECT_EQ(image_at(space, UINT64_MAX), -1);
  space.map(mapped(2, 0x5000, 0x1000));
  EXPECT_EQ(image_at(space, 0x2000), -1) << "ends before it begins";
}

// Against an array in which every mapping is written byte by byte.
TEST(AddressSpace, AgreesWithABruteForceModel) {
  constexpr std::uint64_t kBytes = 256;
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    AddressSpace space;
    std::array<int, kBytes> truth;
    truth.fill(-1);
    for (int image = 0; image < 60; ++image) {
      std::uint64_t begin = random() % kBytes;
      std::uint64_t end = random() % kBytes;
      if (begin > end) std::swap(begin, end);
      space.map(mapped(static_cast<std::size_t>(image), begin, end));
      for (std::uint64_t i = begin; i < end; ++i) truth[i] = image;
      for (std::uint64_t i = 0; i < kBytes; ++i) ASSERT_EQ(image_at(space, i), truth[i]) << i;
    }
  }
}

}  // namespace
}  // namespace nodescope
