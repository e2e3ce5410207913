package audit

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// columns are what an [Entry] can be found by. Its body says the same, unless
// somebody has altered one of both.
type columns struct {
	Kind       string `json:"kind"`
	Principal  string `json:"principal"`
	Capability string `json:"capability"`
	Call       string `json:"call"`
	Run        string `json:"run"`
	Proposal   string `json:"proposal"`
}

func (e *Entry) columns() columns {
	return columns{e.Kind, e.Principal, e.Capability, e.Call, e.Run, e.Proposal}
}

func (e *Entry) setColumns(c columns) {
	e.Kind, e.Principal, e.Capability, e.Call, e.Run, e.Proposal = c.Kind, c.Principal, c.Capability, c.Call, c.Run, c.Proposal
}

// columns are those that go with a body.
func (r Record) columns() columns {
	return columns{r.Kind, column(r.Principal), column(r.Capability), column(r.Call), column(r.Run), column(r.Proposal)}
}

// AppendJSON appends the entry as one line of JSON without its end, as the audit
// commands write it, and from which [ParseEntry] makes the same entry, to the
// byte. A body that is no JSON object in one line is written in base64, as
// rawBody.
func (e Entry) AppendJSON(dst []byte) []byte {
	text := func(dst []byte, name, value string) []byte {
		dst = append(append(append(dst, '"'), name...), `":`...)
		return appendText(dst, value)
	}
	dst = append(dst, '{')
	dst = append(text(dst, "tenant", e.Tenant), ',')
	dst = append(text(dst, "writer", e.Writer), ',')
	dst = strconv.AppendUint(append(dst, `"seq":`...), e.Seq, 10)
	dst = e.Time.UTC().AppendFormat(append(dst, `,"time":"`...), time.RFC3339Nano)
	dst = append(dst, `",`...)
	r, err := e.Record()
	if inLine := bytes.HasPrefix(e.Body, []byte("{")) && bytes.HasSuffix(e.Body, []byte("}")) && !bytes.ContainsAny(e.Body, "\r\n"); inLine && err == nil {
		dst = append(append(dst, `"body":`...), e.Body...)
	} else {
		dst = append(base64.StdEncoding.AppendEncode(append(dst, `"rawBody":"`...), e.Body), '"')
	}
	if e.columns() != r.columns() {
		differing, _ := json.Marshal(e.columns())
		dst = append(append(dst, `,"columns":`...), differing...)
	}
	dst = base64.StdEncoding.AppendEncode(append(dst, `,"mac":"`...), e.MAC)
	return append(dst, `"}`...)
}

// appendText appends a JSON string. What is no UTF-8 becomes the replacement
// character.
func appendText(dst []byte, s string) []byte {
	text, _ := json.Marshal(s)
	return append(dst, text...)
}

// ParseEntry reads a line that [Entry.AppendJSON] wrote. That it can be read says
// nothing about who has written it.
func ParseEntry(line []byte) (Entry, error) {
	var w struct {
		Tenant  string          `json:"tenant"`
		Writer  string          `json:"writer"`
		Seq     uint64          `json:"seq"`
		Time    time.Time       `json:"time"`
		Body    json.RawMessage `json:"body"`
		RawBody *[]byte         `json:"rawBody"`
		Columns *columns        `json:"columns"`
		MAC     []byte          `json:"mac"`
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&w); err != nil {
		return Entry{}, fmt.Errorf("audit: this is no entry: %w", err)
	}
	if rest := bytes.TrimSpace(line[decoder.InputOffset():]); len(rest) > 0 {
		return Entry{}, errors.New("audit: something follows the entry in its line")
	}
	if (w.Body == nil) == (w.RawBody == nil) {
		return Entry{}, errors.New("audit: an entry has either body or rawBody")
	}
	e := Entry{Tenant: w.Tenant, Writer: w.Writer, Seq: w.Seq, Time: w.Time.UTC(), MAC: w.MAC, Body: w.Body}
	if w.RawBody != nil {
		e.Body = *w.RawBody
	}
	if w.Columns != nil {
		e.setColumns(*w.Columns)
		return e, nil
	}
	r, err := e.Record()
	if err != nil && w.RawBody == nil {
		return Entry{}, err
	}
	e.setColumns(r.columns())
	return e, nil
}
