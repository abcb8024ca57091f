"""The only code that writes below .omh/."""
