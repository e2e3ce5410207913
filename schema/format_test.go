package schema

import (
	"strings"
	"testing"
)

func TestFormats(t *testing.T) {
	t.Parallel()
	label := strings.Repeat("a", 63)
	tests := []struct {
		format   string
		accepted []string
		refused  []string
	}{
		{
			"date-time",
			[]string{"2026-01-02T03:04:05Z", "2026-01-02t03:04:05.123456789z", "2024-02-29T00:00:00-23:59", "2016-12-31T23:59:60Z", "2016-12-31T15:59:60-08:00"},
			[]string{"", "2026-01-02", "2026-01-02 03:04:05Z", "2026-01-02T03:04:05", "2026-01-02T24:00:00Z", "2026-01-02T03:04:60Z", "2026-01-02T03:04:05.Z", "2026-01-02T03:04:05+1:00", "2023-02-29T00:00:00Z"},
		},
		{"date", []string{"2026-12-31", "2000-02-29"}, []string{"2026-1-1", "1900-02-29", "2026-04-31", "2026-00-01", "2026-01-011", "20260101"}},
		{"time", []string{"03:04:05Z", "23:59:59.9+05:30"}, []string{"03:04:05", "3:04:05Z", "03:60:05Z", "03:04:05+24:00", "03-04-05Z"}},
		{"email", []string{"a@b", "a.b+c@example.com", `"a b"@example.com`, "a@[127.0.0.1]", "a@[IPv6:::1]"}, []string{"", "a", "@b", "a@", ".a@b", "a.@b", "a..b@c", "a b@c", `"a"b"@c`, "a@-b", "a@[::1]", strings.Repeat("a", 65) + "@b"}},
		{"hostname", []string{"a", "example.com", "example.com.", "xn--a-b.c1", label + "." + label}, []string{"", ".", "a..b", "-a", "a-", "a_b", "é", label + "a", strings.Repeat("abcdefg.", 32) + "a"}},
		{"ipv4", []string{"0.0.0.0", "255.255.255.255"}, []string{"", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1..2.3", "1.2.3.a", "1.2.3."}},
		{"ipv6", []string{"::", "::1", "fe80::1", "::ffff:1.2.3.4"}, []string{"", "1.2.3.4", "fe80::1%eth0", ":::", "12345::"}},
		{"uri", []string{"https://a.example/b?c#d", "urn:x:y", "mailto:a@b"}, []string{"", "/a", "a b:c", "https://a/<b>", "http://[::1", "é:x"}},
		{"uri-reference", []string{"", "/a?b", "#c", "https://a.example"}, []string{"a b", "\\a", "%zz"}},
		{"uuid", []string{"123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-42661417400F"}, []string{"", "123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g", "123e4567-e89b-12d3-a456_426614174000"}},
		{"json-pointer", []string{"", "/", "/a/0", "/~0~1"}, []string{"a", "/~", "/~2"}},
	}
	if want, got := len(formats)-1, len(tests); got != want {
		t.Errorf("want a test for each of %d formats, got %d", want, got)
	}
	for _, test := range tests {
		f := formatNamed(test.format)
		for _, text := range test.accepted {
			if !hasFormat(f, text) || !hasFormat(f, []byte(text)) {
				t.Errorf("%s: want %q accepted", test.format, text)
			}
		}
		for _, text := range test.refused {
			if hasFormat(f, text) || hasFormat(f, []byte(text)) {
				t.Errorf("%s: want %q refused", test.format, text)
			}
		}
	}
}
