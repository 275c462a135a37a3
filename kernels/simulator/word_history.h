#pragma once

#include <cstdint>

#include "kernels/simulator/fault.h"

namespace kvbench {

/// When an access happened: which thread, and how many barriers its CTA and its warp had behind
/// them. Accesses of two threads are ordered by a CTA barrier between them, or, within a warp, by a
/// warp barrier.
struct Moment {
  int32_t cta = 0;
  int32_t thread = 0;
  int32_t warp = 0;
  uint32_t cta_barriers = 0;
  uint32_t warp_barriers = 0;
  Site site;
};

/// Who touched two bytes last. Enough to see two threads at one word, one of them writing, without
/// a barrier between.
class WordHistory {
 public:
  bool written() const { return written_; }
  const Site& write_site() const { return write_.site; }

  /// Returns the earlier access that is not ordered before this one; null if there is none.
  const Site* Read(const Moment& now) {
    const Site* const conflict = written_ && !Ordered(write_, now) ? &write_.site : nullptr;
    if (!read_ || (Ordered(read_at_, now) && !many_)) {
      read_ = true;
      read_at_ = now;
    } else if (read_at_.thread != now.thread || read_at_.cta != now.cta) {
      // Two readers since the last order: keep the later moment, and whether a warp barrier could
      // order both.
      many_ = read_at_.cta == now.cta && read_at_.cta_barriers == now.cta_barriers
                  ? many_ || read_at_.warp != now.warp
                  : read_at_.cta != now.cta;
      read_at_ = now;
    } else {
      read_at_ = now;
    }
    return conflict;
  }

  const Site* Write(const Moment& now) {
    const Site* conflict = nullptr;
    if (written_ && !Ordered(write_, now)) {
      conflict = &write_.site;
    } else if (read_ && (many_ ? !OrderedByCta(read_at_, now) : !Ordered(read_at_, now))) {
      conflict = &read_at_.site;
    }
    written_ = true;
    write_ = now;
    read_ = many_ = false;
    return conflict;
  }

 private:
  static bool OrderedByCta(const Moment& before, const Moment& now) {
    return before.cta == now.cta && before.cta_barriers < now.cta_barriers;
  }
  static bool Ordered(const Moment& before, const Moment& now) {
    return (before.cta == now.cta && before.thread == now.thread) || OrderedByCta(before, now) ||
           (before.cta == now.cta && before.warp == now.warp &&
            before.warp_barriers < now.warp_barriers);
  }

  Moment write_;
  Moment read_at_;
  bool written_ = false;
  bool read_ = false;
  bool many_ = false;  // readers of more than one warp, or CTA
};

}  // namespace kvbench
