package schema

import "net/netip"

// hostname reports whether s is a host name of RFC 1123, section 2.1.
func hostname[S ~string | ~[]byte](s S) bool {
	if len(s) > 0 && s[len(s)-1] == '.' {
		s = s[:len(s)-1]
	}
	if len(s) == 0 || len(s) > 253 {
		return false
	}
	start := 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] != '.' {
			if !hostByte(s[i]) {
				return false
			}
			continue
		}
		if i == start || i-start > 63 || s[start] == '-' || s[i-1] == '-' {
			return false
		}
		start = i + 1
	}
	return true
}

func hostByte(c byte) bool { return c == '-' || c-'0' <= 9 || c|0x20 >= 'a' && c|0x20 <= 'z' }

// ipv4 reports whether s is four decimal numbers up to 255 without leading zeros.
func ipv4[S ~string | ~[]byte](s S) bool {
	group, digits, number := 1, 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '.':
			if digits == 0 {
				return false
			}
			group, digits, number = group+1, 0, 0
		case c-'0' <= 9:
			if digits == 1 && number == 0 {
				return false
			}
			number = number*10 + int(c-'0')
			digits++
			if number > 255 {
				return false
			}
		default:
			return false
		}
	}
	return group == 4 && digits > 0
}

// email reports whether s is a mailbox of RFC 5321, section 4.1.2: a dotted or quoted local
// part, and a host name or an address in brackets.
func email[S ~string | ~[]byte](s S) bool {
	at := len(s) - 1
	for at >= 0 && s[at] != '@' {
		at--
	}
	if at < 1 || at > 64 || len(s) > 254 {
		return false
	}
	return localPart(s[:at]) && domainPart(s[at+1:])
}

func localPart[S ~string | ~[]byte](s S) bool {
	if len(s) > 2 && s[0] == '"' && s[len(s)-1] == '"' {
		for i := 1; i < len(s)-1; i++ {
			if c := s[i]; c < ' ' || c >= 0x7F || c == '"' || c == '\\' {
				return false
			}
		}
		return true
	}
	dot := true // a dot stands before the first and behind the last character
	for i := range len(s) {
		switch c := s[i]; {
		case c == '.':
			if dot {
				return false
			}
			dot = true
			continue
		case hostByte(c):
		case c == '!' || c == '#' || c == '$' || c == '%' || c == '&' || c == '\'' || c == '*' || c == '+' || c == '/':
		case c == '=' || c == '?' || c == '^' || c == '_' || c == '`' || c == '{' || c == '|' || c == '}' || c == '~':
		default:
			return false
		}
		dot = false
	}
	return !dot
}

func domainPart[S ~string | ~[]byte](s S) bool {
	if len(s) < 2 || s[0] != '[' || s[len(s)-1] != ']' {
		return hostname(s)
	}
	s = s[1 : len(s)-1]
	if prefix := "IPv6:"; len(s) > len(prefix) && string(s[:len(prefix)]) == prefix {
		addr, err := netip.ParseAddr(string(s[len(prefix):]))
		return err == nil && addr.Is6() && addr.Zone() == ""
	}
	return ipv4(s)
}
