package mcp

// revision is one revision of the protocol that is served.
type revision uint8

// The revisions, oldest first. The zero revision is none of them.
const (
	revision20250326 revision = iota + 1
	revision20250618
	revision20251125
	revision20260728

	// newestWithHandshake is what initialize settles on when the client asks for
	// a revision that is not served.
	newestWithHandshake = revision20251125
	newest              = revision20260728
)

// String returns the revision's date, or "" for the zero revision.
func (r revision) String() string {
	switch r {
	case revision20250326:
		return "2025-03-26"
	case revision20250618:
		return "2025-06-18"
	case revision20251125:
		return "2025-11-25"
	case revision20260728:
		return "2026-07-28"
	}
	return ""
}

// revisionOf returns the revision of a date, zero for any other text.
func revisionOf[S ~string | ~[]byte](date S) revision {
	switch string(date) {
	case "2025-03-26":
		return revision20250326
	case "2025-06-18":
		return revision20250618
	case "2025-11-25":
		return revision20251125
	case "2026-07-28":
		return revision20260728
	}
	return 0
}

// modern reports whether every request says by itself what it speaks, so that
// there is no handshake.
func (r revision) modern() bool { return r >= revision20260728 }

// batches reports whether several messages may come as one array, which only
// one revision has.
func (r revision) batches() bool { return r == revision20250326 }

// structures reports whether a result has structured content: none in the first
// revision, objects in the next two, and any value from then on.
func (r revision) structures(object bool) bool {
	return r.modern() || object && r >= revision20250618
}

// settle chooses the revision that initialize answers with: the one asked for
// where that is served and has a handshake, else the newest that has one.
func settle(asked, least revision) revision {
	if asked < least || asked > newestWithHandshake {
		return newestWithHandshake
	}
	return asked
}

// appendSupported appends a JSON array of the dates from newest to least.
func appendSupported(dst []byte, least revision) []byte {
	dst = append(dst, '[')
	for r := newest; r >= least; r-- {
		if r != newest {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = append(dst, r.String()...)
		dst = append(dst, '"')
	}
	return append(dst, ']')
}
