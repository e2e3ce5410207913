package strictjson

// Compact appends data to dst without the white space between its tokens. The data must be a
// valid JSON text.
func Compact(dst, data []byte) []byte {
	for i := Space(data, 0); i < len(data); i = Space(data, i) {
		start := i
		if data[i] == '"' {
			end, _, err := String(data, i)
			if err != nil {
				return append(dst, data[start:]...)
			}
			i = end
		} else {
			i++
		}
		dst = append(dst, data[start:i]...)
	}
	return dst
}
