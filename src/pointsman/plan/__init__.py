"""Plans that are made before anything runs."""
