package postgres

import "time"

// Advance sets the clock of the store ahead.
func (s *Store) Advance(by time.Duration) { s.ahead.Add(by.Microseconds()) }
