package workload

import "time"

// Order is the input: seven fields that between them use every kind of rule
// that an ordinary input has. The tags are the ones that Ambit and huma read
// alike; limits on Tags count for its elements, except for maxItems.
type Order struct {
	Title   string     `json:"title" minLength:"1" maxLength:"200"`
	Kind    string     `json:"kind" enum:"repair,replace,inspect,install"`
	Count   int        `json:"count" minimum:"1" maximum:"100" default:"10"`
	Urgent  bool       `json:"urgent"`
	Tags    []string   `json:"tags" maxItems:"10" minLength:"1" maxLength:"40" nullable:"false"`
	Address Address    `json:"address"`
	Due     *time.Time `json:"due,omitempty"`
}

// Address is the nested object of an [Order].
type Address struct {
	Street string `json:"street" minLength:"1" maxLength:"100"`
	City   string `json:"city" minLength:"1" maxLength:"100"`
	Zip    string `json:"zip" minLength:"5" maxLength:"10"`
}

// ValidOrder returns the order that [ValidJSON] spells.
func ValidOrder() Order {
	due := time.Date(2027, 3, 1, 9, 30, 0, 0, time.UTC)
	return Order{
		Title:   "Replace pump seal",
		Kind:    "replace",
		Count:   25,
		Urgent:  true,
		Tags:    []string{"pump", "north", "spare"},
		Address: Address{Street: "12 Mill Lane", City: "Harrow", Zip: "10115"},
		Due:     &due,
	}
}

// ValidJSON is a right order: every field present, 198 bytes.
const ValidJSON = `{"title":"Replace pump seal","kind":"replace","count":25,"urgent":true,` +
	`"tags":["pump","north","spare"],` +
	`"address":{"street":"12 Mill Lane","city":"Harrow","zip":"10115"},` +
	`"due":"2027-03-01T09:30:00Z"}`

// FaultyJSON is the same order with six faults, listed in [FaultyPointers].
const FaultyJSON = `{"title":"","kind":"repaint","count":500,"urgent":true,` +
	`"tags":["pump","","spare"],` +
	`"address":{"street":"12 Mill Lane","zip":"10115"},` +
	`"due":"2027-03-01T09:30:00Z","colour":"red"}`

// FaultyPointers returns where [FaultyJSON] is wrong, as JSON Pointers in
// document order: too short, not in the enum, above the maximum, an element too
// short, a required field missing, an unknown field. The two about a field that
// is missing or unknown name that field itself.
func FaultyPointers() []string {
	return []string{"/title", "/kind", "/count", "/tags/1", "/address/city", "/colour"}
}
