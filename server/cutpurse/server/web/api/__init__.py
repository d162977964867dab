"""The league for programs: JSON and CSV."""
