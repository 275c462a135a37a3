#pragma once

namespace kvbench {

/// Functions that give the same bits on every machine: made of + - * / and sqrt, which IEEE 754
/// rounds correctly, and of bit operations; the C library's own differ from one version to the
/// next. Relative error below 1e-14 (tests compare with the C library).

/// Natural logarithm. 0 gives -infinity, a negative number or NaN gives NaN.
double Ln(double x);
/// e to the power x; infinity above about 709.78, 0 below about -745.
double Exp(double x);
/// The z that a standard normal variable stays below with probability p in (0, 1).
/// Wichura, "Algorithm AS 241: the percentage points of the normal distribution", 1988, PPND16.
double NormalQuantile(double p);

}  // namespace kvbench
