// Package storetest is the suite that every store passes: what the interfaces of
// packages ambit, approval, audit and apikey promise, also when many ask at once
// and when time goes by. An application that keeps its records in a database of
// its own runs it in a test:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) storetest.Stores {
//			s := mystore.Open(t.TempDir())
//			t.Cleanup(s.Close)
//			return storetest.Stores{Approvals: s, Audit: s, Advance: s.Advance}
//		})
//	}
//
// [RunKilled] kills processes that have calls under way, [RunUpgrade] brings tables
// of an earlier version up to date, [RunCutOff] cuts one instance off from the halt
// switch, and [RunSecrets] looks for a secret in all that the store keeps.
package storetest
