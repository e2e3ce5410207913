package mcp

import (
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/strictjson"
)

const (
	// maxState is how many bytes of a state are looked at.
	maxState = 1024
	// stateMargin is how much longer than a person may take to decide a state
	// opens: the call is made after the decision.
	stateMargin = 24 * time.Hour
)

// elicitsURLs reports whether a request declares that its client shows a person
// an address: clientCapabilities has elicitation.url, both objects.
func (m *meta) elicitsURLs() bool {
	elicitation := memberOf(m.client, "elicitation")
	url := memberOf(elicitation, "url")
	return len(url) > 0 && url[0] == '{'
}

// memberOf returns a member of an object that has been read without error; nil
// where there is none.
func memberOf(object []byte, name string) []byte {
	if len(object) == 0 || object[0] != '{' {
		return nil
	}
	members := strictjson.Members(object, strictjson.MaxDepth)
	for members.Next() {
		if string(members.Key()) == name {
			return members.Value()
		}
	}
	return nil
}

// state is what goes out with a question and comes back with the repeated call.
// It allows nothing: the call finds its proposal by itself. It is opened so that
// whoever made it up, or got it for another call, is told.
type state struct {
	proposal  string
	operation ambit.Digest
	expires   time.Time
}

// bound is what a state is good for: this method, this tool, this principal.
func (x *exchange) bound(tool string) []byte {
	return []byte("tools/call\x00" + tool + "\x00" + x.principal.Key())
}

func (x *exchange) sealState(s state, tool string) string {
	plain := binary.BigEndian.AppendUint64(nil, uint64(s.expires.Unix()))
	plain = append(plain, s.operation[:]...)
	plain = append(plain, s.proposal...)
	return base64.RawURLEncoding.EncodeToString(x.states.Seal(nil, plain, x.bound(tool)))
}

// openState reads the state of a repeated call. Nothing is there: ok, and zero.
func (x *exchange) openState(p *params, tool string) (s state, ok bool) {
	if !p.state.set {
		return state{}, true
	}
	if x.states == nil || !p.state.valid() || len(p.state.text) > maxState {
		return state{}, false
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(string(p.state.text))
	if err != nil {
		return state{}, false
	}
	plain, err := x.states.Open(nil, sealed, x.bound(tool))
	if err != nil || len(plain) <= 8+len(s.operation) {
		return state{}, false
	}
	s.expires = time.Unix(int64(binary.BigEndian.Uint64(plain)), 0)
	copy(s.operation[:], plain[8:])
	s.proposal = string(plain[8+len(s.operation):])
	return s, time.Now().Before(s.expires)
}

// errState refuses a state that is none of this call's, whatever is wrong with
// it.
func errState() *ambit.Error {
	return &ambit.Error{
		Code: ambit.CodeConfirmationInvalid, Message: "The requestState is unknown, for another call, or has expired.",
		Hint: "Make the call anew, without requestState and inputResponses.",
	}
}

// asksPerson reports whether a call that waits is answered with the address at
// which a person decides: where the application wants that, the request says
// that its client can show it, and it has not been shown for this call just now.
// A client that comes back before anybody has decided is told to wait, or it
// would show the address again and again.
func (x *exchange) asksPerson(m *message, e *ambit.Error) bool {
	return x.states != nil && x.revision.modern() && !x.batched && !m.params.state.set &&
		e.Code == ambit.CodeApprovalPending && e.Approval != nil && e.Approval.URL != "" && m.params.meta.elicitsURLs()
}

// askPerson appends the result that has the client show a person where to decide
// (2026-07-28, multi round-trip requests).
func (x *exchange) askPerson(m *message, tool string, e *ambit.Error) *rpcError {
	s := state{proposal: e.Approval.ID, operation: e.Approval.Operation, expires: e.Approval.DecideBy.Add(stateMargin)}
	x.out = append(appendStart(x.out, m.id), `"resultType":"input_required","inputRequests":{"approval":{"method":"elicitation/create","params":{"mode":"url","message":`...)
	x.out = strictjson.AppendString(x.out, []byte("This call waits for your decision, or for that of somebody who may decide. Open the page to see what it would do."))
	x.out = append(x.out, `,"url":`...)
	x.out = strictjson.AppendString(x.out, []byte(e.Approval.URL))
	x.out = append(x.out, `}}},"requestState":"`...)
	x.out = append(x.out, x.sealState(s, tool)...)
	x.out = append(x.out, '"')
	x.openMeta()
	x.out = append(x.out, `"`+keyError+`":`...)
	x.out = append(x.out, x.errorObject(e)...)
	x.out = append(x.out, "}}}"...)
	return nil
}
