#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kvbench {

/// Cuts JSON text at its brackets in one pass, so that a part of a large file can be parsed by
/// itself, or passed over. Values are not checked here: whoever parses the parts does. Once a
/// bracket, a comma or the end of the text is missing, every method says no and failed() is true.
class JsonScanner {
 public:
  /// A byte order mark at its beginning is passed over.
  explicit JsonScanner(std::string_view text)
      : text_(text), at_(text.starts_with("\xEF\xBB\xBF") ? 3 : 0) {}

  /// Goes into the object or array that comes next; false where something else does.
  bool EnterObject() { return Enter('{'); }
  bool EnterArray() { return Enter('['); }

  /// The next member's key, as it stands between its quotes; its value comes next. False at the end
  /// of the object, which is left then.
  bool NextMember(std::string_view& key);
  /// Whether there is one more element, which comes next. False at the end of the array, which is
  /// left then.
  bool NextElement();

  /// The value that comes next, whole, as text.
  std::string_view Value();
  /// Its first character, or 0.
  char Peek();

  bool failed() const { return failed_; }
  /// Whether nothing but space follows.
  bool AtEnd();
  size_t position() const { return at_; }

 private:
  bool Enter(char bracket);
  bool Next(char close);
  bool Take(char c);
  bool Fail();
  void SkipSpace();
  void SkipString();

  std::string_view text_;
  size_t at_;
  std::vector<bool> first_;  ///< of each object and array around the place: nothing of it read yet
  bool failed_ = false;
};

/// What keeps text from being JSON, as a sentence with its line; empty where nothing does.
std::string WhyNotJson(std::string_view text);

}  // namespace kvbench
