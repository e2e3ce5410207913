// Command issuer is an authorization server for development: it lets one try an
// application that takes OAuth access tokens without an account anywhere.
//
//	go run ./examples/issuer                    issues tokens on 127.0.0.1:9000
//
// Nobody logs in: whoever asks for a token gets one. So it listens on this machine
// alone, its keys end with it, and no page of a browser can read its answers. It
// is not for production, and nothing of it is part of Ambit, which never issues
// tokens.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	address := flag.String("addr", "127.0.0.1:9000", "`ADDRESS:PORT` of this machine to listen on; port 0 takes a free one")
	flag.Parse()
	if err := run(ctx, *address, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "issuer:", err)
		os.Exit(1)
	}
}

// run serves until the context ends. It says on notices where.
func run(ctx context.Context, address string, notices io.Writer) error {
	bind, err := netip.ParseAddrPort(address)
	if err != nil || !bind.Addr().IsLoopback() {
		return fmt.Errorf("--addr is %q: give an address of this machine alone, as in 127.0.0.1:9000: whoever reaches the issuer gets tokens", address)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("%w: choose another address with --addr", err)
	}
	issuer, err := newIssuer("http://" + listener.Addr().String())
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{Handler: issuer, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if _, err := fmt.Fprintf(notices, "people    %s\nprograms  %s\nissuer for development on %s\n", known(people()), known(programs()), issuer.url); err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
