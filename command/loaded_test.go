package command_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
)

// table is a form of the halt switch that several processes share, a row in each
// line of a file.
type table string

func (table) Form() string { return "store" }

func (t table) Read(context.Context) (list []ambit.Halt, err error) {
	text, err := os.ReadFile(string(t))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var misread ambit.MisreadHalts
	for line := range strings.Lines(string(text)) {
		h, err := ambit.ParseHalt(strings.TrimSuffix(line, "\n"))
		if err != nil {
			misread.Faults = append(misread.Faults, err)
			continue
		}
		list = append(list, h)
	}
	if len(misread.Faults) > 0 {
		return list, &misread
	}
	return list, nil
}

func (t table) Halt(_ context.Context, halts ...ambit.Halt) error {
	file, err := os.OpenFile(string(t), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for _, h := range halts {
		_, each := fmt.Fprintln(file, h)
		err = errors.Join(err, each)
	}
	return errors.Join(err, file.Close())
}

func (t table) Resume(ctx context.Context, seen []ambit.Halt) error {
	list, err := t.Read(ctx)
	if err == nil {
		err = ambit.UnseenHalts(list, seen)
	}
	return errors.Join(err, os.Remove(string(t)))
}

// newLoaded is an application to halt while it works. It writes to standard
// output when a call starts, and to standard error when the switch is thrown.
func newLoaded(sources ...ambit.HaltSource) *ambit.App {
	app := ambit.New(ambit.Options{
		Name: "loaded", Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		HaltSources: sources,
		Limits:      ambit.Limits{Rate: ambit.Rate{Calls: ambit.Unlimited}, InFlight: ambit.Unlimited},
	})
	started := func(name string) { fmt.Println(name, time.Now().UnixNano()) }
	app.Add(
		ambit.Define(ambit.Spec{
			Name: "look", Description: "Look at something.", Effect: ambit.Read, Permission: ambit.Public, Expose: ambit.HTTP,
		}, func(context.Context, ambit.Empty) (ambit.Empty, error) {
			started("look")
			return ambit.Empty{}, nil
		}),
		ambit.Define(ambit.Spec{
			Name: "change", Description: "Change something.", Effect: ambit.Write, Permission: ambit.Public, Expose: ambit.HTTP | ambit.MCP,
		}, func(context.Context, ambit.Empty) (ambit.Empty, error) {
			started("change")
			return ambit.Empty{}, nil
		}),
		ambit.Define(ambit.Spec{
			Name: "work", Description: "Work until told otherwise.", Effect: ambit.Write, Permission: ambit.Public, Expose: ambit.HTTP,
			Deadline: time.Hour,
		}, func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
			started("work")
			<-ctx.Done()
			return ambit.Empty{}, ctx.Err()
		}),
	)
	return app
}
