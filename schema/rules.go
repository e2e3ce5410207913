package schema

import (
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/ambit-dev/ambit/internal/plural"
)

// stringRules are the rules for strings. Lengths count characters (Unicode code points).
type stringRules struct {
	min, max int // max -1: no limit
	pattern  *regexp.Regexp
	format   format
}

// numberRules are the rules for numbers.
type numberRules struct {
	minimum, maximum                   *limit
	exclusiveMinimum, exclusiveMaximum *limit
	multipleOf                         *limit

	// The integers within all four limits are those from low to high, unless wide is set: then
	// some limit is outside of what 64 bits hold, and only the limits themselves decide.
	low, high int64
	wide      bool
	step      int64 // multipleOf as integer, 1 if unset, 0 if it is no integer
	kind      bool  // minimum or maximum follow from the Go type alone
}

// limit is one number that a rule names.
type limit struct {
	text    []byte
	nearest float64 // the float64 nearest to it
}

// value takes the limit apart, which costs less than the room to keep its parts would.
func (l *limit) value() *decimal {
	d := parseDecimal(l.text)
	return &d
}

// limitWords returns what a rule for numbers demands, before its limit.
func limitWords(rule string) string {
	switch rule {
	case "minimum":
		return "must be at least "
	case "maximum":
		return "must be at most "
	case "exclusiveMinimum":
		return "must be greater than "
	case "exclusiveMaximum":
		return "must be less than "
	}
	return "must be a multiple of "
}

func newLimit(text []byte) *limit {
	nearest, _ := strconv.ParseFloat(string(text), 64) // out of range is an infinity, which serves
	return &limit{text: slices.Clip(text), nearest: nearest}
}

// seal derives the bounds for integers.
func (r *numberRules) seal() {
	r.low, r.high, r.step, r.wide = math.MinInt64, math.MaxInt64, 1, false
	raise := func(l *limit, exclusive bool) {
		if l == nil {
			return
		}
		value := l.value()
		n, ok := value.ceiling()
		if ok && exclusive && value.integral() {
			if n == math.MaxInt64 {
				ok = false
			}
			n++
		}
		r.wide = r.wide || !ok
		r.low = max(r.low, n)
	}
	lower := func(l *limit, exclusive bool) {
		if l == nil {
			return
		}
		value := l.value()
		n, ok := value.floor()
		if ok && exclusive && value.integral() {
			if n == math.MinInt64 {
				ok = false
			}
			n--
		}
		r.wide = r.wide || !ok
		r.high = min(r.high, n)
	}
	raise(r.minimum, false)
	raise(r.exclusiveMinimum, true)
	lower(r.maximum, false)
	lower(r.exclusiveMaximum, true)
	if r.multipleOf != nil {
		r.step, _ = r.multipleOf.value().int64() // 0: not an integer
	}
}

// floor returns the greatest integer that is not above d, and whether it fits.
func (d *decimal) floor() (int64, bool) {
	if d.integral() {
		return d.int64()
	}
	n, ok := d.magnitude()
	if !ok || n >= math.MaxInt64 {
		return 0, false
	}
	if d.negative {
		return -int64(n) - 1, true
	}
	return int64(n), true
}

// ceiling returns the least integer that is not below d, and whether it fits.
func (d *decimal) ceiling() (int64, bool) {
	if d.integral() {
		return d.int64()
	}
	n, ok := d.floor()
	return n + 1, ok
}

// integer reports whether n keeps the rules, at no more cost than two comparisons where
// nothing rare is asked for.
func (r *numberRules) integer(n int64) bool {
	return n >= r.low && n <= r.high && !r.wide && (r.step == 1 || r.step != 0 && n%r.step == 0)
}

// number returns the first limit that d breaks with its rule, or nil.
func (r *numberRules) number(d *decimal) (rule string, broken *limit) {
	switch {
	case r.minimum != nil && d.compare(r.minimum.value()) < 0:
		return "minimum", r.minimum
	case r.exclusiveMinimum != nil && d.compare(r.exclusiveMinimum.value()) <= 0:
		return "exclusiveMinimum", r.exclusiveMinimum
	case r.maximum != nil && d.compare(r.maximum.value()) > 0:
		return "maximum", r.maximum
	case r.exclusiveMaximum != nil && d.compare(r.exclusiveMaximum.value()) >= 0:
		return "exclusiveMaximum", r.exclusiveMaximum
	case r.multipleOf != nil && !d.multipleOf(r.multipleOf.value()):
		return "multipleOf", r.multipleOf
	}
	return "", nil
}

// checkNumber reports a number that breaks a rule; literal is its JSON form.
func (r *report) checkNumber(rules *numberRules, at *path, d *decimal, literal []byte) {
	if rule, broken := rules.number(d); broken != nil {
		r.addEcho(at, rule, limitWords(rule)+string(broken.text), cut(literal, echoLimit), nil)
	}
}

// kept reports whether the size of a string in bytes is enough to tell that it keeps the rules:
// a character has one to four bytes.
func (r *stringRules) kept(size int) bool {
	return r.pattern == nil && r.format == formatNone && size >= 4*r.min && (r.max < 0 || size <= r.max)
}

// checkString reports a string that breaks a rule of its length, pattern or format.
func checkString[S ~string | ~[]byte](r *report, rules *stringRules, at *path, s S) {
	if rules.min > 0 && len(s) < 4*rules.min && characters(s) < rules.min {
		r.addEcho(at, "minLength", "must have at least "+strconv.Itoa(rules.min)+" character"+plural.S(rules.min), strconv.Itoa(characters(s)), nil)
	}
	if rules.max >= 0 && len(s) > rules.max && characters(s) > rules.max {
		r.addEcho(at, "maxLength", "must have at most "+strconv.Itoa(rules.max)+" character"+plural.S(rules.max), strconv.Itoa(characters(s)), nil)
	}
	if rules.pattern != nil && !matches(rules.pattern, s) {
		r.addEcho(at, "pattern", "must match the pattern "+cut(rules.pattern.String(), 2*keyLimit), quoted(s), nil)
	}
	if rules.format != formatNone && !hasFormat(rules.format, s) {
		r.addEcho(at, "format", formats[rules.format].message, quoted(s), nil)
	}
}

func matches[S ~string | ~[]byte](pattern *regexp.Regexp, s S) bool {
	switch s := any(s).(type) {
	case string:
		return pattern.MatchString(s)
	case []byte:
		return pattern.Match(s)
	}
	return false
}

// characters counts code points.
func characters[S ~string | ~[]byte](s S) int {
	n := 0
	for i := range len(s) {
		if s[i]&0xC0 != 0x80 {
			n++
		}
	}
	return n
}

// quoted returns a string for a message: cut short, in quotation marks, control characters
// escaped.
func quoted[S ~string | ~[]byte](s S) string { return strconv.Quote(cut(s, echoLimit)) }

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// checkLength reports an array or object with too few or too many entries.
func (r *report) checkLength(at *path, n, least, most int, minRule, maxRule, entry string) {
	if n < least {
		r.add(at, minRule, "must have at least "+strconv.Itoa(least)+" "+entry+plural.S(least)+", not "+strconv.Itoa(n), nil)
	}
	if most >= 0 && n > most {
		r.add(at, maxRule, "must have at most "+strconv.Itoa(most)+" "+entry+plural.S(most)+", not "+strconv.Itoa(n), nil)
	}
}
