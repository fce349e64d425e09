"""Many runs: replications, what their figures come to, and the store that keeps them."""
