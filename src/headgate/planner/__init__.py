"""From what is known of streams to how memory is best used."""
