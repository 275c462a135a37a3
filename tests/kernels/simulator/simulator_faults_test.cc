#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "kernels/cuda/kernel_entry.h"
#include "kernels/cuda/vocabulary.h"
#include "kernels/simulator/simulator.h"
#include "tests/kernels/simulator/schedules.h"

// Each kernel here has one fault, in the line that says so; the simulator must name file and line.
namespace kvbench {
namespace {

using Kind = SimulatorFault::Kind;
using ::testing::AnyOf;
using ::testing::HasSubstr;

struct Arrays {
  Global<float> in;
  Global<float> out;
};

/// Hands values on through shared memory, to the thread `kDistance` lanes away.
enum class Between { kCtaBarrier, kWarpBarrier, kNothing };
template <Between kBetween, int kDistance>
struct HandOn {
  using Params = Arrays;
  static void Run(const Params& p) {
    const auto shared = DynamicShared<float>(0);
    Store(shared + ThreadId(), Load(p.in + ThreadId()));  // fault: write before a read
    if constexpr (kBetween == Between::kCtaBarrier) SyncCta();
    if constexpr (kBetween == Between::kWarpBarrier) SyncWarp();
    const float value = Load(shared + (ThreadId() ^ kDistance));  // fault: missing barrier
    Store(p.out + ThreadId(), value);
  }
};

template <bool kWaits>
struct CopyIn {
  using Params = Arrays;
  static void Run(const Params& p) {
    const auto shared = DynamicShared<float>(0);
    CopyAsync16(shared + 4 * ThreadId(), p.in + 4 * ThreadId(), true);
    CommitCopies();
    if constexpr (kWaits) WaitCopies<0>();
    const float value = Load(shared + 4 * ThreadId());  // fault: missing copy wait
    Store(p.out + ThreadId(), value);
  }
};

struct ReadPastTheEnd {
  using Params = Arrays;
  static void Run(const Params& p) {
    const float value = Load(p.in + (ThreadId() + 225));  // fault: out of bounds
    Store(p.out + ThreadId(), value);
  }
};

struct SharedPastTheEnd {
  using Params = Arrays;
  static void Run(const Params&) {
    Store(DynamicShared<float>(0) + (ThreadId() + 1000), 1.0F);  // fault: shared out of bounds
  }
};

struct Uninitialised {
  using Params = Arrays;
  static void Run(const Params& p) {
    const auto shared = DynamicShared<float>(0);
    if (ThreadId() != 5) Store(shared + ThreadId(), 1.0F);
    SyncCta();
    const float value = Load(shared + ThreadId());  // fault: uninitialised
    Store(p.out + ThreadId(), value);
  }
};

struct DivergentBarrier {
  using Params = Arrays;
  static void Run(const Params&) {
    if (ThreadId() < 40) {
      SyncCta();  // fault: divergent barrier
    } else {
      SyncWarp();  // fault: divergent warp barrier
      SyncCta();
    }
  }
};

struct TwoBarriers {
  using Params = Arrays;
  static void Run(const Params&) {
    if (WarpId() == 0) {
      SyncCta();  // fault: one of two barriers
    } else {
      SyncCta();  // fault: other of two barriers
    }
  }
};

struct EarlyExit {
  using Params = Arrays;
  static void Run(const Params&) {
    if (ThreadId() == 3) return;
    SyncCta();  // fault: early exit
  }
};

struct InactiveLane {
  using Params = Arrays;
  static void Run(const Params& p) {
    float value = Load(p.in + ThreadId());
    if (LaneId() < 16) {
      value = ShuffleFrom(value, 20, 0xffffU);  // fault: inactive lane
    }
    Store(p.out + ThreadId(), value);
  }
};

struct EndedLane {
  using Params = Arrays;
  static void Run(const Params& p) {
    if (LaneId() == 9) return;
    const float value = ShuffleXor(1.0F, 1);  // fault: ended lane
    Store(p.out + ThreadId(), value);
  }
};

struct MisalignedCopy {
  using Params = Arrays;
  static void Run(const Params& p) {
    const auto to = DynamicShared<float>(0) + 4 * ThreadId();
    CopyAsync16(to, p.in + (4 * ThreadId() + 1), true);  // fault: misaligned copy
    CommitCopies();
    WaitCopies<0>();
  }
};

struct MisalignedShared {
  using Params = Arrays;
  static void Run(const Params& p) {
    const auto to = DynamicShared<float>(0) + (4 * ThreadId() + 2);
    CopyAsync16(to, p.in + 4 * ThreadId(), true);  // fault: misaligned in shared memory
  }
};

struct WriteRace {
  using Params = Arrays;
  static void Run(const Params& p) {
    Store(p.out + ThreadId() / 2, 1.0F);  // fault: write race
  }
};

struct RaceOfCtas {
  using Params = Arrays;
  static void Run(const Params& p) {
    if (ThreadId() == 0) Store(p.out, 1.0F);  // fault: race of CTAs
  }
};

/// Loads of 48 bytes, which cross every boundary that is a power of two.
struct WideStruct {
  float values[12];
};
struct WideLoads {
  using Params = Arrays;
  static void Run(const Params& p) {
    const Global<const WideStruct> wide = {reinterpret_cast<const WideStruct*>(p.in.address)};
    const WideStruct loaded = Load(wide + ThreadId());  // fault: wide load
    Store(p.out + ThreadId(), loaded.values[11]);
  }
};

/// The line of this file that a comment marks.
std::string PlaceOf(const std::string& fault) {
  const std::string file = "tests/kernels/simulator/simulator_faults_test.cc";
  std::ifstream source(std::string(KVBENCH_SOURCE_DIR) + "/" + file);
  std::string line;
  for (int number = 1; std::getline(source, line); ++number) {
    if (line.size() > fault.size() && line.ends_with("// fault: " + fault)) {
      return file + ":" + std::to_string(number);
    }
  }
  ADD_FAILURE() << "no line is marked '" << fault << "'";
  return {};
}

class SimulatorFaults : public ::testing::Test {
 protected:
  static constexpr int kFloats = 256;
  static constexpr size_t kSharedBytes = 4096;

  SimulatorFaults() : simulator_(memory_), arrays_{Numbers(), Numbers()} {}

  Global<float> Numbers() {
    auto* values = static_cast<float*>(memory_.Allocate(sizeof(float) * kFloats, "numbers"));
    for (int i = 0; i < kFloats; ++i) values[i] = static_cast<float>(i);
    return {values};
  }

  template <typename K>
  void Run(const SimulatorOptions& options, int threads = 64, int ctas = 1) {
    simulator_.Launch(&KernelEntry<K>, &arrays_, {ctas, 1, 1}, threads, kSharedBytes, options);
  }

  /// Under every schedule the kernel must be found out: of this kind, and here or there.
  template <typename K>
  void ExpectFault(Kind kind, const std::string& here, const std::string& there, int threads = 64,
                   int ctas = 1) {
    for (const SimulatorOptions& options : Schedules()) {
      try {
        Run<K>(options, threads, ctas);
        ADD_FAILURE() << here << ": not found, seed " << options.seed;
      } catch (const SimulatorFault& fault) {
        EXPECT_EQ(fault.kind(), kind) << fault.what();
        EXPECT_THAT(fault.what(), AnyOf(HasSubstr(PlaceOf(here)), HasSubstr(PlaceOf(there))));
        EXPECT_THAT(fault.what(), HasSubstr("(threads in "));
      }
    }
  }
  template <typename K>
  void ExpectFault(Kind kind, const std::string& place) {
    ExpectFault<K>(kind, place, place);
  }

  template <typename K>
  void ExpectRight(int distance) {
    for (const SimulatorOptions& options : Schedules()) {
      Run<K>(options);
      for (int i = 0; i < 64; ++i) {
        EXPECT_EQ(arrays_.out.address[i], arrays_.in.address[i ^ distance]);
      }
    }
  }

  GlobalMemory memory_;
  Simulator simulator_;
  Arrays arrays_;
};

TEST_F(SimulatorFaults, BarriersThatSuffice) {
  ExpectRight<HandOn<Between::kCtaBarrier, 32>>(32);
  ExpectRight<HandOn<Between::kWarpBarrier, 7>>(7);
  ExpectRight<HandOn<Between::kNothing, 0>>(0);
}

TEST_F(SimulatorFaults, MissingCtaBarrier) {
  // Whichever of the two threads comes second is the one that is found: at its read, or, where the
  // partner has not written yet, because there is nothing to read.
  for (const SimulatorOptions& options : Schedules()) {
    try {
      Run<HandOn<Between::kNothing, 32>>(options);
      ADD_FAILURE() << "not found";
    } catch (const SimulatorFault& fault) {
      EXPECT_THAT(fault.kind(), AnyOf(Kind::kRace, Kind::kUninitialised));
      EXPECT_THAT(fault.what(), HasSubstr(PlaceOf("missing barrier")));
    }
    // A warp barrier orders lanes of one warp, and this goes to another warp.
    EXPECT_THROW((Run<HandOn<Between::kWarpBarrier, 32>>(options)), SimulatorFault);
  }
}

TEST_F(SimulatorFaults, MissingWarpBarrier) {
  for (const SimulatorOptions& options : Schedules()) {
    try {
      Run<HandOn<Between::kNothing, 7>>(options);
      ADD_FAILURE() << "not found";
    } catch (const SimulatorFault& fault) {
      EXPECT_THAT(fault.kind(), AnyOf(Kind::kRace, Kind::kUninitialised));
      EXPECT_THAT(fault.what(), HasSubstr(PlaceOf("missing barrier")));
    }
  }
}

TEST_F(SimulatorFaults, MissingCopyWait) {
  ExpectFault<CopyIn<false>>(Kind::kCopyNotWaited, "missing copy wait");
  for (const SimulatorOptions& options : Schedules()) {
    Run<CopyIn<true>>(options);
    for (int i = 0; i < 64; ++i) EXPECT_EQ(arrays_.out.address[i], static_cast<float>(4 * i));
  }
}

TEST_F(SimulatorFaults, OutOfBounds) {
  ExpectFault<ReadPastTheEnd>(Kind::kOutOfBounds, "out of bounds");
  ExpectFault<SharedPastTheEnd>(Kind::kOutOfBounds, "shared out of bounds");
}

TEST_F(SimulatorFaults, UninitialisedSharedMemory) {
  ExpectFault<Uninitialised>(Kind::kUninitialised, "uninitialised");
}

TEST_F(SimulatorFaults, DivergentBarrier) {
  ExpectFault<DivergentBarrier>(Kind::kDivergence, "divergent barrier", "divergent warp barrier");
  ExpectFault<TwoBarriers>(Kind::kDivergence, "one of two barriers", "other of two barriers");
  ExpectFault<EarlyExit>(Kind::kDivergence, "early exit");
}

TEST_F(SimulatorFaults, ShuffleFromAnInactiveLane) {
  ExpectFault<InactiveLane>(Kind::kInactiveLane, "inactive lane");
  ExpectFault<EndedLane>(Kind::kInactiveLane, "ended lane");
}

TEST_F(SimulatorFaults, MisalignedCopy) {
  ExpectFault<MisalignedCopy>(Kind::kMisaligned, "misaligned copy");
  ExpectFault<MisalignedShared>(Kind::kMisaligned, "misaligned in shared memory");
}

TEST_F(SimulatorFaults, WriteRace) {
  ExpectFault<WriteRace>(Kind::kRace, "write race");
  ExpectFault<RaceOfCtas>(Kind::kRace, "race of CTAs", "race of CTAs", 64, 2);
}

TEST_F(SimulatorFaults, WideLoads) {
  const SimulatorOptions in_order;
  Run<WideLoads>(in_order, 21);
  EXPECT_EQ(arrays_.out.address[20], 20.0F * 12 + 11);
  ExpectFault<WideLoads>(Kind::kOutOfBounds, "wide load");
}

TEST_F(SimulatorFaults, GuardZones) {
  void* const memory = memory_.Allocate(100, "small");
  static_cast<uint8_t*>(memory)[100] = 1;
  EXPECT_THROW((Run<HandOn<Between::kCtaBarrier, 1>>({})), SimulatorFault);
  EXPECT_THROW(memory_.Free(memory), std::logic_error);
}

}  // namespace
}  // namespace kvbench
