"""The demo: auctions and bids joined on Spark within a budget, next to every policy's recall."""
