package webbotauth

import (
	"errors"
	"fmt"
	"os"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// maxAgentsFile bounds the file of agents.
const maxAgentsFile = 1 << 20

// LoadAgents reads the agents that an application knows from a file, for a flag
// of its command line:
//
//	[
//	  {"url": "https://agent.example.com", "directory": true},
//	  {"url": "https://bot.example.org/keys.json", "keys": [{"kty": "OKP", "crv": "Ed25519", "x": "..."}]}
//	]
//
// Members are those of [Agent]; one that is not known is an error. There are no
// secrets in it. The file is read once.
func LoadAgents(path string) ([]Agent, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("webbotauth: %w", err)
	case !info.Mode().IsRegular() || info.Size() > maxAgentsFile:
		return nil, fmt.Errorf("webbotauth: %s: is not a file of at most 1 MiB", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("webbotauth: %w", err)
	}
	agents, err := ParseAgents(data)
	if err != nil {
		return nil, fmt.Errorf("%w, in %s", err, path)
	}
	return agents, nil
}

// ParseAgents reads agents from the text of a file, see [LoadAgents].
func ParseAgents(data []byte) ([]Agent, error) {
	var agents []Agent
	if err := strictjson.Unmarshal(data, &agents); err != nil {
		return nil, fmt.Errorf("webbotauth: not a JSON list of agents, each with url, keys, directory and copy: %w", err)
	}
	if len(agents) == 0 {
		return nil, errors.New("webbotauth: the list of agents is empty")
	}
	for i := range agents {
		if _, err := agents[i].check(); err != nil {
			return nil, fmt.Errorf("webbotauth: agent %d: %w", i+1, err)
		}
	}
	return agents, nil
}
