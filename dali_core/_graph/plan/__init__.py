"""Planning: stages of operators, groups that run as one, outputs of branches."""
