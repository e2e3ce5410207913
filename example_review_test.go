package ambit_test

import (
	"fmt"
	"log"

	"github.com/ambit-dev/ambit"
)

// Two processes of one application: agents are served by the first, and persons
// decide in the second.
func ExampleParseReviewKeys() {
	ring, err := ambit.ParseKeyRing(ambit.NewKey()) // AMBIT_KEYS, the same for both
	if err != nil {
		log.Fatal(err)
	}
	seals, opens := ambit.NewReviewKey()
	process := func(half string) *ambit.App { // the half is the process's AMBIT_REVIEW_KEYS
		review, err := ambit.ParseReviewKeys(half)
		if err != nil {
			log.Fatal(err)
		}
		return ambit.New(ambit.Options{Name: "notes", Keys: ring, ReviewKeys: review})
	}
	fmt.Println("with the half that seals, persons can decide:", process(seals).CanReview() == nil)
	fmt.Println("with the half that opens, persons can decide:", process(opens).CanReview() == nil)
	// Output:
	// with the half that seals, persons can decide: false
	// with the half that opens, persons can decide: true
}
