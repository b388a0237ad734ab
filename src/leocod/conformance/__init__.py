"""What every part of a kind must hold to: rules that `leocod test-strategy` and the tests of the repository run."""
