"""A simulated ladder of bots with known strength, to measure after how many games its order is right."""
