package approval_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
)

// orderInput has a member of every sort about which a grant can say something.
type orderInput struct {
	Item   string            `json:"item"`
	Count  int               `json:"count" default:"1" minimum:"1"`
	Note   string            `json:"note,omitempty"`
	Ship   *shipTo           `json:"ship,omitempty"`
	Lines  []shipTo          `json:"lines,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	Extra  any               `json:"extra,omitempty"`
	Card   string            `json:"card,omitempty" secret:"true"`
}

type shipTo struct {
	City string  `json:"city"`
	Code string  `json:"code,omitempty" secret:"true"`
	Via  *shipTo `json:"via,omitempty"`
}

// either is an order of one of two shapes.
const either = `{"type":"object","anyOf":[
	{"type":"object","properties":{"kind":{"const":"book"},"title":{"type":"string"}},"required":["kind","title"],"additionalProperties":false},
	{"type":"object","properties":{"kind":{"const":"disc"},"title":{"type":["string","integer"]},"side":{"$ref":"#/$defs/side"}},"required":["kind"],"additionalProperties":false}],
	"$defs":{"side":{"type":"integer"}}}`

// patterned is an order that says by patterns and places what its members are.
const patterned = `{"type":"object","properties":{"item":{"type":"string"},"pair":{"type":"array","prefixItems":[{"type":"string"},{"type":"string"}],"items":false}},
	"patternProperties":{"^x-":{"type":"string"}},"required":["item"],"additionalProperties":false}`

// halfSaid is an order that says something of some members and elements, and nothing
// of the others.
const halfSaid = `{"type":"object","properties":{
	"list":{"type":"array","prefixItems":[{"type":"string"}]},"two":{"type":"array","prefixItems":[{"type":"string"},true],"items":false},
	"some":{"type":"object","patternProperties":{"^x-":{"type":"string"}},"additionalProperties":true}},"patternProperties":{"^x-":{"type":"string"}}}`

// grantOf returns what tells a person what they would allow by a schema.
func grantOf(t *testing.T) func(capability, schema string) (approval.GrantView, error) {
	t.Helper()
	approvals, err := approval.New(memory.New(), approval.Options{LongestGrant: longestGrant})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = approvals.Close(context.Background()) })
	keys, err := ambit.NewKeyRing(ambit.Key{Secret: make([]byte, ambit.MinKey)})
	if err != nil {
		t.Fatal(err)
	}
	app := ambit.New(ambit.Options{Name: "shop", Keys: keys, Approver: approvals, Logger: slog.New(slog.DiscardHandler)})
	spec := ambit.Spec{
		Name: "order", Description: "Orders something.", Effect: ambit.External, Permission: ambit.Authenticated,
		Expose: ambit.HTTP, Approval: ambit.Human, DecidePermission: ambit.Authenticated,
	}
	app.Add(ambit.Define(spec, func(context.Context, orderInput) (ambit.Empty, error) { return ambit.Empty{}, nil }))
	spec.Name = "order.either"
	app.Add(ambit.NewRawContract(spec, either, `{}`).Bind(func(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil }))
	spec.Name = "order.patterned"
	app.Add(ambit.NewRawContract(spec, patterned, `{}`).Bind(func(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil }))
	spec.Name = "order.half"
	app.Add(ambit.NewRawContract(spec, halfSaid, `{}`).Bind(func(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil }))
	person, robot := &ambit.Principal{Authority: "login", Subject: "bob", Unscoped: true}, &ambit.Principal{Authority: "apikey", Subject: "robot", Unscoped: true}
	return func(capability, schema string) (approval.GrantView, error) {
		return approvals.CheckGrant(t.Context(), app, person, approval.Grant{
			Principal: robot.Key(), Capability: capability, Input: json.RawMessage(schema), Until: time.Now().Add(time.Hour), Budget: 1, Given: approval.Decision{Reason: "stock"},
		})
	}
}

// A schema that holds nobody to what it seems to is refused, with what to do.
func TestT20_SchemasThatHoldNobody(t *testing.T) {
	t.Parallel()
	check := grantOf(t)
	for _, test := range []struct{ capability, schema, want string }{
		{"order", `true`, `is no object: {} allows any`},
		{"order", `{"properties":{"itme":{"const":"rope"}}}`, `speaks of "itme", which is no member there: there are `},
		{"order", `{"required":["itme"]}`, `speaks of "itme"`},
		{"order", `{"properties":{"ship":{"type":"object","properties":{"town":{"const":"Bern"}}}}}`, `speaks of "town" for "ship"`},
		{"order", `{"properties":{"lines":{"items":{"properties":{"town":{"const":"Bern"}}}}}}`, `speaks of "town" for "lines/*"`},
		{"order.either", `{"properties":{"knid":{"const":"book"}}}`, `speaks of "knid"`},
		{"order", `{"allOf":[{"properties":{"itme":{"const":"rope"}}}]}`, `has "allOf", by which nobody sees`},
		{"order", `{"anyOf":[{"properties":{"itme":{"const":"rope"}}},{}]}`, `has "anyOf"`},
		{"order", `{"not":{"properties":{"card":{"const":"4000"}},"required":["card"]}}`, `has "not"`},
		{"order", `{"patternProperties":{"^itme$":{"const":"rope"}}}`, `has "patternProperties"`},
		{"order", `{"dependentRequired":{"itme":["item"]}}`, `has "dependentRequired"`},
		{"order", `{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"itme":{"const":"rope"}}}}}`, `has "$defs"`},
		{"order", `{"properties":{"item":{"const":"rope","default":"rope"}}}`, `has "default" for "item"`},
		{"order", `{"properties":{"count":{"maxLength":2}}}`, `has "maxLength" for "count", where a value can be of the type integer`},
		{"order", `{"properties":{"item":{"maximum":2}}}`, `has "maximum" for "item"`},
		{"order", `{"pattern":"^rope$"}`, `has "pattern", where a value can be of the type object`},
		{"order", `{"properties":{"extra":{"maximum":2}}}`, `has "maximum" for "extra", where a value of another type would be free`},
		{"order.either", `{"properties":{"title":{"maxLength":20}}}`, `of the type string or integer`},
		{"order", `{"additionalProperties":{"const":"rope"}}`, `has "additionalProperties", which would speak of "card" as well`},
		{"order", `{"properties":{"item":{"const":"rope"}},"additionalProperties":false}`, `does not let "count" be there, which always is`},
		{"order", `{"properties":{"item":false}}`, `does not let "item" be there`},
		{"order", `{"properties":{"ship":{"additionalProperties":false}}}`, `does not let "city" be there for "ship"`},
		{"order", `{"properties":{"card":{"const":"4000"}}}`, `has "const" for "card", which is secret`},
		{"order", `{"properties":{"ship":{"type":"object","properties":{"via":{"type":"object","properties":{"code":{"type":"string"}}}}}}}`, `has "type" for "ship/via/code", which is secret`},
		{"order", `{"const":{"item":"rope","card":"4000"}}`, `has "const" with a secret in it`},
		{"order", `{"properties":{"lines":{"enum":[[{"city":"Bern","code":"4000"}]]}}}`, `has "enum" for "lines" with a secret in it`},
		{"order.patterned", `{"properties":{"y-size":{"const":"4000"}}}`, `speaks of "y-size"`},
		{"order.patterned", `{"properties":{"x-size":{"maximum":2}}}`, `has "maximum" for "x-size", where a value can be of the type string`},
		{"order.patterned", `{"properties":{"pair":{"items":{"maximum":2}}}}`, `has "maximum" for "pair/*", where a value can be of the type string`},
		{"order.half", `{"properties":{"list":{"items":{"pattern":"^a$"}}}}`, `has "pattern" for "list/*", where a value of another type would be free`},
		{"order.half", `{"properties":{"two":{"items":{"pattern":"^a$"}}}}`, `has "pattern" for "two/*", where a value of another type would be free`},
		{"order.half", `{"properties":{"some":{"additionalProperties":{"pattern":"^a$"}}}}`, `has "pattern" for "some/*", where a value of another type would be free`},
		{"order.half", `{"properties":{"list":{},"two":{},"some":{}},"additionalProperties":{"pattern":"^a$"}}`, `has "pattern" for "*", where a value of another type would be free`},
	} {
		_, err := check(test.capability, test.schema)
		if codeOf(err) != ambit.CodeInvalidInput {
			t.Errorf("%s: want it refused, got %v", test.schema, err)
		}
		text, failed := json.Marshal(err)
		if said := strings.ReplaceAll(string(text), `\"`, `"`); failed != nil || !strings.Contains(said, test.want) || strings.Contains(said, "4000") {
			t.Errorf("%s: want it said that it %s, got %s", test.schema, test.want, said)
		}
	}
}

// Whoever gives a grant is told in words what its schema leaves open.
func TestT20_WhatASchemaLeavesOpen(t *testing.T) {
	t.Parallel()
	check := grantOf(t)
	type open struct{ Free, Optional, Partial []string }
	all := []string{"card", "count", "extra", "item", "labels", "lines", "note", "ship"}
	for _, test := range []struct {
		capability, schema string
		want               open
	}{
		{"order", `{}`, open{Free: all}},
		{"order", `{"title":"any order","properties":{"item":{"type":"string"},"card":{}}}`, open{Free: all}},
		{"order", `{"const":{"item":"rope","count":1}}`, open{}},
		{"order", `{"properties":{"item":{"const":"rope"},"count":{"maximum":3}},"additionalProperties":false}`, open{}},
		{"order", `{"properties":{"item":{"const":"rope"},"count":{"const":1},"note":{"const":null}},"additionalProperties":false}`, open{Optional: []string{"note"}}},
		{"order", `{"properties":{"item":{"const":"rope"},"note":{"maxLength":9},"count":{"const":1},"ship":false},"required":["note"],"additionalProperties":false}`, open{}},
		{"order", `{"properties":{"item":{"pattern":"rope"},"note":{"pattern":"^a|b$"},"count":{"const":1}},"required":["note"],"additionalProperties":false}`, open{Partial: []string{"item", "note"}}},
		{"order", `{"properties":{"item":{"pattern":"^(rope|string)$"},"note":{"pattern":"^a$|^b$"},"count":{"const":1}},"required":["note"],"additionalProperties":false}`, open{}},
		{
			"order", `{"properties":{"item":{"enum":["rope"]},"count":{"const":1},"ship":{"properties":{"city":{"pattern":"^B"},"via":{"type":"object","properties":{"city":{"const":"Bern"}}}}},"lines":{"items":{"properties":{"city":{"const":"Bern"}}}}},"additionalProperties":false}`,
			open{Free: []string{"lines/*/code", "lines/*/via", "ship/code", "ship/via/code", "ship/via/via"}, Optional: []string{"lines", "ship", "ship/via"}, Partial: []string{"ship/city"}},
		},
		{
			"order", `{"properties":{"item":{"const":"rope"},"count":{"const":1},"labels":{"properties":{"color":{"const":"red"}}}},"required":["labels"],"additionalProperties":false}`,
			open{Free: []string{"labels/*"}, Optional: []string{"labels/color"}},
		},
		{"order", `{"properties":{"item":{"const":"rope"},"count":{"const":1},"labels":{"additionalProperties":{"const":"red"}}},"required":["labels"],"additionalProperties":false}`, open{}},
		{"order", `{"properties":{"item":{"const":"rope"},"count":{"const":1},"lines":{"maxItems":3}},"required":["lines"],"additionalProperties":false}`, open{Free: []string{"lines/*"}}},
		{"order", `{"properties":{"item":{"const":"rope"},"count":{"const":1},"extra":{"type":"array","maxItems":3}},"required":["extra"],"additionalProperties":false}`, open{Free: []string{"extra/*"}}},
		{"order.patterned", `{"properties":{"item":{"const":"rope"},"pair":{"maxItems":1}},"required":["pair"]}`, open{Free: []string{"pair/*", "*"}}},
		{"order.patterned", `{"properties":{"item":{"const":"rope"},"x-size":{"const":"L"}},"additionalProperties":false}`, open{Optional: []string{"x-size"}}},
		{"order.either", `{"properties":{"kind":{"const":"disc"},"side":{"const":1}}}`, open{Free: []string{"title"}, Optional: []string{"side"}}},
	} {
		v, err := check(test.capability, test.schema)
		if err != nil {
			t.Errorf("%s: %v", test.schema, err)
			continue
		}
		if diff := cmp.Diff(test.want, open{v.Free, v.Optional, v.Partial}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.schema, diff)
		}
	}
	v, err := check("order", `{"properties":{"item":{"pattern":"rope"},"note":{"maxLength":9},"count":{"const":1},"ship":{}},"additionalProperties":false}`)
	const want = "Can be anything: ship\nCan be left out: note\nCan have more before or after what the pattern says: item\n"
	if err != nil || !strings.Contains(v.String(), want) {
		t.Errorf("want it shown that\n%s\ngot %v\n%s", want, err, v)
	}
}

// What a schema is put to has no secrets, so that nothing about one can be found
// out by granting, not even by a grant that somebody wrote into the store.
func TestT09_GrantsKnowNoSecret(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]ambit.Code{
		`{"properties":{"pin":{"const":"(secret)"}},"required":["pin"]}`: "",
		`{"properties":{"pin":{"const":"1234"}},"required":["pin"]}`:     ambit.CodeApprovalPending,
	} {
		n := newGrantable(t)
		alice := n.person("alice")
		view, err := n.approvals.CheckGrant(t.Context(), n.app, n.person("bob"), allowing(alice))
		n.must(err)
		view.Grant.ID, view.Grant.Input = "grant", json.RawMessage(schema)
		_, err = n.store.Give(t.Context(), view.Grant, nil)
		n.must(err)
		var got ambit.Code
		if failure := n.call(alice, "notes.purge", shelfInput{Folder: "old", Pin: "1234"}, ""); failure != nil {
			got = failure.Code
		}
		if got != want {
			t.Errorf("%s: want %q, got %q", schema, want, got)
		}
	}
}
