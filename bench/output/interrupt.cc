#include "bench/output/interrupt.h"

#include <csignal>

namespace kvbench {

namespace {

// A signal handler can reach nothing else.
volatile std::sig_atomic_t g_interrupted = 0;

void Remember(int signal) {
  g_interrupted = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  g_interrupted = 0;
  std::signal(SIGINT, &Remember);
  std::signal(SIGTERM, &Remember);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool InterruptGuard::interrupted() const { return g_interrupted != 0; }

}  // namespace kvbench
