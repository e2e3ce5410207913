package webbotauth_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/httpapi"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/webbotauth"
)

func TestMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := webbotauth.NewMemory(4)
		record := func(agent, nonce string, life time.Duration) string {
			fresh, err := m.Record(context.Background(), agent, nonce, time.Now().Add(life))
			if err != nil {
				return "full"
			}
			return fmt.Sprint(fresh)
		}
		for i, step := range []struct {
			wait         time.Duration
			agent, nonce string
			want         string
		}{
			{0, "a", "1", "true"},
			{0, "a", "1", "false"},
			{0, "b", "1", "true"},
			{0, "a", "2", "true"},
			{0, "a", "3", "full"}, // half is what one may have
			{0, "c", "1", "true"},
			{0, "b", "2", "full"},
			{0, "b", "1", "false"},
			{59 * time.Second, "a", "1", "false"},
			{20 * time.Second, "a", "1", "true"}, // ended
			{0, "a", "3", "true"},
			{0, "a", "4", "full"},
		} {
			time.Sleep(step.wait)
			if got := record(step.agent, step.nonce, time.Minute); got != step.want {
				t.Errorf("step %d, %s %s: %s, want %s", i, step.agent, step.nonce, got, step.want)
			}
		}
	})
}

func TestMemoryHasOneWinner(t *testing.T) {
	m := webbotauth.NewMemory(0)
	until := time.Now().Add(time.Minute)
	var won atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 100 {
				if fresh, err := m.Record(context.Background(), "a", fmt.Sprint(i), until); err == nil && fresh {
					won.Add(1)
				}
			}
		})
	}
	all.Wait()
	if won.Load() != 100 {
		t.Errorf("%d were fresh, want 100", won.Load())
	}
}

// A record of nonces that hangs does not hold the request.
func TestNonceRecordThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := webbotauth.GenerateKey()
		v := verifier(t, key, func(o *webbotauth.Options) { o.Nonces = hanging{} })
		v.At(time.Now())
		s := signer(t, key, ambit.AgentOnce)
		r := outgoing(t, "POST", "https://app.test/api/x", "{}")
		if err := s.Sign(r); err != nil {
			t.Fatal(err)
		}
		at, body := arrive(t, r)
		began := time.Now()
		signed := v.Verify(at)
		got := signed.Settle(at.Context(), body)
		if got.Level != ambit.AgentRequest || !got.OnceUnavailable {
			t.Errorf("want a request that nobody can tell to be the first, got %+v", got)
		}
		if waited := time.Since(began); waited != 5*time.Second {
			t.Errorf("waited %s, want 5s", waited)
		}
	})
}

type hanging struct{}

func (hanging) Record(ctx context.Context, _, _ string, _ time.Time) (bool, error) {
	<-ctx.Done()
	return false, ctx.Err()
}

// An agent with many keys has no more room than one with a single key.
func TestMemoryIsSharedByAgents(t *testing.T) {
	m := webbotauth.NewMemory(10)
	until := time.Now().Add(time.Minute)
	taken := 0
	for key := range 20 {
		agent := ambit.AgentIdentity{URL: "https://many.test/keys", Key: fmt.Sprint("key-", key)}
		if fresh, err := m.Record(context.Background(), agent.String(), "0123456789abcdef", until); err == nil && fresh {
			taken++
		}
	}
	if taken != 5 {
		t.Errorf("one agent has taken %d of 10, want half", taken)
	}
	other := ambit.AgentIdentity{URL: "https://other.test/keys", Key: "key"}
	if fresh, err := m.Record(context.Background(), other.String(), "0123456789abcdef", until); err != nil || !fresh {
		t.Errorf("another agent: %v, %v", fresh, err)
	}
}

// An application that requires signatures for once does not start where several
// instances would each remember what was used for themselves.
func TestT31_SeveralInstancesShareNonces(t *testing.T) {
	key := webbotauth.GenerateKey()
	for _, test := range []struct {
		instances int
		nonces    webbotauth.Nonces
		policy    ambit.AgentPolicy
		effect    ambit.Effect
		starts    bool
	}{
		{1, nil, ambit.RequireAgentOnce, ambit.Read, true},
		{2, nil, ambit.RequireAgentOnce, ambit.Read, false},
		{2, nil, ambit.RequireAgent, ambit.Write, false}, // not idempotent: once
		{2, nil, ambit.RequireAgent, ambit.Read, true},
		{2, nil, ambit.AgentObserve, ambit.Write, true},
		{2, nonces(nil), ambit.RequireAgentOnce, ambit.Read, true},
	} {
		v := verifier(t, key, func(o *webbotauth.Options) { o.Instances, o.Nonces = test.instances, test.nonces })
		app := ambit.New(ambit.Options{Name: "once", Logger: silent()})
		app.Add(ambit.Define(ambit.Spec{
			Name: "do", Description: "Do it.", Effect: test.effect, Permission: ambit.Public, Expose: ambit.HTTP, AgentPolicy: test.policy,
		}, func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }))
		_, err := httpapi.New(app, httpapi.Options{Trust: trust.Options{Agents: v}})
		if (err == nil) != test.starts || err != nil && !strings.Contains(err.Error(), "Options.Instances") {
			t.Errorf("%+v: %v", test, err)
		}
	}
	own := verifier(t, key)
	shared := verifier(t, key, func(o *webbotauth.Options) { o.Nonces = nonces(nil) })
	if len(own.Notices()) != 1 || len(shared.Notices()) != 0 {
		t.Errorf("notices: %v in memory, %v shared", own.Notices(), shared.Notices())
	}
}
