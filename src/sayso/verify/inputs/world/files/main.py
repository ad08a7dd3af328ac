def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello, {name}"
