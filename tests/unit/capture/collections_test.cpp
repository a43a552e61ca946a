#include "capture/collections.h"

#include <gtest/gtest.h>

namespace nodescope {
namespace {

using Point = CollectionTracker::Point;

TEST(Collections, AreWhatLiesBetweenEntryAndReturn) {
  CollectionTracker tracker(4120);
  tracker.add(4120, Point::kBegin, 100, 1);
  tracker.add(4125, Point::kBegin, 110, 2);
  tracker.add(4120, Point::kScavenge, 120, 0);
  tracker.add(4125, Point::kMarkCompact, 130, 0);
  tracker.add(4120, Point::kEnd, 150, 99);
  tracker.add(4125, Point::kEnd, 400, 0);
  EXPECT_EQ(tracker.take(),
            (std::vector<Collection>{{4120, 4120, 100, 150, CollectionKind::kScavenge, 1},
                                     {4120, 4125, 110, 400, CollectionKind::kMarkCompact, 2}}));
  EXPECT_TRUE(tracker.take().empty());
}

TEST(Collections, KeepTheStackOfTheirBeginning) {
  CollectionTracker tracker(1);
  tracker.add(1, Point::kBegin, 100, 1, StackId{7u});
  tracker.add(1, Point::kScavenge, 120, 0);
  tracker.add(1, Point::kBegin, 130, 1, StackId{8u});
  tracker.add(1, Point::kEnd, 140, 0);
  tracker.add(1, Point::kEnd, 150, 0);
  const auto collections = tracker.take();
  ASSERT_EQ(collections.size(), 1u);
  EXPECT_EQ(collections[0].stack, StackId{7u});
}

// A callback of a collection may start another; a mark-compact may be preceded by a scavenge.
TEST(Collections, WithinOthersArePartOfThem) {
  CollectionTracker tracker(1);
  tracker.add(1, Point::kBegin, 100, 2);
  tracker.add(1, Point::kScavenge, 105, 0);
  tracker.add(1, Point::kBegin, 110, 3);
  tracker.add(1, Point::kStepBegin, 112, 0);
  tracker.add(1, Point::kStepEnd, 114, 0);
  tracker.add(1, Point::kMarkCompact, 120, 0);
  tracker.add(1, Point::kEnd, 130, 0);
  tracker.add(1, Point::kEnd, 200, 0);
  EXPECT_EQ(tracker.take(), (std::vector<Collection>{{1, 1, 100, 200, CollectionKind::kMarkCompact, 2}}));
}

TEST(Collections, ThatBeganBeforeAreNotCounted) {
  CollectionTracker tracker(1);
  tracker.add(1, Point::kMarkCompact, 90, 0);
  tracker.add(1, Point::kEnd, 100, 0);
  tracker.add(1, Point::kStepEnd, 110, 0);
  EXPECT_TRUE(tracker.take().empty());
  tracker.add(1, Point::kBegin, 200, 1);
  tracker.add(1, Point::kEnd, 190, 0);  // clocks that go backwards
  EXPECT_TRUE(tracker.take().empty());
  tracker.add(1, Point::kStepBegin, 300, 0);
  tracker.add(1, Point::kStepEnd, 301, 0);
  EXPECT_EQ(tracker.take(), (std::vector<Collection>{{1, 1, 300, 301, CollectionKind::kIncrementalStep, 0}}));
}

TEST(Collections, HaveReasons) {
  EXPECT_EQ(collection_reason(1), "allocation failure");
  EXPECT_EQ(collection_reason(21), "testing");
  EXPECT_EQ(collection_reason(0), "");
  EXPECT_EQ(collection_reason(UINT64_MAX), "");
}

}  // namespace
}  // namespace nodescope
