"""The frontends for clients of both protocol eras, over HTTP and over stdio."""
