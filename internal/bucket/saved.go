package bucket

// Saved returns the bucket that [Bucket.Save] returned the number of.
func Saved(number int64) Bucket { return Bucket{full: number} }

// Save returns what a store has to keep of the bucket: the Unix time in
// nanoseconds at which it will be full. A bucket that is full already need not be
// kept.
func (b *Bucket) Save() int64 { return b.full }
