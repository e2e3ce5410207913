package ambittest

import (
	"context"
	"errors"

	"github.com/ambit-dev/ambit"
)

// Prompter is an [ambit.Prompter] that answers as a test wrote down. It is safe
// for concurrent use.
type Prompter struct {
	t      T
	script script[ambit.Question, ambit.Answer]
}

// Answers returns a prompter that gives these answers, one to each question, in
// order. A question for which none is left fails the test and is answered no, so
// that without answers it is a prompter that must not be asked. Give an
// application its RunOptions, and it is asked on every way in.
func Answers(t T, answers ...ambit.Answer) *Prompter {
	return &Prompter{t: t, script: script[ambit.Question, ambit.Answer]{said: answers}}
}

// Ask keeps the question and returns the next answer.
func (p *Prompter) Ask(ctx context.Context, q ambit.Question) (ambit.Answer, error) {
	p.t.Helper()
	keepFor(ctx, "the question about "+q.Capability, q.String())
	answer, ok := p.script.next(q)
	if !ok {
		p.t.Errorf("nobody expected a question:\n%s", q)
		return ambit.Deny, errors.New("ambittest: no answer is left")
	}
	return answer, nil
}

// RunOptions makes the prompter the one of a run: it is made for
// [ambit.Options.RunOptions].
func (p *Prompter) RunOptions(_ context.Context, o ambit.RunOptions) ambit.RunOptions {
	o.Prompter = p
	return o
}

// Questions returns the questions so far, in the order in which they came.
func (p *Prompter) Questions() []ambit.Question {
	questions, _ := p.script.soFar()
	return questions
}

// CheckAsked fails the test where an answer is left for which no question came.
func (p *Prompter) CheckAsked() {
	p.t.Helper()
	if asked, left := p.script.soFar(); left > 0 {
		p.t.Errorf("want a question for each answer; %d came and %d answers are left", len(asked), left)
	}
}
