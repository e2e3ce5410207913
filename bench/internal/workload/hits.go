package workload

// Hits is the answer.
type Hits struct {
	Total int   `json:"total" minimum:"0"`
	Hits  []Hit `json:"hits" maxItems:"50" nullable:"false"`
}

// Hit is one thing found.
type Hit struct {
	ID      string  `json:"id" minLength:"1" maxLength:"64"`
	Title   string  `json:"title" minLength:"1" maxLength:"200"`
	Snippet string  `json:"snippet" maxLength:"300"`
	Score   float64 `json:"score" minimum:"0" maximum:"1"`
	Open    bool    `json:"open"`
}

// Find is the operation. It does next to nothing, so that what a benchmark
// measures is the way in and out.
func Find(in Order) Hits {
	return Hits{
		Total: in.Count,
		Hits: []Hit{
			{
				ID: "ord-20931", Title: "Pump seal, north hall", Score: 0.97, Open: true,
				Snippet: "The seal of pump 4 drips since the last inspection; a spare is on the second shelf in the workshop.",
			},
			{
				ID: "ord-20417", Title: "Yearly pump service", Score: 0.74, Open: false,
				Snippet: "All five pumps of the north hall were opened, cleaned, greased and closed again with new seals.",
			},
			{
				ID: "ord-19866", Title: "Spare parts for pumps", Score: 0.58, Open: true,
				Snippet: "Ordered: six seals, two rotors and one casing. Two of the seals are still on their way from Hamburg.",
			},
		},
	}
}
