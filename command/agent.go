package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/visible"
	"github.com/ambit-dev/ambit/trust/webbotauth"
)

// agentCommand holds what an agent needs that signs its requests. None of it
// opens the application: the keys are the agent's.
func (p Program) agentCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "agent",
		Short: "Make an agent's key and sign requests with it",
		Long:  "Make the key of an agent that signs its requests (Web Bot Auth), and sign requests by hand. The application is not asked.",
		Args:  arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return misused(c, errors.New("what to do is missing: keygen or sign"))
		},
	}
	c.AddCommand(agentKeygenCommand(), agentSignCommand())
	return c
}

func agentKeygenCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "keygen FILE",
		Short: "Make a key for an agent",
		Long: "Make an Ed25519 key. The private key goes into FILE, as a JWK that its owner alone can read; FILE must not be\n" +
			"there yet. The public key, a JWK too, goes to standard output: it is what applications are given, or what the\n" +
			"agent publishes.",
		Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			key := webbotauth.GenerateKey()
			public, err := json.Marshal(key.Public())
			if err != nil {
				return err
			}
			jwk, err := key.JWK()
			if err != nil {
				return err
			}
			if err := writeSecret(args[0], jwk); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s\n", visible.JSON(public))
			return err
		},
	}
}

// maxAgentKey bounds the file of a private key.
const maxAgentKey = 64 << 10

// readAgentKey reads what keygen has written. A file that others can read
// holds no private key anymore.
func readAgentKey(path string) (key webbotauth.PrivateKey, err error) {
	file, err := os.Open(path)
	if err != nil {
		return key, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	switch {
	case err != nil:
		return key, err
	case !info.Mode().IsRegular():
		return key, fmt.Errorf("%s is not a file", path)
	case info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows":
		return key, fmt.Errorf("%s can be read by others than its owner: take that right away, and make a new key unless it was never used", path)
	}
	jwk, err := io.ReadAll(io.LimitReader(file, maxAgentKey))
	if err != nil {
		return key, err
	}
	if key, err = webbotauth.ParsePrivateKey(jwk); err != nil {
		return key, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

// signing is what the flags of the sign command say.
type signing struct {
	key, agent, level string
	lifetime          time.Duration
	headers           []string
}

func agentSignCommand() *cobra.Command {
	var s signing
	c := &cobra.Command{
		Use:   "sign METHOD URL [BODY_FILE]",
		Short: "Sign a request and write its headers",
		Long: "Sign a request as an agent and write the headers that have to be added to it, a line each, as curl reads them\n" +
			"with -H @FILE. BODY_FILE holds the exact bytes of the body; - is standard input. Headers that carry authority,\n" +
			"such as Authorization and Idempotency-Key, are part of what is signed: give them with --header, and send them.",
		Args: arguments(2, 3),
		RunE: func(c *cobra.Command, args []string) error { return s.run(c, args) },
	}
	c.Flags().StringVar(&s.key, "key", "", "`FILE` of the private key, as keygen makes it")
	c.Flags().StringVar(&s.agent, "agent", "", "`URL` of the agent's key set, or its origin")
	c.Flags().StringVar(&s.level, "level", ambit.AgentOnce.String(), "how much to sign: identity, request or once (`LEVEL`)")
	c.Flags().DurationVar(&s.lifetime, "lifetime", webbotauth.DefaultSigned, "how long the signature holds (`TIME`)")
	c.Flags().StringArrayVar(&s.headers, "header", nil, "`HEADER` that the request will have, as in \"Authorization: Bearer KEY\"; may be repeated")
	return c
}

func (s *signing) run(c *cobra.Command, args []string) error {
	if s.key == "" || s.agent == "" {
		return misused(c, errors.New("it takes both --key and --agent"))
	}
	options := webbotauth.SignerOptions{Agent: s.agent, Lifetime: s.lifetime}
	for _, level := range []ambit.AgentLevel{ambit.AgentIdentified, ambit.AgentRequest, ambit.AgentOnce} {
		if level.String() == s.level {
			options.Level = level
		}
	}
	if options.Level == ambit.AgentNone {
		return misused(c, fmt.Errorf("--level is %q: it is identity, request or once", s.level))
	}
	r, err := s.request(c, args)
	if err != nil {
		return misused(c, err)
	}
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }()
	}
	if options.Key, err = readAgentKey(s.key); err != nil {
		return err
	}
	signer, err := webbotauth.NewSigner(options)
	if err != nil {
		return misused(c, err)
	}
	if err := signer.Sign(r); err != nil {
		return misused(c, err)
	}
	for _, name := range [...]string{"Content-Digest", "Signature-Agent", "Signature-Input", "Signature"} {
		if value := r.Header.Get(name); value != "" {
			if _, err := fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// request is the request that the arguments describe.
func (s *signing) request(c *cobra.Command, args []string) (*http.Request, error) {
	var body io.Reader
	if len(args) == 3 {
		body = c.InOrStdin()
		if args[2] != "-" {
			file, err := os.Open(args[2])
			if err != nil {
				return nil, err
			}
			body = file
		}
	}
	r, err := http.NewRequestWithContext(c.Context(), strings.ToUpper(args[0]), args[1], body)
	if err != nil {
		return nil, err
	}
	if (r.URL.Scheme != "https" && r.URL.Scheme != "http") || r.URL.Host == "" {
		return nil, fmt.Errorf("the URL %q is not absolute", args[1])
	}
	for _, line := range s.headers {
		name, value, found := strings.Cut(line, ":")
		if name = textproto.TrimString(name); !found || name == "" {
			return nil, fmt.Errorf("--header %q is not of the form \"Name: value\"", line)
		}
		r.Header.Add(name, textproto.TrimString(value))
	}
	return r, nil
}
