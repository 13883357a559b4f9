"""Does "auto" find the policy that fits? Twelve pairs of streams that want different ones."""
