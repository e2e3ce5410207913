// Package houserules keeps the repository in shape. Its tests read every source
// file of the checkout and fail on a breach of the rules that docs/design.md
// states: who may import whom, where a third-party module may be used, how long
// a file may be, what must be documented, and what does not belong into code or
// text at all.
//
// A rule is a [Check]: it looks at a [Tree] and returns every [Breach] that it
// finds. The same checks run over small made-up trees in testdata, one folder
// per check, so that a check which stopped finding anything would be noticed.
//
// The rules read files and not compiled packages, hence they see every file
// whatever its build tags, and need nothing that the tree does not hold. Go's
// test cache does not know which files they read: run them with -count=1.
package houserules
