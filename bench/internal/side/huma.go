package side

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// HumaPath is where [Huma] serves the workload's operation.
const HumaPath = "/orders/find"

type humaInput struct {
	Body workload.Order
}

type humaOutput struct {
	Body workload.Hits
}

// Huma returns huma on net/http's own mux. Its create hooks are off, so that it
// adds no $schema member and no Link header to the answer. It has no check of
// outputs, so it does less than the other sides here.
func Huma() http.Handler {
	mux := http.NewServeMux()
	config := huma.DefaultConfig(serverName, serverVersion)
	config.CreateHooks = nil
	api := humago.New(mux, config)
	huma.Register(api, huma.Operation{
		OperationID: ToolName,
		Method:      http.MethodPost,
		Path:        HumaPath,
		Description: Description,
	}, func(_ context.Context, in *humaInput) (*humaOutput, error) {
		return &humaOutput{Body: workload.Find(in.Body)}, nil
	})
	return mux
}
