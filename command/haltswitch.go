package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
)

const haltsOption = "command.Options.Halts"

// addForm adds the flags that say which form of the halt switch a command works
// on.
func addForm(c *cobra.Command, form *string) {
	c.Flags().StringVar(form, "form", "", "`FORM` of the switch that is meant: "+fileForm+", or that of the application's store (default: what --"+haltFileFlag+
		" or "+haltFileVariable+" names, or else the only one that the program has)")
	addHaltFile(c)
}

// obeyHalts makes an application obey the halt file and the store of its command,
// if the command is one that obeys.
func obeyHalts(c *cobra.Command, app *ambit.App, options Options) error {
	if c.Flags().Lookup(haltFileFlag) == nil {
		return nil
	}
	if err := obeyHaltFile(c, app, options); err != nil || options.Halts == nil {
		return err
	}
	if err := options.checkHalts(); err != nil {
		return err
	}
	if err := app.AddHaltSource(options.Halts); err != nil {
		return fmt.Errorf("command: what %s stops cannot be obeyed: %w\ncommand: leave it out of ambit.Options.HaltSources, since %s is enough", haltsOption, err, haltsOption)
	}
	return nil
}

// checkHalts refuses forms that mean something else.
func (o Options) checkHalts() error {
	if taken := []string{"", fileForm, "process", "signal", "self"}; o.Halts != nil && slices.Contains(taken, o.Halts.Form()) {
		return fmt.Errorf("command: the form of %s is %q: give it a name of its own, such as \"store\"", haltsOption, o.Halts.Form())
	}
	return nil
}

// withSwitch does something with the one form that a command is about.
func (p Program) withSwitch(c *cobra.Command, form string, do func(*ambit.App, ambit.HaltSwitch) error) error {
	return p.withSwitches(c, form, func(app *ambit.App, switches []ambit.HaltSwitch) error {
		if len(switches) > 1 {
			return misused(c, fmt.Errorf("this application has more than one form of the switch: say which by --form, %s", formsOf(switches)))
		}
		return do(app, switches[0])
	})
}

// withSwitches does something with the forms that a command is about, of which
// there is at least one. It opens the application where that alone could know them;
// otherwise that is nil.
func (p Program) withSwitches(c *cobra.Command, form string, do func(*ambit.App, []ambit.HaltSwitch) error) error {
	path, by, err := givenHaltFile(c)
	switch {
	case err != nil:
		return err
	case path != "" && (form == "" || form == fileForm):
		return do(nil, []ambit.HaltSwitch{newHaltFile(path)})
	case path != "" && by != haltFileVariable:
		return misused(c, fmt.Errorf("the file of %s is the form %q, and --form says %q: leave one of them out", by, fileForm, form))
	}
	opened := false
	err = p.open(c, func(app *ambit.App, options Options) error {
		opened = true
		switches, err := options.switches(c, form)
		if err != nil {
			return err
		}
		return do(app, switches)
	})
	if err != nil && !opened { // not in its own form: it says nothing about the switch
		return fmt.Errorf("the application does not open, which could know how it is halted: %s\nif it obeys a file, name that by --%s, or by %s",
			err, haltFileFlag, haltFileVariable)
	}
	return err
}

// switches are the forms that the program has, or the one that is asked for.
func (o Options) switches(c *cobra.Command, form string) (switches []ambit.HaltSwitch, err error) {
	if err := o.checkHalts(); err != nil {
		return nil, err
	}
	if o.Halts != nil {
		switches = append(switches, o.Halts)
	}
	if o.HaltFile != "" {
		switches = append(switches, newHaltFile(o.HaltFile))
	}
	asked := slices.DeleteFunc(slices.Clone(switches), func(s ambit.HaltSwitch) bool { return form != "" && s.Form() != form })
	switch {
	case len(asked) > 0:
		return asked, nil
	case form == "":
		return nil, misused(c, errors.New("there is no halt file, and the program keeps no halts in a store: name a file by --"+haltFileFlag+" or by "+haltFileVariable))
	case form == fileForm:
		return nil, misused(c, errors.New("there is no halt file: name one by --"+haltFileFlag+" or by "+haltFileVariable))
	case len(switches) == 0:
		return nil, misused(c, fmt.Errorf("there is no form %q of the switch here: this program keeps no halts in a store", form))
	}
	return nil, misused(c, fmt.Errorf("there is no form %q of the switch here, but %s: others are where they were set", form, formsOf(switches)))
}

// formsOf names forms in words.
func formsOf(switches []ambit.HaltSwitch) string {
	names := make([]string, len(switches))
	for i, s := range switches {
		names[i] = s.Form()
	}
	return strings.Join(names, " or ")
}
