"""What `if`, `and`, `or` and `not` on data become; the transformed program calls these."""
