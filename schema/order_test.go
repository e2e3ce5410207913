package schema

import (
	"reflect"
	"testing"
	"time"
)

// order is the type that the project states its numbers for.
type order struct {
	Title   string     `json:"title" doc:"What is ordered" minLength:"1" maxLength:"200"`
	Kind    string     `json:"kind" enum:"book,record,film,game"`
	Count   int        `json:"count" minimum:"1" maximum:"100" default:"10"`
	Urgent  bool       `json:"urgent"`
	Tags    []string   `json:"tags" maxItems:"10" minLength:"1" maxLength:"40"`
	Address address    `json:"address"`
	Due     *time.Time `json:"due"`
}

type address struct {
	Street string `json:"street" minLength:"1" maxLength:"100"`
	City   string `json:"city" minLength:"1" maxLength:"100"`
	Zip    string `json:"zip" minLength:"5" maxLength:"10"`
}

const (
	validOrder  = `{"title":"The Go Programming Language","kind":"book","count":25,"urgent":true,"tags":["go","reading","gift"],"address":{"street":"1 Main Street","city":"Springfield","zip":"12345"},"due":"2026-12-24T18:00:00Z"}`
	faultyOrder = `{"title":"","kind":"boot","count":250,"urgent":"yes","tags":["go",""],"address":{"street":"1 Main Street","city":"Springfield","zip":"123"},"due":"2026-12-24T18:00:00Z"}`
)

func mustFor[T any](t testing.TB, unions ...Union) *Schema {
	t.Helper()
	s, err := For[T](Options{Unions: unions})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOrder(t *testing.T) {
	t.Parallel()
	s := mustFor[order](t)
	t.Logf("%s", s.JSON())
	var o order
	dst := reflect.ValueOf(&o).Elem()
	if faults := s.Decode([]byte(validOrder), dst, 0); faults != nil {
		t.Fatal(faults)
	}
	out, faults := s.Append(nil, dst)
	if faults != nil {
		t.Fatal(faults)
	}
	if string(out) != validOrder {
		t.Errorf("want %s\ngot  %s", validOrder, out)
	}
	faults = s.Decode([]byte(faultyOrder), dst, 0)
	if len(faults) != 6 {
		t.Errorf("want 6 faults, got %d: %+v", len(faults), faults)
	}
	t.Logf("%+v", faults)
}

func BenchmarkCheck(b *testing.B) {
	s := mustFor[order](b)
	data := []byte(validOrder)
	b.ReportAllocs()
	for b.Loop() {
		if s.Check(data, 0) != nil {
			b.Fatal()
		}
	}
}

func BenchmarkCheckValue(b *testing.B) {
	s := mustFor[order](b)
	var o order
	dst := reflect.ValueOf(&o).Elem()
	s.Decode([]byte(validOrder), dst, 0)
	b.ReportAllocs()
	for b.Loop() {
		if s.CheckValue(dst) != nil {
			b.Fatal()
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	s := mustFor[order](b)
	var o order
	dst := reflect.ValueOf(&o).Elem()
	s.Decode([]byte(validOrder), dst, 0)
	buf := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		if _, faults := s.Append(buf, dst); faults != nil {
			b.Fatal(faults)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	s := mustFor[order](b)
	data := []byte(validOrder)
	b.ReportAllocs()
	for b.Loop() {
		var o order
		if s.Decode(data, reflect.ValueOf(&o).Elem(), 0) != nil {
			b.Fatal()
		}
	}
}

func BenchmarkFaults(b *testing.B) {
	s := mustFor[order](b)
	data := []byte(faultyOrder)
	b.ReportAllocs()
	for b.Loop() {
		var o order
		if s.Decode(data, reflect.ValueOf(&o).Elem(), 0) == nil {
			b.Fatal()
		}
	}
}

func BenchmarkFor(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		mustFor[order](b)
	}
}
