"""Running tools in containment, to show whether their hints are true."""
