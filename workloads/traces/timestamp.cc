#include "workloads/traces/timestamp.h"

namespace kvbench {
namespace {

/// Takes fixed-width numbers and single characters off the front of a text.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool ok() const { return ok_; }
  bool at_end() const { return text_.empty(); }
  char peek() const { return text_.empty() ? '\0' : text_[0]; }

  int64_t Number(size_t width) {
    int64_t value = 0;
    for (size_t i = 0; i < width; ++i) {
      const char c = peek();
      if (c < '0' || c > '9') {
        ok_ = false;
        return 0;
      }
      value = value * 10 + (c - '0');
      text_.remove_prefix(1);
    }
    return value;
  }

  void Expect(char c) {
    if (peek() == c && !text_.empty()) {
      text_.remove_prefix(1);
    } else {
      ok_ = false;
    }
  }

 private:
  std::string_view text_;
  bool ok_ = true;
};

bool IsLeapYear(int64_t year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int64_t DaysInMonth(int64_t year, int64_t month) {
  if (month == 2) {
    return IsLeapYear(year) ? 29 : 28;
  }
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/// Days from 1970-01-01 to the given date, 1970 <= year.
int64_t DaysSinceEpoch(int64_t year, int64_t month, int64_t day) {
  const int64_t before = year - 1;
  int64_t days =
      (year - 1970) * 365 + (before / 4 - 492) - (before / 100 - 19) + (before / 400 - 4);
  for (int64_t m = 1; m < month; ++m) {
    days += DaysInMonth(year, m);
  }
  return days + day - 1;
}

}  // namespace

std::optional<int64_t> ParseTimestamp(std::string_view text) {
  Cursor cursor(text);
  const int64_t year = cursor.Number(4);
  cursor.Expect('-');
  const int64_t month = cursor.Number(2);
  cursor.Expect('-');
  const int64_t day = cursor.Number(2);
  cursor.Expect(cursor.peek() == 'T' ? 'T' : ' ');
  const int64_t hour = cursor.Number(2);
  cursor.Expect(':');
  const int64_t minute = cursor.Number(2);
  cursor.Expect(':');
  const int64_t second = cursor.Number(2);
  int64_t fraction_ns = 0;
  if (cursor.ok() && cursor.peek() == '.') {
    cursor.Expect('.');
    int64_t unit_ns = 100'000'000;
    do {
      fraction_ns += cursor.Number(1) * unit_ns;
      if (unit_ns == 0) {
        return std::nullopt;
      }
      unit_ns /= 10;
    } while (cursor.ok() && cursor.peek() >= '0' && cursor.peek() <= '9');
  }
  int64_t offset_minutes = 0;
  if (cursor.peek() == 'Z') {
    cursor.Expect('Z');
  } else if (cursor.peek() == '+' || cursor.peek() == '-') {
    const int64_t sign = cursor.peek() == '-' ? -1 : 1;
    cursor.Expect(cursor.peek());
    const int64_t hours = cursor.Number(2);
    cursor.Expect(':');
    const int64_t minutes = cursor.Number(2);
    if (hours > 23 || minutes > 59) {
      return std::nullopt;
    }
    offset_minutes = sign * (hours * 60 + minutes);
  }
  if (!cursor.ok() || !cursor.at_end() || year < 1970 || year > 2200 || month < 1 || month > 12 ||
      day < 1 || day > DaysInMonth(year, month) || hour > 23 || minute > 59 || second > 59) {
    return std::nullopt;
  }
  const int64_t minutes =
      (DaysSinceEpoch(year, month, day) * 24 + hour) * 60 + minute - offset_minutes;
  return (minutes * 60 + second) * 1'000'000'000 + fraction_ns;
}

}  // namespace kvbench
