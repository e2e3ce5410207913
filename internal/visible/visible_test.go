package visible_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/internal/visible"
)

func TestT10_Text(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"plain", `a "b" \n C:\d`, `a "b" \n C:\d`},
		{"other languages", "Grüße, мир, 世界, שלום", "Grüße, мир, 世界, שלום"},
		{"lines and tabs", "a\nb\r\tc", `a\nb\r\tc`},
		{"terminal sequence", "\x1b[2Jgone\a", `\u001b[2Jgone\u0007`},
		{"delete and C1", "a\x7f\u009bb", `a\u007f\u009bb`},
		{"reordering", "user\u202Etxt.exe", `user\u202etxt.exe`},
		{"zero width", "pass\u200Bword\uFEFF", `pass\u200bword\ufeff`},
		{"line separators", "a\u2028b\u2029c", `a\u2028b\u2029c`},
		{"private use", "\uE000", `\ue000`},
		{"tag characters", "hi\U000E0041\U000E0042", `hi\udb40\udc41\udb40\udc42`},
		{"variation selectors as data", "x\U000E0100", `x\udb40\udd00`},
		{"unassigned", "\U000E0FFF", `\udb43\udfff`},
		{"a letter without a look", "a\u3164b", `a\u3164b`},
		{"a picture", "❤\uFE0F", "❤\uFE0F"},
		{"mixed scripts", "p\u0430yp\u0430l.com", `p\u0430yp\u0430l.com`},
		{"two scripts, two words", "paypal \u0430\u0431\u0432", "paypal \u0430\u0431\u0432"},
		{"invalid UTF-8", "a\xffb", "a\uFFFDb"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, visible.Text(test.text)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestT10_JSON(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"plain", `{"a":[1,"b\nc"]}`, `{"a":[1,"b\nc"]}`},
		{"laid out", "{\r\n\t\"a\": 1\n}", "{\n\t\"a\": 1\n}"},
		{"escape before another script", `"a\nмир"`, `"a\nмир"`},
		{"escaped quote and backslash", `"\"\\м"`, `"\"\\м"`},
		{"reordering", "\"a\u202Eb\"", `"a\u202eb"`},
		{"delete", "\"\x7f\"", `"\u007f"`},
		{"mixed scripts", "\"p\u0430y\"", `"p\u0430y"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, string(visible.JSON([]byte(test.text)))); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzVisible shows that whatever comes in, nothing goes out that a terminal
// obeys, and that JSON keeps its value.
func FuzzVisible(f *testing.F) {
	for _, seed := range []string{"", "plain", "a\nb\u202Ec", "p\u0430y", `\u12`, "\U000E0041", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := visible.Text(s)
		bad := strings.IndexFunc(got, func(r rune) bool { return !unicode.IsGraphic(r) })
		if bad >= 0 || !utf8.ValidString(got) {
			t.Errorf("Text(%q) = %q, which is not safe to show", s, got)
		}
		text, err := json.MarshalIndent(map[string]any{"s": s}, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		shown := visible.JSON(text)
		var want, have any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(shown, &have); err != nil {
			t.Fatalf("JSON(%q) = %q: %v", text, shown, err)
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("value (-want +got):\n%s", diff)
		}
	})
}
