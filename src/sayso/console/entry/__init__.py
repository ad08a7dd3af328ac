"""Who is looking: links that work once, sessions, and what each role may do."""
