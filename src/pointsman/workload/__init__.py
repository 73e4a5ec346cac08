"""What is asked of a fleet: real traces read from their published formats, and generated sessions."""
