package schema

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

type switchable bool

func (switchable) Enum() []switchable { return []switchable{true} }

// TestCheckValue checks Go values that no text could give, and those whose type alone keeps most
// rules.
func TestCheckValue(t *testing.T) {
	t.Parallel()
	type limited struct {
		Flags  []bool     `json:"flags" maxItems:"2"`
		Unique []int64    `json:"unique" uniqueItems:"true"`
		Small  []uint8    `json:"small" maxLength:"4"`
		Counts []uint     `json:"counts" maximum:"5"`
		On     switchable `json:"on"`
	}
	type times struct {
		At time.Time `json:"at"`
	}
	at := func(year, offset int) times {
		return times{time.Date(year, 12, 31, 23, 59, 59, 999, time.FixedZone("", offset))}
	}
	tests := []struct {
		name  string
		value any
		want  string // the pointers of the faults
	}{
		{"all limits kept", limited{Flags: []bool{true, true}, Unique: []int64{1, 2}, Counts: []uint{5}, On: true}, ""},
		{"too many booleans", limited{Flags: []bool{true, true, true}, On: true}, "/flags"},
		{"a repeated integer", limited{Unique: []int64{7, 8, 7}, On: true}, "/unique/2"},
		{"too many bytes", limited{Small: []uint8{1, 2, 3, 4}, On: true}, "/small"},
		{"a limited element", limited{Counts: []uint{1, 6}, On: true}, "/counts/1"},
		{"a boolean with listed values", limited{}, "/on"},
		{"the last second", at(9999, 0), ""},
		{"the last second elsewhere", at(9999, -3600), ""},
		{"after the last year", at(10000, 0), "/at"},
		{"after the last year only in UTC", times{at(9999, 0).At.In(time.FixedZone("", -7200)).Add(time.Hour)}, ""},
		{"after the last year only elsewhere", times{at(9999, 0).At.In(time.FixedZone("", 60))}, "/at"},
		{"the year 0", at(0, 0), ""},
		{"before the year 0", at(-1, 0), "/at"},
		{"before the year 0 only elsewhere", times{time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).In(time.FixedZone("", -60))}, "/at"},
		{"an offset with seconds", at(2026, 61), "/at"},
		{"the zero time", times{}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := ForType(reflect.TypeOf(test.value), Options{})
			if err != nil {
				t.Fatal(err)
			}
			v := reflect.ValueOf(test.value)
			var got []string
			for _, f := range s.CheckValue(v) {
				got = append(got, f.Pointer)
			}
			if got := strings.Join(got, " "); got != test.want {
				t.Errorf("CheckValue: want faults at %q, got %q", test.want, got)
			}
			text, faults := s.Append(nil, v)
			if len(faults) != len(got) {
				t.Errorf("Append: want %d faults, got %+v", len(got), faults)
			}
			if faults == nil {
				if faults = s.Check(text, 0); faults != nil {
					t.Errorf("%s: want no fault, got %+v", text, faults)
				}
			}
		})
	}
}
