package kubelet

import "strings"

// expand replaces $(NAME) by the variable's value, as the kubelet does in
// commands, arguments and environments: $$(NAME) is a literal $(NAME), and a
// reference to an unknown variable stays as it is.
func expand(s string, value func(string) (string, bool)) string {
	var out strings.Builder
	for {
		i := strings.IndexByte(s, '$')
		if i < 0 || i+1 == len(s) {
			out.WriteString(s)
			return out.String()
		}
		out.WriteString(s[:i])
		s = s[i:]
		if s[1] == '$' {
			out.WriteByte('$')
			s = s[2:]
			continue
		}
		end := strings.IndexByte(s, ')')
		if s[1] != '(' || end < 0 {
			out.WriteByte('$')
			s = s[1:]
			continue
		}
		if v, ok := value(s[2:end]); ok {
			out.WriteString(v)
		} else {
			out.WriteString(s[:end+1])
		}
		s = s[end+1:]
	}
}
