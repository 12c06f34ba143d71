"""README and docs, whose figures come from files of results that commands wrote."""
