package sis

// nameSet is a set of names, few as a rule; many cost no more each.
type nameSet struct {
	few  []string
	many map[string]bool
}

func (s *nameSet) reset() { s.few, s.many = s.few[:0], nil }

// add puts a name in; false when it is there already.
func (s *nameSet) add(name string) bool {
	if s.many == nil && len(s.few) < 32 {
		for _, f := range s.few {
			if f == name {
				return false
			}
		}
		s.few = append(s.few, name)
		return true
	}
	if s.many == nil {
		s.many = make(map[string]bool)
		for _, f := range s.few {
			s.many[f] = true
		}
	}
	if s.many[name] {
		return false
	}
	s.many[name] = true
	return true
}
