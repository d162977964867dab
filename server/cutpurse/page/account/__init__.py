"""The pages of people who are signed in, with their own tokens."""
