#include "formats/heapsnapshot/job_queue.h"

namespace nodescope {

JobQueue::JobQueue(unsigned threads) {
  for (unsigned i = 0; threads > 1 && i < threads; ++i) threads_.emplace_back([this] { work(); });
}

JobQueue::~JobQueue() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void JobQueue::add(std::function<void()> job) {
  if (threads_.empty()) {
    job();
    return;
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return jobs_.size() < threads_.size(); });
  jobs_.push(std::move(job));
  changed_.notify_all();
}

void JobQueue::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return jobs_.empty() && running_ == 0; });
}

void JobQueue::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    {
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop();
      ++running_;
      lock.unlock();
      changed_.notify_all();
      job();
    }
    lock.lock();
    --running_;
    changed_.notify_all();
  }
}

}  // namespace nodescope
