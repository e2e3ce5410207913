// Package bench compares Ambit with libraries that do part of its work: the
// same operation, on the same input, with the same answer, in one run. It holds
// benchmarks and the tests that keep the comparison honest; README.md says how
// to run them and what they last showed.
package bench
