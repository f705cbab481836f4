// Package simulate writes a realistic airport day into a mailbox and tells,
// from a model of its own, what must come out of it.
//
// Three parts, used apart or together: Generator makes messages from a seed,
// Writer commits them to a mailbox, Model folds them in id order into an
// Expected result. The model was written from the protocol alone and shares no
// code with the codec or with the SQL, so that a run is checked against an
// answer neither of them gave.
package simulate
