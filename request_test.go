package ambit_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
)

type orderItem struct {
	Count int `json:"count" default:"1" minimum:"1"`
}

type orderInput struct {
	Named   map[string]orderItem `json:"named"`
	List    []orderItem          `json:"list"`
	Pointer *orderItem           `json:"pointer,omitempty"`
}

// What a typed call is given stays the caller's: several calls may read it at
// once, and defaults are not written into it.
func TestTypedInputIsTheCallers(t *testing.T) {
	t.Parallel()
	contract := ambit.NewContract[orderInput, ambit.Empty](ambit.Spec{Name: "order", Description: "Test.", Effect: ambit.Read, Permission: ambit.Public})
	want := orderInput{Named: map[string]orderItem{"a": {1}}, List: []orderItem{{1}}, Pointer: &orderItem{1}}
	app := newApp(ambit.Options{}, contract.Bind(func(_ context.Context, got orderInput) (ambit.Empty, error) {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("what the handler got (-want +got):\n%s", diff)
		}
		return ambit.Empty{}, nil
	}))
	ctx, _ := begin(t, app, alice, ambit.InProcess)
	given := orderInput{Named: map[string]orderItem{"a": {}}, List: []orderItem{{}}, Pointer: &orderItem{}}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				if _, err := contract.Call(ctx, given); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	unchanged := orderInput{Named: map[string]orderItem{"a": {}}, List: []orderItem{{}}, Pointer: &orderItem{}}
	if diff := cmp.Diff(unchanged, given); diff != "" {
		t.Errorf("what the caller holds (-want +got):\n%s", diff)
	}
}

// The answer for a name that is none, or is hidden, repeats what was asked for,
// and the name that a surface made of it nowhere.
func TestT07_AskedIsRepeated(t *testing.T) {
	t.Parallel()
	app := newApp(ambit.Options{HideForbidden: true}, ambit.Define(writeSpec("secret.change"), echo))
	ctx, run := begin(t, app, alice, ambit.HTTP)
	for _, name := range []string{"secret.change", "no.such"} {
		_, err := run.Invoke(ctx, ambit.Request{Name: name, Asked: "/asked"})
		e := failure(t, err)
		if e.Code != ambit.CodeNotFound || !strings.Contains(e.Message, `"/asked"`) || strings.Contains(e.Message+e.Hint, name) {
			t.Errorf("%s: want not_found that names /asked alone, got %s: %s %s", name, e.Code, e.Message, e.Hint)
		}
	}
}
