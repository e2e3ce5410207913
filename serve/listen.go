package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

// afterCancel is how long calls get to notice that they were canceled.
const afterCancel = 5 * time.Second

// ListenAndServe serves an application on a TCP address ("127.0.0.1:8080"; port
// 0 takes a free one) until ctx ends, then shuts down: no new connections, calls
// under way have [Limits.Grace] to finish before their contexts are canceled. It
// returns nil after a shutdown in which every call came to its end. Halt sources
// are read before the first call is taken, and watched until the last has ended.
//
// It refuses to start on an address that other machines can reach where the
// application has no authenticators, unless AllowUnauthenticated says so, and
// in development mode.
func ListenAndServe(ctx context.Context, addr string, app *ambit.App, o Options) error {
	limits, err := o.Limits.complete()
	if err != nil {
		return err
	}
	if o.TLS != nil && len(o.TLS.Certificates) == 0 && o.TLS.GetCertificate == nil && o.TLS.GetConfigForClient == nil {
		return errors.New("serve: Options.TLS has no certificate: give it Certificates or GetCertificate")
	}
	handler, err := Handler(app, o)
	if err != nil {
		return err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	if err := checkAddress(app, listener.Addr(), o.Trust); err != nil {
		return errors.Join(err, listener.Close())
	}
	calls, cancelCalls := context.WithCancel(context.WithoutCancel(ctx))
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancelCalls()
	app.ReadHaltSources(ctx)
	watch.Go(func() { app.Watch(calls) })
	server := limits.newServer(handler)
	server.TLSConfig = o.TLS
	server.ErrorLog = slog.NewLogLogger(app.Logger().Handler(), slog.LevelWarn)
	server.BaseContext = func(net.Listener) context.Context { return calls }
	ended := make(chan error, 1)
	go func() {
		if o.TLS != nil {
			ended <- server.ServeTLS(limits.paceAnswers(listener), "", "")
			return
		}
		ended <- server.Serve(limits.paceAnswers(listener))
	}()
	if o.Ready != nil {
		o.Ready(listener.Addr())
	}
	select {
	case err := <-ended:
		return errors.Join(fmt.Errorf("serve: %w", err), server.Close())
	case <-ctx.Done():
	}
	err = shutDown(server, limits.Grace, cancelCalls)
	<-ended // http.ErrServerClosed
	return err
}

// newServer returns a server that holds clients to the limits, together with
// paceAnswers.
func (l Limits) newServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           l.paceBodies(handler),
		ReadHeaderTimeout: l.Header,
		IdleTimeout:       l.Idle,
		MaxHeaderBytes:    l.HeaderBytes,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: l.Streams},
	}
}

// checkAddress refuses addresses that other machines can reach to an
// application that is not ready for them.
func checkAddress(app *ambit.App, address net.Addr, o trust.Options) error {
	switch {
	case trust.Loopback(address):
		return nil
	case app.Development():
		return fmt.Errorf("serve: development mode does not listen on %s, which other machines can reach: listen on 127.0.0.1, or turn ambit.Options.Development off", address)
	case len(o.Authenticators) == 0 && !o.AllowUnauthenticated:
		return fmt.Errorf("serve: without authenticators this does not listen on %s, which other machines can reach: "+
			"listen on 127.0.0.1, give trust.Options Authenticators, or set AllowUnauthenticated", address)
	case len(o.Hosts) == 0 && o.PublicURL == "":
		app.Logger().Warn("other machines can reach the address, but no host name is allowed to them: set trust.Options.Hosts or PublicURL",
			slog.String("address", address.String()))
	}
	return nil
}

// shutDown lets calls finish, then cancels them, then closes what is left.
func shutDown(server *http.Server, grace time.Duration, cancelCalls func()) error {
	if within(grace, server.Shutdown) == nil {
		return nil
	}
	cancelCalls()
	if within(afterCancel, server.Shutdown) == nil {
		return nil
	}
	return errors.Join(errors.New("serve: calls went on after they had been canceled"), server.Close())
}

func within(limit time.Duration, work func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return work(ctx)
}
