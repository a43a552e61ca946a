#include "app/recording_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nodescope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RecordingCourse empty_course() {
  RecordingCourse course;
  course.seconds = 30;
  course.wanted_seconds = 30;
  course.pids = {4711};
  course.states = {ProcessState::kRunning};
  course.is_node = true;
  course.period_ns = 10'101'010;
  return course;
}

TEST(CourseText, NothingIsSaidAboutAnOrdinaryOne) {
  RecordingCourse course = empty_course();
  course.samples = 1;
  EXPECT_EQ(course_text(course), "");
  course.end = RecordingEnd::kInterrupted;
  EXPECT_EQ(course_text(course), "");
}

TEST(CourseText, AnIdleProcess) {
  RecordingCourse course = empty_course();
  course.cpu_ns = 200'000;
  EXPECT_EQ(course_text(course),
            "No samples: process 4711 used almost no CPU time; 'nodescope dump 4711' shows where it waits\n");
  course.is_node = false;
  EXPECT_EQ(course_text(course), "No samples: process 4711 used almost no CPU time\n");
}

TEST(CourseText, AStoppedProcess) {
  RecordingCourse course = empty_course();
  course.states = {ProcessState::kStopped};
  EXPECT_THAT(course_text(course), HasSubstr("process 4711 is stopped, by a signal or a debugger"));
  course.pids = {4711, 4712};
  course.states = {ProcessState::kStopped, ProcessState::kRunning};
  EXPECT_THAT(course_text(course), HasSubstr("the processes used almost no CPU time"));
}

TEST(CourseText, LessThanASample) {
  RecordingCourse course = empty_course();
  course.cpu_ns = 5'000'000;
  EXPECT_THAT(course_text(course), HasSubstr("used only 5.0 ms of CPU time"));
  EXPECT_THAT(course_text(course), HasSubstr("every 10.1 ms"));
}

TEST(CourseText, TheKernelGaveNone) {
  RecordingCourse course = empty_course();
  course.cpu_ns = 5'000'000'000;
  EXPECT_THAT(course_text(course), HasSubstr("nodescope doctor"));
  course.lost_samples = 7;
  EXPECT_THAT(course_text(course), HasSubstr("were lost"));
}

TEST(CourseText, ACommandIsNoProcessToLookAt) {
  RecordingCourse course = empty_course();
  course.pids.clear();
  course.states.clear();
  course.has_command = true;
  course.end = RecordingEnd::kTargetsEnded;
  EXPECT_EQ(course_text(course), "No samples: the command used almost no CPU time\n");
}

TEST(CourseText, TheTargetsEndedBeforeTheTime) {
  RecordingCourse course = empty_course();
  course.samples = 1;
  course.end = RecordingEnd::kTargetsEnded;
  course.seconds = 2.14;
  EXPECT_EQ(course_text(course), "Process 4711 ended after 2.1 s of 30 s\n");
  course.pids = {1, 2};
  course.states = {ProcessState::kGone, ProcessState::kEnded};
  course.wanted_seconds = 0.5;
  EXPECT_EQ(course_text(course), "The processes ended after 2.1 s of 0.5 s\n");
  course.wanted_seconds.reset();
  EXPECT_EQ(course_text(course), "");
  course.samples = 0;
  EXPECT_THAT(course_text(course), Not(HasSubstr("nodescope dump")));
}

}  // namespace
}  // namespace nodescope
