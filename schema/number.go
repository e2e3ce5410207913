package schema

import (
	"math"
	"math/bits"
)

// decimal is a number literal taken apart: 0.d1d2d3... times ten to the power of exp, the
// digits being those of a and then those of b, without zeros at either end. No digits is zero.
// It refers to the literal, so that making one costs nothing whatever its exponent is.
type decimal struct {
	negative bool
	a, b     []byte
	exp      int64
}

// exponentCap bounds exponents. No literal that fits into memory has enough digits to make
// two numbers equal whose exponents were capped.
const exponentCap = 1 << 40

// parseDecimal takes apart a valid JSON number.
func parseDecimal(literal []byte) decimal {
	var d decimal
	i := 0
	if literal[0] == '-' {
		d.negative = true
		i = 1
	}
	start := i
	for i < len(literal) && literal[i]-'0' <= 9 {
		i++
	}
	d.a = literal[start:i]
	if i < len(literal) && literal[i] == '.' {
		start = i + 1
		for i = start; i < len(literal) && literal[i]-'0' <= 9; i++ {
		}
		d.b = literal[start:i]
	}
	d.exp = int64(len(d.a))
	if i < len(literal) {
		d.exp += parseExponent(literal[i+1:])
	}
	d.trim()
	return d
}

// parseExponent reads what follows the e of a number.
func parseExponent(text []byte) int64 {
	negative := text[0] == '-'
	if negative || text[0] == '+' {
		text = text[1:]
	}
	var n int64
	for _, c := range text {
		if n < exponentCap {
			n = n*10 + int64(c-'0')
		}
	}
	n = min(n, exponentCap)
	if negative {
		return -n
	}
	return n
}

// trim drops zeros at both ends of the digits.
func (d *decimal) trim() {
	for len(d.a) > 0 && d.a[0] == '0' {
		d.a = d.a[1:]
		d.exp--
	}
	if len(d.a) == 0 {
		for len(d.b) > 0 && d.b[0] == '0' {
			d.b = d.b[1:]
			d.exp--
		}
	}
	for len(d.b) > 0 && d.b[len(d.b)-1] == '0' {
		d.b = d.b[:len(d.b)-1]
	}
	if len(d.b) == 0 {
		for len(d.a) > 0 && d.a[len(d.a)-1] == '0' {
			d.a = d.a[:len(d.a)-1]
		}
	}
	if d.len() == 0 {
		d.exp, d.negative = 0, false
	}
}

func (d *decimal) len() int { return len(d.a) + len(d.b) }

func (d *decimal) digit(i int) byte {
	if i < len(d.a) {
		return d.a[i]
	}
	return d.b[i-len(d.a)]
}

// integral reports whether d is a whole number.
func (d *decimal) integral() bool { return d.exp >= int64(d.len()) }

// magnitude returns the absolute value of d, rounded down, and whether it fits.
func (d *decimal) magnitude() (uint64, bool) {
	if d.exp <= 0 {
		return 0, true
	}
	if d.exp > 20 {
		return 0, d.len() == 0
	}
	var n uint64
	for i := range int(d.exp) {
		var next uint64
		if i < d.len() {
			next = uint64(d.digit(i) - '0')
		}
		high, low := bits.Mul64(n, 10)
		sum, carry := bits.Add64(low, next, 0)
		if high != 0 || carry != 0 {
			return 0, false
		}
		n = sum
	}
	return n, true
}

// int64 returns d as an integer if it is one that fits.
func (d *decimal) int64() (int64, bool) {
	n, ok := d.magnitude()
	switch {
	case !ok || !d.integral():
		return 0, false
	case d.negative && n <= 1<<63:
		return -int64(n), true
	case !d.negative && n <= math.MaxInt64:
		return int64(n), true
	}
	return 0, false
}

// uint64 returns d as an unsigned integer if it is one that fits.
func (d *decimal) uint64() (uint64, bool) {
	n, ok := d.magnitude()
	return n, ok && d.integral() && !d.negative
}

// compare returns -1, 0 or +1 as d is less than, equal to or greater than e.
func (d *decimal) compare(e *decimal) int {
	switch {
	case d.negative != e.negative:
		if d.negative {
			return -1
		}
		return 1
	case d.negative:
		return -d.compareMagnitude(e)
	}
	return d.compareMagnitude(e)
}

func (d *decimal) compareMagnitude(e *decimal) int {
	dn, en := d.len(), e.len()
	switch {
	case dn == 0 || en == 0:
		return sign(int64(dn - en))
	case d.exp != e.exp:
		return sign(d.exp - e.exp)
	}
	for i := range min(dn, en) {
		if x, y := d.digit(i), e.digit(i); x != y {
			return sign(int64(x) - int64(y))
		}
	}
	return sign(int64(dn - en))
}

func sign(n int64) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// multipleOf reports whether d is a whole multiple of step, which has at most 18 digits and is
// not zero. The digits are divided, so the answer is exact and its cost linear in them.
func (d *decimal) multipleOf(step *decimal) bool {
	if d.len() == 0 {
		return true
	}
	// With both as whole numbers times powers of ten, d = m*10^p and step = n*10^q. As m does
	// not end in zero, no power of ten divides it.
	p, q := d.exp-int64(d.len()), step.exp-int64(step.len())
	if p < q {
		return false
	}
	var n uint64
	for i := range step.len() {
		n = n*10 + uint64(step.digit(i)-'0')
	}
	var rest uint64
	for i := range d.len() {
		rest = mulMod(rest, 10, n) + uint64(d.digit(i)-'0')
		rest %= n
	}
	return mulMod(rest, powMod(10, uint64(p-q), n), n) == 0
}

// mulMod returns a*b modulo n.
func mulMod(a, b, n uint64) uint64 {
	high, low := bits.Mul64(a%n, b%n)
	return bits.Rem64(high, low, n)
}

// powMod returns base to the power of exp modulo n.
func powMod(base, exp, n uint64) uint64 {
	result := uint64(1) % n
	for ; exp > 0; exp >>= 1 {
		if exp&1 == 1 {
			result = mulMod(result, base, n)
		}
		base = mulMod(base, base, n)
	}
	return result
}

// appendKey appends a form of d that is the same for equal numbers.
func (d *decimal) appendKey(dst []byte) []byte {
	if d.negative {
		dst = append(dst, '-')
	}
	dst = append(append(dst, d.a...), d.b...)
	if d.len() == 0 {
		return append(dst, '0')
	}
	return appendInt(append(dst, 'e'), d.exp)
}
