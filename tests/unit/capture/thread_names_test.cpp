#include "capture/thread_names.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace nodescope {
namespace {

TEST(RoleOfFunction, KnowsTheFirstFunctionsOfNodesThreads) {
  EXPECT_EQ(role_of_function("node::worker::Worker::StartThread(…)::{lambda(void*)#1}::_FUN"), "worker");
  EXPECT_EQ(role_of_function("node::(anonymous namespace)::PlatformWorkerThread"), "v8 platform");
  EXPECT_EQ(role_of_function("worker"), "libuv pool");
  EXPECT_EQ(role_of_function("my_worker"), "");
  EXPECT_EQ(role_of_function(""), "");
}

TEST(ChooseThreadName, AGivenNameIsWorthMoreThanTheRoleOfAWorker) {
  EXPECT_EQ(choose_thread_name("worker", "resize-images", {"MainThread"}), "resize-images");
  EXPECT_EQ(choose_thread_name("worker", "WorkerThread", {"MainThread"}), "worker");
  EXPECT_EQ(choose_thread_name("worker", "", {}), "worker");
}

TEST(ChooseThreadName, AnInheritedNameIsNone) {
  EXPECT_EQ(choose_thread_name("worker", "node", {"billing"}), "worker");
  EXPECT_EQ(choose_thread_name("worker", "billing", {"billing"}), "worker");
  EXPECT_EQ(choose_thread_name("worker", "my-service", {"billing", "my-service"}), "worker");
}

TEST(ChooseThreadName, OtherThreadsHaveTheirRoleOrTheirOwnName) {
  EXPECT_EQ(choose_thread_name("v8 platform", "V8Worker", {}), "v8 platform");
  EXPECT_EQ(choose_thread_name("libuv pool", "libuv-worker", {}), "libuv pool");
  EXPECT_EQ(choose_thread_name("", "iou-sqp-17", {}), "iou-sqp-17");
}

TEST(NameThread, TheFirstIsMain) {
  EXPECT_EQ(name_thread(::getpid(), ::getpid(), {}, nullptr), "main");
}

}  // namespace
}  // namespace nodescope
