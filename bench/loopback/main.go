//go:build unix

// Command loopback measures what a call costs a server process over a real
// socket: 32 connections on 127.0.0.1, and the server's own CPU time for each
// request, from getrusage. Server and client are separate processes, so that the
// client's work is not in the figure.
//
//	go run ./loopback                          # all sides, nine rounds
//	go run ./loopback -sides empty,ambit-mcp -rounds 20
//
// The sides take turns in every round. The table shows each side's smallest
// figure, since a busy machine can only add to it, and the median of its ratios
// to the empty handler of the same round. A run is bounded in requests and in
// time, and the servers end with it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"
)

// plan is what a run does.
type plan struct {
	sides       []string
	connections int
	requests    int // per side and round
	rounds      int
	limit       time.Duration // per side and round
}

func main() {
	var (
		p     plan
		sides string
		serve string
	)
	flag.StringVar(&sides, "sides", strings.Join(sideNames(), ","), "which `sides` to measure, separated by commas")
	flag.IntVar(&p.connections, "connections", 32, "how many connections to hold")
	flag.IntVar(&p.requests, "requests", 5_000, "how many requests to send to each side in each round")
	flag.IntVar(&p.rounds, "rounds", 9, "how many rounds to run")
	flag.DurationVar(&p.limit, "limit", 20*time.Second, "when to give up on a side in a round")
	flag.StringVar(&serve, "serve", "", "be the server of one `side` (used by the program itself)")
	flag.Parse()
	p.sides = strings.Split(sides, ",")

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, serve, p, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "loopback:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, serve string, p plan, in io.Reader, out io.Writer) error {
	if serve != "" {
		return serveSide(serve, in, out)
	}
	if p.connections < 1 || p.requests < p.connections || p.rounds < 1 || p.limit <= 0 {
		return errors.New("connections, rounds and limit have to be positive, and requests at least one for each connection")
	}
	rounds, err := measureAll(ctx, p)
	if err != nil {
		return err
	}
	return printTable(out, p, rounds)
}
