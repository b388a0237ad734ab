"""What wraps a strategy: Efficient-CLS, an open class list; and what these are made of."""
