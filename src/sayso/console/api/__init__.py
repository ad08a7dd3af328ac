"""The API for screens: what waits and what there is, for chats and other pages, as JSON."""
