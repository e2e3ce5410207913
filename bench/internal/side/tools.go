package side

import "fmt"

const (
	// ToolName is the name of the workload's operation on the Model Context
	// Protocol.
	ToolName = "orders_find"
	// Description says what the workload's operation does, on every side.
	Description = "Find earlier orders that resemble the given one."

	serverName    = "bench"
	serverVersion = "1.0.0"
)

// toolName returns the name of tool i of a large catalog. Names have a fixed
// width, so that they sort by number.
func toolName(i int) string { return fmt.Sprintf("%s_%05d", ToolName, i) }
