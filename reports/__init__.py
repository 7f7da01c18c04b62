"""From outcomes to a verdict, a bundle and an exit status. Knows the recipe; knows no host and no server."""
