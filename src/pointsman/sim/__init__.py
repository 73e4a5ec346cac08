"""The simulator: the dispatcher and engine cores on a virtual clock."""
