#pragma once

#include <boost/context/fixedsize_stack.hpp>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace kvbench {

/// Stacks for fibers, kept for the next CTA.
class StackPool {
 public:
  explicit StackPool(size_t stack_bytes) : allocator_(stack_bytes) {}
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool() {
    for (boost::context::stack_context& stack : stacks_) {
      allocator_.deallocate(stack);
    }
  }

  /// Stack number i; the same one each time.
  boost::context::stack_context At(size_t i) {
    while (stacks_.size() <= i) {
      stacks_.push_back(allocator_.allocate());
    }
    return stacks_[i];
  }

  /// Threads were left in the middle of a kernel: the address sanitizer must forget their frames.
  void Forget() {
#if defined(__SANITIZE_ADDRESS__)
    for (const boost::context::stack_context& stack : stacks_) {
      __asan_unpoison_memory_region(static_cast<char*>(stack.sp) - stack.size, stack.size);
    }
#endif
  }

 private:
  boost::context::fixedsize_stack allocator_;
  std::vector<boost::context::stack_context> stacks_;
};

/// Hands out a stack that the pool keeps.
struct BorrowedStack {
  boost::context::stack_context stack;
  boost::context::stack_context allocate() { return stack; }
  void deallocate(boost::context::stack_context&) {}
};

}  // namespace kvbench
