"""What every card game here is made of; it knows no clock, no network and no database."""
