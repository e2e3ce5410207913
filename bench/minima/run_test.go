package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRun(t *testing.T) {
	t.Parallel()
	const in = `goos: linux
pkg: example
BenchmarkCheck/ambit         	  434006	       820.0 ns/op	       500.0 cpu-ns/op	       0 B/op	       0 allocs/op
BenchmarkCheck/ambit         	  429548	       800.0 ns/op	       510.0 cpu-ns/op	       0 B/op	       0 allocs/op
BenchmarkCheck/huma          	  227751	      1600 ns/op	       1500.0 cpu-ns/op	       16 B/op	       1 allocs/op
BenchmarkStart/gosdk         	       1	1100000000 ns/op	      2048 B/capability	9000 B/op	      12 allocs/op
PASS
`
	const want = `| benchmark | side | CPU | x ambit | passed | bytes | allocations |
| --- | --- | ---: | ---: | ---: | ---: | ---: |
| Check | ambit | 500 ns | 1.00 | 800 ns | 0 | 0 |
| Check | huma | 1.50 us | 3.00 | 1.60 us | 16 | 1 |
| Start | gosdk | 1.10 s |  | 1.10 s | 9000, kept per capability 2048 | 12 |
`
	var out strings.Builder
	if err := run(strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("wrong table (-want +got):\n%s", diff)
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"nothing":           "",
		"no benchmark":      "PASS\nok example 1.0s\n",
		"figure in letters": "BenchmarkCheck/ambit 10 many ns/op\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			if err := run(strings.NewReader(in), &out); err == nil {
				t.Errorf("the input is accepted:\n%s", out.String())
			}
		})
	}
}
