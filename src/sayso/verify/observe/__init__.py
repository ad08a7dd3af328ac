"""What watches a contained server: each looks before a call and after it, and says what changed."""
