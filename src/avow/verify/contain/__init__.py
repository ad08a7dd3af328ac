"""Where a server runs that nobody knows: `box` is the way in, `probe` says what holds it here."""
