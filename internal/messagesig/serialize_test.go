package messagesig

import (
	"testing"
	"time"

	"github.com/dunglas/httpsfv"
	"pgregory.net/rapid"
)

// What is written is what the library for structured fields writes, to the byte,
// and what it cannot write is an error here too.
func TestSerializeAsTheLibraryDoes(t *testing.T) {
	t.Parallel()
	value := rapid.OneOf(
		rapid.StringN(0, 8, -1).AsAny(),
		rapid.StringOfN(rapid.RuneFrom([]rune(`ab"\ %;,`)), 0, 8, -1).AsAny(),
		rapid.Int64Range(-1_000_000_000_000_001, 1_000_000_000_000_001).AsAny(),
		rapid.Float64Range(-1e13, 1e13).AsAny(),
		rapid.Bool().AsAny(),
		rapid.SliceOfN(rapid.Byte(), 0, 4).AsAny(),
		rapid.Just(any(httpsfv.Token("a/b"))),
		rapid.Just(any(time.Unix(1_800_000_000, 0))),
		rapid.Just(any(httpsfv.DisplayString("für"))),
	)
	rapid.Check(t, func(t *rapid.T) {
		params := func() *httpsfv.Params {
			p := httpsfv.NewParams()
			for range rapid.IntRange(0, 3).Draw(t, "params") {
				p.Add(rapid.StringMatching(`[a-z*][a-z0-9_.*-]{0,5}`).Draw(t, "name"), value.Draw(t, "value"))
			}
			return p
		}
		list := httpsfv.InnerList{}
		for range rapid.IntRange(0, 4).Draw(t, "items") {
			list.Items = append(list.Items, httpsfv.Item{Value: value.Draw(t, "item"), Params: params()})
		}
		list.Params = params()
		fields := httpsfv.NewDictionary()
		fields.Add("a", list)
		want, wantErr := httpsfv.Marshal(fields)
		got, err := appendList([]byte("a="), list)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("want the error %v, got %v", wantErr, err)
		}
		if err == nil && string(got) != want {
			t.Fatalf("want %q, got %q", want, got)
		}
	})
}
