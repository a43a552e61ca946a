#include "v8/objects.h"

#include <gtest/gtest.h>

#include "support/fake_v8.h"
#include "v8/scripts.h"

namespace nodescope::v8 {
namespace {

using testing::FakeHeap;

class ObjectsTest : public ::testing::Test {
 protected:
  std::optional<SharedFunctionInfo> load_kind(std::uint32_t kind, Version version) {
    const TaggedWord word = fake.shared("Order", {}, {});
    fake.memory.put(word.address() + 48, kind);
    layout.version = version;
    return SharedFunctionInfo::load(heap, word);
  }

  FakeHeap fake;
  Layout layout = testing::layout_of_node_20();
  Heap heap{fake.memory, layout};
};

TEST_F(ObjectsTest, InitializersOfClassesHaveTheNamesThatV8Prints) {
  EXPECT_EQ(load_kind(22, {13, 6, 0})->name(), "Order");
  EXPECT_EQ(load_kind(24, {13, 6, 0})->name(), "<instance_members_initializer>");
  EXPECT_EQ(load_kind(25, {13, 6, 0})->name(), "<static_initializer>");
  EXPECT_EQ(load_kind(25, {14, 6, 0})->name(), "<instance_members_initializer>");
  EXPECT_EQ(load_kind(26, {14, 6, 0})->name(), "<static_initializer>");
  EXPECT_EQ(load_kind(24, {11, 3, 0})->name(), "Order");  // what is in the function counts
}

TEST_F(ObjectsTest, KnowsConstructorsOfClasses) {
  for (const std::uint32_t kind : {3u, 4u, 5u, 6u})
    EXPECT_TRUE(load_kind(kind, {11, 3, 0})->is_class_constructor());
  for (const std::uint32_t kind : {0u, 2u, 7u, 22u})
    EXPECT_FALSE(load_kind(kind, {11, 3, 0})->is_class_constructor());
}

TEST_F(ObjectsTest, AScriptIsCalledByTheSourceUrlInIt) {
  const TaggedWord script = fake.script("", "1");
  fake.memory.put(script.address() + 112, fake.string("bundle://app/orders.js").value);
  Scripts scripts;
  const auto id = scripts.load(heap, script);
  ASSERT_TRUE(id);
  EXPECT_EQ(scripts.name(*id), "bundle://app/orders.js");
}

}  // namespace
}  // namespace nodescope::v8
