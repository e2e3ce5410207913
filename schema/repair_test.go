package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/schema"
)

type repairable struct {
	Count  int             `json:"count"`
	Ratio  *float64        `json:"ratio"`
	Urgent bool            `json:"urgent,omitempty"`
	Note   string          `json:"note,omitempty"`
	Sizes  []int           `json:"sizes,omitempty"`
	Extra  map[string]bool `json:"extra,omitempty"`
}

// Only a string where a number or boolean belongs is mended, and only where it spells one.
func TestRepair(t *testing.T) {
	t.Parallel()
	s, err := schema.For[repairable](schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, data, want string
		pointers         []string
	}{
		{"nothing wrong", `{"count":1}`, "", nil},
		{"integer", `{"count":"25"}`, `{"count":25}`, []string{"/count"}},
		{"number", `{"count":1,"ratio":" 2.5e1 "}`, `{"count":1,"ratio":2.5e1}`, []string{"/ratio"}},
		{"booleans", `{"count":1,"urgent":"TRUE","extra":{"a":"false"}}`, `{"count":1,"urgent":true,"extra":{"a":false}}`, []string{"/urgent", "/extra/a"}},
		{"elements", `{"count":1,"sizes":["1",2,"3"]}`, `{"count":1,"sizes":[1,2,3]}`, []string{"/sizes/0", "/sizes/2"}},
		{"a word", `{"count":"many"}`, "", nil},
		{"not JSON's number", `{"count":"0x10"}`, "", nil},
		{"not a number", `{"count":"NaN"}`, "", nil},
		{"empty", `{"count":""}`, "", nil},
		{"a number where a string belongs", `{"count":1,"note":5}`, "", nil},
		{"null", `{"count":null}`, "", nil},
		{"unknown member", `{"count":1,"cuont":"2"}`, "", nil},
		{"broken text", `{"count":"1"`, "", nil},
		{"twice", `{"count":"1","count":"2"}`, "", nil},
	} {
		got, pointers := s.Repair([]byte(test.data), s.Check([]byte(test.data), 0))
		if string(got) != test.want {
			t.Errorf("%s: want %s, got %s", test.name, test.want, got)
		}
		if diff := cmp.Diff(test.pointers, pointers); diff != "" {
			t.Errorf("%s: pointers (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestMembers(t *testing.T) {
	t.Parallel()
	s, err := schema.For[repairable](schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"count", "ratio", "urgent", "note", "sizes", "extra"}, s.Members()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	text, err := schema.Parse([]byte(`{"type":"string"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := text.Members(); got != nil {
		t.Errorf("no object: want nil, got %v", got)
	}
}
