package webbotauth

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// WellKnown is the path at which an agent publishes its keys (the directory of
// draft-ietf-webbotauth-httpsig-protocol).
const WellKnown = "/.well-known/http-message-signatures-directory"

// maxURL bounds what a request may name as its agent.
const maxURL = 2048

// Agent is an agent that the application knows. Its keys are given here, or
// fetched from its directory, or both. Its JSON form is an entry of the file that
// [LoadAgents] reads.
type Agent struct {
	// URL identifies the agent: the https URL of its key set, or its origin, as
	// in "https://agent.example.com", which stands for [WellKnown] there. It is
	// also where the directory is fetched, with its query, which is not part of
	// the identity. Required, and unique.
	URL string `json:"url"`
	// Keys are keys that verify without anything being fetched. A signature
	// with one of them does not reach the directory.
	Keys []Key `json:"keys,omitempty"`
	// Directory says that the keys at URL count. False: only Keys do.
	Directory bool `json:"directory,omitempty"`
	// Copy is the https URL of a copy of the directory that somebody else
	// serves, and is fetched in its place. Of its keys those count that have
	// signed the agent's own response, whose Signature, Signature-Input and
	// Content-Digest fields the copy has to come with; more than four signatures
	// are not read. That signature names the agent's host alone, so that URL has
	// to be an origin or [WellKnown] there. Empty: there is none.
	Copy string `json:"copy,omitempty"`
}

// identify returns the URL by which an agent is known. An origin stands for the
// directory's path there, unless the URL is said to be a key set's own.
func identify(text string, own bool) (string, bool) {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxURL || u.Scheme != "https" || u.Host == "" || u.Opaque != "" || u.User != nil || strings.Contains(text, "#") {
		return "", false
	}
	host := strings.TrimSuffix(strings.ToLower(u.Host), ":443")
	path := u.EscapedPath()
	for i := range len(host) {
		if host[i] <= ' ' || host[i] >= 0x7f {
			return "", false
		}
	}
	if u.Hostname() == "" || strings.HasSuffix(host, ":") || dotted(path) {
		return "", false
	}
	switch {
	case path != "" && path != "/":
	case own:
		path = "/"
	default:
		path = WellKnown
	}
	return "https://" + host + path, true
}

// proper reports whether an identity is the one directory that a host has.
func proper(identity string) bool {
	_, path, _ := strings.Cut(strings.TrimPrefix(identity, "https://"), "/")
	return "/"+path == WellKnown
}

// dotted reports whether a path has segments that lead elsewhere, so that two
// texts could stand for one place.
func dotted(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if s := strings.ReplaceAll(strings.ToLower(segment), "%2e", "."); s == "." || s == ".." {
			return true
		}
	}
	return false
}

// known is an agent as the verifier keeps it.
type known struct {
	url       string
	pinned    map[string]Key
	directory *directory // nil: pinned keys only
}

// check returns what is wrong with an agent, and its identity.
func (a *Agent) check() (identity string, err error) {
	identity, ok := identify(a.URL, false)
	switch {
	case !ok:
		return "", fmt.Errorf("the URL %q is not an https URL without user and fragment", a.URL)
	case len(a.Keys) == 0 && !a.Directory:
		return "", fmt.Errorf("%s has no keys: give Keys, or set Directory to fetch them", a.URL)
	case a.Copy != "" && !a.Directory:
		return "", fmt.Errorf("%s has a Copy of a directory that does not count: set Directory", a.URL)
	case a.Copy != "" && !proper(identity):
		return "", fmt.Errorf("%s has a Copy, whose signature names the host alone: give an origin as the URL, or fetch the key set itself", a.URL)
	}
	if a.Copy != "" {
		if _, ok := identify(a.Copy, true); !ok {
			return "", fmt.Errorf("the Copy %q is not an https URL without user and fragment", a.Copy)
		}
	}
	for _, key := range a.Keys {
		if key.public == "" {
			return "", fmt.Errorf("%s has a zero Key: make keys with ParseKey", a.URL)
		}
	}
	return identity, nil
}

var errNoAgents = errors.New("webbotauth: Options.Agents is empty: name the agents that are known, or leave trust.Options.Agents nil")
