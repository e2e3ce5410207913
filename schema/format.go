package schema

import (
	"net/netip"
	"net/url"
	"slices"
)

// format is one of the formats that the compiled checker knows.
type format uint8

const (
	formatNone format = iota
	formatDateTime
	formatDate
	formatTime
	formatEmail
	formatHostname
	formatIPv4
	formatIPv6
	formatURI
	formatURIReference
	formatUUID
	formatJSONPointer
)

// formats names the formats and says of each what a text of it is.
var formats = [...]struct{ name, message string }{
	formatDateTime:     {"date-time", `must be a time as in RFC 3339, such as "2006-01-02T15:04:05Z"`},
	formatDate:         {"date", `must be a date such as "2006-01-02"`},
	formatTime:         {"time", `must be a time of day with offset, such as "15:04:05Z"`},
	formatEmail:        {"email", "must be an e-mail address"},
	formatHostname:     {"hostname", "must be a host name"},
	formatIPv4:         {"ipv4", "must be an IPv4 address"},
	formatIPv6:         {"ipv6", "must be an IPv6 address"},
	formatURI:          {"uri", "must be an absolute URI"},
	formatURIReference: {"uri-reference", "must be a URI or a relative reference"},
	formatUUID:         {"uuid", `must be a UUID such as "123e4567-e89b-12d3-a456-426614174000"`},
	formatJSONPointer:  {"json-pointer", `must be a JSON Pointer such as "/items/0"`},
}

// formatNamed returns the format with the given name, or formatNone.
func formatNamed(name string) format {
	for i, f := range formats {
		if i > 0 && f.name == name {
			return format(i)
		}
	}
	return formatNone
}

// formatNames lists all formats for a message.
func formatNames() []string {
	var names []string
	for _, f := range formats[1:] {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return names
}

// hasFormat reports whether s is a text of format f.
func hasFormat[S ~string | ~[]byte](f format, s S) bool {
	switch f {
	case formatDateTime:
		return dateTime(s, false)
	case formatDate:
		return len(s) == len("2006-01-02") && date(s)
	case formatTime:
		return timeOfDay(s, false)
	case formatEmail:
		return email(s)
	case formatHostname:
		return hostname(s)
	case formatIPv4:
		return ipv4(s)
	case formatIPv6:
		addr, err := netip.ParseAddr(string(s))
		return err == nil && addr.Is6() && addr.Zone() == ""
	case formatURI, formatURIReference:
		return uri(s, f == formatURI)
	case formatUUID:
		return uuid(s)
	case formatJSONPointer:
		return jsonPointer(s)
	}
	return true
}

// dateTime reports whether s is a date-time of RFC 3339, section 5.6. If exact is set, only
// what a time.Time can hold and write the same way is accepted: no leap second, no lower case.
func dateTime[S ~string | ~[]byte](s S, exact bool) bool {
	const day = len("2006-01-02")
	return len(s) > day && (s[day] == 'T' || !exact && s[day] == 't') && date(s[:day]) && timeOfDay(s[day+1:], exact)
}

// date reports whether s, ten bytes long, is a day of the calendar.
func date[S ~string | ~[]byte](s S) bool {
	year, ok1 := twoDigits(s, 0)
	rest, ok2 := twoDigits(s, 2)
	month, ok3 := twoDigits(s, 5)
	day, ok4 := twoDigits(s, 8)
	if !ok1 || !ok2 || !ok3 || !ok4 || s[4] != '-' || s[7] != '-' || month < 1 || month > 12 {
		return false
	}
	year = year*100 + rest
	days := 31
	switch month {
	case 4, 6, 9, 11:
		days = 30
	case 2:
		days = 28
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			days = 29
		}
	}
	return day >= 1 && day <= days
}

// timeOfDay reports whether s is a full-time of RFC 3339, section 5.6.
func timeOfDay[S ~string | ~[]byte](s S, exact bool) bool {
	hour, ok1 := twoDigits(s, 0)
	minute, ok2 := twoDigits(s, 3)
	second, ok3 := twoDigits(s, 6)
	if !ok1 || !ok2 || !ok3 || s[2] != ':' || s[5] != ':' || hour > 23 || minute > 59 || second > 60 {
		return false
	}
	s = s[8:]
	if len(s) > 0 && s[0] == '.' {
		n := 1
		for n < len(s) && s[n]-'0' <= 9 {
			n++
		}
		if n == 1 {
			return false
		}
		s = s[n:]
	}
	offset, ok := zone(s, exact)
	if second == 60 {
		// A leap second is the last of a day in UTC.
		utc := ((hour*60+minute-offset)%1440 + 1440) % 1440
		return ok && !exact && utc == 1439
	}
	return ok
}

// zone reads an offset from UTC in minutes.
func zone[S ~string | ~[]byte](s S, exact bool) (minutes int, ok bool) {
	if len(s) == 1 {
		return 0, s[0] == 'Z' || !exact && s[0] == 'z'
	}
	if len(s) != len("+00:00") || s[0] != '+' && s[0] != '-' || s[3] != ':' {
		return 0, false
	}
	hour, ok1 := twoDigits(s, 1)
	minute, ok2 := twoDigits(s, 4)
	minutes = hour*60 + minute
	if s[0] == '-' {
		minutes = -minutes
	}
	return minutes, ok1 && ok2 && hour <= 23 && minute <= 59
}

// twoDigits reads two decimal digits at s[i], of which s need not have any.
func twoDigits[S ~string | ~[]byte](s S, i int) (int, bool) {
	if i+2 > len(s) || s[i]-'0' > 9 || s[i+1]-'0' > 9 {
		return 0, false
	}
	return int(s[i]-'0')*10 + int(s[i+1]-'0'), true
}

// uri reports whether s is a URI or a reference of RFC 3986.
func uri[S ~string | ~[]byte](s S, absolute bool) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c <= ' ' || c >= 0x7F:
			return false
		case c == '"' || c == '<' || c == '>' || c == '\\' || c == '^' || c == '`' || c == '{' || c == '|' || c == '}':
			return false
		}
	}
	u, err := url.Parse(string(s))
	return err == nil && (u.IsAbs() || !absolute)
}

// uuid reports whether s is a UUID of RFC 9562, section 4.
func uuid[S ~string | ~[]byte](s S) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if c-'0' > 9 && c|0x20-'a' > 5 {
				return false
			}
		}
	}
	return true
}

// jsonPointer reports whether s is a JSON Pointer of RFC 6901.
func jsonPointer[S ~string | ~[]byte](s S) bool {
	if len(s) > 0 && s[0] != '/' {
		return false
	}
	for i := range len(s) {
		if s[i] == '~' && (i+1 == len(s) || s[i+1] != '0' && s[i+1] != '1') {
			return false
		}
	}
	return true
}
