"""Functions of the plugin; see `experimental`."""
