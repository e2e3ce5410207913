package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/postgres"
	"github.com/ambit-dev/ambit/store/sqlite"
	"github.com/ambit-dev/ambit/trust/apikey"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// anyStore is what both stores are.
type anyStore interface {
	approval.Store // the ledger, too
	audit.Store
	ambit.SharedRates
	Keys() apikey.Store
	Close() error
}

// openEither opens the PostgreSQL database of a URL, or the SQLite file where there
// is none. The switch is beside the store, since what Halts returns is of another type
// for each.
func openEither(ctx context.Context, url, file string) (anyStore, ambit.HaltSwitch, error) {
	if url != "" {
		s, err := postgres.Open(ctx, url, postgres.Options{})
		if err != nil {
			return nil, nil, err
		}
		return s, s.Halts(), nil
	}
	s, err := sqlite.Open(ctx, file, sqlite.Options{})
	if err != nil {
		return nil, nil, err
	}
	return s, s.Halts(), nil
}

// A flag says which store an application is on.
func Example_eitherStore() {
	folder, err := os.MkdirTemp("", "either")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	databaseURL := "" // of a flag, --database-url

	ctx := context.Background()
	store, halts, err := openEither(ctx, databaseURL, filepath.Join(folder, "either.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	app := ambit.New(ambit.Options{
		Name: "either", Ledger: store, HaltSources: []ambit.HaltSource{halts}, Limits: ambit.Limits{Shared: store},
	})
	keys, err := store.Keys().List(ctx, "", 10)
	fmt.Println(app.Freeze(), halts.Form(), len(keys), err)
	// Output: <nil> store 0 <nil>
}
