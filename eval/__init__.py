"""Whether a gate makes agents safer: scripted agents, real servers, and what is seen to change."""
