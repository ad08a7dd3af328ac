"""The API for screens: pending questions and tools as JSON, for chats and other pages."""
