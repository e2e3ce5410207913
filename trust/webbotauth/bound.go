package webbotauth

import (
	"net/http"
	"slices"
	"strings"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/messagesig"
)

// bound reports whether a signature covers all of the request that counts:
// method, target, content, and every header that carries authority.
func bound(r *http.Request, s *messagesig.Signature) bool {
	covers := func(name string) bool { return s.Covers(messagesig.Component{Name: name}) }
	target := covers("@target-uri") || covers("@authority") && covers("@path") && covers("@query")
	if !covers("@method") || !target {
		return false
	}
	if r.ContentLength != 0 && !covers("content-digest") {
		return false
	}
	for name := range r.Header {
		if carriesAuthority(name) && !covers(strings.ToLower(name)) {
			return false
		}
	}
	return true
}

// carriesAuthority reports whether a header, by its canonical name, says on
// whose behalf a request comes or what is to be done with it.
func carriesAuthority(name string) bool {
	switch name {
	case "Authorization", "Cookie", "Dpop", "Idempotency-Key":
		return true
	}
	return strings.HasPrefix(name, "Ambit-") || strings.HasPrefix(name, "Mcp-")
}

// components returns what a signature of a level has to cover of a request. The
// target is covered as a whole where whole is true, and in its parts otherwise.
func components(level ambit.AgentLevel, header http.Header, body, whole bool) []messagesig.Component {
	if level < ambit.AgentRequest {
		return []messagesig.Component{{Name: "@authority"}, agentComponent}
	}
	list := []messagesig.Component{{Name: "@method"}}
	if whole {
		list = append(list, messagesig.Component{Name: "@target-uri"})
	} else {
		list = append(list, messagesig.Component{Name: "@authority"}, messagesig.Component{Name: "@path"}, messagesig.Component{Name: "@query"})
	}
	if body {
		list = append(list, messagesig.Component{Name: "content-digest"})
	}
	var names []string
	for name := range header {
		if carriesAuthority(name) {
			names = append(names, strings.ToLower(name))
		}
	}
	slices.Sort(names)
	for _, name := range names {
		list = append(list, messagesig.Component{Name: name})
	}
	return append(list, agentComponent)
}

// label is that of the signatures that are made and asked for here.
const label = "sig1"

var agentComponent = messagesig.Component{Name: "signature-agent", Key: label}
