"""The front doors: how clients of either protocol era come in, over HTTP and over stdio."""
