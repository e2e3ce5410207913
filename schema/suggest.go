package schema

import "bytes"

// maxHints is how many suggestions one check makes: looking for them costs more than all else,
// and whoever sends many unknown keys is not served by them.
const maxHints = 5

// foldedName returns the field whose name differs from key in case alone.
func (o *object) foldedName(key []byte) (string, bool) {
	for i := range o.fields {
		name := o.fields[i].name()
		if len(name) == len(key) && bytes.EqualFold([]byte(name), key) {
			return name, true
		}
	}
	return "", false
}

// nearest returns the field whose name is most like key, or "" if none is near.
func (o *object) nearest(key []byte) string {
	best, name := tooFar(len(key)), ""
	for i := range o.fields {
		if n := distance(key, o.fields[i].name(), best); n < best {
			best, name = n, o.fields[i].name()
		}
	}
	return name
}

// nearestString returns the accepted string that is most like s, or "" if none is near or s
// must not be spoken of.
func (r *report) nearestString(e *enumRules, at *path, s []byte) string {
	if at.secret || len(e.strings) < 2 || len(s) >= keyLimit || r.hints >= maxHints {
		return ""
	}
	best, near := tooFar(len(s)), ""
	for _, known := range e.strings {
		if bytes.EqualFold(s, []byte(known)) {
			near = known
			break
		}
		if n := distance(s, known, best); n < best {
			best, near = n, known
		}
	}
	if near != "" {
		r.hints++
	}
	return near
}

// tooFar returns the distance from which on nothing is near to a text of so many bytes.
func tooFar(size int) int { return max(1, min(3, size/3)) + 1 }

// distance counts the bytes to insert, remove, replace or swap with a neighbor in order to make
// a into b. It returns limit once it is certain not to be less. Names of 64 bytes and more are
// near to nothing.
func distance(a []byte, b string, limit int) int {
	if len(a) >= keyLimit || len(b) >= keyLimit || len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	var rows [3][keyLimit + 1]uint8
	before, previous, current := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		previous[j] = uint8(j)
	}
	for i := 1; i <= len(a); i++ {
		current[0] = uint8(i)
		least := current[0]
		for j := 1; j <= len(b); j++ {
			cost := uint8(1)
			if a[i-1] == b[j-1] {
				cost = 0
			}
			n := min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				n = min(n, before[j-2]+1)
			}
			current[j] = n
			least = min(least, n)
		}
		if int(least) >= limit {
			return limit
		}
		before, previous, current = previous, current, before
	}
	return min(limit, int(previous[len(b)]))
}
