"""The web page for spectators: rankings with their certainty, and every match decision by decision."""
