package ambit

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
)

// Digest is a SHA-256 hash.
type Digest [sha256.Size]byte

// Binding is all that has to be the same for two calls to be one and the same.
type Binding struct {
	// Tenant is the principal's tenant; the empty one is a tenant.
	Tenant string
	// Principal is the principal's [Principal.Key].
	Principal string
	// Client is [Principal.Client] as at the start of the run. May be empty.
	Client string
	// Agent is the URL of the agent that carries the request. Its key is none of
	// this, so that an agent which changes keys finds its own call again. Empty:
	// none.
	Agent string
	// Capability is the dotted name.
	Capability string
	// Contract is the hash of the contract: name, effect, permission, scopes,
	// both schemas, approval, what it requires of agents, and [Spec.Revision].
	Contract Digest
	// Input is the digest of the contract's hash and the input in canonical
	// form, see [schema.Schema.AppendCanonical].
	Input Digest
}

// Operation returns the digest of the whole binding. Two bindings are equal
// where their operations are. No key goes into it, so that every instance and
// every process finds the same one.
func (b Binding) Operation() Digest {
	return digestOf("ambit/operation/1", b.Tenant, b.Principal, b.Client, b.Agent, b.Capability, string(b.Contract[:]), string(b.Input[:]))
}

// digestOf hashes texts under a tag that says what for. Lengths stand before the
// texts, so that no two lists of texts are the same bytes.
func digestOf(tag string, texts ...string) Digest {
	size := 0
	for _, text := range texts {
		size += len(text) + 8
	}
	data := make([]byte, 0, len(tag)+1+size)
	data = append(append(data, tag...), 0)
	for _, text := range texts {
		data = binary.BigEndian.AppendUint64(data, uint64(len(text)))
		data = append(data, text...)
	}
	return sha256.Sum256(data)
}

// hash returns the digest of what the contract promises: a change of any of it
// makes it another contract, which nothing that was allowed or recorded before
// holds for. The contract must be compiled.
func (c *contract) hash(agent AgentPolicy) Digest {
	s := &c.spec
	approval := s.Approval.String()
	if s.Quorum > 1 { // fewer persons than that have allowed another contract
		approval += "/" + strconv.Itoa(s.Quorum)
	}
	scopes := slices.Compact(slices.Sorted(slices.Values(s.Scopes)))
	promised := []string{
		s.Name, s.Effect.String(), s.Permission, strings.Join(scopes, " "),
		string(c.in.JSON()), string(c.out.JSON()), approval, agent.String(), s.Revision,
	}
	if s.Replay == ReplayReceipt { // who repeats a call is answered in another way
		promised = append(promised, "receipt")
	}
	return digestOf("ambit/contract/2", promised...)
}

// inputDigest returns the digest of an input in canonical form, for the contract
// with this hash.
func inputDigest(contract Digest, canonical []byte) Digest {
	return digestOf("ambit/input/1", string(contract[:]), string(canonical))
}
