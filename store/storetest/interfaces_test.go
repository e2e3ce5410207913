package storetest_test

import (
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/store/storetest"
	"github.com/ambit-dev/ambit/trust/oauth"
	"github.com/ambit-dev/ambit/trust/webbotauth"
)

// What the suite tests is what those ask for who use it.
var (
	_ webbotauth.Nonces = storetest.Nonces(nil)
	_ oauth.Replays     = storetest.Replays(nil)
	_ webbotauth.Nonces = (*memory.Nonces)(nil)
	_ oauth.Replays     = (*memory.Replays)(nil)
)
