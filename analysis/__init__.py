"""What runs leave behind, analysed with pandas; knows tables only, no simulation."""
