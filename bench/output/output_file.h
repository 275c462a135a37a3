#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace kvbench {

/// Writes a file whole or not at all: `write` fills a temporary file beside the target, which is
/// flushed, checked and renamed onto it. Where the target is a device or a pipe (/dev/stdout,
/// /dev/full) it is written to directly. Throws Error ("cannot write PATH: No space left on
/// device"); the temporary is gone then, and also when `write` throws, and what was at the path
/// before is untouched.
void WriteFileAtomically(const std::string& path, const std::function<void(std::ostream&)>& write);

/// Writes to the standard output. Throws Error where it takes not everything.
void WriteStandardOutput(const std::function<void(std::ostream&)>& write);

/// What an --out names: a file (WriteFileAtomically), or "-", the standard output.
void WriteOutput(const std::string& out, const std::function<void(std::ostream&)>& write);

/// Throws the Error that WriteFileAtomically would throw for a path that cannot be written (no such
/// folder, no permission, a directory), before hours of work are lost. Leaves nothing behind.
void CheckWritable(const std::string& path);

/// The same for an --out; "-" always passes.
void CheckOutput(const std::string& out);

}  // namespace kvbench
