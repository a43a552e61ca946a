#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

namespace nodescope {

// Runs jobs on threads of its own, in any order, and holds back whoever adds more than they keep up with.
class JobQueue {
 public:
  // With one thread every job runs where it is added.
  explicit JobQueue(unsigned threads);
  // Waits for all jobs.
  ~JobQueue();
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  void add(std::function<void()> job);
  // Returns when every job that was added has ended.
  void wait();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::queue<std::function<void()>> jobs_;
  std::size_t running_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace nodescope
