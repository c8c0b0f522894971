package background

// CheckName says what is wrong with the name of a cluster, if anything.
func CheckName(name string) error {
	_, err := open(name)
	return err
}
